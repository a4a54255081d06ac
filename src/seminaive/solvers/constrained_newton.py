"""Newton steps of several smooth convex functions side by side under linear inequalities.

The minimum of the preconditioner's quadratic model under the inequalities says which of them hold as
equalities. From there, conjugate gradients in the subspace of these equalities minimise the quadratic model
of the Hessian, as far as the other inequalities allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrs

from seminaive.objective.factor import lower_cholesky
from seminaive.solvers.line_search import FORCING
from seminaive.solvers.minimize import NewtonStep, conjugate_gradients, dot_of_each, norms
from seminaive.solvers.nonnegative_quadratic import minimize_quadratic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.objective.preconditioner import BuiltPreconditioner
    from seminaive.solvers.minimize import Multiply

    Mask = NDArray[np.bool_]


class Inequalities(Protocol):
    """Linear inequalities ``A b >= 0`` in coefficients b, (rows, columns)."""

    def __len__(self) -> int:
        """Return the number of inequalities."""

    def slacks(self, coefficients: Floats) -> Floats:
        """Return A b."""

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return A'm."""


@dataclass(frozen=True)
class Nonnegative:
    """``b >= 0`` for n coefficients of one column."""

    n: int

    def __len__(self) -> int:
        return self.n

    def slacks(self, coefficients: Floats) -> Floats:
        """Return the coefficients themselves."""
        return coefficients[:, 0]

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return the multipliers themselves."""
        return multipliers[:, None]


@dataclass(frozen=True)
class DenseModel:
    """The inverse of a dense Hessian over nonnegative coefficients of one column."""

    inverse: Floats

    def __call__(self, gradient: Floats) -> Floats:
        """Return the inverse times a gradient."""
        return np.asarray(self.inverse @ gradient[:, 0])[:, None]

    def covariances(self) -> list[Floats]:
        """Return what the model says of the coefficients: the inverse itself."""
        return [self.inverse]


def nearest_obeying(inequalities: Inequalities, gram: Floats, coefficients: Floats) -> Floats:
    """Return the coefficients that obey, nearest to some that may violate the inequalities by rounding.

    ``gram`` is A A'.
    """
    slacks = inequalities.slacks(coefficients)
    if not (slacks < 0).any():
        return coefficients
    return coefficients + inequalities.adjoint(minimize_quadratic(gram, slacks, slacks < 0))


class ConstrainedSteps:
    """Newton steps of functions whose coefficients obey inequalities (`minimize.NewtonSteps`).

    Parameters
    ----------
    inequalities : Inequalities
        Of each function's coefficients. The ``inverse`` of a preconditioner knows ``covariances`` of theirs.
    """

    def __init__(self, inequalities: Inequalities) -> None:
        self.inequalities = inequalities
        self._positive: Mask | None = None
        self._built: tuple[Any, list[Floats]] | None = None

    def __call__(
        self,
        multiply: Multiply,
        preconditioner: BuiltPreconditioner,
        z: Floats,
        gradient: Floats,
        wanted: Floats,
    ) -> NewtonStep:
        """Return steps to points that obey, and how much the quadratic models fall under the inequalities.

        Along the model's step as far as the Hessian says, then by conjugate gradients in the face that it
        ends in, as far as the inequalities that are no equalities there allow.
        """
        slacks = self.slacks(z)
        model = self._model_step(preconditioner, slacks, preconditioner(gradient), gradient)
        self._positive = model.multipliers > 0
        product = multiply(model.direction)
        slope = -dot_of_each(gradient, model.direction)
        curvature = dot_of_each(model.direction, product)
        length = np.clip(np.divide(slope, curvature, out=np.ones_like(slope), where=curvature > 0), 0.0, 1.0)
        first = length[:, None] * model.direction
        face = _Face(self, preconditioner, self._positive)
        # The forces of the equalities are far larger than the gradient that is left, and would drown it.
        there = face.within(gradient + length[:, None] * product)
        step = face.precondition(there)
        aim = np.where(np.isfinite(wanted), FORCING * np.maximum(norms(there, step), model.norms), np.inf)
        further, n_products, left = conjugate_gradients(multiply, face.precondition, there, step, aim, wanted)
        room, change = np.maximum(slacks + self.slacks(first), 0.0), self.slacks(further)
        limits = np.full_like(room, np.inf)
        np.divide(room, -change, out=limits, where=(change < 0) & ~self._positive)
        allowed = np.minimum(limits.min(axis=1, initial=np.inf), 1.0)
        # Along the first step, then to the minimum in the face, whether it is allowed or not, then what is
        # left.
        gap = length * (slope - 0.5 * length * curvature) - 0.5 * dot_of_each(there, further) + 0.5 * left**2
        direction = (first + allowed[:, None] * further) * np.isfinite(wanted)[:, None]
        return NewtonStep(direction, gap, n_products + 1)

    def slacks(self, coefficients: Floats) -> Floats:
        """Return A b of each function, (functions, inequalities)."""
        return np.stack([self.inequalities.slacks(each) for each in coefficients.swapaxes(0, 1)])

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return A'm of each function."""
        return np.stack([self.inequalities.adjoint(each) for each in multipliers], axis=1)

    def covariances(self, preconditioner: BuiltPreconditioner) -> list[Floats]:
        """Return A C A' of each function, once for each preconditioner."""
        if self._built is None or self._built[0] is not preconditioner:
            self._built = preconditioner, preconditioner.inverse.covariances()
        return self._built[1]

    def _model_step(
        self, preconditioner: BuiltPreconditioner, slacks: Floats, step: Floats, gradient: Floats
    ) -> ModelStep:
        """Minimise ``g'd + d'C^-1 d / 2`` under ``A (b + d) >= 0``, given A b and C g.

        The dual is a quadratic function of multipliers.
        """
        unconstrained = slacks - self.slacks(step)
        guess = slacks <= 0 if self._positive is None else self._positive
        problems = zip(self.covariances(preconditioner), unconstrained, guess, strict=True)
        multipliers = np.stack([minimize_quadratic(*problem) for problem in problems])
        pull = self.adjoint(multipliers)
        direction = preconditioner(pull) - step
        # Twice the decrease of the model: where A b >= 0, a sum of two terms that are not negative.
        square = dot_of_each(pull - gradient, direction)
        square += 2 * np.einsum("ij,ij->i", multipliers, np.maximum(slacks, 0.0))
        return ModelStep(direction, multipliers, np.sqrt(np.abs(square)))

    def nearest(self, preconditioner: BuiltPreconditioner, coefficients: Floats) -> Floats:
        """Return the coefficients that obey, nearest in the metric of the preconditioner."""
        slacks = self.slacks(coefficients)
        if not (slacks < 0).any():
            return coefficients
        nothing = np.zeros_like(coefficients)
        return coefficients + self._model_step(preconditioner, slacks, nothing, nothing).direction


