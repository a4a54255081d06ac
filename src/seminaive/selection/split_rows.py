"""The rows of a search: labelled, weighted, and split into training rows and held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
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
        How many rows there are in all, if these are a sample of the rows that are fitted in the end.
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
        first, of_row = first_equal_rows(self.table.codes, self.table.numbers, self.labels)
        sets = range(len(self.splits) or 1)
        if len(first) == self.n_rows:
            return MergedRows(
                self.table, self.labels, [self.training_weight(k) for k in sets], self.row_weight, first
            )
        weights = [_sums(of_row, self.training_weight(which)) for which in sets]
        every = _sums(of_row, self.row_weight)
        return MergedRows(self.table.rows(first), self.labels[first], weights, every, first, of_row)

    def training_weight(self, which: int) -> Floats:
        """Return the weight of each row in a training set: 0 for held-out rows; of all rows last."""
        if which == len(self.splits):
            return self.row_weight
        weight = np.zeros(self.n_rows)
        train = self.splits[which][0]
        weight[train] = self.row_weight[train]
        return weight


@dataclass(frozen=True)
class MergedRows:
    """One row for all that are equal, with their weight in each training set: fits are the same.

    Parameters
    ----------
    set_weights : list of ndarray of shape (n_merged,)
        In the training rows of each fold, or in all rows where there are no folds.
    row_weight : ndarray of shape (n_merged,)
        In all rows.
    first : ndarray of shape (n_merged,)
        A row of each kind.
    of_row : ndarray of shape (n_rows,) or None
        Where each row is found; None where no two are equal.
    """

    table: EncodedTable
    labels: Indices
    set_weights: list[Floats]
    row_weight: Floats
    first: Indices
    of_row: Indices | None = None

    def training_weight(self, which: int) -> Floats:
        """Return the weight of each row in a training set, of all rows last."""
        return self.row_weight if which == len(self.set_weights) else self.set_weights[which]

    def spread(self, scores: Floats) -> Floats:
        """Return the scores of all rows, given those of merged ones."""
        return scores.copy() if self.of_row is None else scores[self.of_row]


def _sums(of_row: Indices, row_weight: Floats) -> Floats:
    return np.bincount(of_row, row_weight).astype(np.float64)
