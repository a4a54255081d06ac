"""Counts of the combinations that occurred equal the dense counts, whichever way places are found."""

import numpy as np
import pytest

from seminaive.statistics import ObservedCounts, Terms, TupleCounts, observed_counts


@pytest.fixture(params=["looked up", "searched"])
def either_way(request, monkeypatch):
    if request.param == "searched":
        monkeypatch.setattr(observed_counts, "MOST_LOOKED_UP", 0)
    monkeypatch.setattr(observed_counts, "CELLS_AT_ONCE", 100)


def made(seed, cardinalities=(3, 4, 2), n_rows=50):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, k + 1, n_rows) for k in cardinalities]).astype(np.uint8)
    return codes, rng.integers(0, 3, n_rows), rng.integers(0, 5, n_rows) / 4


def dense(counts):
    full = np.zeros((counts.terms.n_cells, counts.counts.shape[1]))
    full[counts.cells] = counts.counts
    return full


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("weighted", [False, True])
def test_observed_counts_equal_dense_counts_and_their_sums(weighted):
    terms = Terms.up_to_order((3, 4, 2), 3)
    parts = []
    for seed in (0, 1):
        codes, labels, weights = made(seed)
        rows = (codes, labels, terms, 3, weights if weighted else None)
        parts.append((ObservedCounts.of(*rows), TupleCounts.of(*rows)))
    (first, first_dense), (second, second_dense) = parts
    assert (first.counts.sum(axis=1) > 0).all()
    assert (dense(first) == first_dense.counts).all()
    assert (dense(first + second) == (first_dense + second_dense).counts).all()


def test_recoded_counts_equal_recoded_dense_counts():
    codes, labels, _ = made(2)
    terms = Terms.up_to_order((3, 4, 2), 2)
    moves = [np.array([0, 2, 4]), np.arange(4), np.array([1, 2])]
    cardinalities = (5, 4, 3)
    found = ObservedCounts.of(codes, labels, terms, 3).recoded(moves, cardinalities)
    expected = TupleCounts.of(codes, labels, terms, 3).recoded(moves, cardinalities)
    assert found.terms == expected.terms
    assert (np.diff(found.cells) > 0).all()
    assert (dense(found) == expected.counts).all()
