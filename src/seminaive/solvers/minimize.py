"""Minimise smooth convex functions side by side by Newton steps, each certified by its Newton decrement.

This is the truncated Newton method (Nocedal and Wright, 2006, section 7.1) with three additions: the
functions share every pass over the rows; the conjugate-gradient solution at a point is the certificate of
that point, so that a certificate costs one solution per fit; and a preconditioner is built again once the
Hessian products since the last build have cost as much as a build.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seminaive.design.rounding import ROUNDING
from seminaive.solvers.certificates import relative_decrement
from seminaive.solvers.line_search import FORCING, backtrack
from seminaive.solvers.result import SolverResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats

    Multiply = Callable[[Floats], Floats]

# Hessian products per Newton step: far more than one takes unless rounding stops all progress.
MOST_PRODUCTS = 100
# A point is certified once the residual of its Newton equations could hide this share of what is allowed. The
# preconditioner may take some directions for a thousand times shorter than they are: classes that it takes
# apart, odds that grew since it was built.
CERTAIN = 1e-3


class Objective(Protocol):
    """Convex functions that are evaluated together; vectors have the shape (rows, functions, columns)."""

    @property
    def at_equal(self) -> Floats:
        """Return the loss of equal odds of each function; less than the rounding of it is no gain."""

    def __call__(self, z: Floats, /) -> tuple[Floats, Floats]:
        """Return the value of each function, and the gradients."""

    def hessian_product(self, z: Floats, /) -> Multiply:
        """Return the function that multiplies a direction by the Hessians at a point."""


class Preconditioner(Protocol):
    """An approximate inverse C of the Hessians."""

    @property
    def cost(self) -> float:
        """Return what building another one costs, in Hessian products."""

    def __call__(self, gradient: Floats, /) -> Floats:
        """Return C times the gradients."""

    def at(self, z: Floats, paid: int, /) -> Preconditioner:
        """Return the preconditioner of the Hessians at a point, after ``paid`` products with this one."""


@dataclass(frozen=True)
class NewtonStep:
    """Approximate Newton steps from a point.

    Parameters
    ----------
    direction : ndarray of shape (rows, functions, columns)
    gap : ndarray of shape (functions,)
        Half the Newton decrement: by how much each function exceeds the minimum of its quadratic model.
    products : int
        Hessian products.
    """

    direction: Floats
    gap: Floats
    products: int


class NewtonSteps(Protocol):
    """A way to take Newton steps: among all vectors (`free_step`), or among those that obey inequalities."""

    def __call__(
        self, multiply: Multiply, preconditioner: Any, z: Floats, gradient: Floats, wanted: Floats, /
    ) -> NewtonStep:
        """Return steps, given by how much each function may exceed its minimum: infinite where it stays."""


def minimize(
    objective: Objective,
    start: Floats,
    preconditioner: Preconditioner,
    *,
    tol: float,
    max_iter: int,
    step_from: NewtonSteps | None = None,
) -> SolverResult:
    """Return the minimisers: each function exceeds its minimum by at most ``tol**2`` of its value.

    The excess is half the Newton decrement ``g'H^-1 g``, with the Hessian H of that very point. The step that
    certifies a point is taken, too, if it lowers the function, so that the solution is closer than that; it
    has to lower the function by no more than it promised.

    Parameters
    ----------
    start : ndarray of shape (rows, functions, columns)
    max_iter : int
        Newton steps.
    step_from : callable or None
        How a step is found; None is `free_step`.
    """
    step_from = free_step if step_from is None else step_from
    z = start
    values, gradient = objective(z)
    passes, paid, n_iter = 1, 0, 0
    excess = np.full(len(values), np.inf)
    certified, stalled = np.zeros((2, len(values)), dtype=bool)
    while True:
        active = ~(certified | stalled)
        allowed = np.maximum(tol**2 * np.abs(values), ROUNDING * objective.at_equal)
        wanted = np.where(active, allowed, np.inf)
        step = step_from(objective.hessian_product(z), preconditioner, z, gradient, wanted)
        excess[active] = (step.gap / allowed)[active]
        before = values
        slope = dot_of_each(gradient, step.direction)
        z, values, gradient, trials = stepped(objective, z, values, gradient, step.direction, slope)
        passes, paid, n_iter = passes + step.products + trials, paid + step.products, n_iter + 1
        fallen, rounding = before - values, ROUNDING * np.maximum(np.abs(values), objective.at_equal)
        # A function that falls further than its quadratic model had a minimum further down than that says.
        certified |= (excess <= 1.0) & (fallen <= (1.0 + FORCING) * step.gap + rounding)
        stalled |= active & ~certified & ~(fallen > ROUNDING * np.abs(values))
        if (certified | stalled).all() or n_iter >= max_iter:
            break
        if paid > preconditioner.cost:
            preconditioner, paid = preconditioner.at(z, paid), 0
    optimality = relative_decrement(excess, tol)
    converged = bool(certified.all())
    ended = bool((certified | stalled).all())
    return SolverResult(
        z, float(values.sum()), n_iter, optimality, converged, passes, stalled=ended and not converged
    )


def free_step(
    multiply: Multiply, preconditioner: Preconditioner, z: Floats, gradient: Floats, wanted: Floats
) -> NewtonStep:
    """Return Newton steps by conjugate gradients, with half the decrement that they find and leave."""
    del z
    step = preconditioner(gradient)
    aim = np.where(np.isfinite(wanted), FORCING * norms(gradient, step), np.inf)
    direction, products, left = conjugate_gradients(multiply, preconditioner, gradient, step, aim, wanted)
    # Conjugate gradients know the decrement from below; the rest is that of the residual in the metric of C.
    gap = 0.5 * (left**2 - dot_of_each(gradient, direction))
    return NewtonStep(direction, gap, products)


def norms(gradient: Floats, step: Floats) -> Floats:
    """Return the norms of gradients in the metric of a preconditioner, given its steps along them."""
    # Rounding may turn the sign of a product that should be positive: that is no sign of a minimum.
    return np.sqrt(np.abs(dot_of_each(gradient, step)))


def conjugate_gradients(
    multiply: Multiply,
    precondition: Multiply,
    gradient: Floats,
    step: Floats,
    aim: Floats,
    wanted: Floats | float = 0.0,
) -> tuple[Floats, int, Floats]:
    """Solve ``H d = -gradient`` for each function by preconditioned conjugate gradients.

    ``step`` is the preconditioned gradient. The iteration of a function ends where the norm of its residual
    falls to its aim and, while half the decrement found so far is less than ``wanted``, to `CERTAIN` of that,
    too. Norms are those of the preconditioner C, times the root of the longest step so far: 1 over a step's
    length lies between the eigenvalues of C H, so that where C makes a direction much too short, the residual
    counts for about as much as in the metric of the inverse Hessian. Returns the solutions, the number of
    products and the norms of the residuals.
    """
    from seminaive.kernels.vector_updates import update_direction, update_solution

    solution = np.zeros_like(gradient)
    residual = -gradient
    direction = -step
    square = dot_of_each(residual, direction)
    n_products, longest, decrement = 0, np.ones_like(square), np.zeros_like(square)
    active = np.sqrt(np.maximum(square, 0.0)) > aim
    while active.any() and n_products < MOST_PRODUCTS:
        product = multiply(direction)
        n_products += 1
        curvature = dot_of_each(direction, product)
        active &= curvature > 0
        # x += a p and r -= a H p, with the length a = r'C r / p'H p.
        length = np.divide(square, curvature, out=np.zeros_like(square), where=active)
        update_solution(length, direction, product, solution, residual)
        longest = np.maximum(longest, length)
        decrement += length * square
        preconditioned = precondition(residual)
        new_square = dot_of_each(residual, preconditioned)
        left = np.maximum(longest * new_square, 0.0)
        active &= (np.sqrt(left) > aim) | ((0.5 * decrement <= wanted) & (0.5 * left > CERTAIN * wanted))
        # p = C r + b p, with b the ratio of the new r'C r to the old one.
        factor = np.divide(new_square, square, out=np.zeros_like(square), where=active)
        update_direction(factor, preconditioned, direction)
        square = new_square
    return solution, n_products, np.sqrt(np.maximum(longest * square, 0.0))


def stepped(
    objective: Objective, z: Floats, values: Floats, gradient: Floats, direction: Floats, slope: Floats
) -> tuple[Floats, Floats, Floats, int]:
    """Return the point after steps that lower each function enough, its values and gradients, and the trials.

    Without any such step these are the point that was given, and no trials.
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
