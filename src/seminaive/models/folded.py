"""Training rows with the folds that hold them out, each row with all its weight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state, indexable

from seminaive.errors import FoldsWarning, InputError, WeightsWarning, warn_caller
from seminaive.models.decided import groups_of_rows
from seminaive.models.parameters import folds_by_size
from seminaive.selection.folds import grouped_sample, split_rows
from seminaive.selection.held_out import HeldOut
from seminaive.selection.split_rows import SplitRows
from seminaive.statistics.distinct import first_equal_rows

if TYPE_CHECKING:
    from seminaive.arrays import Indices
    from seminaive.models.training_set import TrainingSet

    Split = tuple[Indices, Indices]

# Classes that a warning names; a count says how many more there are.
MOST_NAMED = 5


@dataclass(frozen=True)
class FoldedRows:
    """A training table and the folds that hold its rows out.

    Parameters
    ----------
    rows : TrainingSet
    splits : list of pairs of ndarray
        Positions of training and of held-out rows.
    groups : ndarray of shape (n_rows,) or None
        Numbers of what belongs together.
    copies : ndarray of shape (n_rows,) or None
        How many equal rows each one stands for, where they are merged.
    """

    rows: TrainingSet
    splits: list[Split]
    groups: Indices | None = None
    copies: Indices | None = None

    @property
    def as_split(self) -> SplitRows:
        """The rows and their folds as searches take them."""
        rows = self.rows
        return SplitRows(rows.table, rows.labels, rows.weights, rows.n_classes, self.splits)

    @property
    def held_out(self) -> HeldOut:
        """The rows that the folds hold out."""
        rows = self.rows
        return HeldOut.of(rows.labels, rows.weights, rows.n_classes, self.splits, self.groups, self.copies)

    def merged(self) -> FoldedRows:
        """Return one row for all that are equal and in the same folds, with their weights added up.

        Fits, and losses of held-out rows, are those of the single rows. Rows of different groups or weights
        stay apart: a bootstrap draws them so.
        """
        rows = self.rows
        given = (self.groups, rows.row_weight)
        keys: list[Any] = [rows.labels, _patterns(self.splits, len(rows.labels))]
        keys += [key for key in given if key is not None]
        first, kind = first_equal_rows(rows.table.codes, rows.table.numbers, *keys)
        if len(first) == len(kind):
            return self
        copies = np.bincount(kind)
        merged = replace(rows.of_rows(first), row_weight=rows.weights[first] * copies)
        position = np.full(len(kind), -1)
        position[first] = np.arange(len(first))
        splits = [
            (position[train][position[train] >= 0], position[held][position[held] >= 0])
            for train, held in self.splits
        ]
        return FoldedRows(merged, splits, None if self.groups is None else self.groups[first], copies)


def fold_rows(
    rows: TrainingSet,
    cv: Any,
    y: Any,
    sample_weight: Any,
    random_state: Any,
    groups: Any = None,
    n_draws: int | None = 1,
) -> FoldedRows:
    """Return the rows with the folds that ``cv`` names, in any of scikit-learn's ways (see `split_rows`).

    "auto" is a number of folds by the number of rows. Each row is held out with all its weight. Folds by
    number are drawn ``n_draws`` times; None is as often as few rows need (`draws_by_size`).
    """
    (y,) = indexable(y)
    _check_groups(groups, y)
    if isinstance(cv, str):
        cv = folds_by_size(len(rows.labels))
    splits = split_rows(cv, rows.labels, y, sample_weight, random_state, groups, n_draws=n_draws)
    if isinstance(cv, Integral):
        _question_weights(rows, int(cv))
    _question_classes(rows, splits)
    return FoldedRows(rows, splits, groups_of_rows(groups, sample_weight))


def _patterns(splits: list[Split], n_rows: int) -> Indices:
    """Return a number for each row, equal where every split treats rows alike."""
    number, n_numbers = np.zeros(n_rows, dtype=np.int64), 1
    for train, held_out in splits:
        # A row may be in a part more than once.
        trained, held = (np.bincount(part, minlength=n_rows) for part in (train, held_out))
        most = int(trained.max()) + 1
        number = (number * most + trained) * (int(held.max()) + 1) + held
        present = np.bincount(number, minlength=n_numbers) > 0
        number, n_numbers = (np.cumsum(present) - 1)[number], int(present.sum())
    return number


def hold_out_share(
    rows: TrainingSet, share: float, sample_weight: Any, random_state: Any, groups: Any = None
) -> FoldedRows:
    """Hold a share of the rows out, once; whole groups where there are some."""
    n_rows = len(rows.labels)
    n_held_out = min(max(1, round(share * n_rows)), n_rows - 1)
    random = check_random_state(random_state)
    if groups is None:
        order = random.permutation(n_rows)
        split = (np.sort(order[n_held_out:]), np.sort(order[:n_held_out]))
        numbers = None
    else:
        numbers = groups_of_rows(groups, sample_weight)
        assert numbers is not None  # noqa: S101 - groups are given
        held_out = grouped_sample(numbers, n_held_out, random)
        split = (np.flatnonzero(~held_out), np.flatnonzero(held_out))
    _question_classes(rows, [split])
    return FoldedRows(rows, [split], numbers)


def _check_groups(groups: Any, y: Any) -> None:
    """Refuse groups that do not belong to the rows."""
    if groups is not None and np.shape(groups) != (len(y),):
        raise InputError(f"groups name one group per row: expected {len(y)}, got shape {np.shape(groups)}")


def _question_weights(rows: TrainingSet, n_folds: int) -> None:
    """Warn of a row that weighs more than the fold that holds it out should.

    Of whole weights it has been said that they may count rows.
    """
    if rows.row_weight is None:
        return
    largest = rows.row_weight.max() / rows.row_weight.sum()
    if largest > 1 / n_folds:
        warn_caller(
            f"one row has {largest:.0%} of all weight, more than one of {n_folds} folds should hold out. It "
            "is held out with all its weight, so that whatever it is like, the others decide about it: if "
            "weights count rows, repeat them; else cap the weights",
            WeightsWarning,
        )


def _question_classes(rows: TrainingSet, splits: list[Split]) -> None:
    """Warn of classes that a fold holds out and has no training row of."""
    n_lacking = np.zeros(rows.n_classes, dtype=np.int64)
    for train, held_out in splits:
        trained, held = (
            np.bincount(rows.labels[part], minlength=rows.n_classes) > 0 for part in (train, held_out)
        )
        n_lacking += held & ~trained
    lacking = np.flatnonzero(n_lacking)
    if not len(lacking):
        return
    named = [f"{rows.classes[c]!s} in {n_lacking[c]} of {len(splits)} folds" for c in lacking[:MOST_NAMED]]
    more = f" and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
    warn_caller(
        f"held-out rows have a class that the training rows of their fold lack ({', '.join(named)}{more}): "
        "there it gets the probability of a label never seen, 1 / (n + 1) after n rows. Shuffle the rows, or "
        "give a number of folds, which spreads each class; a class of one row or group needs more of them",
        FoldsWarning,
    )
