"""Passes over the rows of a table design: gathered from fused tables, and scattered into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from seminaive.design.fused_sums import FusedSums
from seminaive.design.workspace import in_threads, row_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.design.table_design import TableDesign

Result = TypeVar("Result")

# Rows of tables are added by vector instructions of four doubles. Groups are scattered to by fours, and by as
# many fours as stay in the second-level cache.
LANES, BYTES_AT_ONCE = 4, 1 << 20


class TableWorkspace:
    """Scores of all rows, their columns padded for vector instructions."""

    def __init__(self, design: TableDesign, n_columns: int) -> None:
        self._design = design
        self._n_columns = n_columns
        width, n_numbers = padded(n_columns), design.numbers.shape[1]
        self._linear = np.zeros((n_numbers, width))
        self._intercept = np.zeros(width)
        self._parameters = np.zeros((design.fused.n_parameters, width))
        self._tables = np.zeros((design.fused.n_fused_cells, width))
        self._values = np.zeros((design.n_rows, width))

    @property
    def width(self) -> int:
        """Return the number of columns with padding."""
        return int(self._values.shape[1])

    @property
    def values(self) -> Floats:
        """Return the scores, or what has replaced them."""
        return self._values[:, : self._n_columns]

    @property
    def padded(self) -> Floats:
        """Return the values with the padding of their columns."""
        return self._values

    def score(
        self, coefficients: Floats, then: Callable[[slice, Floats], Result] | None = None
    ) -> list[Result]:
        """Fill in X B; return what ``then`` gives for each block of rows, given its padded scores.

        The padding is 0, and must be left so.
        """
        self._unpack(coefficients)
        return self.score_expanded(then)

    def score_expanded(self, then: Callable[[slice, Floats], Result] | None = None) -> list[Result]:
        """Fill in X B of the coefficients that were expanded last, or received."""

        def block(rows: slice) -> list[Result]:
            self._add_up(rows)
            return [] if then is None else [then(rows, self._values[rows])]

        design = self._design
        found = in_threads(block, row_blocks(design.n_rows), design.n_threads)
        return [result for of_block in found for result in of_block]

    def load(self, values: Floats, then: Callable[[slice, Floats], Result]) -> list[Result]:
        """Take given values in place of X B; return what ``then`` gives for each block of rows."""

        def block(rows: slice) -> Result:
            self._values[rows, : self._n_columns] = values[rows]
            return then(rows, self._values[rows])

        return in_threads(block, row_blocks(self._design.n_rows), self._design.n_threads)

    def adjoint(self) -> Floats:
        """Return X'R of the values R."""
        return self.sums(self._design.numbers)

    def sums(self, numbers: Floats) -> Floats:
        """Return the sums of the values over each cell's rows, and their products with numbers."""
        return self.marginalised(self.fused_sums(numbers))

    def fused_sums(self, numbers: Floats) -> FusedSums:
        """Return the sums of the values over each fused cell's rows; the arrays are overwritten by a pass."""
        from seminaive.kernels.fused_passes import scatter

        tables, values = self._tables, self._values
        fused, n_threads = self._design.fused, self._design.n_threads
        tables[:] = 0.0
        at_once = self._groups_at_once
        in_threads(
            lambda g: scatter(fused.cells, values, g, min(g + at_once, len(fused.cells)), tables),
            list(range(0, len(fused.cells), at_once)),
            n_threads,
        )
        # This way round the product runs along the rows of both factors.
        along = np.matmul(values.T, numbers).T
        # Every row lies in one cell of each group, so that one group's sums are those of all rows.
        every_row = tables[: fused.offsets[1]] if len(fused.cells) else values
        return FusedSums(tables, along, np.ones(len(every_row)) @ every_row)

    def marginalised(self, found: FusedSums) -> Floats:
        """Return sums over fused cells as sums over the rows of each coefficient."""
        parameters = self._parameters
        parameters[:] = 0.0
        self._design.fused.marginalise(found.tables, parameters)
        k, m = self._n_columns, len(parameters)
        sums = np.empty((self._design.n_coefficients, k))
        sums[0] = found.all_rows[:k]
        sums[1 : 1 + m] = parameters[:, :k]
        sums[1 + m :] = found.numbers[:, :k]
        return sums

    def expanded(self, coefficients: Floats) -> FusedSums:
        """Return coefficients as a pass over rows reads them: fused tables, slopes and intercept."""
        self._unpack(coefficients)
        return FusedSums(self._tables, self._linear, self._intercept)

    def receive(self, expanded: FusedSums) -> None:
        """Take coefficients that were expanded elsewhere."""
        self._tables[:] = expanded.tables
        self._linear[:] = expanded.numbers
        self._intercept[:] = expanded.all_rows

    @property
    def _groups_at_once(self) -> int:
        """The groups that one call scatters to; the sums do not depend on it."""
        fours = -(-len(self._design.fused.cells) // LANES)
        cached = BYTES_AT_ONCE * fours // max(self._tables.nbytes, 1)
        return LANES * max(1, min(cached, -(-fours // self._design.n_threads)))

    def _unpack(self, coefficients: Floats) -> None:
        """Fill the fused tables and the other coefficients."""
        fused, k = self._design.fused, self._n_columns
        m = fused.n_parameters
        self._intercept[:k] = coefficients[0]
        self._parameters[:, :k], self._parameters[:, k:] = coefficients[1 : 1 + m], 0.0
        self._linear[:, :k] = coefficients[1 + m :]
        fused.expand(self._parameters, self._tables)
        if len(fused.cells):
            # Every row lies in one cell of the first group, whose table so carries the intercept.
            self._tables[: fused.offsets[1]] += self._intercept

    def _add_up(self, rows: slice) -> None:
        """Fill in the scores of some rows."""
        from seminaive.kernels.fused_passes import gather

        numbers, cells = self._design.numbers, self._design.fused.cells
        scores = self._values[rows]
        base = np.zeros((1, scores.shape[1]))
        if numbers.shape[1]:
            np.matmul(numbers[rows], self._linear, out=scores)
            base = self._values
        if len(cells):
            gather(cells, self._tables, base, rows.start, rows.stop, self._values)
        else:
            np.add(scores if numbers.shape[1] else base, self._intercept, out=scores)


def padded(n_columns: int) -> int:
    """Return the number of columns with padding for vector instructions."""
    return 1 if n_columns == 1 else -LANES * (-n_columns // LANES)


def with_padding(columns: Floats) -> Floats:
    """Return columns with columns of zeros after them, as vector instructions need."""
    n_columns = columns.shape[1]
    if padded(n_columns) == n_columns:
        return np.ascontiguousarray(columns)
    wide = np.zeros((len(columns), padded(n_columns)))
    wide[:, :n_columns] = columns
    return wide
