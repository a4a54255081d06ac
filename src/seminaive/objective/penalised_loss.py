"""What the smooth solvers minimise: a summed loss plus a smooth penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.objective.ridge import Ridge
    from seminaive.objective.summed_loss import SummedLoss


@dataclass(frozen=True)
class PenalisedLoss:
    """``loss(B) + ridge(B)`` of each weighting of the rows.

    Coefficients may come flat in their columns, or with one axis for the weightings: gradients and products
    have the shape of what was given.
    """

    loss: SummedLoss
    ridge: Ridge

    @property
    def at_equal(self) -> Floats:
        """Return the loss of equal odds of each weighting."""
        return self.loss.at_equal

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the value of each weighting, and the gradient."""
        flat = coefficients.reshape(self.loss.shape)
        values, gradient = self.loss(flat)
        if self.ridge.acts:
            penalties, pull = self.ridge.value_and_gradient(flat)
            values += penalties.reshape(self.loss.n_weightings, -1).sum(axis=1)
            gradient += pull
        return values, self._moving(gradient).reshape(coefficients.shape)

    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian at some coefficients."""
        of_loss = self.loss.hessian_product(coefficients.reshape(self.loss.shape))

        def product(direction: Floats) -> Floats:
            flat = direction.reshape(self.loss.shape)
            found = of_loss(flat)
            found += self.ridge.curvature * flat
            return self._moving(found).reshape(direction.shape)

        return product

    def _moving(self, along: Floats) -> Floats:
        """Return derivatives along coefficients, 0 along those that stay where they are."""
        if self.ridge.moves is not None:
            along *= self.ridge.moves
        return along

    def hessian(self, coefficients: Floats) -> Floats:
        """Return the Hessian of a single weighting, its coefficients flattened by rows."""
        hessian = self.loss.hessian(coefficients)
        strength = np.broadcast_to(self.ridge.curvature, self.loss.shape)
        np.einsum("ii->i", hessian)[:] += strength.ravel()
        return hessian
