"""What the smooth solvers minimise: a summed loss plus a smooth penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.objective.penalty import SmoothPenalty
    from seminaive.objective.summed_loss import SummedLoss


@dataclass(frozen=True)
class PenalisedLoss:
    """``loss(B) + ridge(B)`` of each weighting of the rows.

    Coefficients may come flat in their columns, or with one axis for the weightings: gradients and products
    have the shape of what was given.

    Parameters
    ----------
    preconditioner : callable or None
        Approximate inverse of the Hessian, for arrays shaped like the loss's coefficients.
    """

    loss: SummedLoss
    ridge: SmoothPenalty
    preconditioner: Callable[[Floats], Floats] | None = None

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the value of each weighting, and the gradient."""
        flat = coefficients.reshape(self.loss.shape)
        values, gradient = self.loss(flat)
        if self.ridge.acts:
            penalties, pull = self.ridge.value_and_gradient(flat)
            values += penalties.reshape(self.loss.n_weightings, -1).sum(axis=1)
            gradient += pull
        return values, gradient.reshape(coefficients.shape)

    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian at some coefficients."""
        of_loss = self.loss.hessian_product(coefficients.reshape(self.loss.shape))

        def product(direction: Floats) -> Floats:
            flat = direction.reshape(self.loss.shape)
            found = of_loss(flat)
            found += self.ridge.strength * flat
            return found.reshape(direction.shape)

        return product

    def hessian(self, coefficients: Floats) -> Floats:
        """Return the Hessian of a single weighting, its coefficients flattened by rows."""
        hessian = self.loss.hessian(coefficients)
        strength = np.broadcast_to(self.ridge.strength, self.loss.shape)
        np.einsum("ii->i", hessian)[:] += strength.ravel()
        return hessian

    def precondition(self, gradient: Floats) -> Floats:
        """Return gradients times the approximate inverse of the Hessian."""
        if self.preconditioner is None:
            return gradient
        return self.preconditioner(gradient.reshape(self.loss.shape)).reshape(gradient.shape)
