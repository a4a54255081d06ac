"""Standard deviations of numbers of any size: squares of very small ones would vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats


def root_mean_squares(deviations: Floats, row_weight: Floats, total: Floats | float) -> Floats:
    """Return the root of the weighted mean square of each column of deviations from a mean.

    Squares are taken in units of a power of two, which leaves every bit of ordinary numbers as it is.

    Parameters
    ----------
    deviations : ndarray of shape (n_rows, n_columns)
    row_weight : ndarray of shape (n_rows,)
    total : float or ndarray of shape (n_columns,)
        The weight by which the sum of squares is divided.

    Examples
    --------
    >>> root_mean_squares(np.array([[-3e-200], [3e-200]]), np.ones(2), 2.0)
    array([3.e-200])
    """
    unit = np.ldexp(1.0, np.frexp(np.abs(deviations).max(axis=0, initial=0.0))[1])
    roots: Floats = unit * np.sqrt(row_weight @ np.square(deviations / unit) / total)
    return roots
