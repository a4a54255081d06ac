"""Minimise a smooth function by conjugate gradients (Polak and Ribiere, with restarts)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.line_search import CONJUGATE_SLOPE, Point, search_wolfe
from seminaive.solvers.result import MAX_ITER, TOL, SolverResult
from seminaive.solvers.trace import Trace

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.solvers.line_search import Objective


def minimize_conjugate_gradient(
    objective: Objective,
    start: Floats,
    *,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    reference: float | None = None,
    first_step: float | None = None,
) -> SolverResult:
    """Return a minimiser, certified by the norm of its gradient relative to that at the start.

    It remembers one vector where L-BFGS remembers twenty, and needs more passes. The parameters are those
    of `minimize_lbfgs`.
    """
    trace = Trace(objective)
    value, gradient = trace(start)
    norm = float(np.linalg.norm(gradient))
    reference = norm if reference is None else reference
    here = start
    direction = -gradient
    step = first_step or (1.0 / norm if norm > 0 else 1.0)
    steepest = True
    n_iter = 0
    while norm > tol * reference and n_iter < max_iter:
        slope = float(gradient @ direction)
        point = None
        if slope < 0:
            point = search_wolfe(
                trace, here, Point(0.0, value, gradient, slope), direction, step, CONJUGATE_SLOPE
            )
        n_iter += 1
        if point is None:
            if steepest:
                break
            direction, steepest = -gradient, True
            step = 1.0 / norm
            continue
        here = here + point.step * direction
        ahead = max(float(point.gradient @ (point.gradient - gradient)) / norm**2, 0.0)
        new_direction = -point.gradient + ahead * direction
        steepest = ahead == 0.0
        value, gradient = point.value, point.gradient
        norm = float(np.linalg.norm(gradient))
        # The first-order change that the last step achieved, expected again.
        new_slope = float(gradient @ new_direction)
        step = point.step * slope / new_slope if new_slope < 0 else point.step
        direction = new_direction
    optimality = relative_residual(norm, reference)
    return SolverResult(here, value, n_iter, optimality, optimality <= tol, trace.passes, trace.history)
