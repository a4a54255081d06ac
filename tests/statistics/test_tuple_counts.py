"""Counts of tuples equal a loop over rows, whatever the terms, the weights and the missing codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.statistics import Terms, TupleCounts


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 60),
    st.booleans(),
    st.sampled_from([Terms.of_order, Terms.up_to_order]),
    st.integers(0, 2**32 - 1),
)
def test_counts_equal_a_loop_over_rows(cardinalities, order, n_classes, n_rows, weighted, build, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, np.array(cardinalities) + 1, (n_rows, len(cardinalities))).astype(np.uint8)
    labels = rng.integers(0, n_classes, n_rows)
    weights = rng.integers(0, 5, n_rows) / 2 if weighted else None
    terms = build(cardinalities, order)
    counts = TupleCounts.of(codes, labels, terms, n_classes, weights).counts
    expected = np.zeros((terms.n_cells, n_classes))
    for term in range(len(terms.features)):
        np.add.at(expected, (terms.cells_of(term, codes), labels), 1.0 if weights is None else weights)
    # Halves add up exactly.
    assert np.array_equal(counts, expected)


def test_scattered_terms_are_counted_too():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (100, 6)).astype(np.uint8)
    labels = rng.integers(0, 2, 100)
    terms = Terms(((0, 5), (0, 2), (1, 3, 4)), (4,) * 6)
    expected = np.zeros((terms.n_cells, 2))
    for term in range(3):
        np.add.at(expected, (terms.cells_of(term, codes), labels), 1.0)
    assert np.array_equal(TupleCounts.of(codes, labels, terms, 2).counts, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_every_code_type_counts_the_same(dtype):
    codes = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    counts = TupleCounts.of(codes, np.array([0, 0, 1]), Terms.of_order([2, 2], 2), 2)
    assert counts.joint(0).tolist() == [[[0, 0], [1, 0]], [[1, 0], [0, 1]]]


def test_counts_of_other_cells_than_those_of_the_terms_are_refused():
    with pytest.raises(ValueError, match="5 cells do not fit terms of 9 cells"):
        TupleCounts(Terms.of_order([2, 2], 2), np.zeros((5, 2)))
