"""Minimise a smooth convex function of weights that must not be negative, by projected Newton steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dpotrs

from seminaive.design.rounding import ROUNDING
from seminaive.objective.factor import lower_cholesky
from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.line_search import backtrack
from seminaive.solvers.result import MAX_ITER, TOL, SolverResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats


def minimize_nonnegative(
    objective: Callable[[Floats], tuple[float, Floats]],
    hessian: Callable[[Floats], Floats],
    start: Floats,
    *,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
) -> SolverResult:
    """Return the minimiser over ``z >= 0``, certified by its projected gradient.

    A weight at 0 whose derivative is positive stays there; the others take a Newton step, which is cut where
    a weight would become negative and halved until the objective falls (Bertsekas, 1982).

    Parameters
    ----------
    objective : callable
        Value and gradient at a vector.
    hessian : callable
        The Hessian at a vector.
    start : ndarray of shape (n,)
        Not negative.
    tol : float
        Norm of the projected gradient at which to stop, relative to the larger of those at the start and at
        zero weights: a start that is a minimum already has hardly a gradient to compare with. One step is
        taken in any case.
    """
    z = start
    value, gradient = objective(z)
    norm = _projected_norm(z, gradient)
    nothing = np.zeros_like(z)
    reference = max(norm, _projected_norm(nothing, objective(nothing)[1]))
    passes, n_iter, stalled = 2, 0, False
    while norm > (tol * reference if n_iter else 0.0) and n_iter < max_iter and not stalled:
        free = (z > 0) | (gradient < 0)
        direction = np.zeros_like(z)
        # Copies of a term have no curvature apart.
        factor = lower_cholesky(hessian(z)[np.ix_(free, free)])
        direction[free] = -dpotrs(factor, gradient[free], lower=True)[0]
        found, trials = _stepped(objective, z, value, gradient, direction)
        passes += trials
        stalled = found is None
        z, value, gradient = found or (z, value, gradient)
        norm = _projected_norm(z, gradient)
        n_iter += 1
    optimality = relative_residual(norm, reference)
    return SolverResult(z, value, n_iter, optimality, optimality <= tol, passes, stalled=stalled)


def _projected_norm(z: Floats, gradient: Floats) -> float:
    """Return the norm of the gradient without what points out of the allowed weights: zero at a minimum."""
    return float(np.linalg.norm(np.where(z > 0, gradient, np.minimum(gradient, 0.0))))


def _stepped(
    objective: Callable[[Floats], tuple[float, Floats]],
    z: Floats,
    value: float,
    gradient: Floats,
    direction: Floats,
) -> tuple[tuple[Floats, float, Floats] | None, int]:
    """Halve a step until the projected point lowers the objective enough; also the number of trials."""

    def attempt(step: float) -> tuple[float, float, tuple[Floats, float, Floats]]:
        there = np.maximum(z + step * direction, 0.0)
        new_value, new_gradient = objective(there)
        return new_value, -float(gradient @ (there - z)), (there, new_value, new_gradient)

    return backtrack(attempt, value, ROUNDING * abs(value))[:2]
