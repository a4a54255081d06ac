"""Minimise a penalised loss of a single weighting by a smooth solver, chosen by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError
from seminaive.objective.coordinates import ScaledObjective
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.conjugate_gradient import minimize_conjugate_gradient
from seminaive.solvers.lbfgs import MEMORY, minimize_lbfgs
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
    reference: float | None = None,
    report: Callable[[str], None] | None = None,
) -> SolverResult:
    """Return the minimiser, its solution shaped like the coefficients.

    Parameters
    ----------
    coordinates : Coordinates
        In which the solver searches, and in which the gradient of its certificate is measured.
    start : ndarray, shaped like the coefficients
    solver : {"lbfgs", "cg", "newton"}
    tol, max_iter
        As in `minimize_lbfgs`.
    first_step : float or None
        The first step that is tried, in gradients; by default it has length 1. Newton needs none.
    reference : float or None
        What the norm of the gradient is measured by; by default that at the start.
    report : callable or None
        Called with the objective after each pass.
    """
    scaled = reported(ScaledObjective(objective, coordinates), report)
    z = coordinates.vector(start)
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
    return replace(result, solution=coordinates.coefficients(result.solution))


def _refuse_newton(objective: PenalisedLoss) -> None:
    if objective.loss.loss != "log-likelihood":
        raise InputError("solver='newton' minimises a log loss alone: take solver='lbfgs'")
    n = objective.loss.shape[0] * objective.loss.shape[1]
    if n > MOST_NEWTON_COEFFICIENTS:
        raise InputError(
            f"solver='newton' factors a matrix over all coefficients, here {n}, and takes at most "
            f"{MOST_NEWTON_COEFFICIENTS}: take solver='lbfgs', or a lower order"
        )
