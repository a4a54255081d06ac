"""Sums over rows, or coefficients, for each fused cell of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats


@dataclass(frozen=True)
class FusedSums:
    """Coefficients, or sums over rows, for each fused cell, each number and all rows; columns are padded.

    Parameters
    ----------
    tables : ndarray of shape (n_fused_cells, n_padded)
    numbers : ndarray of shape (n_numbers, n_padded)
    all_rows : ndarray of shape (n_padded,)
        The intercept, which the table of the first group carries already if there is a group; or the sum over
        all rows.
    """

    tables: Floats
    numbers: Floats
    all_rows: Floats

    def copy(self) -> FusedSums:
        """Return the same numbers in new arrays."""
        return FusedSums(self.tables.copy(), self.numbers.copy(), self.all_rows.copy())

    def __iadd__(self, other: FusedSums) -> FusedSums:  # noqa: PYI034 - the class is final
        """Add sums over further rows, in place."""
        np.add(self.tables, other.tables, out=self.tables)
        np.add(self.numbers, other.numbers, out=self.numbers)
        np.add(self.all_rows, other.all_rows, out=self.all_rows)
        return self
