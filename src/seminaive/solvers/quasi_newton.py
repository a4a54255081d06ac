"""Minimise a penalised loss of a single weighting by a smooth solver, chosen by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError
from seminaive.objective.coordinates import ScaledObjective
from seminaive.objective.factor import inverse_of, lower_cholesky
from seminaive.objective.preconditioner import BuiltPreconditioner
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.conjugate_gradient import minimize_conjugate_gradient
from seminaive.solvers.lbfgs import MEMORY, minimize_lbfgs
from seminaive.solvers.minimize import minimize as minimize_by_newton
from seminaive.solvers.newton import minimize_newton
from seminaive.solvers.trace import reported

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.objective.coordinates import Coordinates
    from seminaive.objective.penalised_loss import PenalisedLoss
    from seminaive.solvers.result import SolverResult

# Coefficients up to which a Hessian is factored: it then takes 288 MB.
MOST_NEWTON_COEFFICIENTS = 6000
# Vectors of coefficients that a solver keeps at most: two for each step that L-BFGS remembers, and a handful.
MOST_VECTORS = 2 * MEMORY + 8


def minimize(
    objective: PenalisedLoss,
    coordinates: Coordinates,
    start: Floats,
    *,
    solver: str = "lbfgs",
    tol: float,
    max_iter: int,
    first_step: float | None = None,
    report: Callable[[str], None] | None = None,
) -> SolverResult:
    """Return the minimiser, its solution shaped like the coefficients.

    A log loss is convex: from where a solver arrives, Newton steps certify the minimum, or go on to it.

    Parameters
    ----------
    coordinates : Coordinates
        In which the solver searches, and in which the gradient of its certificate is measured.
    start : ndarray, shaped like the coefficients
    solver : {"lbfgs", "cg", "newton"}
    tol : float
        The square is the share of its value by which a log loss, penalty included, may exceed its minimum;
        for another loss the norm of the gradient at which to stop, relative to that at the start.
    max_iter : int
        Steps of the solver.
    first_step : float or None
        The first step that is tried, in gradients; by default it has length 1. Newton needs none.
    report : callable or None
        Called with the objective after each pass.
    """
    scaled = reported(ScaledObjective(objective, coordinates), report)
    z = coordinates.vector(start)
    is_convex = objective.loss.loss == "log-likelihood"
    # In scaled coordinates half the squared norm of the gradient is about the distance from the minimum.
    reference = float(np.sqrt(2.0 * objective.at_equal[0])) if is_convex else None
    limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "reference": reference}
    with one_blas_thread():
        if solver == "newton":
            _refuse_newton(objective)
            hessian = ScaledObjective(objective, coordinates).hessian
            result = minimize_newton(scaled, hessian, z, **limits)
        elif solver == "cg":
            result = minimize_conjugate_gradient(scaled, z, first_step=first_step, **limits)
        else:
            result = minimize_lbfgs(scaled, z, first_step=first_step, **limits)
        result = replace(result, solution=coordinates.coefficients(result.solution))
        if not is_convex:
            return result
        preconditioner = _preconditioner(objective, coordinates, result.solution, dense=solver == "newton")
        return _certified(objective, preconditioner, result, tol, max_iter)


def _preconditioner(
    objective: PenalisedLoss, coordinates: Coordinates, at: Floats, *, dense: bool
) -> BuiltPreconditioner:
    """Return about the inverse Hessian: that at a point, or that of the coordinates being the identity."""
    if dense:
        inverse = inverse_of(lower_cholesky(objective.hessian(at)))
        free = np.broadcast_to(objective.ridge.strength, at.shape).max(axis=1) == 0

        def multiply(gradient: Floats) -> Floats:
            step = np.asarray(inverse @ gradient.ravel()).reshape(gradient.shape)
            if at.shape[1] > 1:
                # Nothing determines what is added to an intercept of all classes.
                step[free] -= step[free].mean(axis=2, keepdims=True)
            return step
    else:

        def multiply(gradient: Floats) -> Floats:
            z = coordinates.gradient(gradient.reshape(at.shape).copy())
            return coordinates.coefficients(z).reshape(gradient.shape)

    made = BuiltPreconditioner(multiply, np.inf, lambda *_: made)
    return made


def _certified(
    objective: PenalisedLoss,
    preconditioner: BuiltPreconditioner,
    found: SolverResult,
    tol: float,
    max_iter: int,
) -> SolverResult:
    """Return the minimum by Newton steps from where a solver ended; one is taken in any case."""
    start = found.solution.reshape(objective.loss.shape[0], 1, -1)
    ended = minimize_by_newton(
        objective, start, preconditioner, tol=tol, max_iter=max(max_iter - found.n_iter, 1)
    )
    history = np.concatenate([found.history, np.full(ended.passes, found.objective)])
    history[-1] = min(ended.objective, found.objective)
    return replace(
        ended,
        solution=ended.solution.reshape(found.solution.shape),
        n_iter=min(found.n_iter + ended.n_iter, max_iter),
        passes=found.passes + ended.passes,
        history=history,
    )


def _refuse_newton(objective: PenalisedLoss) -> None:
    if objective.loss.loss != "log-likelihood":
        raise InputError("solver='newton' minimises a log loss alone: take solver='lbfgs'")
    n = objective.loss.shape[0] * objective.loss.shape[1]
    if n > MOST_NEWTON_COEFFICIENTS:
        raise InputError(
            f"solver='newton' factors a matrix over all coefficients, here {n}, and takes at most "
            f"{MOST_NEWTON_COEFFICIENTS}: take solver='lbfgs', or a lower order"
        )
