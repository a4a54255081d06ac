"""Minimise a smooth function by limited-memory quasi-Newton steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.curvature_pairs import CurvaturePairs
from seminaive.solvers.line_search import QUASI_NEWTON_SLOPE, Point, search_wolfe
from seminaive.solvers.result import MAX_ITER, TOL, SolverResult
from seminaive.solvers.trace import Trace

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.solvers.line_search import Objective

# Steps that are remembered; 10 to 30 are customary.
MEMORY = 20


def minimize_lbfgs(
    objective: Objective,
    start: Floats,
    *,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    reference: float | None = None,
    first_step: float | None = None,
) -> SolverResult:
    """Return a minimiser, certified by the norm of its gradient relative to that at the start.

    Parameters
    ----------
    objective : callable
        Value and gradient at a vector.
    start : ndarray of shape (n,)
    tol : float
        Norm of the gradient at which to stop, relative to the reference.
    reference : float or None
        The gradient's norm that counts as 1: by default that at the start. Warm starts give the norm at a
        cold one.
    first_step : float or None
        The first step that is tried, in gradients; by default it has length 1.
    """
    trace = Trace(objective)
    value, gradient = trace(start)
    norm = float(np.linalg.norm(gradient))
    reference = norm if reference is None else reference
    here = start
    pairs = CurvaturePairs(MEMORY)
    n_iter = 0
    while norm > tol * reference and n_iter < max_iter:
        direction = pairs.direction(gradient)
        slope = float(gradient @ direction)
        if not slope < 0:
            break
        # Later steps have a model of the curvature.
        step = 1.0 if pairs else first_step or 1.0 / norm
        point = search_wolfe(
            trace, here, Point(0.0, value, gradient, slope), direction, step, QUASI_NEWTON_SLOPE
        )
        if point is None:
            if not pairs:
                break
            # Rounding spoilt the model of the curvature: start it afresh.
            pairs.forget()
            n_iter += 1
            continue
        moved = point.step * direction
        pairs.add(moved, point.gradient - gradient)
        here = here + moved
        value, gradient = point.value, point.gradient
        norm = float(np.linalg.norm(gradient))
        n_iter += 1
    optimality = relative_residual(norm, reference)
    return SolverResult(here, value, n_iter, optimality, optimality <= tol, trace.passes, trace.history)
