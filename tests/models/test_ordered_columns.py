"""SemiNaive draws neighbouring levels together: ordered ones along a line, months in a circle."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from seminaive import DateParts, SemiNaive
from seminaive.design.smooth_column import cyclic_kernel, random_walk_kernel
from seminaive.encode.calendar_cycles import MONTHS

LEVELS = ("none", "low", "guarded", "raised", "high", "severe", "extreme")


def centred(kernel):
    """Take the means of rows and columns off a kernel."""
    return kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()


@pytest.mark.parametrize("n", [5, 12])
@pytest.mark.parametrize("goes_round", [False, True])
def test_kernels_are_the_inverse_of_a_graph_laplacian(n, goes_round):
    # A random walk has independent steps between neighbours: its precision is the Laplacian of their graph.
    neighbours = np.eye(n, k=1) + np.eye(n, k=-1)
    if goes_round:
        neighbours[0, -1] = neighbours[-1, 0] = 1.0
    covariance = np.linalg.pinv(np.diag(neighbours.sum(axis=1)) - neighbours)
    kernel = cyclic_kernel(np.arange(n), n) if goes_round else random_walk_kernel(n)
    # Kernels are in units of n steps, half the variance of a difference.
    np.testing.assert_allclose(n * centred(kernel) / 2, covariance, atol=1e-12)


def sample(rng, n_rows, levels=LEVELS):
    """Return places of levels, and classes whose odds rise with them."""
    place = rng.integers(0, len(levels), n_rows)
    slope = 5 / len(levels)
    return place, rng.random(n_rows) < 1 / (1 + np.exp(-slope * (place - (len(levels) - 1) / 2)))


def frame(place, levels=LEVELS, *, ordered=True):
    return pd.DataFrame({"alert": pd.Categorical.from_codes(place, list(levels), ordered=ordered)})


@pytest.fixture(scope="module")
def fitted():
    place, y = sample(np.random.default_rng(1), 150)
    return place, y, SemiNaive().fit(frame(place), y).predict_proba(frame(np.arange(len(LEVELS))))


def test_other_names_change_nothing(fitted):
    place, y, expected = fitted
    renamed = [f"{97 - k} {name}" for k, name in enumerate(LEVELS)]  # sorted, they stand the other way round
    model = SemiNaive().fit(frame(place, renamed), y)
    np.testing.assert_array_equal(model.predict_proba(frame(np.arange(len(LEVELS)), renamed)), expected)


def test_another_order_changes_the_answer(fitted):
    place, y, expected = fitted
    shuffled = np.array([3, 0, 5, 1, 6, 2, 4])
    model = SemiNaive().fit(frame(shuffled[place]), y)
    found = model.predict_proba(frame(shuffled))
    assert np.abs(found - expected).max() > 0.02


def test_order_helps_where_neighbours_are_alike():
    rng = np.random.default_rng(2)
    losses = []
    for _ in range(4):
        place, y = sample(rng, 60)
        tested, truth = sample(rng, 2000)
        models = {ordered: SemiNaive().fit(frame(place, ordered=ordered), y) for ordered in (True, False)}
        losses.append(
            [
                log_loss(truth, model.predict_proba(frame(tested, ordered=ordered)))
                for ordered, model in models.items()
            ]
        )
    with_order, without = np.mean(losses, axis=0)
    assert with_order < without - 0.01


def test_hundreds_of_levels_are_a_curve():
    rng = np.random.default_rng(4)
    levels = [f"level {k}" for k in range(300)]
    place, y = sample(rng, 900, levels)
    model = SemiNaive().fit(frame(place, levels), y)
    p = model.predict_proba(frame(np.unique(place), levels))[:, 1]
    truth = 1 / (1 + np.exp(-5 / 300 * (np.unique(place) - 149.5)))
    assert np.abs(p - truth).mean() < 0.06


@pytest.mark.parametrize(
    ("levels", "goes_round"), [(MONTHS, True), ([f"step {k}" for k in range(12)], False)]
)
def test_december_is_next_to_january(levels, goes_round):
    # Turned by half a year, the year is the same circle; a line is cut elsewhere.
    rng = np.random.default_rng(5)
    place = rng.integers(0, 12, 120)
    y = rng.random(120) < np.where(np.isin(place, [10, 11, 0, 1, 2]), 0.9, 0.1)
    every = np.arange(12)
    as_it_is = SemiNaive().fit(frame(place, levels), y).predict_proba(frame(every, levels))
    turned = SemiNaive().fit(frame((place + 6) % 12, levels), y)
    apart = np.abs(turned.predict_proba(frame((every + 6) % 12, levels)) - as_it_is).max()
    assert apart < 1e-6 if goes_round else apart > 1e-3


def test_a_year_of_hours_with_a_weekly_rhythm_is_learned():
    rng = np.random.default_rng(6)
    when = pd.Series(pd.date_range("2023-01-01", periods=365 * 24, freq="h"))
    working = (when.dt.day_of_week < 5).to_numpy()
    truth = np.where(working, 2.0, -0.5) * np.sin((when.dt.hour.to_numpy() - 6) * np.pi / 12) - 0.5
    p = 1 / (1 + np.exp(-truth))
    y = rng.random(len(when)) < p
    train = rng.random(len(when)) < 0.25
    X = pd.DataFrame({"when": when})
    model = make_pipeline(DateParts(["time", "weekday", "hour"]), SemiNaive()).fit(X[train], y[train])
    found = model.predict_proba(X[~train])[:, 1]
    best = log_loss(y[~train], p[~train])
    shares = log_loss(y[~train], np.full((~train).sum(), y[train].mean()))
    assert log_loss(y[~train], found) < best + 0.1 * (shares - best)
    interactions = model[-1].interactions_
    assert set(interactions.iloc[0][["first", "second"]]) == {"when_weekday", "when_hour"}
