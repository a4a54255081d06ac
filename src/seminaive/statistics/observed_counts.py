"""Weighted counts of the combinations that occurred, for streams whose terms are too large to be dense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.statistics.counts import TupleCounts
from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Codes, Floats, Indices, Integers, Labels
    from seminaive.encode import Schema

# Cells of rows that are held at once.
CELLS_AT_ONCE = 1 << 20
# Most cells for which the position of each is looked up in an array; with more, it is found by binary search.
MOST_LOOKED_UP = 1 << 22


@dataclass(frozen=True)
class ObservedCounts(SavedByFields):
    """How much weight fell into each cell that occurred, class by class.

    ``a + b`` counts the rows of both, as that of `TupleCounts` does.

    Parameters
    ----------
    terms : Terms
        What was counted.
    cells : ndarray of shape (n_observed,)
        The cells of the terms that occurred, increasing.
    counts : ndarray of shape (n_observed, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [2], [2]], dtype=np.uint8)
    >>> counts = ObservedCounts.of(codes, np.array([0, 1, 1]), Terms.singles([3]), n_classes=2)
    >>> counts.cells
    array([0, 2])
    >>> (counts + counts).counts
    array([[2., 0.],
           [0., 4.]])
    """

    terms: Terms
    cells: Indices
    counts: Floats

    def __post_init__(self) -> None:
        """Refuse counts of other cells than those named."""
        if len(self.counts) != len(self.cells):
            raise ValueError(f"counts of {len(self.counts)} cells do not fit {len(self.cells)} cells")

    @classmethod
    def of(
        cls, codes: Codes, labels: Labels, terms: Terms, n_classes: int, row_weight: Floats | None = None
    ) -> ObservedCounts:
        """Count the rows of an encoded table; rows without weight bring no cell."""
        if terms.n_cells <= MOST_LOOKED_UP:
            dense = TupleCounts.of(codes, labels, terms, n_classes, row_weight).counts
            cells = np.flatnonzero(dense.any(axis=1))
            return cls(terms, cells, dense[cells])
        weights = np.ones(len(codes)) if row_weight is None else row_weight
        present = np.flatnonzero(weights)
        codes, labels, weights = codes[present], labels[present], weights[present]
        cells = np.empty(0, dtype=np.int64)
        for rows in blocks_of_rows(codes, terms):
            cells = np.union1d(cells, cells_of_rows(codes[rows], terms))
        counts = np.zeros(len(cells) * n_classes)
        find_cells = CellPlaces(terms, cells)
        for rows in blocks_of_rows(codes, terms):
            entries = find_cells(codes[rows]) * n_classes + labels[rows, None]
            entry_weights = np.broadcast_to(weights[rows, None], entries.shape)
            np.add.at(counts, entries.ravel(), entry_weights.ravel())
        return cls(terms, cells, counts.reshape(-1, n_classes))

    def __add__(self, other: ObservedCounts) -> ObservedCounts:
        """Count the rows of both; their terms must be the same."""
        if self.terms != other.terms:
            raise ValueError(f"cannot add counts of different terms: {self.terms} and {other.terms}")
        cells = np.union1d(self.cells, other.cells)
        counts = np.zeros((len(cells), self.counts.shape[1]))
        for part in (self, other):
            counts[np.searchsorted(cells, part.cells)] += part.counts
        return ObservedCounts(self.terms, cells, counts)

    def recoded(self, moves: Sequence[Integers], cardinalities: Sequence[int]) -> ObservedCounts:
        """Return the same counts under larger codings.

        ``moves[j][v]`` is the new code of value ``v`` of column ``j``, increasing in ``v``, so that the cells
        stay in order. No evidence stays no evidence.
        """
        terms = Terms(self.terms.features, tuple(cardinalities))
        return ObservedCounts(terms, self.terms.moved(self.cells, moves, terms), self.counts)


@dataclass(frozen=True)
class ObservedStatistics:
    """Class weights and counts of the combinations that occurred, with the schema that they refer to.

    ``a + b`` describes the rows of both, also where each has categories that the other lacks.

    Parameters
    ----------
    class_weight : ndarray of shape (n_classes,)
    """

    schema: Schema
    class_weight: Floats
    counts: ObservedCounts

    def __add__(self, other: ObservedStatistics) -> ObservedStatistics:
        """Return the statistics of the rows of both."""
        schema = self.schema.union(other.schema)
        return ObservedStatistics(
            schema,
            self.class_weight + other.class_weight,
            self._counts_under(schema) + other._counts_under(schema),
        )

    def _counts_under(self, schema: Schema) -> ObservedCounts:
        if schema == self.schema:
            return self.counts
        return self.counts.recoded(self.schema.moves_to(schema), schema.cardinalities)


class CellPlaces:
    """Where the cell of each term of a row is among some cells, all of which rows fall into.

    Parameters
    ----------
    cells : ndarray of shape (n_kept,)
        Increasing.
    """

    def __init__(self, terms: Terms, cells: Indices) -> None:
        self._terms = terms
        self._cells = cells
        self._position_of: Indices | None = None
        if terms.n_cells <= MOST_LOOKED_UP:
            self._position_of = np.zeros(terms.n_cells, dtype=np.int64)
            self._position_of[cells] = np.arange(len(cells))

    def __call__(self, codes: Codes) -> Indices:
        """Return the positions, one row per table row and one column per term."""
        dense = cells_of_rows(codes, self._terms)
        if self._position_of is None:
            return np.searchsorted(self._cells, dense)
        positions: Indices = self._position_of[dense]
        return positions


def cells_of_rows(codes: Codes, terms: Terms) -> Indices:
    """Return the cell of every term, as ``terms.cells`` does, by a compiled loop that pays for many rows."""
    from seminaive.kernels.counting import fill_cells

    cells = np.empty((len(codes), len(terms.features)), dtype=np.int64)
    fill_cells(codes, terms.columns, terms.strides, terms.starts, terms.offsets, cells)
    return cells


def blocks_of_rows(codes: Codes, terms: Terms) -> Iterator[slice]:
    """Yield blocks of rows whose cells are not more than can be held at once."""
    step = max(1, CELLS_AT_ONCE // max(1, len(terms.features)))
    return (slice(start, start + step) for start in range(0, len(codes), step))
