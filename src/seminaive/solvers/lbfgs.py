"""Minimise a smooth function by limited-memory quasi-Newton steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.solvers.line_search import Point, search_wolfe
from seminaive.solvers.result import SolverResult
from seminaive.solvers.trace import Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.solvers.line_search import Objective

    Floats = NDArray[np.float64]

CURVATURE = 0.9


def minimize_lbfgs(
    objective: Objective,
    start: Floats,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    memory: int = 10,
    reference: float | None = None,
) -> SolverResult:
    """Return a minimiser, certified by the norm of its gradient relative to that at the start.

    Parameters
    ----------
    objective : callable
        Value and gradient at a vector.
    start : ndarray of shape (n,)
    tol : float
        Norm of the gradient at which to stop, relative to the reference.
    max_iter : int
    memory : int
        Steps that are remembered: more need fewer passes and more memory, ``2 * memory`` vectors.
    reference : float or None
        The gradient's norm that counts as 1: by default that at the start. Warm starts give the norm at a
        cold one.
    """
    trace = Trace(objective)
    value, gradient = trace(start)
    norm = float(np.linalg.norm(gradient))
    reference = norm if reference is None else reference
    here = start
    steps: list[Floats] = []
    changes: list[Floats] = []
    products: list[float] = []
    n_iter = 0
    while norm > tol * reference and n_iter < max_iter:
        direction = _direction(gradient, steps, changes, products)
        slope = float(gradient @ direction)
        if not slope < 0:
            break
        # The first step has length 1; later ones have a model of the curvature.
        step = 1.0 if steps else 1.0 / norm
        point = search_wolfe(trace, here, Point(0.0, value, gradient, slope), direction, step, CURVATURE)
        if point is None:
            if not steps:
                break
            # Rounding spoilt the model of the curvature: start it afresh.
            steps, changes, products = [], [], []
            n_iter += 1
            continue
        moved = point.step * direction
        change = point.gradient - gradient
        product = float(moved @ change)
        if product > 0:
            steps.append(moved)
            changes.append(change)
            products.append(product)
            if len(steps) > memory:
                del steps[0], changes[0], products[0]
        here = here + moved
        value, gradient = point.value, point.gradient
        norm = float(np.linalg.norm(gradient))
        n_iter += 1
    optimality = norm / reference if reference > 0 else 0.0
    return SolverResult(here, value, n_iter, optimality, optimality <= tol, trace.passes, trace.history)


def _direction(gradient: Floats, steps: list[Floats], changes: list[Floats], products: list[float]) -> Floats:
    """Return minus the approximate inverse Hessian times the gradient (Nocedal's two loops)."""
    q = -gradient
    shares = []
    for step, change, product in zip(reversed(steps), reversed(changes), reversed(products), strict=True):
        share = float(step @ q) / product
        q -= share * change
        shares.append(share)
    if steps:
        q *= products[-1] / float(changes[-1] @ changes[-1])
    for step, change, product, share in zip(steps, changes, products, reversed(shares), strict=True):
        q += (share - float(change @ q) / product) * step
    return q
