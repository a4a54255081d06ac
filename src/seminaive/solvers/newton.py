"""Minimise a smooth convex function by Newton steps with a dense Hessian."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dpotrs

from seminaive.objective.factor import lower_cholesky
from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.curvature_pairs import CurvaturePairs
from seminaive.solvers.line_search import QUASI_NEWTON_SLOPE, Point, search_wolfe
from seminaive.solvers.result import MAX_ITER, TOL, SolverResult
from seminaive.solvers.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.solvers.line_search import Objective

# A Hessian costs as much as some passes, so that it serves several steps, corrected by what they show.
STEPS_PER_HESSIAN = 4


def minimize_newton(
    objective: Objective,
    hessian: Callable[[Floats], Floats],
    start: Floats,
    *,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    reference: float | None = None,
) -> SolverResult:
    """Return a minimiser, certified by the norm of its gradient relative to that at the start.

    A handful of passes suffice where the Hessian, a matrix of the number of coefficients squared, is cheap
    to fill and to factor; each serves some steps, between which it is corrected as in quasi-Newton methods.
    The other parameters are those of `minimize_lbfgs`.
    """
    trace = Trace(objective)
    value, gradient = trace(start)
    norm = float(np.linalg.norm(gradient))
    reference = norm if reference is None else reference
    here = start
    pairs = CurvaturePairs(STEPS_PER_HESSIAN)
    factor, n_steps, n_iter = None, 0, 0
    while norm > tol * reference and n_iter < max_iter:
        if factor is None or n_steps == STEPS_PER_HESSIAN:
            factor, n_steps = lower_cholesky(hessian(here)), 0
            pairs.forget()
        direction = pairs.direction(gradient, partial(_solve, factor))
        slope = float(gradient @ direction)
        point = None
        if slope < 0:
            point = search_wolfe(
                trace, here, Point(0.0, value, gradient, slope), direction, 1.0, QUASI_NEWTON_SLOPE
            )
        n_iter += 1
        if point is None:
            if n_steps == 0:
                break
            # The Hessian is too old.
            factor = None
            continue
        moved = point.step * direction
        pairs.add(moved, point.gradient - gradient)
        here = here + moved
        value, gradient = point.value, point.gradient
        norm = float(np.linalg.norm(gradient))
        n_steps += 1
    optimality = relative_residual(norm, reference)
    return SolverResult(here, value, n_iter, optimality, optimality <= tol, trace.passes, trace.history)


def _solve(factor: Floats, right: Floats) -> Floats:
    """Return the solution of a system, given its lower Cholesky factor."""
    return np.asarray(dpotrs(factor, right, lower=True)[0])
