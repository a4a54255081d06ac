"""The posterior covariance of coefficients: equal to the inverse Hessian, and how it is cut down."""

import numpy as np
import pytest

from seminaive.design.dense import DenseDesign
from seminaive.solvers import laplace
from seminaive.solvers.laplace import RowCurvature, laplace_covariance

N_ROWS, N_FEATURES = 40, 6


def problem(n_columns, seed=0):
    """Return features with a column of ones, probabilities and prior variances."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([np.ones(N_ROWS), rng.normal(size=(N_ROWS, N_FEATURES))])
    scores = rng.normal(size=(N_ROWS, n_columns))
    if n_columns == 1:
        posterior = 1 / (1 + np.exp(-scores))
    else:
        posterior = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    prior = np.repeat(rng.uniform(0.2, 2.0, size=(N_FEATURES + 1, 1)), max(n_columns - 1, 1), axis=1)
    return features, posterior, rng.uniform(0.5, 2.0, N_ROWS), prior


def dense_covariance(features, posterior, weight, prior):
    """Return the inverse of the penalised Hessian in contrasts, the intercept being free but for rounding."""
    p, k = len(prior), posterior.shape[1]
    hessian = np.zeros((p, k, p, k))
    for x, q, w in zip(features, posterior, weight, strict=True):
        second = np.diag(q) - np.outer(q, q) if k > 1 else np.array([[q[0] * (1 - q[0])]])
        hessian += w * np.einsum("i,cd,j->icjd", x, second, x)
    flat = hessian.reshape(p * k, p * k)
    ridge = np.repeat(1 / prior[:, :1], k, axis=1)
    ridge[0] = 1e-6
    across = np.kron(np.eye(p), RowCurvature(posterior, weight).contrasts)
    return across @ np.linalg.inv(flat + np.diag(ridge.ravel())) @ across.T


def as_matrix(found):
    places = found.learned.reshape(len(found.learned), -1)
    return np.diag(found.variance.ravel()) - places.T @ places


@pytest.mark.parametrize("n_columns", [1, 3])
def test_all_directions_give_the_inverse_hessian(n_columns):
    features, posterior, weight, prior = problem(n_columns)
    design, curvature = DenseDesign(features), RowCurvature(posterior, weight)
    found = as_matrix(laplace_covariance(design, curvature, prior, 64, np.random.default_rng(0)))
    exact = dense_covariance(features, posterior, weight, prior)
    # The free intercept has a prior variance of 10,000 times what the rows leave: 1e-4 of its variance.
    np.testing.assert_allclose(found, exact, atol=5e-4)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_few_directions_keep_every_variance_and_stay_positive(n_columns):
    features, posterior, weight, prior = problem(n_columns)
    design, curvature = DenseDesign(features), RowCurvature(posterior, weight)
    every, few = (
        as_matrix(laplace_covariance(design, curvature, prior, n, np.random.default_rng(0))) for n in (64, 3)
    )
    np.testing.assert_allclose(np.diag(few), np.diag(every), rtol=1e-8)
    assert np.linalg.eigvalsh(few).min() > 0
    assert np.abs(few - every).max() > 1e-3


def test_the_start_of_the_iteration_does_not_matter():
    features, posterior, weight, prior = problem(1)
    design, curvature = DenseDesign(features), RowCurvature(posterior, weight)
    first, second = (
        as_matrix(laplace_covariance(design, curvature, prior, 3, np.random.default_rng(seed)))
        for seed in (0, 1)
    )
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_curvature_times_scores_is_the_second_derivative(n_columns):
    _, posterior, weight, _ = problem(n_columns)
    curvature = RowCurvature(posterior, weight)
    contrasts = curvature.contrasts
    scores = np.random.default_rng(1).normal(size=(N_ROWS, 2, len(contrasts)))
    found, row = curvature.times(scores), 7
    q = posterior[row]
    second = weight[row] * (np.diag(q) - np.outer(q, q) if n_columns > 1 else q * (1 - q) * np.eye(1))
    second = contrasts @ second @ contrasts.T
    np.testing.assert_allclose(found[row], scores[row] @ second, atol=1e-12)
    np.testing.assert_allclose(curvature.diagonal[row], np.diag(second), atol=1e-12)


def test_what_is_not_sought_is_taken_off_no_further_than_the_rows_tell(monkeypatch):
    """With few directions sought, variances stay between those of the inverse Hessian and of its diagonal."""
    features, posterior, weight, prior = problem(1)
    design, curvature = DenseDesign(features), RowCurvature(posterior, weight)
    exact = np.diag(as_matrix(laplace_covariance(design, curvature, prior, 64, np.random.default_rng(0))))
    for name in ("SOUGHT_PER_COLUMN", "FEWEST_SOUGHT"):
        monkeypatch.setattr(laplace, name, 3)
    monkeypatch.setattr(laplace, "N_ITERATIONS", 30)
    found = np.diag(as_matrix(laplace_covariance(design, curvature, prior, 3, np.random.default_rng(0))))
    assert (found >= exact * (1 - 1e-6)).all()
    known = prior[:, 0] * (np.square(features).T @ curvature.diagonal)[:, 0]
    assert (found[1:] < prior[1:, 0] * (1 - 0.2 * known[1:] / (1 + known[1:]))).all()
