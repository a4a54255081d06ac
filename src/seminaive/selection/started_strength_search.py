"""The search over ridge strengths around an earlier model, as `started_search` does it for smooth columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.baselines import NOTHING, Alone, baselines_of, completed, weighted_sum
from seminaive.selection.decision import averaged, decide, weighty
from seminaive.selection.strength_search import Average, Grid, StrengthSearch, Trial, with_solution

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.selection.decision import Decision
    from seminaive.selection.fold_table import FoldTable

    Floats = NDArray[np.float64]

# Around which baselines new terms are searched.
SEARCHED = ("recalibrated", NOTHING)


@dataclass(frozen=True)
class StartedAverage(Average):
    """The fit of all rows that a search around an earlier model answers with.

    Its coefficients include the intercept of the recalibration.

    Parameters
    ----------
    slope : float
        The weight of the earlier score.
    """

    slope: float


class StartedStrengthSearch:
    """Searches around an earlier score, recalibrated, and around nothing, decided upon together.

    Parameters
    ----------
    whole : FoldTable
    tables : list of FoldTable
        As of `StrengthSearch`.
    earlier : ndarray of shape (n_rows, n_columns)
        The earlier score of all rows: one log odds of two classes, else one score per class.
    search : callable
        From such tables to a `StrengthSearch`.
    """

    def __init__(
        self,
        whole: FoldTable,
        tables: list[FoldTable],
        earlier: Floats,
        search: Callable[[FoldTable, list[FoldTable]], StrengthSearch],
    ) -> None:
        splits = [split for table in tables for split in table.splits]
        self.baselines = baselines_of(earlier, whole.labels, whole.row_weight, whole.n_classes, splits)
        self.searches = {
            kind: search(*_around(whole, tables, self.baselines[kind].offsets)) for kind in SEARCHED
        }
        self.alone = Alone(self.baselines, self.searches[NOTHING].held_out)

    def run(self, grid: Grid) -> None:
        """Try strengths around either; beside an earlier model the generative estimate is no target."""
        self.searches["recalibrated"].run(replace(grid, values={**grid.values, "share": [0.0]}))
        self.searches[NOTHING].run(grid)

    def fit_average(self, tol: float, generator: np.random.Generator) -> StartedAverage:
        """Average all trials and the baselines alone, and shrink the average to that of the baselines."""
        trials = self._ranked(tol)
        decision = self._decide(trials, generator)
        n_alone = len(self.alone.scores)
        parts = [
            (weight, kind, trial)
            for weight, (kind, trial) in zip(decision.weights[n_alone:].tolist(), trials, strict=True)
            if weight
        ]
        kinds = [*self.alone.scores, *(kind for kind, _ in trials)]
        base = weighted_sum(
            (weight, self.baselines[kind].of_all)
            for weight, kind in zip(decision.weights.tolist(), kinds, strict=True)
        )
        parts = parts or [(0.0, *trials[0])]
        results = [self.searches[kind].fit_all(trial.strengths, tol) for _, kind, trial in parts]
        mean = np.sum([w * own.solution for (w, _, _), own in zip(parts, results, strict=True)], axis=0)
        solution, slope = completed(mean, base, self.alone.rest(self.baselines), decision.fit_share)
        best = max(parts, key=lambda part: part[0])[2]
        return StartedAverage(best.strengths, decision, with_solution(results, solution), slope)

    def _ranked(self, tol: float) -> list[tuple[str, Trial]]:
        """Return all trials, the best first; those that have weight are fitted to a tolerance."""
        trials = [(kind, own) for kind, search in self.searches.items() for own in search.trials.values()]
        total = self.alone.of_shares.total
        losses = total * np.array([*self.alone.losses.values(), *(own.loss for _, own in trials)])
        weights = averaged(np.zeros(len(losses)))(losses)
        for which in np.flatnonzero(weighty(weights)[len(self.alone.losses) :]):
            kind, own = trials[which]
            self.searches[kind].finish([own], tol)
        return sorted(trials, key=lambda trial: trial[1].loss)

    def _decide(self, trials: list[tuple[str, Trial]], generator: np.random.Generator) -> Decision:
        scores = np.stack([*self.alone.scores.values(), *(own.scores for _, own in trials)], axis=1)
        rule = averaged(np.zeros(scores.shape[1]))
        return decide(self.alone.held_out, scores, rule, generator).without_negligible()

    def results(self) -> dict[str, Floats]:
        """Return all trials with terms as columns, as `StrengthSearch` does, with the slope of each."""
        each = {kind: search.results() for kind, search in self.searches.items()}
        found = {name: np.concatenate([own[name] for own in each.values()]) for name in each[NOTHING]}
        slopes = [
            np.full(len(own["log_loss"]), self.baselines[kind].of_all.slope) for kind, own in each.items()
        ]
        return {**found, "slope": np.concatenate(slopes)}


def _around(
    whole: FoldTable, tables: list[FoldTable], offsets: list[Floats]
) -> tuple[FoldTable, list[FoldTable]]:
    """Return tables with offsets; folds with codings of their own have a table each."""
    if tables[0] is whole:
        made = whole.around(offsets)
        return made, [made]
    return whole.around(offsets), [
        table.around([offset, offsets[-1]]) for table, offset in zip(tables, offsets, strict=False)
    ]
