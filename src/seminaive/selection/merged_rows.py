"""One row for all that are equal, with their weight in each training set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable


@dataclass(frozen=True)
class MergedRows:
    """One row of each kind: fits to these are fits to all rows.

    Parameters
    ----------
    set_weights : list of ndarray of shape (n_merged,)
        In the training rows of each fold, or in all rows where there are no folds.
    row_weight : ndarray of shape (n_merged,)
        In all rows.
    first : ndarray of shape (n_merged,)
        The position of the first row of each kind.
    kind : ndarray of shape (n_rows,)
        Which kind each row is of.
    """

    table: EncodedTable
    labels: Indices
    set_weights: list[Floats]
    row_weight: Floats
    first: Indices
    kind: Indices

    def __len__(self) -> int:
        return len(self.labels)

    def training_weight(self, which: int) -> Floats:
        """Return the weight of each kind in a training set, of all rows last."""
        return self.row_weight if which == len(self.set_weights) else self.set_weights[which]

    def spread(self, scores: Floats) -> Floats:
        """Return the scores of all rows, given those of merged ones."""
        return scores[self.kind]

    def evenly_spaced(self, most: int) -> tuple[Indices, Floats]:
        """Return the kinds of evenly spaced rows, and which share of each kind was drawn.

        All kinds, with a share of 1, where these are no more than ``most``; else those of about as many rows.
        """
        if len(self) <= most:
            return np.arange(len(self)), np.ones(len(self))
        step = -(-len(self.kind) // most)
        kinds, n_drawn = np.unique(self.kind[::step], return_counts=True)
        return kinds, n_drawn / np.bincount(self.kind)[kinds]
