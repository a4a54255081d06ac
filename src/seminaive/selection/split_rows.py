"""The rows of a search: labelled, weighted, and split into training rows and held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of

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
    def n_pass_rows(self) -> int:
        """The number of rows that a pass of the fit in the end reads."""
        return self.sample_of or self.n_rows

    @property
    def n_columns(self) -> int:
        """The columns of scores: one log odds of two classes, else one per class."""
        return n_columns_of(self.n_classes)

    @property
    def n_sets(self) -> int:
        """The number of training sets: those of the folds, and all rows."""
        return len(self.splits) + 1

    def training_weight(self, which: int) -> Floats:
        """Return the weight of each row in a training set: 0 for held-out rows; of all rows last."""
        if which == len(self.splits):
            return self.row_weight
        weight = np.zeros(self.n_rows)
        train = self.splits[which][0]
        weight[train] = self.row_weight[train]
        return weight
