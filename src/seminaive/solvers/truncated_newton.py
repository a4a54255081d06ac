"""Minimise several smooth convex functions at once by Newton steps found by conjugate gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from seminaive.design.rounding import ROUNDING
from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.line_search import FORCING, backtrack
from seminaive.solvers.result import SolverResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats

# Hessian products per Newton step: far more than one takes unless rounding stops all progress.
MOST_PRODUCTS = 100


class Systems(Protocol):
    """Systems of Hessians that are multiplied together; vectors have the shape (rows, systems, columns)."""

    def hessian_product(self, coefficients: Floats, /) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian at some coefficients."""

    def precondition(self, gradient: Floats) -> Floats:
        """Return gradients times an approximate inverse of the Hessian."""


class SideBySide(Systems, Protocol):
    """Functions that are evaluated together; vectors have the shape (rows, functions, columns)."""

    def __call__(self, coefficients: Floats, /) -> tuple[Floats, Floats]:
        """Return the value of each function, and the gradients."""


def minimize_truncated_newton(
    objective: SideBySide,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
    reference: Floats | None,
    enough: Callable[[Floats], bool] | None = None,
) -> SolverResult:
    """Return the minimisers, certified by the largest norm of a gradient relative to its reference.

    Each function has its step, but all are evaluated, and their Hessians multiplied, in the same
    passes. Norms of gradients are taken in the metric of the preconditioner, where half the square of a norm
    is about the distance of the value from its minimum.

    Parameters
    ----------
    start : ndarray of shape (rows, functions, columns)
    tol : float
        Norm of the gradient at which a function is done, relative to its reference.
    max_iter : int
        Newton steps.
    reference : ndarray of shape (functions,) or None
        None is the root of twice each value at the start, so that ``tol`` squared is about the share of the
        value by which it may exceed its minimum.
    enough : callable or None
        Called with the point after each step; the search ends where it returns True.
    """
    z = start
    values, gradient = objective(z)
    if reference is None:
        reference = np.sqrt(2 * np.abs(values))
    step = objective.precondition(gradient)
    norm = _norms(gradient, step)
    passes = 1
    n_iter = 0
    active = norm > tol * reference
    ends = False
    while active.any() and not ends and n_iter < max_iter:
        aim = np.where(active, np.maximum(FORCING * norm, 0.5 * tol * reference), np.inf)
        direction, products, _ = newton_direction(objective, z, gradient, step, aim)
        slope = dot_of_each(gradient, direction)
        old_values = values
        z, values, gradient, trials = stepped(objective, z, values, gradient, direction, slope)
        passes += products + trials
        n_iter += 1
        step = objective.precondition(gradient)
        before, norm = norm, _norms(gradient, step)
        falls = old_values - values > ROUNDING * np.abs(values)
        active = (norm > tol * reference) & ((norm < before) | falls) & (trials > 0)
        ends = trials > 0 and enough is not None and enough(z)
    optimality = relative_residual(norm, reference)
    converged = optimality <= tol
    stalled = not converged and not active.any()
    return SolverResult(z, float(values.sum()), n_iter, optimality, converged, passes, stalled=stalled)


def gradient_norms(objective: SideBySide, gradient: Floats) -> Floats:
    """Return the norm of each function's gradient in the metric of the preconditioner."""
    return _norms(gradient, objective.precondition(gradient))


def _norms(gradient: Floats, step: Floats) -> Floats:
    """Return the norms of gradients, given the preconditioner's steps along them."""
    # Rounding may turn the sign of a product that should be positive: that is no sign of a minimum.
    return np.sqrt(np.abs(dot_of_each(gradient, step)))


def newton_direction(
    systems: Systems, z: Floats, gradient: Floats, step: Floats, aim: Floats, most: int = MOST_PRODUCTS
) -> tuple[Floats, int, Floats]:
    """Solve for approximate Newton steps by preconditioned conjugate gradients.

    ``step`` is the preconditioned gradient. The iteration of a function ends where the norm of its residual
    falls to its aim, or after some products at most. Returns the steps, the number of products and the norms
    of the residuals.
    """
    from seminaive.kernels.vector_updates import update_direction, update_solution

    multiply = systems.hessian_product(z)
    solution = np.zeros_like(gradient)
    residual = -gradient
    direction = -step
    square = dot_of_each(residual, direction)
    n_products = 0
    active = np.sqrt(np.maximum(square, 0.0)) > aim
    while active.any() and n_products < most:
        product = multiply(direction)
        n_products += 1
        curvature = dot_of_each(direction, product)
        active &= curvature > 0
        length = np.divide(square, curvature, out=np.zeros_like(square), where=active)
        update_solution(length, direction, product, solution, residual)
        preconditioned = systems.precondition(residual)
        new_square = dot_of_each(residual, preconditioned)
        active &= np.sqrt(np.maximum(new_square, 0.0)) > aim
        factor = np.divide(new_square, square, out=np.zeros_like(square), where=active)
        update_direction(factor, preconditioned, direction)
        square = new_square
    return solution, n_products, np.sqrt(np.maximum(square, 0.0))


def stepped(
    objective: SideBySide, z: Floats, values: Floats, gradient: Floats, direction: Floats, slope: Floats
) -> tuple[Floats, Floats, Floats, int]:
    """Return the point after steps that fall enough, the values and gradients there, and the trials.

    These are 0 where no step is taken.
    """

    def attempt(step: Floats) -> tuple[Floats, Floats, tuple[Floats, Floats, Floats]]:
        there = z + step[:, None] * direction
        new_values, new_gradient = objective(there)
        return new_values, -step * slope, (there, new_values, new_gradient)

    found, trials, _ = backtrack(attempt, values, ROUNDING * np.abs(values), np.where(slope < 0, 1.0, 0.0))
    return (z, values, gradient, 0) if found is None else (*found, trials)


def dot_of_each(a: Floats, b: Floats) -> Floats:
    """Return the scalar product of each function's vectors."""
    from seminaive.kernels.vector_updates import dot_each

    products = np.empty(a.shape[1])
    dot_each(a, b, products)
    return products
