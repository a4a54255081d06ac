"""The rate at which features go from naive Bayes to logistic regression as rows grow, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.design.rounding import ROUNDING
from seminaive.selection.decision import FAR, Decision, decide, least
from seminaive.selection.fold_losses import FoldLosses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable
    from seminaive.selection.held_out import HeldOut
    from seminaive.solvers.result import SolverResult
    from seminaive.structure import Partition
    from seminaive.structure.generative_parts import GenerativeParts
    from seminaive.structure.logistic_parts import LogisticParts


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
        All rows, under the cut points of the fold.
    """

    path: Sequence[tuple[float, Partition]]
    n_rows: float
    generative: GenerativeParts
    table: EncodedTable

    def partition(self, step: int) -> Partition:
        """Return a partition of the path, or its last one beyond the end."""
        return self.path[min(step, len(self.path) - 1)][1]

    def step_at(self, rate: float) -> int:
        """Return the position on the path of the partition that a rate gives."""
        starts = np.array([start for start, _ in self.path])
        product = 0.0 if rate == 0 else rate * self.n_rows
        # A rate that was made of a start and the number of rows gives that start again, but for rounding.
        return int(np.flatnonzero(starts <= product * (1 + ROUNDING))[-1])


@dataclass(frozen=True)
class RateChoice:
    """What held-out rows say about rates.

    Parameters
    ----------
    losses : FoldLosses
        With the rates, decreasing, in place of strengths.
    sizes : ndarray of shape (n_rates,)
        Mean number of features in the folds' logistic parts.
    rate : float
        The rate of least loss, the largest of equally good ones.
    """

    losses: FoldLosses
    sizes: Floats
    rate: float
    decision: Decision


@dataclass(frozen=True)
class RateSearch:
    """Hybrid models of the folds at every rate that changes some fold's partition.

    Parameters
    ----------
    logistic : LogisticParts
        Fits the logistic parts of all folds side by side.
    joint : bool
        Whether logistic parts have the scores of the generative parts as an offset.
    """

    folds: Sequence[HybridFold]
    logistic: LogisticParts
    held_out: HeldOut
    joint: bool

    def scores_by_step(self, report: Callable[[str], None]) -> tuple[Floats, list[SolverResult]]:
        """Return the scores of held-out rows under each fold's k-th partition, (rows, steps, columns).

        The k-th partitions of all folds are fitted side by side, each from the fold's solution before: at
        most one more such fit than there are features. The results of these fits come second.
        """
        held_out = self.held_out
        n_steps = max(len(fold.path) for fold in self.folds)
        found = np.empty((len(held_out), n_steps, held_out.share_scores.shape[1]))
        solution, results = None, []
        for step in range(n_steps):
            parts = [fold.partition(step) for fold in self.folds]
            result = self.logistic.fit([part.logistic for part in parts], solution, self._offset(parts))
            results.append(result)
            solution = result.solution
            scores = self.logistic.scores(solution)
            for number, (fold, part) in enumerate(zip(self.folds, parts, strict=True)):
                here = held_out.folds == number
                rows = held_out.rows[here]
                likelihood = fold.generative.without_prior(part.generative)
                found[here, step] = scores[rows, number] + log_odds(
                    likelihood.joint_log_scores(fold.table.rows(rows))
                )
            found[:, step] = held_out.completed(found[:, step])
            report(f"log loss {float(held_out.mean(held_out.losses(found[:, step]))):.4g}")
        return found, results

    def _offset(self, parts: Sequence[Partition]) -> Floats | None:
        if not self.joint:
            return None
        offsets = [
            fold.generative.without_prior(part.generative).joint_log_scores(fold.table)
            for fold, part in zip(self.folds, parts, strict=True)
        ]
        return np.stack(offsets, axis=1)

    def choose(
        self, by_step: Floats, scoring: str, fit_share: float | None, generator: np.random.Generator
    ) -> RateChoice:
        """Choose a rate, and how far to believe the model; a rate looks up the partition of each fold."""
        held_out, rates = self.held_out, _rates(self.folds)
        steps = np.array([[fold.step_at(rate) for rate in rates] for fold in self.folds])
        sizes = np.array(
            [
                [len(fold.path[k][1].logistic) for k in of_fold]
                for fold, of_fold in zip(self.folds, steps, strict=True)
            ]
        )
        means = np.take_along_axis(held_out.fold_means(by_step, scoring), steps, axis=1)
        losses = FoldLosses(rates, means, held_out.fold_weights)
        chosen = losses.choose("min")
        steps_of_rows = steps[held_out.folds]
        if scoring == "auc":
            # Not a mean over rows, which a draw could weigh: the chosen rate alone is judged.
            steps_of_rows, by_row = steps_of_rows[:, [chosen]], None
        else:
            by_row = np.take_along_axis(held_out.losses(by_step, scoring), steps_of_rows, axis=1)
            kept = may_be_least(by_row, held_out.weight)
            steps_of_rows, by_row = steps_of_rows[:, kept], by_row[:, kept]
        trials = np.take_along_axis(by_step, steps_of_rows[:, :, None], axis=1)
        decision = decide(held_out, trials, least, generator, by_row, fit_share)
        return RateChoice(losses, sizes.mean(axis=0), float(rates[chosen]), decision)


def may_be_least(losses: Floats, weight: Floats) -> Integers:
    """Return the trials that a draw of rows may find best, given the loss of each row and trial.

    The difference of two trials' total losses has a standard deviation over draws; a trial behind the best by
    more than five of them is best in fewer than one of a million draws.
    """
    best = int(np.argmin(weight @ losses))
    away = np.clip(losses - losses[:, [best]], -FAR, FAR)
    behind, spread = weight @ away, np.sqrt(weight @ np.square(away))
    return np.flatnonzero(behind <= 5.0 * spread)


def _rates(folds: Sequence[HybridFold]) -> Floats:
    """Return the rates at which some fold's partition changes, 0 and infinity, decreasing."""
    found = [start / fold.n_rows for fold in folds for start, _ in fold.path]
    return np.unique([0.0, np.inf, *found])[::-1]
