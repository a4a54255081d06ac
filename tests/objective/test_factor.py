"""Cholesky factors of matrices that rounding made singular or indefinite."""

import numpy as np
import pytest

from seminaive.objective.factor import inverse_of, lower_cholesky


def singular(below=0.0):
    """Return a matrix of rank 3 whose other eigenvalues are lowered."""
    features = np.random.default_rng(2).normal(size=(6, 3))
    return features @ features.T - below * np.eye(6)


@pytest.mark.parametrize("below", [0.0, 1e-12, 1e-9])
def test_a_matrix_without_a_factor_has_its_diagonal_raised(below):
    matrix = singular(below)
    before = matrix.copy()
    factor = lower_cholesky(matrix)
    # A share of 1.5e-8 of a diagonal of about 3 is added.
    np.testing.assert_allclose(factor @ factor.T, matrix, atol=1e-6)
    assert (np.triu(factor, 1) == 0).all()
    np.testing.assert_array_equal(matrix, before)


def test_more_is_added_until_there_is_a_factor():
    matrix = singular(below=0.01)
    factor = lower_cholesky(matrix)
    added = np.diagonal(factor @ factor.T - matrix)
    np.testing.assert_allclose(added, added[0])
    assert 0.01 < added[0] < 1.0


def test_a_matrix_of_zeros_has_a_factor():
    assert np.isfinite(inverse_of(lower_cholesky(np.zeros((3, 3))))).all()


def test_a_positive_matrix_has_the_inverse_of_its_factor():
    matrix = singular() + np.eye(6)
    np.testing.assert_allclose(
        inverse_of(lower_cholesky(matrix)), np.linalg.inv(matrix), rtol=1e-6, atol=1e-7
    )


def test_single_precision_stays_single_and_leaves_half_of_its_digits():
    matrix = singular().astype(np.float32)
    factor = lower_cholesky(matrix)
    assert factor.dtype == np.float32
    # A share of 3.5e-4 of a diagonal of about 3 is added.
    np.testing.assert_allclose(factor @ factor.T, matrix, atol=5e-3)
