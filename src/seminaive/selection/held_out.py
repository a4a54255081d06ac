"""Rows that a cross-validation holds out, and what the trials of a search lose on them.

Every decision of a search rests on the scores that its trials give to rows which they have not seen. This is
the one place that turns such scores into losses, and losses into means and standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

from seminaive.design.classes import by_class
from seminaive.objective.log_loss import POINTWISE, expected_log_losses, posterior_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Booleans, Floats, Indices

    Split = tuple[Indices, Indices]

SCORINGS = (*POINTWISE, "auc")


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows, fold after fold.

    No model of a fold has learned a class that the training rows of the fold lack. The class then has the
    probability of a label that was never seen, 1 / (n + 1) with n training rows (Laplace's rule of
    succession), whatever the trial; several such classes share it.

    Parameters
    ----------
    rows : ndarray of shape (n_held_out,)
        Positions in the table. A row that several folds hold out occurs several times.
    folds : ndarray of shape (n_held_out,)
        The fold that holds each of them out.
    labels : ndarray of shape (n_held_out,)
    weight : ndarray of shape (n_held_out,)
        The weight of the row over how often it occurs.
    probabilities : ndarray of shape (n_held_out, n_columns)
        The labels, and one row more of unknown label, to which every row belongs by its share: with n
        rows a label counts n / (n + 1), and the class shares the rest. This is Laplace's rule of succession.
        Where all held-out rows are classified rightly, nothing else shows how sure is too sure.
    share_scores : ndarray of shape (n_held_out, n_columns)
        What the class shares of the fold's training rows score: their logarithms, or one log odds.
    units : ndarray of shape (n_held_out,)
        Numbers of what is drawn as one: rows, or groups of rows that belong together.
    copies : ndarray of shape (n_units,)
        How many equal rows each unit stands for, which are drawn one by one; 1 for groups.
    lacking : ndarray of shape (n_folds, n_classes)
        Whether the training rows of a fold lack a class.
    unseen : ndarray of shape (n_folds,)
        The log odds of a label that the training rows of a fold never had.
    """

    rows: Indices
    folds: Indices
    labels: Indices
    weight: Floats
    probabilities: Floats
    share_scores: Floats
    units: Indices
    copies: Indices
    lacking: Booleans
    unseen: Floats

    @classmethod
    def of(
        cls,
        labels: Indices,
        row_weight: Floats,
        n_classes: int,
        splits: Sequence[Split],
        groups: Indices | None = None,
        copies: Indices | None = None,
    ) -> HeldOut:
        """Collect the held-out rows of some splits of a table.

        ``groups`` has the group of each row of the table, where rows belong together, ``copies`` how many
        equal rows it stands for, where they are merged.
        """
        rows = np.concatenate([held for _, held in splits])
        folds = np.repeat(np.arange(len(splits)), [len(held) for _, held in splits])
        trained = np.stack(
            [np.bincount(labels[train], row_weight[train], minlength=n_classes) for train, _ in splits]
        )
        occurrences = np.bincount(rows, minlength=len(labels))
        # What a class that a fold lacks scores is set by `completed`.
        shares = np.maximum(trained, np.finfo(np.float64).tiny) / trained.sum(axis=1, keepdims=True)
        logs = np.log(shares)[folds]
        weight = row_weight[rows] / occurrences[rows]
        unknown = 1.0 / (1.0 + weight.sum())
        class_shares = np.bincount(labels, row_weight, minlength=n_classes) / row_weight.sum()
        probabilities = (1 - unknown) * np.eye(n_classes)[labels[rows]] + unknown * class_shares
        two = n_classes == 2
        units = np.unique(rows if groups is None else groups[rows], return_inverse=True)[1].ravel()
        of_units = np.ones(int(units.max(initial=-1)) + 1, dtype=np.int64)
        if groups is None and copies is not None:
            of_units[units] = copies[rows]
        held_out = cls(
            rows,
            folds,
            labels[rows],
            weight,
            probabilities[:, 1:] if two else probabilities,
            logs[:, 1:] - logs[:, :1] if two else logs,
            units,
            of_units,
            trained == 0,
            -np.log(trained.sum(axis=1)),
        )
        return replace(held_out, share_scores=held_out.completed(held_out.share_scores))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> float:
        """Return the weight of all held-out rows."""
        return float(self.weight.sum())

    @property
    def n_folds(self) -> int:
        """Return the number of folds."""
        return len(self.lacking)

    @property
    def known(self) -> Booleans:
        """Return whether the training rows of its fold have the class of each row.

        The others lose the same by all trials, and have no part in a choice among them.
        """
        return ~self.lacking[self.folds, self.labels]

    def part(self, chosen: Booleans) -> HeldOut:
        """Return some of the rows."""
        numbers, units = np.unique(self.units[chosen], return_inverse=True)
        names = ("rows", "folds", "labels", "weight", "probabilities", "share_scores")
        of_rows = {name: getattr(self, name)[chosen] for name in names}
        return replace(self, units=units.ravel(), copies=self.copies[numbers], **of_rows)

    # Scores

    def completed(self, scores: Floats) -> Floats:
        """Return scores of all held-out rows, with those of classes that the training rows of a fold lack.

        Axes between rows and columns are kept.
        """
        if not self.lacking.any():
            return scores
        found = scores.copy()
        for fold in np.flatnonzero(self.lacking.any(axis=1)).tolist():
            here = self.folds == fold
            found[here] = self.completed_in(fold, scores[here])
        return found

    def completed_in(self, fold: int, scores: Floats) -> Floats:
        """Return scores by the fit of one fold, with those of classes that its training rows lack.

        The log odds of such classes together, against the others, are those of a label never seen.
        """
        lacking = self.lacking[fold]
        if not lacking.any():
            return scores
        if scores.shape[-1] == 1:
            return np.full_like(scores, self.unseen[fold] if lacking[1] else -self.unseen[fold])
        found = scores.copy()
        known = np.logaddexp.reduce(scores[..., ~lacking], axis=-1, keepdims=True)
        found[..., lacking] = known + self.unseen[fold] - np.log(lacking.sum())
        return found

    def gathered(self, scores_by_fold: Sequence[Floats]) -> Floats:
        """Return the scores of held-out rows, given each fold's scores of all rows of the table."""
        found = np.empty((len(self), *scores_by_fold[0].shape[1:]))
        for fold, scores in enumerate(scores_by_fold):
            here = self.folds == fold
            found[here] = scores[self.rows[here]]
        return self.completed(found)

    # Losses

    @cached_property
    def share_losses(self) -> Floats:
        """The log loss of each row under the class shares of its fold."""
        return self.expected_losses(self.share_scores)

    def expected_losses(self, scores: Floats) -> Floats:
        """Return the log loss of each row and its share of the unknown one: what searches minimise.

        Axes between rows and columns are kept.
        """
        return expected_log_losses(scores, self.probabilities)

    def losses(self, scores: Floats, scoring: str = "log-loss") -> Floats:
        """Return the loss of each row under scores; axes between rows and columns are kept."""
        return POINTWISE[scoring](scores, self.labels)

    def mean(self, by_row: Floats) -> Floats:
        """Return the weighted mean over the rows, NaN where there is none."""
        return np.asarray(np.tensordot(self.weight, by_row, 1) / (self.total or np.nan))

    def standard_error(self, by_row: Floats) -> float:
        """Return the standard error of the weighted mean, NaN where there is no row.

        The sum of squares has one term per unit: a row, with all its weight and all its occurrences, or a
        group of rows; and one per copy, which are equal.
        """
        away = by_row - self.mean(by_row)
        largest = float(np.abs(away).max(initial=0.0)) or 1.0
        away = away / largest  # squares of far scores are beyond all doubles
        square = float((np.bincount(self.units, self.weight * away) ** 2 / self.copies).sum())
        return largest * float(np.sqrt(square)) / (self.total or np.nan)

    def fold_means(self, scores: Floats, scoring: str) -> Floats:
        """Return the mean loss of each fold and trial, given scores (rows, trials, columns).

        It is 0 in a fold without rows, whose weight is 0. The loss of "auc" is 1 less the area under the
        curve, each class against the others.
        """
        found = np.zeros((self.n_folds, scores.shape[1]))
        for fold in np.unique(self.folds).tolist():
            here = self.folds == fold
            if scoring == "auc":
                found[fold] = [
                    _auc_loss(scores[here, trial], self.labels[here], self.weight[here])
                    for trial in range(scores.shape[1])
                ]
            else:
                losses = POINTWISE[scoring](scores[here], self.labels[here])
                found[fold] = self.weight[here] @ losses / self.weight[here].sum()
        return found

    @property
    def fold_weights(self) -> Floats:
        """Return the weight of the held-out rows of each fold."""
        return np.bincount(self.folds, self.weight, minlength=self.n_folds).astype(np.float64)


def _auc_loss(scores: Floats, labels: Indices, weight: Floats) -> float:
    """Return 1 less the mean area under the curves of the classes present; a half where there is one."""
    present = np.unique(labels)
    if len(present) < 2:
        return 0.5
    posterior = posterior_of(by_class(scores))
    areas = [roc_auc_score(labels == c, posterior[:, c], sample_weight=weight) for c in present]
    return 1.0 - float(np.mean(areas))
