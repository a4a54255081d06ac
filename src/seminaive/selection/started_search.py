"""The search over strengths around an earlier model: new terms are added to its score, recalibrated.

The score is ``a + b * earlier + new terms``. Strengths of the new terms are searched around the earlier
score with the intercept a and slope b of its recalibration, around the score with a slope of 1 and an
intercept, and around nothing (b = 0), which is the fit without an earlier model. Each search shrinks its
answer to what it was made around as far as its gain may be chance: the earlier model recalibrated, or the
class shares. Held-out rows, which the earlier model has not seen either, weigh these answers, the earlier
model as it is, and its recalibrations alone.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.baselines import NOTHING, SEARCHED, Baseline, Combination, baselines_of
from seminaive.selection.relevance_trials import RelevanceAnswer, RelevanceTrial

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.selection.relevance_search import RelevanceSearch
    from seminaive.selection.relevance_trials import FoldSolver

    Search = Callable[[FoldSolver, Baseline | None], RelevanceSearch]

INFINITE = (np.inf, np.inf, np.inf)


@dataclass(frozen=True)
class StartedAnswer(RelevanceAnswer):
    """What a search around an earlier model has found; its coefficients include the intercept a.

    Parameters
    ----------
    slope : float
        b, the weight of the earlier score.
    kind : str
        What the search of most weight was made around; the best trial is one of it.
    fit_share : float
        The share of the fit in the answer of that search.
    """

    slope: float
    kind: str
    fit_share: float


class StartedSearch:
    """Searches around baselines made of one earlier score, and without it, averaged.

    Parameters
    ----------
    earlier : ndarray of shape (n_rows, n_columns)
        The earlier score of all rows: one log odds of two classes, else one score per class.
    search : callable
        From a solver and a baseline, or None, to its `RelevanceSearch`.
    """

    def __init__(self, solver: FoldSolver, earlier: Floats, search: Search) -> None:
        rows = solver.rows
        self.baselines = baselines_of(earlier, rows.labels, rows.row_weight, rows.n_classes, rows.splits)
        self.searches = {NOTHING: search(solver, None)}
        for kind in SEARCHED:
            baseline = self.baselines[kind]
            self.searches[kind] = search(solver.around(baseline.offsets), baseline)

    def run(self) -> StartedAnswer:
        """Search around each baseline, and average the answers."""
        answers = {kind: search.run() for kind, search in self.searches.items()}
        decisions = {kind: answer.decision for kind, answer in answers.items()}
        fresh = self.searches[NOTHING]
        combined = Combination.of(self.baselines, fresh.held_out, decisions, fresh.generator)
        best = answers[combined.best]
        found = {field.name: getattr(best, field.name) for field in fields(best)} | {
            "decision": combined.decision,
            "coefficients": combined.coefficients(
                {kind: answer.coefficients for kind, answer in answers.items()}
            ),
            "optimality": max(answer.optimality for answer in answers.values()),
            "n_iter": max(answer.n_iter for answer in answers.values()),
        }
        slope, fit_share = combined.recalibration.slope, best.decision.fit_share
        return StartedAnswer(**found, slope=slope, kind=combined.best, fit_share=fit_share)

    def penalties(self) -> Floats:
        """Return the penalties of new terms in the best trial of equal relevances of all searches."""
        return min(self.searches.values(), key=lambda search: search.best_of_equals.criterion).penalties()

    @property
    def trials(self) -> list[RelevanceTrial]:
        """All trials, those of a baseline alone, at infinite strengths, last."""
        listed = [trial for search in self.searches.values() for trial in search.trials]
        return [*listed, *(self._alone(baseline) for baseline in self.baselines.values())]

    def _alone(self, baseline: Baseline) -> RelevanceTrial:
        """Return the trial without any new term."""
        held_out = baseline.left_of(self.searches[NOTHING].held_out)
        loss = float(held_out.mean(held_out.share_losses))
        return RelevanceTrial((0, 0, 0, 0), INFINITE, 0, None, [], held_out.share_scores, loss, loss)

    @property
    def slopes(self) -> list[float]:
        """The weight of the earlier score in each trial's fit of all rows."""
        slopes = {kind: baseline.of_all.slope for kind, baseline in self.baselines.items()}
        listed = [slopes.get(kind, 0.0) for kind, search in self.searches.items() for _ in search.trials]
        return [*listed, *slopes.values()]

    def refitted(
        self, answer: StartedAnswer, coefficients: Floats, baseline: Baseline | None
    ) -> StartedAnswer:
        """Return an answer with the fit of more rows around the baseline of most weight.

        ``baseline`` is that of these rows, None for the search without an earlier model.
        """
        found = self.searches[answer.kind].with_class_shares(coefficients, answer.fit_share)
        slope = 0.0
        if baseline is not None:
            slope = baseline.of_all.slope
            found[0] += baseline.of_all.intercept
        return replace(answer, coefficients=found, slope=slope)
