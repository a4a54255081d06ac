"""X'WX of a matrix in memory; tables of codes have `CellGram`, and the L1 path a compiled one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats


def weighted_gram(features: NDArray[np.floating], row_weight: NDArray[np.floating]) -> Floats:
    """Return ``X' diag(w) X``; weights may be negative, as between two classes of a softmax.

    Of weights that are not, the root goes to both factors: a matrix times its transpose takes half the time.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_columns)
    row_weight : ndarray of shape (n_rows,)

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([1.0, 2.0]))
    array([[ 3.,  8.],
           [ 8., 22.]])
    """
    if (row_weight < 0).any():
        return np.asarray(features.T @ (features * row_weight[:, None]), dtype=np.float64)
    rooted = features * np.sqrt(row_weight)[:, None]
    return np.asarray(rooted.T @ rooted, dtype=np.float64)