@dataclass(frozen=True)
class ModelStep:
    """The minimum of the preconditioner's quadratic model under the inequalities.

    Parameters
    ----------
    direction : ndarray of shape (rows, functions, columns)
        From the current point to the minimum.
    multipliers : ndarray of shape (functions, inequalities)
    norms : ndarray of shape (functions,)
        The root of twice the decrease of the model.
    """

    direction: Floats
    multipliers: Floats
    norms: Floats


class _Face:
    """The subspaces in which some inequalities are equalities.

    Parameters
    ----------
    equal : ndarray of bool of shape (functions, inequalities)
    """

    def __init__(self, steps: ConstrainedSteps, preconditioner: BuiltPreconditioner, equal: Mask) -> None:
        self._steps, self._inverse, self._equal = steps, preconditioner, equal
        rounding = equal.shape[1] * np.finfo(float).eps
        self._factors = [
            lower_cholesky(covariance[np.ix_(mask, mask)], rounding) if mask.any() else None
            for covariance, mask in zip(steps.covariances(preconditioner), equal, strict=True)
        ]

    def within(self, gradient: Floats) -> Floats:
        """Return ``g - E'(E C E')^-1 E C g``, E the rows of A that are equalities: g without their forces."""
        if not self._equal.any():
            return gradient
        forces = np.zeros(self._equal.shape)
        slacks = self._steps.slacks(self._inverse(gradient))
        for force, slack, equal, factor in zip(forces, slacks, self._equal, self._factors, strict=True):
            if factor is not None:
                force[equal], _ = dpotrs(factor, slack[equal], lower=True)
        return gradient - self._steps.adjoint(forces)

    def precondition(self, gradient: Floats) -> Floats:
        """Return the step along the gradient within the subspaces."""
        return self._inverse(self.within(gradient))
