"""Minimise a smooth convex function by Newton steps with a dense Hessian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

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
    to fill and to factor. The other parameters are those of `minimize_lbfgs`.
    """
    trace = Trace(objective)
    value, gradient = trace(start)
    norm = float(np.linalg.norm(gradient))
    reference = norm if reference is None else reference
    here = start
    n_iter = 0
    while norm > tol * reference and n_iter < max_iter:
        direction = -_solve(hessian(here), gradient)
        slope = float(gradient @ direction)
        point = search_wolfe(trace, here, Point(0.0, value, gradient, slope), direction, 1.0, CURVATURE)
        n_iter += 1
        if point is None:
            break
        here = here + point.step * direction
        value, gradient = point.value, point.gradient
        norm = float(np.linalg.norm(gradient))
    optimality = norm / reference if reference > 0 else 0.0
    return SolverResult(here, value, n_iter, optimality, optimality <= tol, trace.passes, trace.history)


def _solve(matrix: Floats, right: Floats) -> Floats:
    """Solve a positive semidefinite system, its flat directions held back."""
    added = JITTER * float(np.trace(matrix)) / len(matrix)
    diagonal = np.einsum("ii->i", matrix)
    while True:
        diagonal += added
        try:
            return np.asarray(cho_solve(cho_factor(matrix, lower=True), right))
        except LinAlgError:
            added *= 100
