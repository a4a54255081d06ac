"""Coordinates of the coefficients in which a solver arrives faster: scaled, or with an identity Hessian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from seminaive.objective.factor import lower_cholesky

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers
    from seminaive.objective.penalised_loss import PenalisedLoss


# How a minimum is approached, not where it is: added to the diagonal of a Hessian, as a share of its mean, so
# that directions without curvature may move by some hundred times as much as others, and not without limit;
# and the least curvature of a coefficient, in rows, where the Hessian is a diagonal.
LEAST_SHARE, LEAST_CURVATURE = 1e-5, 1e-6


@dataclass(frozen=True)
class Whitening:
    """Coordinates z of some coefficients, ``b = vectors z``, in which the Hessian at zero is the identity.

    Parameters
    ----------
    members : ndarray of shape (s,)
        The coefficients.
    vectors : ndarray of shape (s, s)
        The coefficients of each coordinate, in columns.
    inverse : ndarray of shape (s, s)
        The coordinates of each coefficient.
    """

    members: Integers
    vectors: Floats
    inverse: Floats

    @classmethod
    def of(cls, members: Integers, hessian: Floats) -> Whitening:
        """Factor the Hessian U'U of the members: z = U b."""
        upper = lower_cholesky(hessian, LEAST_SHARE).T
        return cls(members, solve_triangular(upper, np.eye(len(upper)), check_finite=False), upper)


@dataclass(frozen=True)
class Coordinates:
    """Search vectors z with ``b = scale * z``; some coefficients may be whitened as well.

    Coordinates change how fast a solver arrives, not where. A coefficient of scale 0 stays 0.

    Parameters
    ----------
    scale : ndarray, shaped like the coefficients
    whitening : Whitening or None
        Applied to the scaled values of its members.
    """

    scale: Floats
    whitening: Whitening | None = None

    def coefficients(self, z: Floats) -> Floats:
        """Return the coefficients at a flat search vector."""
        coefficients: Floats = z.reshape(self.scale.shape) * self.scale
        if self.whitening is not None:
            members = self.whitening.members
            coefficients[members] = self.whitening.vectors @ coefficients[members]
        return coefficients

    def vector(self, coefficients: Floats) -> Floats:
        """Return the flat search vector of coefficients; those of scale 0 are left at 0."""
        if self.whitening is not None:
            coefficients = coefficients.copy()
            members = self.whitening.members
            coefficients[members] = self.whitening.inverse @ coefficients[members]
        moves = self.scale != 0
        return np.divide(coefficients, self.scale, out=np.zeros_like(self.scale), where=moves).ravel()

    def gradient(self, gradient: Floats) -> Floats:
        """Return the derivative by the search vector, given that by the coefficients, which it may change."""
        if self.whitening is not None:
            members = self.whitening.members
            gradient[members] = self.whitening.vectors.T @ gradient[members]
        gradient *= self.scale
        return gradient.ravel()


@dataclass(frozen=True)
class ScaledObjective:
    """A penalised loss of a single weighting as a function of a flat search vector."""

    objective: PenalisedLoss
    coordinates: Coordinates

    def __call__(self, z: Floats) -> tuple[float, Floats]:
        """Return value and gradient."""
        values, gradient = self.objective(self.coordinates.coefficients(z))
        return float(values[0]), self.coordinates.gradient(gradient)

    def hessian(self, z: Floats) -> Floats:
        """Return the Hessian with respect to a search vector without whitening."""
        hessian = self.objective.hessian(self.coordinates.coefficients(z))
        scale = self.coordinates.scale.ravel()
        hessian *= scale
        hessian *= scale[:, None]
        return hessian
