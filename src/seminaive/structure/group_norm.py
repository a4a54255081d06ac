"""The group lasso penalty: a sum of Euclidean norms of blocks of coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers


@dataclass(frozen=True)
class GroupNorm:
    """``sum_g penalties_g |B_g|``, where a group is a run of rows of B in all tables at once.

    Parameters
    ----------
    starts : ndarray of shape (n_groups + 1,)
        Where the rows of each group begin and, last, their number.
    penalties : ndarray of shape (n_groups,)

    Examples
    --------
    >>> norm = GroupNorm(np.array([0, 2, 3]), np.array([1.0, 2.0]))
    >>> coefficients = np.array([[[3.0], [4.0], [1.0]]])
    >>> norm.value(coefficients)
    7.0
    """

    starts: Integers
    penalties: Floats

    def norms(self, coefficients: Floats) -> Floats:
        """Return the norm of each group of coefficients (n_tables, n_cells, n_labels)."""
        squares = np.square(coefficients).sum(axis=(0, 2))
        norms: Floats = np.sqrt(np.add.reduceat(squares, self.starts[:-1])) if len(squares) else np.zeros(0)
        return norms

    def value(self, coefficients: Floats) -> float:
        """Return the penalty of coefficients."""
        return float(self.penalties @ self.norms(coefficients))

    def dual_scale(self, derivatives: Floats) -> float:
        """Return the largest factor, up to 1, that brings the derivatives of a loss into the dual's domain.

        The conjugate of the penalty is 0 where no group's norm exceeds its penalty, else infinite.
        """
        norms = self.norms(derivatives)
        beyond = norms > self.penalties
        return float(np.min(self.penalties[beyond] / norms[beyond], initial=1.0))
