"""Cholesky factors of matrices that are positive semidefinite but for rounding: one rule for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def lower_cholesky(matrix: Floats, rounding: float | None = None) -> Floats:
    """Return the lower Cholesky factor of a matrix, its diagonal raised by as much as rounding may lower it.

    Directions without curvature, along which only rounding is left, are held back by that much. Where the
    matrix has no factor even so, the share that is added becomes its root, until there is one.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Its lower triangle is read; it is not changed.
    rounding : float or None
        What is added to the diagonal, as a share of its mean: by default n times the rounding of a float.
    """
    matrix = np.array(matrix, order="F")
    diagonal = np.einsum("ii->i", matrix)
    bare = diagonal.copy()
    # A matrix of zeros becomes the identity.
    mean = float(np.abs(bare).mean()) if bare.any() else 1.0
    share = len(matrix) * np.finfo(np.float64).eps if rounding is None else rounding
    while True:
        diagonal[:] = bare + share * mean
        factor, failed = dpotrf(matrix, lower=True, clean=True)
        if not failed:
            return np.asarray(factor)
        share = np.sqrt(share)


def inverse_of(factor: Floats) -> Floats:
    """Return the inverse of a matrix, given its lower Cholesky factor."""
    lower, _ = dpotri(factor, lower=True)
    inverse = np.tril(lower)
    inverse += np.tril(lower, -1).T
    return np.asarray(inverse)
