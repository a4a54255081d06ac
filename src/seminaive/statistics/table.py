"""Everything a generative model needs to know about the rows it has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.counts import TupleCounts, class_weights
from seminaive.statistics.moments import Moments
from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable, Schema

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TableStatistics:
    """Class weights, tuple counts and moments of a table, together with the schema that they refer to.

    ``a + b`` describes the rows of both, also where each has categories that the other lacks: the schemas
    are united and the counts move to their new cells. The classes must be the same.
    """

    schema: Schema
    class_weight: Floats
    counts: TupleCounts
    moments: Moments

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        labels: NDArray[np.int64],
        n_classes: int,
        row_weight: Floats | None = None,
        order: int = 1,
    ) -> TableStatistics:
        """Count all subsets of ``order`` coded columns, and sum up the numbers."""
        terms = Terms.of_order(table.cardinalities, order)
        return cls(
            table.schema,
            class_weights(labels, n_classes, row_weight),
            TupleCounts.of(table.codes, labels, terms, n_classes, row_weight),
            Moments.of(table.numbers, labels, n_classes, row_weight),
        )

    def __add__(self, other: TableStatistics) -> TableStatistics:
        """Return the statistics of the rows of both."""
        schema = self.schema.union(other.schema)
        return TableStatistics(
            schema,
            self.class_weight + other.class_weight,
            self._counts_under(schema) + other._counts_under(schema),
            self.moments + other.moments,
        )

    def _counts_under(self, schema: Schema) -> TupleCounts:
        if schema == self.schema:
            return self.counts
        return self.counts.recoded(self.schema.moves_to(schema), schema.cardinalities)

    def with_classes(self, moves: NDArray[np.int64], n_classes: int) -> TableStatistics:
        """Return the same statistics among more classes; ``moves[c]`` is the new label of class ``c``."""
        if np.array_equal(moves, np.arange(n_classes)):
            return self
        weight = np.zeros(n_classes)
        weight[moves] = self.class_weight
        return TableStatistics(
            self.schema,
            weight,
            self.counts.with_classes(moves, n_classes),
            self.moments.with_classes(moves, n_classes),
        )
