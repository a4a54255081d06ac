"""Cholesky factors of matrices that are positive semidefinite but for rounding: one rule for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.linalg.lapack import dpotri, dtrtri, get_lapack_funcs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats

Precision = TypeVar("Precision", np.float64, np.float32)


def lower_cholesky(matrix: NDArray[Precision], share: float | None = None) -> NDArray[Precision]:
    """Return the lower Cholesky factor of a matrix whose diagonal is raised a little.

    Directions without curvature, along which only rounding is left, are held back by that. Where the matrix
    has no factor even so, the share that is added becomes its root, until there is one.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        In double or single precision, which the factor has, too. Its lower triangle is read; it is not
        changed.
    share : float or None
        What is added to the diagonal, over its mean. None leaves half of the digits: a direction without
        curvature, whose derivative is rounding, moves by no more than rounding does along the others.
    """
    (potrf,) = get_lapack_funcs(("potrf",), (matrix,))
    mean = float(np.trace(matrix)) / len(matrix) or 1.0
    share = float(np.sqrt(np.finfo(matrix.dtype).eps)) if share is None else share
    while True:
        raised = np.array(matrix, order="F")
        np.einsum("ii->i", raised)[:] += share * mean
        factor, failed = potrf(raised, lower=True, clean=True, overwrite_a=True)
        if not failed:
            return np.asarray(factor)
        share = np.sqrt(share)


def inverse_of(factor: Floats) -> Floats:
    """Return the inverse of a matrix, given its lower Cholesky factor."""
    lower, _ = dpotri(factor, lower=True)
    inverse = np.tril(lower)
    inverse += np.tril(lower, -1).T
    return np.asarray(inverse)


def inverse_factor(factor: Floats) -> Floats:
    """Return the inverse of a lower Cholesky factor L: the inverse of the matrix is ``(L^-1)' L^-1``."""
    inverse, _ = dtrtri(factor, lower=True)
    return np.asarray(inverse)
