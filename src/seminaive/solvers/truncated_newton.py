"""Minimise several smooth convex functions at once by Newton steps found by conjugate gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from seminaive.solvers.result import SolverResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# A Newton step is followed until its residual falls to this share of the gradient.
FORCING = 0.15
# Products with second derivatives per step: far more than a step takes unless rounding rules.
MOST_PRODUCTS = 100
SUFFICIENT_DECREASE = 1e-4
MOST_HALVINGS = 30
# Differences of the objective below this share of it are rounding.
ROUNDING = 1e-13


class SideBySide(Protocol):
    """Functions that are evaluated together; vectors have the shape (rows, functions, columns)."""

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the value of each function, and the gradients."""

    def curvature_product(self, z: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the second derivatives at z."""

    def precondition(self, gradient: Floats) -> Floats:
        """Return gradients times an approximate inverse of the second derivatives."""


def minimize_truncated_newton(
    objective: SideBySide,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
    reference: Floats,
    enough: Callable[[Floats], bool] | None = None,
) -> SolverResult:
    """Return the minimisers, certified by the largest norm of a gradient relative to its reference.

    Each function has steps of its own, but all of them are evaluated, and their second derivatives
    multiplied, in the same passes. Norms of gradients are those of the preconditioner: half the square of
    one is about the distance of a value from its minimum.

    Parameters
    ----------
    objective : SideBySide
    start : ndarray of shape (rows, functions, columns)
    tol : float
        Norm of the gradient at which a function is done, relative to its reference.
    max_iter : int
        Newton steps.
    reference : ndarray of shape (functions,)
    enough : callable or None
        Called with the place after each step; where it returns True, the search ends.
    """
    z = start
    values, gradient = objective(z)
    step = objective.precondition(gradient)
    norm = _norms(gradient, step)
    passes = 1
    n_iter = 0
    active = norm > tol * reference
    while active.any() and n_iter < max_iter:
        aim = np.where(active, np.maximum(FORCING * norm, 0.5 * tol * reference), np.inf)
        direction, products = _newton_direction(objective, z, gradient, step, aim)
        slope = _dot(gradient, direction)
        old_values = values
        z, values, gradient, trials = _backtrack(objective, z, values, gradient, direction, slope)
        passes += products + trials
        n_iter += 1
        step = objective.precondition(gradient)
        before, norm = norm, _norms(gradient, step)
        if not trials or (enough is not None and enough(z)):
            break
        falls = old_values - values > ROUNDING * np.abs(values)
        active = (norm > tol * reference) & ((norm < before) | falls)
    optimality = float(np.max(norm / np.where(reference > 0, reference, 1.0), initial=0.0))
    return SolverResult(z, float(values.sum()), n_iter, optimality, optimality <= tol, passes)


def gradient_norms(objective: SideBySide, gradient: Floats) -> Floats:
    """Return the norm of each function's gradient in the metric of the preconditioner."""
    return _norms(gradient, objective.precondition(gradient))


def _norms(gradient: Floats, step: Floats) -> Floats:
    """Return the norms of gradients, given the preconditioner's steps along them."""
    # Rounding may turn the sign of a product that should be positive: that is no sign of a minimum.
    return np.sqrt(np.abs(_dot(gradient, step)))


def _newton_direction(
    objective: SideBySide, z: Floats, gradient: Floats, step: Floats, aim: Floats
) -> tuple[Floats, int]:
    """Return approximate Newton steps and the number of products: conjugate gradients for each function.

    The gradient comes with the preconditioner's step along it. A function stops where its residual falls to
    its aim.
    """
    from seminaive.kernels.conjugate import move_each, turn_each

    product = objective.curvature_product(z)
    direction = np.zeros_like(gradient)
    residual = -gradient
    way = -step
    square = _dot(residual, way)
    n_products = 0
    active = np.sqrt(np.maximum(square, 0.0)) > aim
    while active.any() and n_products < MOST_PRODUCTS:
        curved = product(way)
        n_products += 1
        curvature = _dot(way, curved)
        active &= curvature > 0
        share = np.divide(square, curvature, out=np.zeros_like(square), where=active)
        move_each(share, way, curved, direction, residual)
        ahead = objective.precondition(residual)
        new_square = _dot(residual, ahead)
        active &= np.sqrt(np.maximum(new_square, 0.0)) > aim
        turn_each(np.divide(new_square, square, out=np.zeros_like(square), where=active), ahead, way)
        square = new_square
    return direction, n_products


def _backtrack(
    objective: SideBySide, z: Floats, values: Floats, gradient: Floats, direction: Floats, slope: Floats
) -> tuple[Floats, Floats, Floats, int]:
    """Halve the steps of the functions that do not decrease enough.

    Returns the place, the values and gradients there, and the number of trials; 0 where no step is taken.
    """
    step = np.where(slope < 0, 1.0, 0.0)
    allowed = ROUNDING * np.abs(values)
    for trial in range(1, MOST_HALVINGS + 1):
        there = z + step[:, None] * direction
        new_values, new_gradient = objective(there)
        good = new_values <= values + SUFFICIENT_DECREASE * step * slope + allowed
        if good.all():
            return there, new_values, new_gradient, trial
        step = np.where(good, step, 0.5 * step)
    return z, values, gradient, 0


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the scalar product of each function's vectors."""
    from seminaive.kernels.conjugate import dot_each

    products = np.empty(a.shape[1])
    dot_each(a, b, products)
    return products
