"""Nonnegative weights: the minimum that scipy finds, with a certificate, and weights that stay at zero."""

import numpy as np
import pytest
from scipy.optimize import minimize

from seminaive.solvers.nonnegative_newton import minimize_nonnegative


def log_cosh(seed, n=6):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(30, n)), 2 * rng.normal(size=30)

    def objective(z):
        u = A @ z - b
        return float(np.logaddexp(u, -u).sum()), A.T @ np.tanh(u)

    def hessian(z):
        return A.T @ (A * (1 - np.tanh(A @ z - b) ** 2)[:, None])

    return objective, hessian


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_is_that_of_a_bounded_quasi_newton_method(seed):
    objective, hessian = log_cosh(seed)
    result = minimize_nonnegative(objective, hessian, np.ones(6), tol=1e-10)
    assert result.converged
    bounds = [(0, None)] * 6
    peer = minimize(objective, np.ones(6), jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": 1e-9})
    assert result.objective <= peer.fun + 1e-9 * abs(peer.fun)
    np.testing.assert_allclose(result.solution, peer.x, atol=1e-4)
    assert (result.solution >= 0).all()


def test_optimality_conditions_hold_where_weights_are_zero_and_where_they_are_not():
    objective, hessian = log_cosh(1)
    result = minimize_nonnegative(objective, hessian, np.ones(6), tol=1e-10)
    _, gradient = objective(result.solution)
    at_zero = result.solution == 0
    assert at_zero.any()
    assert (gradient[at_zero] >= -1e-8).all()
    np.testing.assert_allclose(gradient[~at_zero], 0.0, atol=1e-7)


def test_a_start_at_the_minimum_is_certified_after_one_step():
    objective, hessian = log_cosh(2)
    found = minimize_nonnegative(objective, hessian, np.ones(6), tol=1e-12)
    again = minimize_nonnegative(objective, hessian, found.solution, tol=1e-10)
    assert again.converged
    assert again.n_iter <= 1
