"""Kernels of the encoder, of counting, of moments and of scoring equal their numpy formulas.

These tests also run without compilation (see test_without_compilation.py), where numpy checks every bound.
"""

import numpy as np
import pytest

from seminaive.kernels.counting import count_singles, count_singles_weighted
from seminaive.kernels.encoding import column_ranges, mark_seen, mark_seen_table, translate_table
from seminaive.kernels.moment_sums import add_moments, add_weighted_moments
from seminaive.kernels.scoring import add_number_scores, add_table_scores, normalize_log_scores
from seminaive.scores import NumericTerms
from seminaive.statistics import Terms


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_ranges_and_translation_of_integer_tables(rng, dtype):
    values = rng.integers(0, 100, (80, 3)).astype(dtype)
    low, high = column_ranges(values)
    assert low.tolist() == values.min(axis=0).tolist()
    assert high.tolist() == values.max(axis=0).tolist()
    widths = high - low + 1
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    seen = np.zeros(widths.sum(), bool)
    mark_seen_table(values, starts - low, seen)
    for j in range(3):
        seen_here = seen[starts[j] : starts[j] + widths[j]]
        assert (np.flatnonzero(seen_here) + low[j]).tolist() == np.unique(values[:, j]).tolist()
    table = rng.integers(0, 200, widths.sum()).astype(np.uint8)
    codes = np.empty(values.shape, np.uint8)
    unseen = np.full(3, 255, np.uint8)
    later = rng.integers(0, 120, (50, 3)).astype(dtype)
    codes = np.empty(later.shape, np.uint8)
    translate_table(later, low, high, starts - low, table, unseen, codes)
    inside = (later >= low) & (later <= high)
    expected = np.where(inside, table[np.where(inside, starts - low + later, 0)], 255)
    assert (codes == expected).all()


def test_a_missing_code_marks_the_last_entry():
    seen = np.zeros(4, bool)
    mark_seen(np.array([1, -1], np.int8), seen)
    assert seen.tolist() == [False, True, False, True]


def test_counts_of_single_columns(rng):
    codes = rng.integers(0, 4, (60, 2)).astype(np.uint8)
    labels = rng.integers(0, 2, 60)
    weights = rng.random(60)
    terms = Terms.singles([3, 3])
    counts, weighted = np.zeros((8, 2), np.int64), np.zeros((8, 2))
    count_singles(codes, labels, terms.offsets, counts)
    count_singles_weighted(codes, labels, weights, terms.offsets, weighted)
    cells = terms.cells(codes)
    for cell in range(8):
        for c in range(2):
            rows = (cells == cell).any(axis=1) & (labels == c)
            assert counts[cell, c] == rows.sum()
            assert weighted[cell, c] == pytest.approx(weights[rows].sum(), rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_skip_missing_numbers(rng, weighted):
    numbers = rng.normal(size=(40, 2))
    numbers[::3, 0] = np.nan
    labels, weights = rng.integers(0, 2, 40), rng.random(40) if weighted else np.ones(40)
    sums = np.zeros((2, 6, 2))
    if weighted:
        add_weighted_moments(numbers, labels, weights, sums)
    else:
        add_moments(numbers, labels, sums)
    for j in range(2):
        for c in range(2):
            kept = (labels == c) & ~np.isnan(numbers[:, j])
            for power in range(3):
                expected = (weights[kept] * numbers[kept, j] ** power).sum()
                assert sums[c, 2 * power : 2 * power + 2, j].sum() == pytest.approx(expected, rel=1e-13)


def test_number_scores_are_their_polynomials(rng):
    numbers = rng.normal(size=(20, 3))
    numbers[::4, 2] = np.nan
    centres, coefficients = rng.normal(size=2), rng.normal(size=(2, 4, 3))
    scores = np.zeros((20, 3))
    low, high = np.array([-0.5, -np.inf]), np.array([0.5, np.inf])
    scales = np.array([1.0, 0.5])
    ranges = np.stack([low, high, centres, scales], axis=1)
    add_number_scores(numbers, np.array([2, 0]), ranges, coefficients, scores)
    terms = NumericTerms((2, 0), centres, coefficients, low, high, scales)
    expected = terms.at(numbers).sum(axis=1)
    np.testing.assert_allclose(scores, expected, rtol=1e-13)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 13])
def test_scores_gather_one_cell_per_term(rng, n_classes):
    cardinalities = (2, 3, 2)
    terms = Terms(((0,), (0, 1), (2,), (0, 1, 2)), cardinalities)
    codes = np.column_stack([rng.integers(0, k + 1, 30) for k in cardinalities]).astype(np.uint8)
    tables = rng.normal(size=(terms.n_cells, n_classes))
    scores = np.zeros((30, n_classes))
    add_table_scores(codes, terms.columns, terms.strides, terms.starts, terms.offsets, tables, scores)
    np.testing.assert_allclose(scores, tables[terms.cells(codes)].sum(axis=1), rtol=1e-12, atol=1e-14)


def test_normalised_scores_are_log_probabilities(rng):
    scores = rng.normal(size=(20, 3)) * 300
    expected = scores - scores.max(axis=1, keepdims=True)
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    normalize_log_scores(scores)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
