import numpy as np
import pytest

from seminaive.encode import EqualFrequencyCuts, mdl_cuts
from seminaive.statistics import ValueCounts, value_counts

RULES = {"mdl": mdl_cuts, "equal frequency": EqualFrequencyCuts(7)}


def same(one, other):
    assert one.level == other.level
    for name in ("bins", "low", "high", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.missing == other.missing


def rows(seed=0, n=4000):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    numbers = np.where(
        rng.random(n) < 0.05, np.nan, rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n) + labels
    )
    return numbers, labels, rng.integers(1, 5, n).astype(float)


@pytest.mark.parametrize("most", [1 << 16, 300, 17, 2])
def test_counts_do_not_depend_on_how_rows_are_split(most, monkeypatch):
    monkeypatch.setattr(value_counts, "MOST_VALUES", most)
    numbers, labels, weights = rows()
    whole = ValueCounts.of(numbers, labels, 3, weights)
    assert len(whole.bins) <= most
    assert (whole.level == 0) == (most == 1 << 16)
    rng = np.random.default_rng(1)
    for n_parts in (2, 7, 50):
        order = rng.permutation(len(numbers))
        parts = [
            ValueCounts.of(numbers[rows], labels[rows], 3, weights[rows])
            for rows in np.split(order, np.sort(rng.integers(0, len(order), n_parts - 1)))
        ]
        left = parts[0]
        for part in parts[1:]:
            left = left + part
        while len(parts) > 1:  # a tree of merges instead of a chain
            parts = [sum_of(parts[k : k + 2]) for k in range(0, len(parts), 2)]
        same(left, whole)
        same(parts[0], whole)


def sum_of(parts):
    return parts[0] + parts[1] if len(parts) == 2 else parts[0]


def test_the_level_is_the_least_that_fits(monkeypatch):
    numbers, labels, _ = rows()
    monkeypatch.setattr(value_counts, "MOST_VALUES", 300)
    fits = ValueCounts.of(numbers, labels, 3)
    exact = np.unique(numbers[~np.isnan(numbers)] + 0.0)
    bits = value_counts.ordered_bits(exact)
    assert len(np.unique(bits >> np.uint64(fits.level - 1))) > 300
    assert len(np.unique(bits >> np.uint64(fits.level))) == len(fits.bins)


@pytest.mark.parametrize("rule", RULES)
def test_cut_points_of_exact_counts_are_those_of_the_rows(rule):
    numbers, labels, weights = rows()
    numbers = numbers.round(2)
    present = ~np.isnan(numbers)
    for weight in (None, weights):
        counts = ValueCounts.of(numbers, labels, 3, weight)
        expected = RULES[rule](numbers[present], labels[present], None if weight is None else weight[present])
        np.testing.assert_array_equal(counts.cuts(RULES[rule]), expected)


@pytest.mark.parametrize("rule", RULES)
def test_a_cut_point_of_binned_values_separates_the_bins_on_either_side(rule, monkeypatch):
    numbers, labels, _ = rows()
    monkeypatch.setattr(value_counts, "MOST_VALUES", 200)
    counts = ValueCounts.of(numbers, labels, 3)
    cuts = counts.cuts(RULES[rule])
    assert len(cuts)
    before = np.searchsorted(counts.high, cuts, side="right") - 1
    assert (counts.high[before] <= cuts).all()
    assert (cuts < counts.low[before + 1]).all()
    # Ranks of equally frequent bins are wrong by at most the weight of a bin.
    if rule == "equal frequency":
        present = np.sort(numbers[~np.isnan(numbers)])
        ranks = np.searchsorted(present, cuts, side="right") / len(present)
        assert np.abs(ranks - np.arange(1, 7) / 7).max() <= counts.weights.sum(axis=1).max() / len(present)


def test_class_weights_multiply_the_counts():
    numbers, labels, _ = rows()
    numbers = numbers.round(1)
    present = ~np.isnan(numbers)
    factors = np.array([1.0, 2.0, 4.0])
    counts = ValueCounts.of(numbers, labels, 3)
    expected = mdl_cuts(numbers[present], labels[present], factors[labels[present]])
    np.testing.assert_array_equal(counts.cuts(mdl_cuts, factors), expected)


def test_classes_that_a_part_lacks_are_added():
    numbers, labels, _ = rows()
    two = labels < 2
    parts = [
        ValueCounts.of(numbers[two], labels[two], 2).with_classes(np.array([0, 1]), 3),
        ValueCounts.of(numbers[~two], labels[~two] - 2, 1).with_classes(np.array([2]), 3),
    ]
    same(parts[0] + parts[1], ValueCounts.of(numbers, labels, 3))
