"""Numbers that tables read between nodes: a bin's value holds at its median, and is interpolated between."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from seminaive.encode.column_types import NumericColumn
from seminaive.encode.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats, Indices
    from seminaive.encode.encoded_table import EncodedTable

# Up to this number of cells, plain Python is faster than a dozen calls of NumPy for each column.
FEW_CELLS = 300
# Rows from which a compiled pass pays where the compiler is imported already.
COMPILED_ROWS = 1000
# Sums of weights that differ by less than this share differ by rounding.
ROUNDING = 1e-13


def bin_medians(values: Floats, weights: Floats, cuts: tuple[float, ...]) -> tuple[float, ...]:
    """Return the weighted median of the numbers in each bin, which is one of them; NaN is left out.

    A bin without numbers has its upper end, or, where it is the last one, the number next to its lower end.

    >>> bin_medians(np.array([5.0, 1.0, 2.0, 3.0, 9.0]), np.ones(5), (3.5,))
    (2.0, 5.0)
    """
    present = ~np.isnan(values) & (weights > 0)
    values, weights = values[present], weights[present]
    if len(weights) and (weights == weights[0]).all():
        values = np.sort(values)  # several times as fast as an order of the rows
    else:
        order = np.argsort(values, kind="stable")
        values, weights = values[order], weights[order]
    inner = np.searchsorted(values, cuts, side="right")
    starts, stops = np.append(0, inner), np.append(inner, len(values))
    below = np.append(0.0, np.cumsum(weights))
    halves = (below[starts] + below[stops]) / 2
    medians = np.searchsorted(below[1:], halves * (1 - ROUNDING)).clip(starts, np.maximum(stops - 1, starts))
    ends = np.append(cuts, np.nextafter(cuts[-1], np.inf) if cuts else 0.0)
    found = np.append(values, 0.0)[medians]
    return tuple(np.where(stops > starts, found, ends).tolist())


def with_nodes(schema: Schema, numbers_of: Callable[[int], tuple[Floats, Floats]]) -> Schema:
    """Return a schema whose cut numbers are read between the medians of their bins.

    Parameters
    ----------
    numbers_of : callable
        Returns the training numbers of the column at a position, and their weights.
    """
    columns = list(schema.columns)
    for position in schema.coded:
        column = columns[position]
        if isinstance(column, NumericColumn) and column.cuts is not None:
            columns[position] = replace(column, nodes=bin_medians(*numbers_of(position), column.cuts))
    return Schema(tuple(columns), schema.missing)


def table_with_nodes(table: EncodedTable, row_weight: Floats) -> EncodedTable:
    """Return a training table whose cut numbers are read between the medians of their bins."""
    index = table.schema.numeric_index
    schema = with_nodes(table.schema, lambda position: (table.numbers[:, index[position]], row_weight))
    return replace(table, schema=schema)


class Axis(NamedTuple):
    """Where rows stand on one axis of a table.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The code of a cell; of a number that is read between nodes, that of the node below.
    along : ndarray of shape (n_rows,)
        How far a number stands on the way to the next node, from 0 to 1; 0 at a code.
    """

    codes: Indices
    along: Floats

    def corners(self) -> list[tuple[Indices, Floats]]:
        """Return codes and shares of the rows: once where all stand at codes, else below and above."""
        if not self.along.any():
            return [(self.codes, np.ones(len(self.codes)))]
        return [(self.codes, 1.0 - self.along), (self.codes + (self.along > 0), self.along)]

    def repeated(self, n_rows: int) -> Axis:
        """Return the coordinate of one row as that of several."""
        return Axis(np.repeat(self.codes, n_rows), np.repeat(self.along, n_rows))


def at_codes(codes: Indices) -> Axis:
    """Return coordinates that are codes."""
    return Axis(codes, np.zeros(len(codes)))


def axis_of(column: NumericColumn, numbers: Floats) -> Axis:
    """Return where numbers, none of them missing, stand on the axis of their column."""
    if column.nodes is None:
        codes = np.searchsorted(column.cuts or (), numbers, side="left").astype(np.int64)
        return at_codes(codes)
    return between_nodes(np.array(column.nodes), numbers)


def between_nodes(nodes: Floats, x: Floats) -> Axis:
    """Return where numbers stand between nodes."""
    codes = np.maximum(np.searchsorted(nodes, x, side="right") - 1, 0)
    gaps = np.append(np.diff(nodes), np.inf)
    return Axis(codes, np.maximum(x - nodes[codes], 0.0) / gaps[codes])


def interpolate(values: Floats, axes: Sequence[Axis]) -> Floats:
    """Return what a table says in each row: linear along each axis between two codes.

    Parameters
    ----------
    values : ndarray of shape (n_codes, ..., n_values)
        One axis per column.

    Examples
    --------
    Half of the way from the first code to the second, and at the second:

    >>> half = Axis(np.array([0, 1]), np.array([0.5, 0.0]))
    >>> interpolate(np.array([[1.0], [3.0]]), [half]).ravel()
    array([2., 3.])
    """
    n_rows, cells = len(axes[0].codes), values.reshape(-1, values.shape[-1])
    if len(axes) == 2 and n_rows >= COMPILED_ROWS and "numba" in sys.modules:
        from seminaive.kernels.node_interpolation import add_bilinear, add_cells

        cells, total = np.ascontiguousarray(cells), np.zeros((n_rows, values.shape[-1]))
        (left, down), (right, across) = axes
        if down.any() or across.any():
            add_bilinear(cells, 0, values.shape[1], left, down, right, across, total)
        else:
            add_cells(cells, 0, values.shape[1], left, right, total)
        return total
    parts = []
    for corner in product(*(axis.corners() for axis in axes)):
        cell, share = corner[0]
        for (codes, part), size in zip(corner[1:], values.shape[1:-1], strict=True):
            cell, share = cell * size + codes, share * part
        parts.append(cells.take(cell, axis=0) * share[:, None])
    interpolated: Floats = sum(parts[1:], start=parts[0])
    return interpolated


def read_axis(values: Floats, axis: int, coordinates: Axis) -> Floats:
    """Return a table with one of its axes read at coordinates, which replace its codes."""
    shape = [1] * values.ndim
    shape[axis] = -1
    corners = coordinates.corners()
    read: Floats = values.take(corners[0][0], axis=axis)
    if len(corners) > 1:
        (_, rest), (above, along) = corners
        read = read * rest.reshape(shape) + values.take(above, axis=axis) * along.reshape(shape)
    return read


class RowCoordinates(NamedTuple):
    """Where rows stand on the axes of coded columns.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_coded)
        The code of a cell; of a number that is read between nodes, that of the node below.
    along : ndarray of shape (n_rows, n_coded)
        How far a number stands on the way to the next node, from 0 to 1; 0 at a code.
    """

    codes: Indices
    along: Floats

    def axis(self, column: int) -> Axis:
        """Return the coordinates on one column's axis."""
        return Axis(self.codes[:, column], self.along[:, column])


