"""Tests of conditional independence among the columns of a table of codes, counted many at a time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.structure.independence import PAIR_TESTS
from seminaive.structure.results import IndependenceResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Codes, Floats, Integers, Positions

# Cells counted in one pass over several candidates, about 32 MB of counts.
CELLS_AT_ONCE = 4_000_000

# bnlearn takes columns as independent by "mi-adf" where there are fewer rows per cell.
ROWS_PER_CELL_OF_BNLEARN = 5


@dataclass(frozen=True)
class Strata:
    """The combinations of values of some columns, numbered in the order of the values.

    Every column that joins numbers the occupied combinations anew, so that a number is below the number of
    rows whatever the cardinalities: there is no mixed-radix number of all columns, which would overflow.

    Parameters
    ----------
    of_row : ndarray of shape (n_rows,)
        The stratum of each row; ``n_strata`` for a row with a missing value.
    n_strata : int
        Number of combinations that occur.
    """

    of_row: Positions
    n_strata: int

    @classmethod
    def whole(cls, n_rows: int) -> Strata:
        """Put all rows into one stratum."""
        return cls(np.zeros(n_rows, np.int64), 1)

    def refined(self, column: Codes, cardinality: int) -> Strata:
        """Split every stratum by the values of one more column."""
        lost = self.n_strata * cardinality
        split = self.of_row * cardinality + column
        split[(column == cardinality) | (self.of_row == self.n_strata)] = lost
        if lost <= 4 * len(split):
            occupied = np.zeros(lost + 1, bool)
            occupied[split] = True
            occupied[lost] = True
            number = np.cumsum(occupied) - 1
            return Strata(number[split], int(number[-1]))
        found, of_row = np.unique(split, return_inverse=True)
        n_strata = len(found) - int(found[-1] == lost)
        return Strata(of_row.astype(np.int64, copy=False), n_strata)


@dataclass(frozen=True)
class CodedTests:
    """A test of conditional independence over coded columns: ``tests(target, candidate, given)``.

    Rows with a missing value in any column of a test are left out of it. A test that needs more cells (the
    product of all cardinalities) than there are rows is declared untestable. Strata are kept, and shared by
    ``dataclasses.replace(tests, test=...)``.

    Parameters
    ----------
    by_column : ndarray of shape (n_columns, n_rows)
        Codes; a code equal to the column's cardinality is a missing value.
    test : {"mi", "mi-adf", "mi-sh", "x2"}
    row_weight : ndarray of shape (n_rows,) or None
    declare_untestable : bool
        False makes every test, however many cells it needs, as bnlearn does. Its "mi-adf" says independent
        where there are fewer than five rows per cell, since empty strata cost it no degrees of freedom.

    Examples
    --------
    The second column is the first one, seen through noise:

    >>> rng = np.random.default_rng(0)
    >>> cause = rng.integers(0, 2, 1000)
    >>> columns = np.array([cause, cause ^ (rng.random(1000) < 0.2), rng.integers(0, 2, 1000)], np.uint8)
    >>> tests = CodedTests(columns, (2, 2, 2))
    >>> tests(0, 1, (2,)).dependent(0.05), tests(0, 2, (1,)).dependent(0.05)
    (True, False)
    """

    by_column: Codes
    cardinalities: tuple[int, ...]
    test: str = "mi"
    row_weight: Floats | None = None
    declare_untestable: bool = True
    _strata: dict[tuple[int, ...], Strata] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, target: int, candidate: int, given: Sequence[int]) -> IndependenceResult:
        """Test the independence of target and candidate given some columns."""
        return self.each(target, (candidate,), given)[0]

    def each(self, target: int, candidates: Sequence[int], given: Sequence[int]) -> list[IndependenceResult]:
        """Test the target against each candidate given the same columns, counting all of them in one pass."""
        results: dict[int, IndependenceResult] = {}
        wanted = []
        for candidate in candidates:
            rows_per_cell = self.rows_per_cell(target, candidate, given)
            if self.declare_untestable and rows_per_cell < 1:
                results[candidate] = self._untestable(target, candidate, given)
            elif self._too_sparse_for_bnlearn(rows_per_cell):
                undecided = self._untestable(target, candidate, given)
                results[candidate] = replace(undecided, statistic=0.0, testable=True)
            else:
                wanted.append(candidate)
        if wanted:
            test = PAIR_TESTS[self.test]
            n_strata = prod(self.cardinalities[j] for j in given)
            strata = self._strata_of(tuple(given))
            for candidate, counts in self._count(target, wanted, strata):
                results[candidate] = test(counts, n_strata)
        return [results[candidate] for candidate in candidates]

    def rows_per_cell(self, target: int, candidate: int, given: Sequence[int]) -> float:
        """Return the weight of all rows over the number of cells that a test would need."""
        return self._n_rows / prod(self.cardinalities[j] for j in (target, candidate, *given))

    def _too_sparse_for_bnlearn(self, rows_per_cell: float) -> bool:
        sparse = rows_per_cell < ROWS_PER_CELL_OF_BNLEARN
        return sparse and self.test == "mi-adf" and not self.declare_untestable

    @property
    def _n_rows(self) -> float:
        return float(self.by_column.shape[1] if self.row_weight is None else self.row_weight.sum())

    def _untestable(self, target: int, candidate: int, given: Sequence[int]) -> IndependenceResult:
        n_strata = prod(self.cardinalities[j] for j in given)
        n_x, n_y = self.cardinalities[candidate], self.cardinalities[target]
        degrees = float((n_x - 1) * (n_y - 1) * n_strata)
        return IndependenceResult.untestable(self.test, self._n_rows, n_x * n_y * n_strata, degrees)

    def _strata_of(self, given: tuple[int, ...]) -> Strata:
        """Return the strata of some columns; those of the longest known prefix are refined."""
        known = len(given)
        while known and given[:known] not in self._strata:
            known -= 1
        strata = self._strata[given[:known]] if known else Strata.whole(self.by_column.shape[1])
        for stop in range(known + 1, len(given) + 1):
            column = given[stop - 1]
            strata = strata.refined(self.by_column[column], self.cardinalities[column])
        # Only the last few: a blanket grows and shrinks by one column at a time.
        while len(self._strata) >= 4:
            self._strata.pop(next(iter(self._strata)))
        if given:
            self._strata[given] = strata
        return strata

    def _count(self, target: int, candidates: Sequence[int], strata: Strata) -> Iterator[tuple[int, Floats]]:
        """Yield each candidate with its counts: axes candidate, target, stratum, without missing values."""
        from seminaive.kernels.counting import count_last_columns, count_last_columns_weighted

        n_target = self.cardinalities[target] + 1
        n_strata = strata.n_strata + 1
        lead = (self.by_column[target] * np.int64(n_strata) + strata.of_row).astype(np.uint32)
        width = n_target * n_strata
        batch = max(1, CELLS_AT_ONCE // (width * max(self.cardinalities[j] + 1 for j in candidates)))
        for start in range(0, len(candidates), batch):
            in_batch = list(candidates[start : start + batch])
            columns = self.by_column[in_batch]
            sizes = [(self.cardinalities[j] + 1) * width for j in in_batch]
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
            cells: Floats | Integers
            if self.row_weight is None:
                cells = np.zeros(int(offsets[-1]), np.int64)
                count_last_columns(columns, lead, width, 0, offsets, cells)
            else:
                cells = np.zeros(int(offsets[-1]))
                count_last_columns_weighted(columns, lead, self.row_weight, width, 0, offsets, cells)
            for position, candidate in enumerate(in_batch):
                block = cells[offsets[position] : offsets[position + 1]].reshape(-1, n_target, n_strata)
                yield candidate, block[:-1, :-1, :-1].astype(np.float64)
