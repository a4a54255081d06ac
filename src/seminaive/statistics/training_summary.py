"""What a model remembers of its training table for reading it later: weights of values, and quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import InputError
from seminaive.statistics.counts import TupleCounts
from seminaive.statistics.number_sketch import sketch_columns
from seminaive.statistics.table_statistics import TableStatistics
from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable, Schema
    from seminaive.statistics.number_sketch import NumberSketch


@dataclass(frozen=True)
class TrainingSummary:
    """Weights of cells and sketches of numbers of a training table; no row and no extreme number of it.

    ``a + b`` summarises the rows of both: exactly for weights, up to what `NumberSketch` states for numbers.

    Parameters
    ----------
    cells : TableStatistics
        The weight of each class, and of each code of each coded column by class; no moments.
    tuples : TupleCounts or None
        The weight of each cell of a model's terms (one column, all classes together), for weighing the
        effects of tuples; None where the model has single columns only.
    numbers : tuple of NumberSketch
        One for each numeric column.

    Examples
    --------
    >>> import numpy as np
    >>> from seminaive.encode import TableEncoder
    >>> _, table = TableEncoder.learn([["wet", 3.0], ["dry", 5.0], ["wet", 4.0]] * 10)
    >>> summary = TrainingSummary.of(table, np.array([0, 1, 1] * 10), 2)
    >>> summary.cell_weights(0)
    array([[ 0., 10.],
           [10., 10.],
           [ 0.,  0.]])
    >>> summary.numbers[0].values
    array([3., 4., 5.])
    """

    cells: TableStatistics
    tuples: TupleCounts | None
    numbers: tuple[NumberSketch, ...]

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        labels: Integers,
        n_classes: int,
        row_weight: Floats | None = None,
        terms: Terms | None = None,
        classes: Sequence[Any] | None = None,
    ) -> TrainingSummary:
        """Summarise an encoded table; ``terms`` are those of a model with tuples of columns."""
        without_numbers = type(table).of_codes(table.codes, table.schema)
        cells = TableStatistics.of(without_numbers, labels, n_classes, row_weight, classes=classes)
        tuples = None
        if terms is not None:
            tuples = TupleCounts.of(table.codes, np.zeros_like(labels), terms, 1, row_weight)
        return cls(cells, tuples, sketch_columns(table.numbers, row_weight))

    @classmethod
    def of_statistics(
        cls, statistics: TableStatistics, numbers: Floats, row_weight: Floats | None = None
    ) -> TrainingSummary:
        """Summarise a table whose cells were counted already: no further pass over its codes."""
        return cls.of_counted(statistics, sketch_columns(numbers, row_weight))

    @classmethod
    def of_counted(cls, statistics: TableStatistics, numbers: tuple[NumberSketch, ...]) -> TrainingSummary:
        """Summarise a table whose cells were counted, and whose numbers were sketched, already.

        Every coded column must be in some term: the weights of single columns are sums over the first term
        that holds them.
        """
        counts = statistics.counts
        singles = Terms.singles(counts.terms.cardinalities)
        cells = TableStatistics(
            statistics.schema,
            statistics.class_weight,
            counts if counts.terms == singles else _single_columns(counts, singles),
            statistics.moments.none(0, len(statistics.class_weight)),
            statistics.classes,
        )
        tuples = None
        if counts.terms != singles:
            tuples = TupleCounts(counts.terms, counts.counts.sum(axis=1, keepdims=True))
        return cls(cells, tuples, numbers)

    @property
    def schema(self) -> Schema:
        """Return what the codes and numbers mean."""
        return self.cells.schema

    @property
    def class_weight(self) -> Floats:
        """Return the weight of each class."""
        return self.cells.class_weight

    def cell_weights(self, column: int) -> Floats:
        """Return the weight of each code of a coded column, that of no evidence last, by class."""
        return self.cells.counts.block(column)

    def __add__(self, other: TrainingSummary) -> TrainingSummary:
        """Summarise the rows of both."""
        cells = self.cells + other.cells
        if (self.tuples is None) != (other.tuples is None):
            raise InputError(
                "a summary with weights of tuples and one without cannot be merged: make both with the "
                "same terms"
            )
        tuples = None
        if self.tuples is not None and other.tuples is not None:
            first, second = (
                tuples if schema == cells.schema else _recoded(tuples, schema, cells.schema)
                for tuples, schema in ((self.tuples, self.schema), (other.tuples, other.schema))
            )
            tuples = first + second
        numbers = tuple(a + b for a, b in zip(self.numbers, other.numbers, strict=True))
        return TrainingSummary(cells, tuples, numbers)


def _recoded(tuples: TupleCounts, schema: Schema, larger: Schema) -> TupleCounts:
    """Return weights of tuples under the codes of a larger schema."""
    if type(tuples.terms) is not Terms:
        raise InputError(
            "weights of observed combinations only cannot be merged where categories are new: summarise all "
            "rows at once"
        )
    return tuples.recoded(schema.moves_to(larger), larger.cardinalities)


def _single_columns(counts: TupleCounts, singles: Terms) -> TupleCounts:
    """Return the counts of single columns from those of the first term that holds each."""
    column_counts = np.zeros((singles.n_cells, counts.counts.shape[1]))
    for j, size in enumerate(singles.sizes):
        term = next(term for term, columns in enumerate(counts.terms.features) if j in columns)
        columns, shape = counts.terms.features[term], counts.terms.shape(term)
        table = counts.block(term).reshape(*shape, -1)
        others = tuple(axis for axis, column in enumerate(columns) if column != j)
        column_counts[singles.block(j)] = table.sum(axis=others).reshape(size, -1)
    return TupleCounts(singles, column_counts)
