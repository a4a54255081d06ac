"""Cut points: against a plain recursion, and the laws of weights, rows and missing cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from seminaive import EqualFrequencyDiscretizer, MDLDiscretizer
from seminaive.encode import EqualFrequencyCuts, NumericColumn, mdl_cuts
from seminaive.encode.column_codes import FEW_CUTS, MANY_VALUES, bins_of
from seminaive.errors import InputError

points = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=2, max_size=40)


def entropy(labels):
    shares = np.bincount(labels)[np.bincount(labels) > 0] / len(labels)
    return -(shares * np.log2(shares)).sum()


def plain_mdl(values, labels):
    """Fayyad and Irani, written down as they say it."""
    best = None
    for cut in np.unique(values)[:-1]:
        left, right = labels[values <= cut], labels[values > cut]
        cost = (len(left) * entropy(left) + len(right) * entropy(right)) / len(labels)
        if best is None or cost < best[0] - 1e-12:
            best = (cost, cut, left, right)
    if best is None:
        return []
    cost, cut, left, right = best
    n, k, k1, k2 = len(labels), *(len(np.unique(part)) for part in (labels, left, right))
    delta = np.log2(3.0**k - 2) - (k * entropy(labels) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(labels) - cost <= (np.log2(n - 1) + delta) / n:
        return []
    middle = (cut + values[values > cut].min()) / 2
    return [*plain_mdl(values[values <= cut], left), middle, *plain_mdl(values[values > cut], right)]


@given(points)
def test_mdl_equals_the_plain_recursion(rows):
    values, labels = (np.array(column) for column in zip(*rows, strict=True))
    assert mdl_cuts(values.astype(float), labels).tolist() == plain_mdl(values.astype(float), labels)


def test_mdl_equals_the_plain_recursion_on_iris():
    X, y = load_iris(return_X_y=True)
    for column in X.T:
        np.testing.assert_allclose(mdl_cuts(column, y), plain_mdl(column, y))


@given(points, st.randoms(use_true_random=False))
@pytest.mark.parametrize("rule", [mdl_cuts, EqualFrequencyCuts(4)], ids=["mdl", "equal-frequency"])
def test_integer_weights_equal_repeated_rows(rule, rows, random):
    values, labels = (np.array(column) for column in zip(*rows, strict=True))
    times = np.array([random.randint(1, 3) for _ in rows])
    repeated = rule(np.repeat(values, times).astype(float), np.repeat(labels, times), None)
    assert rule(values.astype(float), labels, times.astype(float)).tolist() == repeated.tolist()


@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=60, unique=True), st.integers(2, 6))
def test_equal_frequency_bins_differ_by_at_most_one_row(values, n_bins):
    values = np.array(values)
    cuts = EqualFrequencyCuts(n_bins)(values, np.zeros(len(values), int))
    sizes = np.bincount(np.searchsorted(cuts, values, side="left"))
    assert len(sizes) == n_bins
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("discretizer", [MDLDiscretizer(), EqualFrequencyDiscretizer(3)])
def test_missing_cells_stay_missing_and_do_not_move_the_cuts(discretizer):
    X, y = load_iris(return_X_y=True)
    holes = np.vstack([X, np.full((30, 4), np.nan)])
    cuts = discretizer.fit(X, y).cuts_
    with_holes = discretizer.fit(holes, np.append(y, np.zeros(30, int)))
    for found, other in zip(with_holes.cuts_, cuts, strict=True):
        assert found.tolist() == other.tolist()
    assert np.isnan(with_holes.transform(holes)[150:]).all()


def test_neighbouring_doubles_are_told_apart():
    values = np.array([1.0, np.nextafter(1.0, 2.0)] * 20)
    (cut,) = mdl_cuts(values, np.array([0, 1] * 20))
    assert values[0] <= cut < values[1]


def test_a_bad_number_of_bins_is_refused():
    with pytest.raises(InputError, match="n_bins"):
        EqualFrequencyDiscretizer(n_bins=0).fit([[1.0]])


@pytest.mark.parametrize("n_rows", [MANY_VALUES - 1, MANY_VALUES])
@pytest.mark.parametrize("n_cuts", [0, 1, FEW_CUTS, FEW_CUTS + 1, 300])
def test_bins_equal_a_search_whatever_their_number(n_rows, n_cuts):
    rng = np.random.default_rng(0)
    cuts = np.arange(n_cuts) / 7
    values = np.append(rng.choice(np.append(cuts, rng.normal(size=50)), n_rows - 1), np.nan)
    expected = np.searchsorted(cuts, values, side="left")
    expected[-1] = n_cuts + 1
    assert (bins_of(NumericColumn("x", False, tuple(cuts.tolist())), values) == expected).all()
