"""Kernels of packed symmetric matrices equal their NumPy formulas."""

import numpy as np
import pytest

from seminaive.kernels import symmetric


def symmetric_matrix(n, seed):
    features = np.random.default_rng(seed).normal(size=(n, n))
    return features + features.T


def packed(matrix):
    triangle = np.empty(len(matrix) * (len(matrix) + 1) // 2)
    symmetric.pack(matrix, triangle)
    return triangle


def test_a_packed_matrix_is_its_lower_triangle_row_after_row():
    matrix = symmetric_matrix(5, 0)
    np.testing.assert_array_equal(packed(matrix), matrix[np.tril_indices(5)])


def test_a_row_and_a_column_have_one_entry_in_either_order():
    triangle = np.arange(15)
    rows, columns = np.tril_indices(5)
    for a, b, e in zip(rows.tolist(), columns.tolist(), triangle.tolist(), strict=True):
        assert symmetric.entry(a, b) == symmetric.entry(b, a) == e


@pytest.mark.parametrize("n_columns", [4, 7])
def test_a_weighted_sum_is_that_of_the_matrices_in_another_order_of_rows(n_columns):
    matrices = np.stack([symmetric_matrix(7, seed) for seed in (1, 2, 3)])
    weights = np.array([2.0, -1.0, 0.5])
    rows = np.random.default_rng(4).permutation(7)
    found = np.full((7, n_columns), np.nan)
    symmetric.weighted_sum(np.stack([packed(matrix) for matrix in matrices]), weights, 10.0, rows, found)
    expected = 10.0 + np.tensordot(weights, matrices, 1)[np.ix_(rows, rows[:n_columns])]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_packed_products_give_traces_of_products_of_matrices():
    rng = np.random.default_rng(5)
    rows, scale = np.array([5, 0, 3, 2]), rng.normal(size=4)
    matrix, other = symmetric_matrix(4, 6), symmetric_matrix(6, 7)
    lower = np.asfortranarray(np.tril(matrix) + np.triu(np.full((4, 4), np.nan), 1))
    triangle = np.full(21, np.nan, dtype=np.float32)
    symmetric.pack_products(lower, scale, rows, triangle)
    expected = np.trace(scale[:, None] * matrix * scale @ other[np.ix_(rows, rows)])
    # The triangle has single precision.
    assert triangle @ packed(other) == pytest.approx(expected, rel=1e-5)


def test_scaled_triangles_are_added_to_some_rows():
    rows, scale = np.array([0, 2, 3]), np.array([2.0, -1.0, 0.5])
    matrix, total = symmetric_matrix(3, 8), symmetric_matrix(5, 9)
    lower, found = np.asfortranarray(matrix), np.asfortranarray(total)
    symmetric.add_scaled(lower, scale, rows, found)
    scaled = scale[:, None] * matrix * scale
    np.testing.assert_allclose(np.tril(lower), np.tril(scaled), rtol=1e-12)
    total[np.ix_(rows, rows)] += scaled
    np.testing.assert_allclose(np.tril(found), np.tril(total), rtol=1e-12)
