"""Passes over the rows of designs that multiply whole arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.design.protocol import Design


Result = TypeVar("Result")
Piece = TypeVar("Piece")

# Rows that stay in the second-level cache from their scores to their residuals. The size is fixed, so that
# sums do not depend on the number of threads.
ROWS_AT_ONCE = 8192


def row_blocks(n_rows: int) -> list[slice]:
    """Return the blocks of rows that are worked on at once."""
    return [slice(start, min(start + ROWS_AT_ONCE, n_rows)) for start in range(0, n_rows, ROWS_AT_ONCE)]


def in_threads(work: Callable[[Piece], Result], pieces: list[Piece], n_threads: int) -> list[Result]:
    """Do the pieces of work, and return what they return, in order."""
    if n_threads == 1 or len(pieces) == 1:
        return [work(piece) for piece in pieces]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, pieces))


class PlainWorkspace:
    """The workspace of a design that gives its scores and adjoints as new arrays.

    Parameters
    ----------
    n_columns : int
        Columns of the scores.
    """

    def __init__(self, design: Design, n_columns: int) -> None:
        self._design = design
        self.values: Floats = np.empty((0, n_columns))

    @property
    def width(self) -> int:
        """Return the number of columns of the values."""
        return int(self.values.shape[1])

    def score(
        self, coefficients: Floats, then: Callable[[slice, Floats], Result] | None = None
    ) -> list[Result]:
        """Fill in X B; return what ``then`` gives for each block of rows."""
        self.values = np.ascontiguousarray(self._design.scores(coefficients))
        if then is None:
            return []
        return [then(rows, self.values[rows]) for rows in row_blocks(self._design.n_rows)]

    def load(self, values: Floats, then: Callable[[slice, Floats], Result]) -> list[Result]:
        """Take given values in place of X B; return what ``then`` gives for each block of rows."""
        self.values = values.copy()
        return [then(rows, self.values[rows]) for rows in row_blocks(self._design.n_rows)]

    def adjoint(self) -> Floats:
        """Return X'R of the values R."""
        return self._design.adjoint(self.values)
