"""Paths of models as pictures: every line is there, named, and labels do not cover each other."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive import (
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    NaiveBayes,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
)
from seminaive.errors import InputError
from seminaive.explain import PathDisplay
from seminaive.explain.plotting import spread_apart
from seminaive.models.path_curves import PathCurves

mpl.use("Agg")


@pytest.fixture(params=[ForwardStagewiseNaiveBayes, SelectiveNaiveBayes, GroupRegularizedNaiveBayes])
def fitted(request, weather):
    return request.param().fit(*weather)


def test_every_feature_that_moves_has_a_line_with_its_name(fitted):
    display = PathDisplay.from_estimator(fitted)
    moved = [
        name for name, alphas in zip(fitted.schema_.names, fitted.path_.alphas.T, strict=True) if alphas.any()
    ]
    assert sorted(text.get_text() for text in display.names_) == sorted(moved)
    for line, name in zip(display.lines_, moved, strict=True):
        expected = fitted.path_.alphas[:, fitted.schema_.names.index(name)]
        np.testing.assert_array_equal(line.get_ydata(), expected)


def test_criteria_are_drawn_on_given_axes(fitted):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    display = PathDisplay.from_estimator(fitted, "criteria", ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    np.testing.assert_array_equal(display.lines_[1].get_ydata(), fitted.path_.aic)


def test_strengths_fall_from_left_to_right_and_test_losses_have_an_error_band(weather):
    X, y = weather
    model = NaiveBayesLogisticRegressionCV(strengths=8, cv=3).fit(X, y == "sun")
    display = PathDisplay.from_estimator(model)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.xaxis_inverted()
    assert len(display.names_) == min(20, len(model.coefficient_names_))
    losses = PathDisplay.from_estimator(model, "test loss")
    (band,) = losses.ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    least, most = (losses.curves.curves[:, 0] + sign * losses.curves.error for sign in (-1, 1))
    assert heights.min() == least.min()
    assert heights.max() == most.max()
    assert losses.names_ == []


def test_of_many_curves_those_that_end_farthest_from_zero_are_named():
    ends = np.arange(-30.0, 10.0)
    names = tuple(str(k) for k in range(40))
    curves = PathCurves(np.arange(2.0), np.array([np.zeros(40), ends]), names, "step", "alpha")
    display = PathDisplay(curves).plot()
    assert {text.get_text() for text in display.names_} == set(names[:20])


@pytest.mark.filterwarnings("ignore::seminaive.errors.FoldsWarning")  # one row of each class
def test_a_path_of_one_model_can_be_drawn():
    model = GroupRegularizedNaiveBayes().fit([["a"], ["a"]], [0, 1])
    assert PathDisplay.from_estimator(model).lines_ == []


def test_a_model_without_a_path_is_refused(weather):
    with pytest.raises(InputError, match="no path to draw"):
        PathDisplay.from_estimator(NaiveBayes().fit(*weather))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.001, 0.2))
def test_labels_keep_their_order_their_distance_and_the_interval(positions, gap):
    positions = np.sort(positions)
    spread = spread_apart(positions, gap)
    room = min(gap, 1 / max(len(positions) - 1, 1))
    assert (np.diff(spread) >= room * (1 - 1e-9) - 1e-12).all()
    assert spread.min() >= -1e-12
    assert spread.max() <= 1 + 1e-12
    if np.diff(positions).min(initial=1.0) > gap:
        np.testing.assert_allclose(spread, positions, atol=1e-12)
