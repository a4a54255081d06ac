"""Kernels of the group lasso against their NumPy formulas."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from seminaive.structure.kernels.group_lasso import (
    log_loss_gradient,
    negative_entropy,
    row_curvature,
    solve_block,
)


def rows(n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(0, 2, 20), 2 + rng.integers(0, 3, 20)]).astype(np.int32)
    counts = rng.integers(0, 4, (20, n_labels)).astype(float) + 0.5
    return cells, counts, rng.normal(size=(5, n_labels)), rng.normal(size=n_labels)


def dummies_of(cells):
    return np.eye(5)[cells].sum(axis=1)


def test_loss_and_gradient_are_those_of_dummies():
    cells, counts, table, intercept = rows()
    gradient, at_intercept = np.zeros((5, 3)), np.zeros(3)
    loss = log_loss_gradient(cells, counts, table, intercept, gradient, at_intercept, np.empty(3))
    scores = intercept + dummies_of(cells) @ table
    np.testing.assert_allclose(loss, -(counts * log_softmax(scores, axis=1)).sum())
    residual = counts.sum(axis=1)[:, None] * softmax(scores, axis=1) - counts
    np.testing.assert_allclose(gradient, dummies_of(cells).T @ residual, atol=1e-12)
    np.testing.assert_allclose(at_intercept, residual.sum(axis=0), atol=1e-12)


def test_the_conjugate_is_a_weighted_entropy():
    cells, counts, table, intercept = rows()
    p = softmax(intercept + dummies_of(cells) @ table, axis=1)
    n = counts.sum(axis=1)[:, None]
    q = 0.3 * counts / n + 0.7 * p
    found = negative_entropy(cells, counts, table, intercept, 0.7, np.empty(3))
    np.testing.assert_allclose(found, (n * q * np.log(q)).sum())


def test_curvatures_of_rows_are_those_of_their_losses_along_two_directions():
    cells, counts, table, intercept = rows()
    basis = np.linalg.qr(np.column_stack([np.ones(3), np.eye(3)[:, :2]]))[0][:, 1:]
    p = softmax(intercept + dummies_of(cells) @ table, axis=1)
    expected = np.stack(
        [n.sum() * basis.T @ (np.diag(q) - np.outer(q, q)) @ basis for n, q in zip(counts, p, strict=True)],
        axis=2,
    )
    joint, apart = np.zeros((2, 2, 20)), np.zeros((2, 1, 20))
    row_curvature(cells, counts, table, intercept, basis, 2, np.empty(3), joint)
    row_curvature(cells, counts, table, intercept, basis, 1, np.empty(3), apart)
    np.testing.assert_allclose(joint, expected * np.tril(np.ones((2, 2)))[:, :, None], atol=1e-12)
    np.testing.assert_allclose(apart[:, 0], expected[[0, 1], [0, 1]], atol=1e-12)


def test_a_block_is_solved_to_its_minimum():
    rng = np.random.default_rng(0)
    e = np.array([[0.0, 0.3, 2.0], [0.0, 1.0, 1.5]])
    r = rng.normal(size=(2, 3))
    r[:, 0] = 0.0

    def objective(z):
        z = z.reshape(2, 3)
        return (0.5 * e * z**2 - r * z).sum() + 0.4 * np.linalg.norm(z)

    z = np.empty((2, 3))
    assert solve_block(e, r.copy(), 0.4, z)
    slow = minimize(objective, np.ones(6), tol=1e-12)
    np.testing.assert_allclose(objective(z.ravel()), slow.fun, atol=1e-9)
    assert not solve_block(e, r.copy(), np.linalg.norm(r) * 1.001, z)
    assert not z.any()
