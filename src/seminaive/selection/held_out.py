"""Rows that a cross-validation holds out, and what the trials of a search lose on them.

Every decision of a search rests on the scores that its trials give to rows which they have not seen. This is
the one place that turns such scores into losses, and losses into means and standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

from seminaive.design.classes import by_class
from seminaive.objective.log_loss import POINTWISE, expected_log_losses, posterior_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Indices

    Split = tuple[Indices, Indices]

SCORINGS = (*POINTWISE, "auc")


@dataclass(frozen=True)
class HeldOut:
    """Held-out rows, fold after fold.

    A row whose class the training rows of its fold lack is left out: no model there has learned the class,
    and the class has no share to gain over.

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
    grouped : bool
        Whether units are groups.
    """

    rows: Indices
    folds: Indices
    labels: Indices
    weight: Floats
    probabilities: Floats
    share_scores: Floats
    units: Indices
    grouped: bool
    n_folds: int

    @classmethod
    def of(
        cls,
        labels: Indices,
        row_weight: Floats,
        n_classes: int,
        splits: Sequence[Split],
        groups: Indices | None = None,
    ) -> HeldOut:
        """Collect the held-out rows of some splits of a table.

        ``groups`` has the group of each row of the table, where rows belong together.
        """
        rows = np.concatenate([held for _, held in splits])
        folds = np.repeat(np.arange(len(splits)), [len(held) for _, held in splits])
        shares = np.stack(
            [
                np.bincount(labels[train], row_weight[train], minlength=n_classes) / row_weight[train].sum()
                for train, _ in splits
            ]
        )
        known = shares[folds, labels[rows]] > 0
        rows, folds = rows[known], folds[known]
        occurrences = np.bincount(rows, minlength=len(labels))
        with np.errstate(divide="ignore"):
            logs = np.log(shares)[folds]
        # The share of a class that no row here has is nothing; a finite score far below the others says so.
        logs = np.maximum(logs, np.log(np.finfo(np.float64).tiny))
        weight = row_weight[rows] / occurrences[rows]
        unknown = 1.0 / (1.0 + weight.sum())
        class_shares = np.bincount(labels, row_weight, minlength=n_classes) / row_weight.sum()
        probabilities = (1 - unknown) * np.eye(n_classes)[labels[rows]] + unknown * class_shares
        two = n_classes == 2
        units = np.unique(rows if groups is None else groups[rows], return_inverse=True)[1].ravel()
        return cls(
            rows,
            folds,
            labels[rows],
            weight,
            probabilities[:, 1:] if two else probabilities,
            logs[:, 1:] - logs[:, :1] if two else logs,
            units,
            groups is not None,
            len(splits),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> float:
        """Return the weight of all held-out rows."""
        return float(self.weight.sum())

    # Scores

    def gathered(self, scores_by_fold: Sequence[Floats]) -> Floats:
        """Return the scores of held-out rows, given each fold's scores of all rows of the table."""
        found = np.empty((len(self), *scores_by_fold[0].shape[1:]))
        for fold, scores in enumerate(scores_by_fold):
            here = self.folds == fold
            found[here] = scores[self.rows[here]]
        return found

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

        Weights are counts of rows, so that the sum of squares has one term per row; rows of one group are one
        term, and several occurrences of one row are their mean.
        """
        away = by_row - self.mean(by_row)
        largest = float(np.abs(away).max(initial=0.0)) or 1.0
        away = away / largest  # squares of far scores are beyond all doubles
        terms, counts = np.bincount(self.units, self.weight * away), np.ones(1)
        if not self.grouped:
            counts = np.maximum(np.bincount(self.units, self.weight), np.finfo(float).tiny)
        square = float((terms**2 / counts).sum())
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
