"""The functions of a category of many levels: one per level, centred, and never a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices


@dataclass(frozen=True)
class CentredLevels:
    """The functions U = I - 1 s' of a category with shares s of its levels, and 0 where there is no evidence.

    U U' is the centred identity, as it is of the eigenfunctions of that kernel, so that a ridge on the
    coefficients is the same prior. Products take a time of the order of the levels, not of their square.

    Parameters
    ----------
    shares : ndarray of shape (n_levels,)
        Of the training rows; they sum to 1.

    Examples
    --------
    >>> levels = CentredLevels(np.array([0.75, 0.25]))
    >>> levels @ np.array([[1.0], [5.0]])
    array([[-1.],
           [ 3.],
           [ 0.]])
    """

    shares: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of levels, that of no evidence included, and of functions."""
        return len(self.shares) + 1, len(self.shares)

    def __len__(self) -> int:
        return len(self.shares) + 1

    def __matmul__(self, coefficients: Floats) -> Floats:
        """Return U B: the value of each level."""
        values = np.zeros((len(self), coefficients.shape[1]))
        np.subtract(coefficients, self.shares @ coefficients, out=values[:-1])
        return values

    def adjoint(self, sums: Floats) -> Floats:
        """Return U'R, given R at each level."""
        known = sums[:-1]
        return np.asarray(known - np.outer(self.shares, known.sum(axis=0)))

    def squared_adjoint(self, sums: Floats) -> Floats:
        """Return (U * U)'R: squares are (1 - s)^2 at the level of a function and s^2 at the others."""
        known = sums[:-1]
        squares = (self.shares**2)[:, None]
        return np.asarray((1.0 - 2.0 * self.shares)[:, None] * known + squares * known.sum(axis=0))

    def features(self, levels: Indices, functions: Indices | None = None) -> Floats:
        """Return some of the functions, or all, for rows of given levels: rows of U."""
        functions = np.arange(len(self.shares)) if functions is None else functions
        known = levels < len(self.shares)
        found = np.where(known[:, None], -self.shares[functions], 0.0)
        position = np.full(len(self), -1)
        position[functions] = np.arange(len(functions))
        rows = np.flatnonzero(position[levels] >= 0)
        found[rows, position[levels[rows]]] += 1.0
        return found
