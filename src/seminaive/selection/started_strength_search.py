"""The search over ridge strengths around an earlier model, as `started_search` does it for smooth columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.baselines import NOTHING, SEARCHED, Baseline, Combination, baselines_of
from seminaive.selection.strength_search import Average, StrengthSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.selection.fold_table import FoldTable
    from seminaive.selection.strength_grid import Grid

    Search = Callable[[FoldTable, list[FoldTable], Baseline | None], StrengthSearch]


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
    """Searches around baselines made of one earlier score, and without it, averaged.

    Parameters
    ----------
    tables : list of FoldTable
        As of `StrengthSearch`.
    earlier : ndarray of shape (n_rows, n_columns)
        The earlier score of all rows: one log odds of two classes, else one score per class.
    search : callable
        From such tables and a baseline, or None, to a `StrengthSearch`.
    """

    def __init__(self, whole: FoldTable, tables: list[FoldTable], earlier: Floats, search: Search) -> None:
        splits = [split for table in tables for split in table.splits]
        self.baselines = baselines_of(earlier, whole.labels, whole.row_weight, whole.n_classes, splits)
        self.searches = {NOTHING: search(whole, tables, None)}
        for kind in SEARCHED:
            baseline = self.baselines[kind]
            self.searches[kind] = search(*_around(whole, tables, baseline.offsets), baseline)

    def run(self, grid: Grid) -> None:
        """Try strengths; beside an earlier model the generative estimate is no target."""
        around = replace(grid, values={**grid.values, "share": [0.0]})
        for kind, search in self.searches.items():
            search.run(grid if kind == NOTHING else around)

    def fit_average(self, tol: float, generator: np.random.Generator) -> StartedAverage:
        """Average the answers of all searches."""
        answers = {kind: search.fit_average(tol, generator) for kind, search in self.searches.items()}
        decisions = {kind: answer.decision for kind, answer in answers.items()}
        held_out = self.searches[NOTHING].held_out
        combined = Combination.of(self.baselines, held_out, decisions, generator)
        results = [answer.result for answer in answers.values()]
        best = answers[combined.best]
        result = replace(
            best.result,
            solution=combined.coefficients(
                {kind: answer.result.solution for kind, answer in answers.items()}
            ),
            n_iter=sum(part.n_iter for part in results),
            passes=sum(part.passes for part in results),
            optimality=max(part.optimality for part in results),
            converged=all(part.converged for part in results),
        )
        return StartedAverage(best.best, combined.decision, result, combined.recalibration.slope)

    def results(self) -> dict[str, Floats]:
        """Return all trials as columns, as `StrengthSearch` does, with the slope of the earlier score."""
        each = {kind: search.results() for kind, search in self.searches.items()}
        found = {name: np.concatenate([columns[name] for columns in each.values()]) for name in each[NOTHING]}
        slopes = {kind: baseline.of_all.slope for kind, baseline in self.baselines.items()}
        of_trials = [
            np.full(len(columns["log_loss"]), slopes.get(kind, 0.0)) for kind, columns in each.items()
        ]
        return {**found, "slope": np.concatenate(of_trials)}


def _around(
    whole: FoldTable, tables: list[FoldTable], offsets: list[Floats]
) -> tuple[FoldTable, list[FoldTable]]:
    """Return tables with offsets; folds that differ in their codings have a table each."""
    if tables[0] is whole:
        made = whole.around(offsets)
        return made, [made]
    return whole.around(offsets), [
        table.around([offset, offsets[-1]]) for table, offset in zip(tables, offsets, strict=False)
    ]
