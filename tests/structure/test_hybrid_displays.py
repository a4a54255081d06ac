"""Hybrid models as pictures: a heat map whose cells are the dependences, and a graph with every edge."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_wine

from seminaive import HybridLogisticNaiveBayes, NaiveBayes, TreeAugmentedNaiveBayes
from seminaive.errors import InputError
from seminaive.explain import StructureDisplay
from seminaive.structure import DependenceDisplay

mpl.use("Agg")


@pytest.fixture(params=["naive-bayes", "tan"])
def fitted(request, weather):
    X, y = weather
    return HybridLogisticNaiveBayes(partition=list(X.columns[:2]), generative=request.param).fit(X, y)


def test_the_heat_map_shows_the_dependences_with_the_logistic_part_first(fitted):
    display = DependenceDisplay.from_estimator(fitted)
    assert set(display.names[: display.n_logistic]) == set(fitted.logistic_features_)
    dependence = fitted.dependence_.set_index("feature").loc[list(display.names), list(display.names)]
    shown = display.image_.get_array()
    off = ~np.eye(len(display.names), dtype=bool)
    np.testing.assert_array_equal(shown[off], dependence.to_numpy()[off])
    assert np.ma.getmaskarray(shown)[~off].all()
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == list(display.names)
    written = {text.get_position(): text.get_text() for text in display.numbers_}
    assert written[1, 0] == f"{dependence.iloc[0, 1]:.2f}"
    assert len(display.ax_.lines) == 2  # the borders of the parts


def test_the_graph_has_every_arrow_once(fitted):
    display = StructureDisplay.from_estimator(fitted)
    expected = {(name, "class") for name in fitted.logistic_features_}
    expected |= {("class", name) for name in fitted.generative_features_}
    if fitted.generative == "tan":
        expected |= {(parent, child) for child, parent in fitted.parents_.items() if parent is not None}
        assert len(expected) > len(fitted.features_)
    assert set(display.arrows_) == expected
    assert len(display.arrows_) == len(expected)
    assert set(display.nodes_) == {"class", *fitted.features_}


def test_names_do_not_cover_each_other(fitted):
    display = StructureDisplay.from_estimator(fitted)
    display.figure_.canvas.draw()
    boxes = [node.get_bbox_patch().get_window_extent() for node in display.nodes_.values()]
    overlaps = [a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k]]
    assert not any(overlaps)


def test_a_tree_follows_its_root(weather):
    model = TreeAugmentedNaiveBayes().fit(*weather)
    display = StructureDisplay.from_estimator(model)
    roots = [name for name, parent in model.parents_.items() if parent is None]
    heights = {name: node.get_position() for name, node in display.nodes_.items() if name != "class"}
    for child, parent in model.parents_.items():
        if parent is not None:
            assert heights[child][1] < heights[parent][1]
            assert heights[child][0] > heights[parent][0]
    assert max(heights, key=lambda name: heights[name][1]) in roots


def test_numbers_fit_into_their_cells():
    X, y = load_wine(return_X_y=True, as_frame=True)
    display = DependenceDisplay.from_estimator(HybridLogisticNaiveBayes(partition=[]).fit(X, y))
    display.figure_.canvas.draw()
    cell = display.ax_.get_window_extent().width / X.shape[1]
    assert max(text.get_window_extent().width for text in display.numbers_) < cell


def test_models_without_structure_are_refused(weather):
    model = NaiveBayes().fit(*weather)
    for display in (DependenceDisplay, StructureDisplay):
        with pytest.raises(InputError, match="a NaiveBayes has no"):
            display.from_estimator(model)
