"""Everything a generative model needs to know about the rows it has seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError
from seminaive.statistics.counts import TupleCounts, class_weights
from seminaive.statistics.moments import Moments
from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable, Schema


@dataclass(frozen=True)
class TableStatistics:
    """Class weights, tuple counts and moments of a table, together with the schema that they refer to.

    ``a + b`` describes the rows of both, also where each has categories that the other lacks: the schemas
    are united and the counts move to their new cells. Classes, cut points, kinds of columns and the policy on
    missing cells must be the same.

    Parameters
    ----------
    class_weight : ndarray of shape (n_classes,)
    classes : tuple or None, default=None
        The names of the classes, so that statistics of different ones are not merged; None where unknown.
    """

    schema: Schema
    class_weight: Floats
    counts: TupleCounts
    moments: Moments
    classes: tuple[Any, ...] | None = None

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        labels: Integers,
        n_classes: int,
        row_weight: Floats | None = None,
        order: int = 1,
        classes: Sequence[Any] | None = None,
    ) -> TableStatistics:
        """Count all subsets of ``order`` coded columns, and sum up the numbers."""
        terms = Terms.of_order(table.cardinalities, order)
        return cls(
            table.schema,
            class_weights(labels, n_classes, row_weight),
            TupleCounts.of(table.codes, labels, terms, n_classes, row_weight),
            Moments.of(table.numbers, labels, n_classes, row_weight),
            None if classes is None else tuple(classes),
        )

    def __add__(self, other: TableStatistics) -> TableStatistics:
        """Return the statistics of the rows of both."""
        self._check_same_classes(other)
        schema = self.schema.union(other.schema)
        return TableStatistics(
            schema,
            self.class_weight + other.class_weight,
            self._counts_under(schema) + other._counts_under(schema),
            self.moments + other.moments,
            self.classes if other.classes is None else other.classes,
        )

    def _check_same_classes(self, other: TableStatistics) -> None:
        first, second = self.classes, other.classes
        if first is not None and second is not None and first != second:
            raise InputError(
                f"statistics of the classes {list(first)} and of the classes {list(second)} cannot be "
                "merged: bring both to the same classes by with_classes"
            )
        if len(self.class_weight) != len(other.class_weight):
            raise InputError(
                f"statistics of {len(self.class_weight)} classes and of {len(other.class_weight)} cannot be "
                "merged: bring both to the same classes by with_classes"
            )

    def _counts_under(self, schema: Schema) -> TupleCounts:
        if schema == self.schema:
            return self.counts
        return self.counts.recoded(self.schema.moves_to(schema), schema.cardinalities)

    def with_classes(self, moves: Integers, classes: Sequence[Any]) -> TableStatistics:
        """Return the same statistics among more classes; ``moves[c]`` is the new label of class ``c``."""
        n_classes = len(classes)
        if np.array_equal(moves, np.arange(n_classes)):
            return replace(self, classes=tuple(classes))
        weight = np.zeros(n_classes)
        weight[moves] = self.class_weight
        return TableStatistics(
            self.schema,
            weight,
            self.counts.with_classes(moves, n_classes),
            self.moments.with_classes(moves, n_classes),
            tuple(classes),
        )
