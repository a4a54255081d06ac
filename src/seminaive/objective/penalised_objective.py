"""A loss plus a quadratic penalty, in a scaled search space: what the smooth solvers minimise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.objective.conditional_likelihood import ConditionalLoss
    from seminaive.objective.whitening import Whitening

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PenalisedObjective:
    """``loss(b) + sum strength / 2 (b - target)**2`` as a function of z, where ``b = scale * z``.

    All arrays have the shape of the loss's coefficients. Scaling changes how fast a solver arrives, not
    where; a coefficient of scale 0 stays 0. Rows with a whitening have its coordinates.

    Parameters
    ----------
    loss : ConditionalLoss
    strength : ndarray
        Penalty of each coefficient, in rows.
    target : ndarray
        The value that each coefficient is pulled to.
    scale : ndarray
    whitening : Whitening or None
    """

    loss: ConditionalLoss
    strength: Floats
    target: Floats
    scale: Floats
    whitening: Whitening | None = None

    def __call__(self, z: Floats) -> tuple[float, Floats]:
        """Return value and gradient at a flat search vector."""
        coefficients = self.coefficients(z)
        value, gradient = self.loss(coefficients)
        away = coefficients - self.target
        pull = self.strength * away
        value += 0.5 * float(np.vdot(pull, away))
        gradient += pull
        if self.whitening is not None:
            gradient[self.whitening.rows] = self.whitening.vectors.T @ gradient[self.whitening.rows]
        gradient *= self.scale
        return value, gradient.ravel()

    def coefficients(self, z: Floats) -> Floats:
        """Return the coefficients at a flat search vector."""
        coefficients: Floats = z.reshape(self.scale.shape) * self.scale
        if self.whitening is not None:
            coefficients[self.whitening.rows] = self.whitening.vectors @ coefficients[self.whitening.rows]
        return coefficients

    def search_vector(self, coefficients: Floats) -> Floats:
        """Return the flat search vector of coefficients; those of scale 0 are left at 0."""
        if self.whitening is not None:
            coefficients = coefficients.copy()
            coefficients[self.whitening.rows] = self.whitening.inverse @ coefficients[self.whitening.rows]
        moves = self.scale != 0
        z = np.divide(coefficients, self.scale, out=np.zeros_like(self.scale), where=moves)
        return z.ravel()

    def hessian(self, z: Floats) -> Floats:
        """Return the matrix of second derivatives with respect to the search vector, without a whitening."""
        curvature = self.loss.hessian(self.coefficients(z))
        flat = self.scale.ravel()
        curvature *= flat
        curvature *= flat[:, None]
        np.einsum("ii->i", curvature)[:] += self.strength.ravel() * flat * flat
        return curvature
