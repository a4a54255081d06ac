"""Minimise a smooth convex function by Newton steps with a dense Hessian."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from seminaive.solvers.curvature_pairs import CurvaturePairs
from seminaive.solvers.line_search import Point, search_wolfe
from seminaive.solvers.result import SolverResult
from seminaive.solvers.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.solvers.line_search import Objective

    Floats = NDArray[np.float64]

CURVATURE = 0.9
# Added to the diagonal, as a share of its mean, and raised until the matrix is positive definite: directions
# without curvature, such as adding one number to every class, do not move.
JITTER = 1e-9
# A Hessian costs as much as some passes, so that it serves several steps, corrected by what they show.
STEPS_PER_HESSIAN = 4


def minimize_newton(
    objective: Objective,
    hessian: Callable[[Floats], Floats],
    start: Floats,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
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
            factor, n_steps = _factored(hessian(here)), 0
            pairs.forget()
        direction = pairs.direction(gradient, partial(cho_solve, factor))
        slope = float(gradient @ direction)
        point = None
        if slope < 0:
            point = search_wolfe(trace, here, Point(0.0, value, gradient, slope), direction, 1.0, CURVATURE)
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
    optimality = norm / reference if reference > 0 else 0.0
    return SolverResult(here, value, n_iter, optimality, optimality <= tol, trace.passes, trace.history)


def _factored(matrix: Floats) -> tuple[Floats, bool]:
    """Factor a positive semidefinite matrix, its flat directions held back; zeros become the identity."""
    added = JITTER * float(np.trace(matrix)) / len(matrix) or 1.0
    diagonal = np.einsum("ii->i", matrix)
    while True:
        diagonal += added
        try:
            factor, lower = cho_factor(matrix, lower=True)
        except LinAlgError:
            added *= 100
        else:
            return factor, lower
