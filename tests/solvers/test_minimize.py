"""Newton steps of functions side by side, with the Newton decrement of each as its certificate."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from seminaive.kernels.vector_updates import dot_each, update_direction, update_solution
from seminaive.objective.preconditioner import BuiltPreconditioner
from seminaive.solvers.constrained_newton import ConstrainedSteps, DenseModel, Nonnegative
from seminaive.solvers.minimize import minimize


class LogCosh:
    """Sums of ``log cosh(a x - b)`` plus a small square, one per function: convex and far from quadratic."""

    def __init__(self, n_rows=6, n_functions=3, seed=0):
        rng = np.random.default_rng(seed)
        self.matrices = rng.normal(size=(n_functions, 20, n_rows))
        self.shifts = 3 * rng.normal(size=(n_functions, 20))
        self.at_equal = np.full(n_functions, 20 * np.log(2))

    def _arguments(self, z):
        return np.einsum("fir,rfc->fi", self.matrices, z) - self.shifts

    def __call__(self, z):
        arguments = self._arguments(z)
        values = np.logaddexp(arguments, -arguments).sum(axis=1) + 0.05 * np.einsum("rfc,rfc->f", z, z)
        gradient = np.einsum("fir,fi->rf", self.matrices, np.tanh(arguments))[:, :, None] + 0.1 * z
        return values, gradient

    def hessians(self, z):
        weights = 1 - np.tanh(self._arguments(z)) ** 2
        return np.einsum("fir,fi,fis->frs", self.matrices, weights, self.matrices) + 0.1 * np.eye(len(z))

    def hessian_product(self, z):
        hessians = self.hessians(z)
        return lambda direction: np.einsum("frs,sfc->rfc", hessians, direction)


class Tenth:
    """A tenth of the gradient, which knows nothing of the point; it counts how often it is built."""

    def __init__(self, cost=np.inf):
        self.cost, self.builds = cost, 0

    def __call__(self, gradient):
        return gradient / 10

    def at(self, *_):
        self.builds += 1
        return self


def minimise(objective, start, tol=1e-6, max_iter=100):
    return minimize(objective, start, Tenth(), tol=tol, max_iter=max_iter)


def gaps(objective, z):
    """Return by how much each function exceeds its minimum, over its value."""
    lowest = minimise(objective, z, tol=1e-9)
    values = objective(z)[0]
    return (values - objective(lowest.solution)[0]) / values


def test_every_function_reaches_its_minimum():
    objective = LogCosh()
    result = minimise(objective, np.zeros((6, 3, 1)))
    assert result.converged
    assert result.optimality <= 1e-6
    _, gradient = objective(result.solution)
    # Half the squared norm over the largest eigenvalue, about 50, is at most the excess: 1e-12 of about 30.
    np.testing.assert_allclose(gradient, 0.0, atol=1e-4)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("seed", range(5))
def test_no_function_exceeds_its_minimum_by_more_than_the_square_of_tol_of_its_own_value(tol, seed):
    objective = LogCosh(seed=seed)
    # Values that differ by decades: a common scale would let the small ones stop early.
    objective.matrices[1] *= 1e-2
    objective.shifts[1] *= 1e-2
    result = minimise(objective, np.ones((6, 3, 1)), tol=tol)
    assert result.converged
    assert gaps(objective, result.solution).max() <= tol**2


def test_functions_side_by_side_do_not_disturb_each_other():
    joint = minimise(LogCosh(), np.zeros((6, 3, 1))).solution
    for number in range(3):
        objective = LogCosh()
        objective.matrices = objective.matrices[[number]]
        objective.shifts = objective.shifts[[number]]
        objective.at_equal = objective.at_equal[[number]]
        alone = minimise(objective, np.zeros((6, 1, 1))).solution
        np.testing.assert_allclose(alone, joint[:, [number]], atol=1e-6)


def test_a_start_at_the_minimum_takes_the_one_step_that_certifies_it():
    objective = LogCosh()
    result = minimise(objective, np.zeros((6, 3, 1)))
    again = minimise(objective, result.solution, tol=1e-4)
    assert again.n_iter == 1
    assert again.converged


def test_a_search_that_runs_out_of_steps_says_how_far_it_came():
    objective = LogCosh()
    result = minimise(objective, np.zeros((6, 3, 1)), max_iter=1)
    assert not result.converged
    values, gradient = objective(np.zeros((6, 3, 1)))
    steps = np.linalg.solve(objective.hessians(np.zeros((6, 3, 1))), gradient.transpose(1, 0, 2))[:, :, 0]
    decrements = np.einsum("rf,fr->f", gradient[:, :, 0], steps)
    # Conjugate gradients end where a seventh of the gradient is left, and bound what is left from above.
    assert result.optimality == pytest.approx(np.sqrt((0.5 * decrements / values).max()), rel=0.1)


def test_a_preconditioner_is_built_again_once_the_products_have_paid_for_it():
    never, always = Tenth(cost=np.inf), Tenth(cost=0)
    for preconditioner in (never, always):
        result = minimize(LogCosh(), np.zeros((6, 3, 1)), preconditioner, tol=1e-6, max_iter=100)
    assert never.builds == 0
    assert always.builds == result.n_iter - 1


@pytest.mark.parametrize("seed", range(5))
def test_nonnegative_minima_are_those_of_scipy(seed):
    objective = LogCosh(n_functions=1, seed=seed)

    def build(z, _=0):
        return BuiltPreconditioner(DenseModel(np.linalg.inv(objective.hessians(z)[0])), 3.0, build)

    def flat(x):
        values, gradient = objective(x[:, None, None])
        return values[0], gradient.ravel()

    start = np.ones((6, 1, 1))
    steps = ConstrainedSteps(Nonnegative(6))
    result = minimize(objective, start, build(start), tol=1e-6, max_iter=100, step_from=steps)
    expected = scipy_minimize(flat, np.ones(6), jac=True, bounds=[(0, None)] * 6, tol=1e-14)
    assert result.converged
    assert (result.solution > -1e-12).all()
    # An excess of 1e-12 of about 20 over curvatures of at least .1: distances of 2e-5.
    np.testing.assert_allclose(result.solution.ravel(), expected.x, atol=1e-4)
    assert result.objective <= expected.fun + 1e-9


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
