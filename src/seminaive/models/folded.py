"""Training rows with the folds that hold them out, a row that stands for several divided among folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from seminaive.errors import WeightsWarning, warn_caller
from seminaive.models.decided import generator_of, groups_of_rows
from seminaive.models.parameters import folds_by_size, refuse_groups
from seminaive.selection.counted_rows import deal, deal_to_folds
from seminaive.selection.folds import split_rows
from seminaive.selection.split_rows import SplitRows

if TYPE_CHECKING:
    from seminaive.arrays import Indices, Integers
    from seminaive.models.training_set import TrainingSet

    Split = tuple[Indices, Indices]


@dataclass(frozen=True)
class FoldedRows:
    """A training table of which every row is in one fold as a whole.

    Parameters
    ----------
    rows : TrainingSet
        The training rows; one that stands for several has a copy in each fold that holds some of them out.
    splits : list of pairs of ndarray
        Positions of training and of held-out rows.
    groups : ndarray of shape (n_rows,) or None
        Numbers of what belongs together.
    """

    rows: TrainingSet
    splits: list[Split]
    groups: Indices | None = None

    @property
    def as_split(self) -> SplitRows:
        """The rows and their folds as searches take them."""
        rows = self.rows
        return SplitRows(rows.table, rows.labels, rows.weights, rows.n_classes, self.splits)


def fold_rows(
    rows: TrainingSet,
    cv: Any,
    y: Any,
    sample_weight: Any,
    random_state: Any,
    groups: Any = None,
    n_draws: int | None = 1,
) -> FoldedRows:
    """Say which rows are held out, by any of scikit-learn's ways (see `split_rows`).

    A number of folds deals rows that stand for several to the folds by their counts. A splitter, splits and
    groups speak of rows, which are held out whole. "auto" is a number of folds by the number of rows. Folds
    by number are drawn ``n_draws`` times; None is as often as few rows need (`draws_by_size`).
    """
    if isinstance(cv, str):
        cv = folds_by_size(rows.n_counted)
    if not isinstance(cv, Integral) or groups is not None:
        splits = split_rows(cv, rows.labels, y, sample_weight, random_state, groups)
        return FoldedRows(rows, splits, groups_of_rows(groups, sample_weight))
    if rows.counts is None:
        _question_weights(rows, int(cv))
        return FoldedRows(rows, split_rows(cv, rows.labels, y, sample_weight, random_state, n_draws=n_draws))
    n_folds = min(int(cv), rows.n_counted)
    dealt = deal_to_folds(rows.counts, rows.labels, n_folds, generator_of(random_state))
    divided, folds = _divided(rows, rows.counts, dealt)
    every = np.arange(len(folds))
    return FoldedRows(divided, [(every[folds != fold], every[folds == fold]) for fold in range(n_folds)])


def hold_out_share(rows: TrainingSet, share: float, random_state: Any, groups: Any = None) -> FoldedRows:
    """Hold a share of the rows out, once."""
    refuse_groups(groups, "a share of held-out rows is drawn row by row")
    n_rows = rows.n_counted
    n_held_out = min(max(1, round(share * n_rows)), n_rows - 1)
    if rows.counts is None:
        order = check_random_state(random_state).permutation(n_rows)
        return FoldedRows(rows, [(np.sort(order[n_held_out:]), np.sort(order[:n_held_out]))])
    dealt = deal(rows.counts, (n_rows - n_held_out, n_held_out), generator_of(random_state))
    divided, parts = _divided(rows, rows.counts, dealt)
    return FoldedRows(divided, [(np.flatnonzero(parts == 0), np.flatnonzero(parts == 1))])


def _divided(rows: TrainingSet, counts: Indices, dealt: Integers) -> tuple[TrainingSet, Indices]:
    """Return one row for every row and part that has copies of it, and the part of each."""
    index, parts = np.nonzero(dealt)
    copies = dealt[index, parts]
    weight = rows.weights[index] * (copies / counts[index])
    return replace(rows.of_rows(index), row_weight=weight, counts=copies), parts


def _question_weights(rows: TrainingSet, n_folds: int) -> None:
    """Warn of a row that weighs more than the fold that holds it out should."""
    if rows.row_weight is None:
        return
    largest, n_folds = rows.row_weight.max() / rows.row_weight.sum(), min(n_folds, len(rows.labels))
    if largest > 1 / n_folds:
        warn_caller(
            f"one row has {largest:.0%} of all weight, more than one of {n_folds} folds should hold out. "
            "Folds hold out whole rows, so that whatever this row is like, the others decide about it: give "
            "counts as whole numbers, which are divided among the folds, or the rows themselves",
            WeightsWarning,
        )
