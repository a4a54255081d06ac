"""What every kind of term can do: contribute to scores, and be scaled, restricted, centred and added."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable

# Contributions (rows times terms) from which a compiled pass pays for importing the compiler.
COMPILED_GATHERS = 200_000
# Those from which it pays where the compiler is imported already, to fit a model for instance.
IMPORTED_GATHERS = 20_000
# Contributions (rows times terms times classes) that are kept at once where nothing is compiled: 256 KB.
AT_ONCE = 1 << 15


class TermKind(ABC):
    """Terms of one kind: contributions to the score of each row and class, linear in what is stored."""

    @property
    @abstractmethod
    def n_terms(self) -> int:
        """Return the number of terms."""

    @abstractmethod
    def contributions(self, table: EncodedTable) -> Floats:
        """Return what each term adds to the score of each class, (n_rows, n_terms, n_classes)."""

    @abstractmethod
    def add_compiled(self, table: EncodedTable, scores: Floats) -> None:
        """Add every term's contribution to the scores by a compiled pass, to the bit as `contributions`."""

    @abstractmethod
    def scaled(self, weights: Floats) -> Self:
        """Multiply each term's contribution by its weight."""

    @abstractmethod
    def restricted(self, kept: Sequence[int]) -> Self:
        """Keep some of the terms."""

    @abstractmethod
    def centred(self) -> Self:
        """Take each contribution's mean over the classes off it."""

    @abstractmethod
    def joined(self, other: Self) -> Self:
        """Return these terms, then the others."""

    @abstractmethod
    def fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> bool:
        """Tell whether all arrays have the shapes, types and finite values that belong to such a table."""

    def compiles(self, n_rows: int) -> bool:
        """Tell whether a compiled pass over this number of rows pays."""
        least = IMPORTED_GATHERS if "numba" in sys.modules else COMPILED_GATHERS
        return n_rows * self.n_terms >= least

    def add_to(self, scores: Floats, table: EncodedTable) -> None:
        """Add every term's contribution to the scores of each row and class, term after term."""
        if not self.n_terms or not len(table):
            return
        if self.compiles(len(table)):
            self.add_compiled(table, scores)
        else:
            self.add_uncompiled(table, scores)

    def add_uncompiled(self, table: EncodedTable, scores: Floats) -> None:
        """Add every term's contribution, as many rows at once as stay in the cache."""
        rows_at_once = max(1, AT_ONCE // (self.n_terms * scores.shape[1]))
        for start in range(0, len(table), rows_at_once):
            rows = slice(start, start + rows_at_once)
            parts = self.contributions(table if len(table) <= rows_at_once else table.rows(rows))
            # The classes lie side by side, so that numpy adds whole rows of them in the order of the terms.
            parts = np.concatenate([scores[rows, None], parts], axis=1)
            np.add.reduce(parts, axis=1, out=scores[rows])


class NumberTermKind(TermKind):
    """Terms that are functions of one number each."""

    features: tuple[int, ...]

    @property
    def n_terms(self) -> int:
        """Return the number of terms."""
        return len(self.features)

    @abstractmethod
    def at(self, numbers: Floats) -> Floats:
        """Return the value of each function at each row of numbers, (n_rows, n_terms, n_classes)."""

    def contributions(self, table: EncodedTable) -> Floats:
        """Return the value of each function at each row, (n_rows, n_terms, n_classes)."""
        return self.at(table.numbers)


def is_block(array: Floats, shape: tuple[int, ...]) -> bool:
    """Tell whether an array is of this shape, of doubles, row-major and finite: what kernels rely on."""
    return (
        isinstance(array, np.ndarray)
        and array.shape == shape
        and array.dtype == np.float64
        and array.flags.c_contiguous
        and bool(np.isfinite(array).all())
    )
