"""The rate at which features go from naive Bayes to logistic regression as rows grow, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax
from sklearn.metrics import roc_auc_score

from seminaive.design.classes import by_class
from seminaive.scores import log_priors
from seminaive.selection.fold_losses import FoldLosses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable
    from seminaive.selection.generative_parts import GenerativeParts
    from seminaive.selection.logistic_parts import LogisticParts
    from seminaive.solvers.result import SolverResult
    from seminaive.structure import Partition

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int64]
    Loss = Callable[[Floats, Labels, Floats], float]


@dataclass(frozen=True)
class HybridFold:
    """The training rows of one fold, as its hybrid models see them.

    Parameters
    ----------
    path : sequence of (float, Partition)
        Every partition that some rate gives, with the smallest ``rate * n_rows`` that gives it.
    n_rows : float
        The weight of the training rows.
    generative : GenerativeParts
        Counted on the training rows.
    table : EncodedTable
        All rows, under the fold's own cut points.
    held_out : ndarray
        Positions of the rows that judge.
    """

    path: Sequence[tuple[float, Partition]]
    n_rows: float
    generative: GenerativeParts
    table: EncodedTable
    held_out: Labels

    def partition(self, step: int) -> Partition:
        """Return a partition of the path, or its last one beyond the end."""
        return self.path[min(step, len(self.path) - 1)][1]

    def step_at(self, rate: float) -> int:
        """Return the position on the path of the partition that a rate gives."""
        starts = np.array([start for start, _ in self.path])
        product = 0.0 if rate == 0 else rate * self.n_rows
        # A rate that was made of a start and the number of rows gives that start again, but for rounding.
        return int(np.flatnonzero(starts <= product * (1 + 1e-12))[-1])


def search_rate(
    folds: Sequence[HybridFold],
    logistic: LogisticParts,
    labels: Labels,
    row_weight: Floats,
    scoring: str,
    *,
    joint: bool,
    report: Callable[[str], None],
) -> tuple[FoldLosses, Floats, list[SolverResult]]:
    """Judge every rate that changes some fold's partition.

    The k-th partitions of all folds are fitted side by side, each from the fold's solution before: at most
    one more such fit than there are features. A rate then only looks up each fold's partition.

    Returns
    -------
    FoldLosses
        With the rates, decreasing, in place of strengths.
    ndarray of shape (n_rates,)
        Mean number of features in the folds' logistic parts.
    list of SolverResult
        Of each side-by-side fit.
    """
    loss = LOSSES[scoring]
    n_steps = max(len(fold.path) for fold in folds)
    losses = np.empty((len(folds), n_steps))
    solution, results = None, []
    for step in range(n_steps):
        parts = [fold.partition(step) for fold in folds]
        offset = None
        if joint:
            offsets = [
                fold.generative.without_prior(part.generative).joint_log_scores(fold.table)
                for fold, part in zip(folds, parts, strict=True)
            ]
            offset = np.stack(offsets, axis=1)
        result = logistic.fit([part.logistic for part in parts], solution, offset)
        results.append(result)
        solution = result.solution
        scores = logistic.scores(solution)
        for number, (fold, part) in enumerate(zip(folds, parts, strict=True)):
            rows = fold.held_out
            generative = fold.generative.without_prior(part.generative)
            total = by_class(scores[rows, number]) + generative.joint_log_scores(fold.table.rows(rows))
            losses[number, step] = loss(total, labels[rows], row_weight[rows])
        report(f"mean loss {losses[:, step].mean():.4g}")
    rates = _rates(folds)
    places = np.array([[fold.step_at(rate) for rate in rates] for fold in folds])
    sizes = np.array(
        [[len(fold.path[k][1].logistic) for k in own] for fold, own in zip(folds, places, strict=True)]
    )
    weights = np.array([row_weight[fold.held_out].sum() for fold in folds])
    by_rate = FoldLosses(rates, np.take_along_axis(losses, places, axis=1), weights)
    return by_rate, sizes.mean(axis=0), results


def losses_of_shares(folds: Sequence[HybridFold], labels: Labels, row_weight: Floats, scoring: str) -> Floats:
    """Return what each fold's held-out rows lose if its class shares are the posterior of every row."""
    loss = LOSSES[scoring]
    found = np.empty(len(folds))
    for number, fold in enumerate(folds):
        own = labels[fold.held_out]
        scores = np.tile(log_priors(fold.generative.class_weight), (len(own), 1))
        found[number] = loss(scores, own, row_weight[fold.held_out])
    return found


def _rates(folds: Sequence[HybridFold]) -> Floats:
    """Return the rates at which some fold's partition changes, 0 and infinity, decreasing."""
    found = [start / fold.n_rows for fold in folds for start, _ in fold.path]
    return np.unique([0.0, np.inf, *found])[::-1]


def _posterior(scores: Floats) -> Floats:
    posterior: Floats = np.exp(log_softmax(scores, axis=1))
    return posterior


def _brier(scores: Floats, labels: Labels, row_weight: Floats) -> float:
    """Return half the squared error summed over classes: of two, the square of the error in either."""
    posterior = _posterior(scores)
    posterior[np.arange(len(labels)), labels] -= 1.0
    return float(np.average(0.5 * np.square(posterior).sum(axis=1), weights=row_weight))


def _zero_one(scores: Floats, labels: Labels, row_weight: Floats) -> float:
    return float(np.average(scores.argmax(axis=1) != labels, weights=row_weight))


def _log_loss(scores: Floats, labels: Labels, row_weight: Floats) -> float:
    own = log_softmax(scores, axis=1)[np.arange(len(labels)), labels]
    return float(np.average(-own, weights=row_weight))


def _auc_loss(scores: Floats, labels: Labels, row_weight: Floats) -> float:
    """Return 1 less the area under the curve, each class against the others; a half where all agree."""
    posterior = _posterior(scores)
    present = np.unique(labels)
    if len(present) < 2:
        return 0.5
    areas = [roc_auc_score(labels == c, posterior[:, c], sample_weight=row_weight) for c in present]
    return 1.0 - float(np.mean(areas))


LOSSES: dict[str, Loss] = {"brier": _brier, "zero-one": _zero_one, "log-loss": _log_loss, "auc": _auc_loss}