@dataclass(frozen=True)
class Nodes:
    """The nodes of all coded columns of a schema that have some.

    Parameters
    ----------
    numbers : ndarray of shape (n_coded,)
        The position of each coded column among the numeric ones; -1 where it is not read between nodes.
    starts : ndarray of shape (n_coded + 1,)
        Where the nodes of each column begin and, last, the number of all nodes.
    nodes : ndarray of shape (n_nodes,)
        Increasing within a column; node b lies in bin b.
    """

    numbers: Indices
    starts: Indices
    nodes: Floats

    @classmethod
    def of(cls, schema: Schema) -> Nodes | None:
        """Return the nodes of a schema, None where no column has any."""
        nodes = [schema.nodes_of(j) or () for j in range(len(schema.coded))]
        if not any(nodes):
            return None
        numbers = [
            schema.numeric_index[position] if some else -1
            for position, some in zip(schema.coded, nodes, strict=True)
        ]
        starts = np.cumsum([0, *map(len, nodes)])
        return cls(np.array(numbers, dtype=np.int64), starts, np.concatenate([np.empty(0), *nodes]))

    def coordinates(self, table: EncodedTable) -> RowCoordinates:
        """Return where the rows of a table stand."""
        if len(table) >= COMPILED_ROWS and "numba" in sys.modules:
            from seminaive.kernels.node_interpolation import place_rows

            shape = table.codes.shape[::-1]
            by_column, shares = np.empty(shape, dtype=np.int64), np.empty(shape)
            place_rows(
                table.codes, table.numbers, self.numbers, self.starts, self.nodes, 0, by_column, shares
            )
            return RowCoordinates(by_column.T, shares.T)
        # Column by column, as tables are read.
        codes, along = table.codes.astype(np.int64, order="F"), np.zeros(table.codes.shape, order="F")
        if codes.size <= FEW_CELLS:
            self._locate_few(codes, table.numbers, along)
            return RowCoordinates(codes, along)
        for j in np.flatnonzero(self.numbers >= 0).tolist():
            column_nodes = self.nodes[self.starts[j] : self.starts[j + 1]]
            known = np.flatnonzero(codes[:, j] < len(column_nodes))
            x, code = table.numbers[known, self.numbers[j]], codes[known, j]
            # A number lies in the bin of the node below it, or in the next one.
            code = np.maximum(code - (x < column_nodes[code]), 0)
            gaps = np.append(np.diff(column_nodes), np.inf)
            codes[known, j], along[known, j] = code, np.maximum(x - column_nodes[code], 0.0) / gaps[code]
        return RowCoordinates(codes, along)

    def _locate_few(self, codes: Indices, numbers: Floats, along: Floats) -> None:
        """Find coordinates of a few rows cell by cell: replace codes, and fill in how far along they are."""
        for i, (row, row_codes) in enumerate(zip(numbers.tolist(), codes.tolist(), strict=True)):
            for j, number, nodes in self._lists:
                code, x = row_codes[j], row[number]
                if code >= len(nodes):
                    continue
                if x < nodes[code] and code:
                    code -= 1
                    codes[i, j] = code
                if code + 1 < len(nodes) and x > nodes[code]:
                    along[i, j] = (x - nodes[code]) / (nodes[code + 1] - nodes[code])

    @cached_property
    def _lists(self) -> list[tuple[int, int, list[float]]]:
        """Return the columns that are read between nodes, their numbers and their nodes."""
        return [
            (j, int(self.numbers[j]), self.nodes[self.starts[j] : self.starts[j + 1]].tolist())
            for j in np.flatnonzero(self.numbers >= 0).tolist()
        ]
