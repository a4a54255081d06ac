"""The search over strengths around an earlier model: new terms are added to its score, recalibrated.

The score is ``a + b * earlier + new terms``. Strengths of the new terms are searched around the earlier score
with the intercept a and slope b of its recalibration, around the score with a slope of 1, and around nothing
(b = 0), which is the fit without an earlier model. At infinite strengths only these baselines are left.
Held-out rows, which the earlier model has not seen either, weigh all of these trials. The rest of the answer,
which is the class shares in other searches, is the average of the baselines alone: of the earlier model as it
is, shifted, and recalibrated, and of the class shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.baselines import NOTHING, Alone, baselines_of, completed, weighted_sum
from seminaive.selection.decision import averaged, decide
from seminaive.selection.relevance_search import RelevanceAnswer, RelevanceSearch, Trial, cost_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.selection.decision import Decision
    from seminaive.selection.recalibration import Recalibration
    from seminaive.selection.relevance_search import Engine

    Floats = NDArray[np.float64]

# Around which baselines new terms are searched.
SEARCHED = ("recalibrated", "shifted", NOTHING)
INFINITE = (np.inf, np.inf, np.inf)


@dataclass(frozen=True)
class StartedAnswer(RelevanceAnswer):
    """What a search around an earlier model has found; its coefficients include the intercept a.

    Parameters
    ----------
    slope : float
        b, the weight of the earlier score.
    kind : str
        The baseline of the best trial with terms.
    """

    slope: float
    kind: str


class StartedSearch:
    """Searches around several baselines made of one earlier score, decided upon together.

    Parameters
    ----------
    engine : Engine
    earlier : ndarray of shape (n_rows, n_columns)
        The earlier score of all rows: one log odds of two classes, else one score per class.
    search : callable
        From an engine to its `RelevanceSearch`.
    """

    def __init__(self, engine: Engine, earlier: Floats, search: Callable[[Engine], RelevanceSearch]) -> None:
        self.engine = engine
        self.baselines = baselines_of(
            earlier, engine.labels, engine.row_weight, engine.n_classes, engine.splits
        )
        self.searches = {kind: search(engine.around(self.baselines[kind].offsets)) for kind in SEARCHED}
        self.alone = Alone(self.baselines, self.searches[NOTHING].held_out)

    # Trials

    @property
    def trials(self) -> list[Trial]:
        """All trials, those of a baseline alone, at infinite strengths, first."""
        return [trial for _, trial in self._trials]

    @property
    def slopes(self) -> list[float]:
        """The weight of the earlier score in each trial's fit of all rows."""
        return [self.baselines[kind].of_all.slope for kind, _ in self._trials]

    @cached_property
    def _trials(self) -> list[tuple[str, Trial]]:
        found = self._without_terms()
        for kind, search in self.searches.items():
            search.explore()
            found += [(kind, trial) for trial in sorted(search.trials, key=lambda trial: trial.criterion)]
        return found

    def _without_terms(self) -> list[tuple[str, Trial]]:
        """Return the trial of each baseline alone."""
        alone = self.alone
        return [
            (kind, Trial((0, 0, 0, 0), INFINITE, 0, None, [], scores, alone.losses[kind], alone.losses[kind]))
            for kind, scores in alone.scores.items()
        ]

    # The decision

    def _decide(self) -> Decision:
        scores = np.stack([trial.scores for trial in self.trials], axis=1)
        cost = np.array([cost_of(trial.steps) for trial in self.trials])
        return decide(
            self.alone.held_out, scores, averaged(cost), self.searches[NOTHING].generator
        ).without_negligible()

    # The answer

    def run(self) -> StartedAnswer:
        """Average all trials, and shrink the average to that of the baselines."""
        decision = self._decide()
        weights = decision.weights.tolist()
        base = weighted_sum(
            (weight, self.baselines[kind].of_all)
            for weight, (kind, _) in zip(weights, self._trials, strict=True)
        )
        parts: dict[str, list[tuple[float, Trial]]] = {kind: [] for kind in SEARCHED}
        for weight, (kind, trial) in zip(weights, self._trials, strict=True):
            if weight and trial.fits:
                parts[kind].append((weight, trial))
        kind, best = self._best(parts)
        parts[kind] = parts[kind] or [(0.0, best)]
        return self._fitted(decision, parts, kind, best, base)

    def _best(self, parts: dict[str, list[tuple[float, Trial]]]) -> tuple[str, Trial]:
        """Return the trial with terms of most weight; where none has any, of least criterion."""
        weighty = [(weight, kind, trial) for kind, own in parts.items() for weight, trial in own]
        if weighty:
            _, kind, best = max(weighty, key=lambda part: part[0])
            return kind, best
        with_terms = [(kind, trial) for kind, trial in self._trials if trial.fits]
        return min(with_terms, key=lambda own: own[1].criterion)

    def _fitted(
        self,
        decision: Decision,
        parts: dict[str, list[tuple[float, Trial]]],
        kind: str,
        best: Trial,
        base: Recalibration,
    ) -> StartedAnswer:
        """Fit all rows under the trials that have a weight, and add up."""
        found = {other: self.searches[other].fitted(own) for other, own in parts.items() if own}
        fits = [fit.fit for _, own in found.values() for fit in own]
        of_best = found[kind][1][[trial is best for _, trial in parts[kind]].index(True)]
        coefficients, slope = completed(
            np.asarray(sum(own for own, _ in found.values())),
            base,
            self.alone.rest(self.baselines),
            decision.fit_share,
        )
        return StartedAnswer(
            best,
            [part for own in parts.values() for part in own],
            decision,
            coefficients,
            max(fit.optimality for fit in fits),
            max(fit.n_iter for fit in fits),
            of_best.fit.objective,
            best.prepared[-1].relevances,
            *self.searches[kind].evidence_of(best, of_best),
            slope,
            kind,
        )
