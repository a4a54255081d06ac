"""Minimise several smooth convex functions at once under linear inequalities, by truncated Newton steps.

The minimum of the preconditioner's quadratic model under the inequalities says which of them hold as
equalities. From there, conjugate gradients in the subspace of these equalities minimise the quadratic model
of the Hessian, as far as the other inequalities allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrs

from seminaive.design.rounding import ROUNDING
from seminaive.objective.factor import lower_cholesky
from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.line_search import FORCING
from seminaive.solvers.nonnegative_quadratic import minimize_quadratic
from seminaive.solvers.result import SolverResult
from seminaive.solvers.truncated_newton import dot_of_each, newton_direction, stepped

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.solvers.truncated_newton import SideBySide

    Mask = NDArray[np.bool_]


class Inequalities(Protocol):
    """Linear inequalities ``A b >= 0`` in coefficients b, (rows, columns)."""

    def __len__(self) -> int:
        """Return the number of inequalities."""

    def slacks(self, coefficients: Floats) -> Floats:
        """Return A b."""

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return A'm."""


def nearest_obeying(inequalities: Inequalities, gram: Floats, coefficients: Floats) -> Floats:
    """Return the coefficients that obey, nearest to some that may violate the inequalities by rounding.

    ``gram`` is A A'.
    """
    slacks = inequalities.slacks(coefficients)
    if not (slacks < 0).any():
        return coefficients
    return coefficients + inequalities.adjoint(minimize_quadratic(gram, slacks, slacks < 0))


@dataclass(frozen=True)
class ConstrainedProblem:
    """Functions of coefficients that obey inequalities; vectors have the shape (rows, functions, columns).

    Parameters
    ----------
    objective : SideBySide
        With the preconditioner C, an approximate inverse of the Hessian.
    inequalities : Inequalities
        Of each function's coefficients.
    covariances : list of ndarray of shape (inequalities, inequalities)
        A C A' of each function.
    """

    objective: SideBySide
    inequalities: Inequalities
    covariances: list[Floats]

    def slacks(self, coefficients: Floats) -> Floats:
        """Return A b of each function, (functions, inequalities)."""
        return np.stack([self.inequalities.slacks(each) for each in coefficients.swapaxes(0, 1)])

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return A'm of each function."""
        return np.stack([self.inequalities.adjoint(each) for each in multipliers], axis=1)

    def model_step(self, slacks: Floats, step: Floats, gradient: Floats, active: Mask) -> ModelStep:
        """Minimise ``g'd + d'C^-1 d / 2`` under ``A (b + d) >= 0``, given A b and C g.

        The dual is a quadratic function of multipliers; ``active`` is a guess at which are positive.
        """
        unconstrained = slacks - self.slacks(step)
        problems = zip(self.covariances, unconstrained, active, strict=True)
        multipliers = np.stack([minimize_quadratic(*problem) for problem in problems])
        pull = self.adjoint(multipliers)
        direction = self.objective.precondition(pull) - step
        # Twice the decrease of the model: where A b >= 0, a sum of two terms that are not negative.
        square = dot_of_each(pull - gradient, direction)
        square += 2 * np.einsum("ij,ij->i", multipliers, np.maximum(slacks, 0.0))
        return ModelStep(direction, multipliers, np.sqrt(np.abs(square)))

    def nearest(self, coefficients: Floats) -> Floats:
        """Return the coefficients that obey, nearest in the metric of the preconditioner."""
        slacks = self.slacks(coefficients)
        if not (slacks < 0).any():
            return coefficients
        nothing = np.zeros_like(coefficients)
        return coefficients + self.model_step(slacks, nothing, nothing, slacks < 0).direction


@dataclass(frozen=True)
class ModelStep:
    """The minimum of the preconditioner's quadratic model under the inequalities.

    Parameters
    ----------
    direction : ndarray of shape (rows, functions, columns)
        From the current point to the minimum.
    multipliers : ndarray of shape (functions, inequalities)
    norms : ndarray of shape (functions,)
        The root of twice the decrease of the model, 0 at a minimum of the function: without inequalities the
        norm of the gradient in the metric of the preconditioner.
    """

    direction: Floats
    multipliers: Floats
    norms: Floats


