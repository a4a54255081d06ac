"""A rotation of correlated coefficients into directions of known curvature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rotation:
    """Some rows of the coefficients, rotated so that the loss curves along each axis on its own.

    The loss curves like ``variance * gram`` where gram are the products of the design's columns; along the
    eigenvectors of gram it curves by their eigenvalues, whatever the ridge, so one decomposition serves
    all strengths.

    Parameters
    ----------
    rows : ndarray of shape (s,)
        The coefficients, by row.
    vectors : ndarray of shape (s, s)
        Eigenvectors of gram, in columns.
    values : ndarray of shape (s,)
        Its eigenvalues.
    """

    rows: NDArray[np.int64]
    vectors: Floats
    values: Floats

    @classmethod
    def of(cls, rows: NDArray[np.int64], gram: Floats) -> Rotation:
        """Decompose the products of the columns of the design."""
        values, vectors = eigh(gram, check_finite=False)
        return cls(rows, vectors, np.maximum(values, 0.0))

    @property
    def inverse(self) -> Floats:
        """Return the coordinates of each coefficient."""
        return self.vectors.T
