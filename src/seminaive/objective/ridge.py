"""The ridge penalty toward a target, with a strength for each coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats


@dataclass(frozen=True)
class Ridge:
    """``sum strength / 2 (b - target)**2``.

    Parameters
    ----------
    strength : ndarray of shape (n_coefficients, 1) or that of the coefficients
        In rows; 0 leaves a coefficient free, and an infinite one stays where it is.
    target : ndarray, broadcast to the coefficients, default=0
    """

    strength: Floats
    target: Floats | float = 0.0

    @cached_property
    def acts(self) -> bool:
        """Whether any coefficient has a strength: without one, a pass need not touch the coefficients."""
        return bool(np.any(self.strength))

    @cached_property
    def moves(self) -> Floats | None:
        """1 where a coefficient moves and 0 where its strength is infinite; None where all move."""
        free = np.isfinite(self.strength)
        return None if free.all() else free.astype(np.float64)

    @cached_property
    def curvature(self) -> Floats:
        """The second derivative along each coefficient that moves, 0 along the others."""
        return np.where(np.isinf(self.strength), 0.0, self.strength)

    @cached_property
    def _has_target(self) -> bool:
        return bool(np.any(self.target))

    def value_and_gradient(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the penalty of each column of coefficients, and the derivative by each coefficient."""
        away = coefficients - self.target if self._has_target else coefficients
        gradient = np.asarray(self.curvature * away)
        halves: Floats = 0.5 * np.einsum("jk,jk->k", gradient, away)
        return halves, gradient
