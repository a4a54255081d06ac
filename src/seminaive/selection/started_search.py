"""The search over strengths around an earlier model: new terms are added to its score, recalibrated.

The score is ``a + b * earlier + new terms``. Strengths of the new terms are searched around the earlier score
with the intercept a and slope b of its recalibration, around the score with a slope of 1, and around nothing
(b = 0), which is the fit without an earlier model. At infinite strengths only these baselines are left.
Held-out rows, which the earlier model has not seen either, weigh all of these trials. The rest of the answer,
which is the class shares in other searches, is the average of the baselines alone: of the earlier model as it
is, shifted, and recalibrated, and of the class shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.decision import averaged, decide
from seminaive.selection.recalibration import Baseline, Recalibration, class_shares, recalibrate, shifted
from seminaive.selection.relevance_search import PLAN, Answer, RelevanceSearch, Trial, cost_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.selection.decision import Decision
    from seminaive.selection.held_out import HeldOut
    from seminaive.selection.relevance_search import Engine

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

# Around which baselines new terms are searched.
SEARCHED = ("recalibrated", "shifted", "nothing")
INFINITE = (np.inf, np.inf, np.inf)


def baselines_of(
    earlier: Floats,
    labels: Indices,
    row_weight: Floats,
    n_classes: int,
    splits: Sequence[tuple[Indices, Indices]],
) -> dict[str, Baseline]:
    """Return what an earlier score can be made into, on the training rows of each fold and on all rows."""
    rows = (earlier, labels, row_weight, n_classes, splits)
    return {
        "recalibrated": Baseline.of(recalibrate, *rows),
        "shifted": Baseline.of(shifted, *rows),
        "unchanged": Baseline.constant(earlier, 1.0, len(splits) + 1),
        "class shares": Baseline.of(lambda _, *own: class_shares(*own), *rows),
        "nothing": Baseline.constant(earlier, 0.0, len(splits) + 1),
    }


@dataclass(frozen=True)
class StartedAnswer(Answer):
    """What a search around an earlier model has found; its coefficients include the intercept a.

    Parameters
    ----------
    slope : float
        b, the weight of the earlier score.
    kind : str
        The baseline of the best trial with terms.
    rest : dict of str to float
        The weight of each baseline in the rest of the answer.
    """

    slope: float
    kind: str
    rest: dict[str, float]


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
        found = list(self._alone.items())
        for kind, search in self.searches.items():
            search.explore()
            found += [(kind, trial) for trial in sorted(search.trials, key=lambda trial: trial.criterion)]
        return found

    @cached_property
    def _alone(self) -> dict[str, Trial]:
        """Each baseline without any new term."""
        held_out = self.searches["nothing"].held_out
        found = {}
        for kind, baseline in self.baselines.items():
            if kind != "nothing":
                scores = held_out.gathered(baseline.offsets[:-1])
                loss = float(held_out.mean(held_out.expected_losses(scores)))
                found[kind] = Trial((0, 0, 0, 0), INFINITE, 0, None, [], scores, loss, loss)
        return found

    # The decision

    @cached_property
    def _rest(self) -> dict[str, float]:
        """The weight of each baseline in their average."""
        held_out = self.searches["nothing"].held_out
        losses = np.array([held_out.total * trial.loss for trial in self._alone.values()])
        weights = averaged(np.zeros(len(losses)))(losses)
        return dict(zip(self._alone, weights.tolist(), strict=True))

    @cached_property
    def held_out(self) -> HeldOut:
        """The rows that the folds hold out; what is left of an answer is the average of the baselines."""
        rest = sum(weight * self._alone[kind].scores for kind, weight in self._rest.items())
        return replace(self.searches["nothing"].held_out, share_scores=np.asarray(rest))

    def _decide(self) -> Decision:
        scores = np.stack([trial.scores for trial in self.trials], axis=1)
        cost = np.array([cost_of(trial.steps) for trial in self.trials])
        return decide(self.held_out, scores, averaged(cost), self.searches["nothing"].generator)

    # The answer

    def run(self) -> StartedAnswer:
        """Average all trials, and shrink the average to that of the baselines."""
        decision = self._decide()
        kept = decision.weights >= PLAN.negligible * decision.weights.max()
        weights = (np.where(kept, decision.weights, 0.0) / decision.weights[kept].sum()).tolist()
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
            rest_of(self.baselines, self._rest),
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
            self._rest,
        )


def weighted_sum(parts: Iterable[tuple[float, Recalibration]]) -> Recalibration:
    """Return the sum of recalibrations times their weights."""
    listed = list(parts)
    intercept = sum(weight * own.intercept for weight, own in listed)
    return Recalibration(np.asarray(intercept), sum(weight * own.slope for weight, own in listed))


def rest_of(baselines: dict[str, Baseline], weights: dict[str, float]) -> Recalibration:
    """Return the average of baselines on all rows."""
    return weighted_sum((weight, baselines[kind].of_all) for kind, weight in weights.items())


def completed(
    coefficients: Floats, base: Recalibration, rest: Recalibration, fit_share: float
) -> tuple[Floats, float]:
    """Return ``fit_share`` times coefficients and their baseline, the rest being another baseline.

    The intercept of the baselines is added to that of the coefficients; their slope is returned.
    """
    total = weighted_sum([(fit_share, base), (1 - fit_share, rest)])
    found = fit_share * coefficients
    found[0] += total.intercept
    return found, total.slope
