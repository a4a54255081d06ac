"""The ridge penalty toward a target, with a strength for each coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ridge:
    """``sum strength / 2 (b - target)**2``.

    Parameters
    ----------
    strength : ndarray of shape (n_coefficients, 1) or that of the coefficients
        In rows; 0 leaves a coefficient free.
    target : ndarray, broadcast to the coefficients, default=0
    """

    strength: Floats
    target: Floats | float = 0.0

    def value(self, coefficients: Floats) -> Floats:
        """Return the penalty of each column of coefficients."""
        away = coefficients - self.target
        halves: Floats = 0.5 * np.einsum("jk,jk->k", self.strength * away, away)
        return halves

    def gradient(self, coefficients: Floats) -> Floats:
        """Return the derivative by each coefficient."""
        return np.asarray(self.strength * (coefficients - self.target))
