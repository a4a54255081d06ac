"""The step of a path of models that held-out rows advise, folds being compared at equal numbers of steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import log_odds
from seminaive.selection.decision import Decision, decide, least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable
    from seminaive.scores import AdditiveScores
    from seminaive.selection.held_out import HeldOut


@dataclass(frozen=True)
class StepChoice:
    """What held-out rows say about the steps of a path.

    Parameters
    ----------
    step : int
        The step of least held-out loss, the first of equal ones.
    fold_deviances : ndarray of shape (n_folds, n_steps)
        Twice the log loss of each fold's held-out rows, summed over them.
    """

    step: int
    decision: Decision
    fold_deviances: Floats


@dataclass(frozen=True)
class FoldPath:
    """The models of a fold's training rows, step by step.

    Parameters
    ----------
    steps : sequence of AdditiveScores
        A fold whose path is shorter than that of all rows stays at its last model.
    table : EncodedTable
        The table as the fold codes it, with all its rows.
    """

    steps: Sequence[AdditiveScores]
    table: EncodedTable

    def scores(self, rows: Integers, n_steps: int) -> Floats:
        """Return the scores of some rows at every step, (n_rows, n_steps, n_columns)."""
        table = self.table.rows(rows)
        found = [log_odds(scores.joint_log_scores(table)) for scores in self.steps[:n_steps]]
        found += [found[-1]] * (n_steps - len(found))
        return np.stack(found, axis=1)


def choose_step(
    held_out: HeldOut, folds: Sequence[FoldPath], n_steps: int, generator: np.random.Generator
) -> StepChoice:
    """Choose the step of least held-out loss, and how far to believe it."""
    scores = np.empty((len(held_out), n_steps, held_out.share_scores.shape[1]))
    for number, fold in enumerate(folds):
        here = held_out.folds == number
        scores[here] = fold.scores(held_out.rows[here], n_steps)
    scores = held_out.completed(scores)
    decision = decide(held_out, scores, least, generator)
    deviances = 2.0 * held_out.fold_weights[:, None] * held_out.fold_means(scores, "log-loss")
    return StepChoice(int(decision.weights.argmax()), decision, deviances)
