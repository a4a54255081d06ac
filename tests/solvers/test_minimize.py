"""Truncated Newton steps: minima of functions side by side, with a certificate for the worst of them."""

import numpy as np
import pytest

from seminaive.kernels.vector_updates import dot_each, update_direction, update_solution
from seminaive.solvers.minimize import gradient_norms, minimize_truncated_newton


class LogCosh:
    """Sums of ``log cosh(a x - b)`` plus a small square, one per function: convex and far from quadratic."""

    def __init__(self, n_rows=6, n_functions=3, seed=0):
        rng = np.random.default_rng(seed)
        self.matrices = rng.normal(size=(n_functions, 20, n_rows))
        self.shifts = 3 * rng.normal(size=(n_functions, 20))

    def _arguments(self, z):
        return np.einsum("fir,rfc->fi", self.matrices, z) - self.shifts

    def __call__(self, z):
        arguments = self._arguments(z)
        values = np.logaddexp(arguments, -arguments).sum(axis=1) + 0.05 * np.einsum("rfc,rfc->f", z, z)
        gradient = np.einsum("fir,fi->rf", self.matrices, np.tanh(arguments))[:, :, None] + 0.1 * z
        return values, gradient

    def hessian_product(self, z):
        weights = 1 - np.tanh(self._arguments(z)) ** 2

        def product(direction):
            along = np.einsum("fir,rfc->fi", self.matrices, direction)
            return np.einsum("fir,fi->rf", self.matrices, weights * along)[:, :, None] + 0.1 * direction

        return product

    def precondition(self, gradient):
        return gradient / 10


def minimise(objective, start, tol=1e-8, **options):
    reference = gradient_norms(objective, objective(np.zeros_like(start))[1])
    return minimize_truncated_newton(objective, start, tol=tol, max_iter=100, reference=reference, **options)


def test_every_function_reaches_its_minimum():
    objective = LogCosh()
    result = minimise(objective, np.zeros((6, 3, 1)))
    assert result.converged
    assert result.optimality <= 1e-8
    _, gradient = objective(result.solution)
    # The certificate times the norm at zero, about 10.
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


def test_functions_side_by_side_do_not_disturb_each_other():
    joint = minimise(LogCosh(), np.zeros((6, 3, 1))).solution
    for number in range(3):
        objective = LogCosh()
        objective.matrices = objective.matrices[[number]]
        objective.shifts = objective.shifts[[number]]
        alone = minimise(objective, np.zeros((6, 1, 1))).solution
        np.testing.assert_allclose(alone, joint[:, [number]], atol=1e-7)


def test_a_start_at_the_minimum_costs_one_pass():
    objective = LogCosh()
    result = minimise(objective, np.zeros((6, 3, 1)))
    again = minimise(objective, result.solution)
    assert (again.n_iter, again.passes) == (0, 1)


def test_the_search_ends_when_told_that_it_is_enough():
    seen = []

    def enough(z):
        seen.append(z)
        return len(seen) == 2

    result = minimise(LogCosh(), np.zeros((6, 3, 1)), enough=enough)
    assert result.n_iter == 2
    assert result.solution is seen[-1]


def test_a_search_that_runs_out_of_steps_says_how_far_it_came():
    objective = LogCosh()
    start = np.zeros((6, 3, 1))
    reference = gradient_norms(objective, objective(start)[1])
    result = minimize_truncated_newton(objective, start, tol=1e-8, max_iter=1, reference=reference)
    norms = gradient_norms(objective, objective(result.solution)[1])
    assert not result.converged
    assert result.optimality == pytest.approx((norms / reference).max())


def test_kernels_equal_their_formulas():
    a, b, direction, residual = np.random.default_rng(0).normal(size=(4, 5, 3, 2))
    share = np.array([0.5, 0.0, -2.0])
    products = np.empty(3)
    dot_each(a, b, products)
    np.testing.assert_allclose(products, np.einsum("rfc,rfc->f", a, b))
    moved, left = direction.copy(), residual.copy()
    update_solution(share, a, b, moved, left)
    np.testing.assert_allclose(moved, direction + share[:, None] * a)
    np.testing.assert_allclose(left, residual - share[:, None] * b)
    way = a.copy()
    update_direction(share, b, way)
    np.testing.assert_allclose(way, b + share[:, None] * a)
