"""A change of coordinates in which correlated coefficients curve alike and apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Curvature of flat directions, as a share of the mean: they may move, by some hundred times as much.
FLAT = 1e-5


@dataclass(frozen=True)
class Whitening:
    """Some rows of the coefficients, ``b = vectors @ z``, in coordinates z of unit curvature.

    Parameters
    ----------
    rows : ndarray of shape (s,)
        The coefficients, by row.
    vectors : ndarray of shape (s, s)
        The coefficients of each coordinate, in columns.
    inverse : ndarray of shape (s, s)
        The coordinates of each coefficient.
    """

    rows: NDArray[np.int64]
    vectors: Floats
    inverse: Floats

    @classmethod
    def of(cls, rows: NDArray[np.int64], curvature: Floats) -> Whitening:
        """Factor the matrix of second derivatives; flat directions are held back."""
        held = curvature + FLAT * np.trace(curvature) / len(curvature) * np.eye(len(curvature))
        upper: Floats = cholesky(held, check_finite=False)
        return cls(rows, solve_triangular(upper, np.eye(len(upper)), check_finite=False), upper)
