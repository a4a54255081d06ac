"""The preconditioner of many classes: an inverse where nothing is left out, symmetric in any case."""

import numpy as np
import pytest
from scipy.special import softmax

from seminaive.selection import class_preconditioner as preconditioners
from seminaive.selection.class_preconditioner import ClassPreconditioner

N_CLASSES, N_WEIGHTINGS = 3, 2
MANY = 10_000


def system(n_rows, n_coefficients):
    """Return features, curvatures and ridges; the intercept has none, and one coefficient stays 0."""
    rng = np.random.default_rng(n_rows)
    features = rng.normal(size=(n_rows, n_coefficients)).astype(np.float32)
    features[:, 0] = 1.0
    posterior = softmax(rng.normal(size=(n_rows, N_WEIGHTINGS, N_CLASSES)), axis=2).reshape(n_rows, -1)
    ridge = np.repeat(rng.uniform(0.5, 2.0, (n_coefficients, N_WEIGHTINGS)), N_CLASSES, axis=1)
    ridge[0], ridge[2] = 0.0, np.inf
    return features, posterior * (1 - posterior), ridge


def matrix_of(precondition, shape):
    """Return the matrix of a linear map between arrays of a shape, flattened."""
    units = np.eye(np.prod(shape)).reshape(-1, *shape)
    return np.array([precondition(unit).ravel() for unit in units]).T


@pytest.mark.parametrize("n_rows", [9, 60], ids=["row space", "coefficient space"])
def test_differences_between_classes_have_the_inverse_of_each_class(n_rows, monkeypatch):
    monkeypatch.setattr(preconditioners, "SHARE", 1.0)
    monkeypatch.setattr(preconditioners, "ROWS_PER_COEFFICIENT", 100)
    features, curvature, ridge = system(n_rows, 12)
    rng = np.random.default_rng(1)
    gradient = rng.normal(size=(12, N_WEIGHTINGS, N_CLASSES))
    gradient -= gradient.mean(axis=2, keepdims=True)
    gradient[2] = 0.0
    ridge[0] = 0.3
    expected = np.zeros((12, N_WEIGHTINGS * N_CLASSES))
    free = np.isfinite(ridge[:, 0])
    for column, right in enumerate(gradient.reshape(12, -1).T):
        hessian = features.T.astype(float) @ (curvature[:, [column]] * features)
        hessian = hessian[np.ix_(free, free)] + np.diag(ridge[free, column])
        expected[free, column] = np.linalg.solve(hessian, right[free])
    expected = expected.reshape(gradient.shape)
    expected -= expected.mean(axis=2, keepdims=True)
    found = ClassPreconditioner.of(features, curvature, ridge, N_CLASSES, MANY)(gradient.reshape(12, -1))
    # Single precision.
    np.testing.assert_allclose(found.reshape(gradient.shape), expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("n_rows", [9, 60], ids=["row space", "coefficient space"])
def test_it_is_symmetric_and_positive_but_for_coefficients_that_stay_zero(n_rows):
    features, curvature, ridge = system(n_rows, 7)
    matrix = matrix_of(ClassPreconditioner.of(features, curvature, ridge, N_CLASSES, MANY), ridge.shape)
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-5)
    lowest, *_ = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    assert lowest > -1e-5
    still = np.repeat(np.isinf(ridge[:, 0]), ridge.shape[1])
    assert not matrix[still].any()
    # Those of the intercepts' means, which change nothing, aside.
    assert np.linalg.matrix_rank(matrix, tol=1e-3) == (~still).sum() - N_WEIGHTINGS


def test_what_all_classes_share_has_the_inverse_of_the_ridge():
    features, curvature, ridge = system(40, 7)
    shared = np.ones(ridge.shape)
    found = ClassPreconditioner.of(features, curvature, ridge, N_CLASSES, MANY)(shared)
    expected = np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_class_without_any_curvature_is_held_by_its_ridge():
    features, curvature, ridge = system(40, 7)
    curvature[:, 1] = 0.0
    found = ClassPreconditioner.of(features, curvature, ridge, N_CLASSES, MANY)(np.ones(ridge.shape))
    assert np.isfinite(found).all()


def test_there_is_none_where_passes_over_the_rows_are_faster_than_its_products():
    features, curvature, ridge = system(40, 7)
    assert ClassPreconditioner.of(features, curvature, ridge, N_CLASSES, len(features)) is None
    # Few rows hold the curvature: there is less to multiply by.
    curvature[2:] = 0.0
    assert ClassPreconditioner.of(features, curvature, ridge, N_CLASSES, len(features)) is not None
