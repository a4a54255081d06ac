"""The rows of a search: labelled, weighted, and split into training rows and held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.selection.merged_rows import MergedRows
from seminaive.statistics.distinct import first_equal_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable


@dataclass(frozen=True)
class SplitRows:
    """Rows, and the folds that hold some of them out.

    Parameters
    ----------
    labels, row_weight : ndarray of shape (n_rows,)
    splits : sequence of (training rows, held-out rows)
    sample_of : int or None
        How many rows, equal ones counted once, are fitted in the end, if these are a sample of them.
    """

    table: EncodedTable
    labels: Indices
    row_weight: Floats
    n_classes: int
    splits: Sequence[tuple[Indices, Indices]] = ()
    sample_of: int | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def n_columns(self) -> int:
        """The columns of scores: one log odds of two classes, else one per class."""
        return n_columns_of(self.n_classes)

    @property
    def n_sets(self) -> int:
        """The number of training sets: those of the folds, and all rows."""
        return len(self.splits) + 1

    def merged(self) -> MergedRows:
        """Return one row for all that are equal."""
        first, kind = first_equal_rows(self.table.codes, self.table.numbers, self.labels)
        *set_weights, row_weight = (
            np.bincount(kind, self.training_weight(which)).astype(np.float64) for which in range(self.n_sets)
        )
        table = self.table if len(first) == self.n_rows else self.table.rows(first)
        return MergedRows(table, self.labels[first], set_weights or [row_weight], row_weight, first, kind)

    def training_weight(self, which: int) -> Floats:
        """Return the weight of each row in a training set: 0 for held-out rows; of all rows last."""
        if which == len(self.splits):
            return self.row_weight
        weight = np.zeros(self.n_rows)
        train = self.splits[which][0]
        weight[train] = self.row_weight[train]
        return weight