class _Face:
    """The Hessians and preconditioners in the subspaces in which some inequalities are equalities.

    Parameters
    ----------
    equal : ndarray of bool of shape (functions, inequalities)
    multiply : callable
        The product with the Hessians.
    """

    def __init__(
        self, problem: ConstrainedProblem, equal: Mask, multiply: Callable[[Floats], Floats]
    ) -> None:
        self._problem, self._equal, self._multiply = problem, equal, multiply
        rounding = equal.shape[1] * np.finfo(float).eps
        self._factors = [
            lower_cholesky(covariance[np.ix_(mask, mask)], rounding) if mask.any() else None
            for covariance, mask in zip(problem.covariances, equal, strict=True)
        ]

    def hessian_product(self, _: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessians."""
        return self._multiply

    def within(self, gradient: Floats) -> Floats:
        """Return ``g - E'(E C E')^-1 E C g``, E the rows of A that are equalities: g without their forces."""
        problem = self._problem
        if not self._equal.any():
            return gradient
        forces = np.zeros(self._equal.shape)
        slacks = problem.slacks(problem.objective.precondition(gradient))
        for force, slack, equal, factor in zip(forces, slacks, self._equal, self._factors, strict=True):
            if factor is not None:
                force[equal], _ = dpotrs(factor, slack[equal], lower=True)
        return gradient - problem.adjoint(forces)

    def precondition(self, gradient: Floats) -> Floats:
        """Return the step along the gradient within the subspaces."""
        return self._problem.objective.precondition(self.within(gradient))


def minimize_constrained(
    problem: ConstrainedProblem, start: Floats, *, tol: float, max_iter: int
) -> SolverResult:
    """Return the minimisers, certified by the decrease that the model under the inequalities promises.

    Norms are relative to the root of twice each value at the start, so that ``tol`` squared is about the
    share of the value by which it may exceed its minimum, as in `minimize_truncated_newton`.

    Parameters
    ----------
    start : ndarray of shape (rows, functions, columns)
        Moved to the nearest coefficients that obey.
    max_iter : int
        Newton steps.
    """
    objective = problem.objective
    z = problem.nearest(start)
    values, gradient = objective(z)
    reference = np.sqrt(2 * np.abs(values))
    slacks = problem.slacks(z)
    found = problem.model_step(slacks, objective.precondition(gradient), gradient, slacks <= 0)
    passes, n_iter = 1, 0
    active = found.norms > tol * reference
    while active.any() and n_iter < max_iter:
        aim = np.where(active, np.maximum(FORCING * found.norms, 0.5 * tol * reference), np.inf)
        direction, products = _newton_step(problem, z, gradient, slacks, found, aim)
        old_values = values
        slope = dot_of_each(gradient, direction)
        z, values, gradient, trials = stepped(objective, z, values, gradient, direction, slope)
        passes += products + trials
        n_iter += 1
        slacks, before = problem.slacks(z), found
        step = objective.precondition(gradient)
        found = problem.model_step(slacks, step, gradient, found.multipliers > 0)
        falls = old_values - values > ROUNDING * np.abs(values)
        active = (found.norms > tol * reference) & ((found.norms < before.norms) | falls) & (trials > 0)
    optimality = relative_residual(found.norms, reference)
    converged = optimality <= tol
    stalled = not converged and not active.any()
    return SolverResult(z, float(values.sum()), n_iter, optimality, converged, passes, stalled=stalled)


def _newton_step(
    problem: ConstrainedProblem, z: Floats, gradient: Floats, slacks: Floats, found: ModelStep, aim: Floats
) -> tuple[Floats, int]:
    """Return steps to points that obey, and the number of Hessian products.

    Along the model's step as far as the Hessian says, then by conjugate gradients in the face that it ends
    in, as far as the inequalities that are no equalities there allow.
    """
    multiply = problem.objective.hessian_product(z)
    product = multiply(found.direction)
    slope = -dot_of_each(gradient, found.direction)
    curvature = dot_of_each(found.direction, product)
    length = np.clip(np.divide(slope, curvature, out=np.ones_like(slope), where=curvature > 0), 0.0, 1.0)
    first = length[:, None] * found.direction
    equal = found.multipliers > 0
    face = _Face(problem, equal, multiply)
    # The forces of the equalities are far larger than the gradient that is left, and would drown it.
    there = face.within(gradient + length[:, None] * product)
    further, n_products, _ = newton_direction(face, z, there, face.precondition(there), aim)
    room, change = np.maximum(slacks + problem.slacks(first), 0.0), problem.slacks(further)
    limits = np.full_like(room, np.inf)
    np.divide(room, -change, out=limits, where=(change < 0) & ~equal)
    allowed = np.minimum(limits.min(axis=1, initial=np.inf), 1.0)
    return first + allowed[:, None] * further, n_products + 1
