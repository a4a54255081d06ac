"""Cross-validated strengths of groups of terms, with a relevance per term found by its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import toward_class_shares
from seminaive.selection.decision import SEARCH, averaged, decide
from seminaive.selection.held_out import HeldOut
from seminaive.selection.relevance_trials import (
    ALL,
    MAINS,
    PAIRS,
    SLOPES,
    RelevanceAnswer,
    RelevanceTrial,
    cost_of,
    strengths_after,
    updated_relevances,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.selection.baselines import Baseline
    from seminaive.selection.relevance_trials import FoldSolver, Steps


@dataclass
class RelevanceSearch:
    """Coordinate climbs over the strengths of the groups, between updates of the terms' relevances.

    They minimise the held-out loss plus the cost of weaker strengths, which is their only limit.
    Each fold's relevances come from the fit of that fold, so that held-out rows have no part in them.

    Parameters
    ----------
    class_weight : ndarray of shape (n_classes,)
        Of all rows of the table, of which the solver may have a sample that lacks a class.
    n_sweeps : int
        Sweeps of the first climb over the groups.
    tol : float
        For the fits of all rows.
    generator : Generator
        Draws held-out rows for the decision.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are drawn together.
    report : callable or None
        Called with a line of text after each trial.
    kept : ndarray of shape (n_sets, n_terms) or None
        Which terms the fits of each training set have, folds first, then all rows; None for all.
    narrower : callable or None
        Gives such arrays with fewer and fewer terms, for tables of which all terms together say nothing.
    baseline : Baseline or None
        What the terms are added to, the offset of the solver; it takes the place of the class shares in the
        rest of an answer.
    only_best : bool
        Whether the best trial alone is fitted in the end, where the rows are a sample of those that are then
        fitted under it. The decision is still that about the average.
    """

    solver: FoldSolver
    class_weight: Floats
    n_sweeps: int
    tol: float
    max_iter: int
    generator: np.random.Generator
    groups: Indices | None = None
    report: Callable[[str], None] | None = None
    kept: NDArray[np.bool_] | None = None
    narrower: Callable[[], Sequence[NDArray[np.bool_]]] | None = None
    baseline: Baseline | None = None
    only_best: bool = False
    trials: list[RelevanceTrial] = field(default_factory=list)
    _round_before: dict[int, int] = field(default_factory=dict)

    def run(self) -> RelevanceAnswer:
        """Return the average over the trials, and its share in the answer."""
        if not self.trials:
            self._explore()
        return self._answer()

    @cached_property
    def best_of_equals(self) -> RelevanceTrial:
        """The best trial in which all terms that are kept have the same relevance."""
        return self._climb_first(self._first_trial(0, self._kept_by_set))

    def penalties(self) -> Floats:
        """Return the penalty of each term, twice, in the best trial of equal relevances: (sets, terms).

        Each fold's are those of its fit, as are, last, those of all rows. Held-out rows choose the strengths.
        """
        return self._evidence(self.best_of_equals)[0]

    def _explore(self) -> None:
        """Try strengths and relevances until no further ones are better.

        Where all columns together say nothing, fewer are tried: the noise of many may drown what one says.
        """
        first = self._first_trial(0, self._kept_by_set)
        if not len(self.held_out):
            return  # no row can tell two trials apart
        best = self._explored(first)
        if self.narrower is not None and best.loss >= (1 - SEARCH.precision) * self._share_loss:
            fewer = enumerate(self.narrower(), self._n_rounds)
            trials = [self._first_trial(number, screen) for number, screen in fewer]
            self._explored(min(trials, key=_criterion, default=best))

    def _explored(self, first: RelevanceTrial) -> RelevanceTrial:
        """Return the best trial after climbs and updates of relevances from a first one."""
        best = self._climb_first(first)
        for number in count(self._n_rounds):
            relevances = self._updated(best)
            self._round_before[number] = best.number
            new = self._trial(best.steps, number, self.solver.prepare(relevances), best)
            if self._weight_beside(new, best) < SEARCH.negligible:
                break
            new = self._climb(new, 1)
            if not _is_better(new, best):
                break
            best = new
        return best

    @property
    def _n_rounds(self) -> int:
        """The number of relevances that were tried."""
        return 1 + max(trial.number for trial in self.trials)

    @cached_property
    def _share_loss(self) -> float:
        """The mean loss of the class shares of the folds."""
        return float(self.held_out.mean(self.held_out.share_losses))

    @property
    def _kept_by_set(self) -> NDArray[Any]:
        """Which terms the fits of each training set have."""
        shape = (self.solver.rows.n_sets, self.solver.columns.n_terms)
        return np.ones(shape) if self.kept is None else self.kept

    def _first_trial(self, number: int, kept: NDArray[Any]) -> RelevanceTrial:
        """Return the trial of the strengths at the start, terms that are not kept having a relevance of 0."""
        return self._trial((0, 0, 0, 0), number, self.solver.prepare(kept.astype(np.float64)), None)

    def _climb_first(self, best: RelevanceTrial) -> RelevanceTrial:
        """Climb from a first trial."""
        # Coefficients grow together where classes are separable, while ridges grow one group after the other.
        best = self._climb(self._climb_along(best, ALL, (-1,)), self.n_sweeps)
        if best.loss > self._share_loss:
            best = self._climb(self._best_of_stronger(best), self.n_sweeps)
        return best

    def _evidence(self, trial: RelevanceTrial) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, and its effective degrees of freedom in the fits of a trial.

        One row for each fold and, last, for all rows.
        """
        fits = [*trial.fits, self._fit_all(trial)]
        return self.solver.evidence(trial.prepared, range(len(fits)), trial.strengths, fits)

    def _updated(self, best: RelevanceTrial) -> Floats:
        """Update the relevances of each fold, and those of all rows, from their fits."""
        columns = self.solver.columns
        relevances = np.stack([prepared.relevances for prepared in best.prepared])
        new = np.empty_like(relevances)
        for which, (penalties, degrees) in enumerate(zip(*self._evidence(best), strict=True)):
            # A multiple of a ridge that the user chose stays: relevances are those of terms without it.
            update = (penalties / columns.smoothness, degrees, columns.groups)
            new[which] = updated_relevances(relevances[which], *update)
        return new

    # Trials

    def _climb(self, best: RelevanceTrial, n_sweeps: int) -> RelevanceTrial:
        """Climb along pairs, main terms and slopes in turn, as long as the criterion falls."""
        present = np.unique(self.solver.columns.groups)
        for _ in range(n_sweeps):
            before = best
            for group in (PAIRS, MAINS, SLOPES):
                if group in present:
                    best = self._climb_along(best, group)
            if best is before:
                break
        return best

    def _best_of_stronger(self, best: RelevanceTrial) -> RelevanceTrial:
        """Return the best trial after some with ridges stronger by decades, as many as rows weigh.

        The ridges at the start suit rows that weigh about 1. Rows that weigh thousands each are all but
        separated by them, and held-out losses near separation have local minima in which a climb ends.
        """
        rows = self.solver.rows
        decades = int(np.log10(max(rows.row_weight.sum() / rows.n_rows, 1.0)))
        for step in range(1, decades + 1):
            new = self._trial((0, 0, 0, step), best.number, best.prepared, best)
            best = new if _is_better(new, best) else best
        return best

    def _climb_along(
        self, best: RelevanceTrial, group: int, directions: Sequence[int] = (1, -1)
    ) -> RelevanceTrial:
        for direction in directions:
            moved = False
            while True:
                steps = list(best.steps)
                steps[group] += direction
                there = (steps[SLOPES], steps[MAINS], steps[PAIRS], steps[ALL])
                if self._was_worse(there, self._round_before.get(best.number)):
                    break
                new = self._trial(there, best.number, best.prepared, best)
                if not _is_better(new, best):
                    break
                best, moved = new, True
            if moved:
                break
        return best

    def _was_worse(self, steps: Steps, number: int | None) -> bool:
        """Tell whether some strengths were tried in a round and were not its best."""
        of_round = [trial for trial in self.trials if trial.number == number]
        tried = [trial for trial in of_round if trial.steps == steps]
        return bool(tried) and tried[0].criterion > min(of_round, key=_criterion).criterion

    def _weight_beside(self, trial: RelevanceTrial, best: RelevanceTrial) -> float:
        """Return the weight of a trial in an average, relative to that of the best; 1 if it is better."""
        behind = max(trial.criterion - best.criterion, 0.0)
        return float(np.exp(-self.held_out.total / 2 * behind))

    def _trial(self, steps: Steps, number: int, prepared: Any, near: RelevanceTrial | None) -> RelevanceTrial:
        """Return the trial of some strengths; a new one starts from another."""
        for trial in self.trials:
            if trial.steps == steps and trial.number == number:
                return trial
        strengths = strengths_after(steps)
        starts = None if near is None else [fit.warm_start for fit in near.fits]
        fits = self.solver.fit_folds(prepared, strengths, starts, SEARCH.precision, self.max_iter)
        scores = self.held_out.gathered([fit.scores for fit in fits])
        loss = float(self.held_out.mean(self.held_out.expected_losses(scores)))
        # Minus the log of a trial's weight in the average, per half row.
        criterion = loss + 2 * cost_of(steps) / (self.held_out.total or np.nan)
        trial = RelevanceTrial(steps, strengths, number, prepared, fits, scores, loss, criterion)
        self.trials.append(trial)
        if self.report is not None:
            shown = ", ".join(f"{strength:.3g}" for strength in strengths)
            self.report(f"trial {len(self.trials)}: strengths {shown}, log loss {loss:.4f}")
        return trial

    def _fit_all(self, trial: RelevanceTrial, tol: float = SEARCH.precision, shift: Any = 0.0) -> Any:
        """Fit all rows, from the mean of the folds plus a shift."""
        start = trial.mean_warm_start + shift
        return self.solver.fit_all(trial.prepared, trial.strengths, start, tol, self.max_iter)

    def _fits_of_all(self, trials: list[RelevanceTrial]) -> list[Any]:
        """Fit all rows under the strengths of several trials.

        The fit of all rows differs from the mean of the folds' fits by about as much in one trial as in
        another.
        """
        first = self._fit_all(trials[0], self.tol)
        shift = first.warm_start - trials[0].mean_warm_start
        return [first, *(self._fit_all(trial, self.tol, shift) for trial in trials[1:])]

    @cached_property
    def held_out(self) -> HeldOut:
        """The rows that the folds hold out."""
        rows = self.solver.rows
        held_out = HeldOut.of(rows.labels, rows.row_weight, rows.n_classes, rows.splits, self.groups)
        return held_out if self.baseline is None else self.baseline.left_of(held_out)

    # The answer

    def _answer(self) -> RelevanceAnswer:
        """Average the trials, and shrink the average to the class shares as held-out rows decide."""
        ranked = sorted(self.trials, key=_criterion)
        scores = np.stack([trial.scores for trial in ranked], axis=1)
        cost = np.array([cost_of(trial.steps) for trial in ranked])
        decision = decide(self.held_out, scores, averaged(cost), self.generator).without_negligible()
        weights = decision.weights.tolist()
        parts = [(weight, trial) for weight, trial in zip(weights, ranked, strict=True) if weight]
        if self.only_best:
            parts = [(1.0, ranked[0])]
        fits = self._fits_of_all([trial for _, trial in parts])
        coefficients = self.solver.coefficients(
            [
                (weight, trial.prepared, trial.strengths, fit)
                for (weight, trial), fit in zip(parts, fits, strict=True)
            ]
        )
        best, of_best = parts[0][1], fits[0]
        penalties, degrees = self.solver.evidence(
            best.prepared, [len(self.solver.rows.splits)], best.strengths, [of_best]
        )
        return RelevanceAnswer(
            best,
            parts,
            fits,
            decision,
            self.with_class_shares(coefficients, decision.fit_share),
            max(fit.fit.optimality for fit in fits),
            max(fit.fit.n_iter for fit in fits),
            of_best.fit.objective,
            best.prepared[-1].relevances,
            penalties[0],
            degrees[0],
        )

    def with_class_shares(self, coefficients: Floats, fit_share: float) -> Floats:
        """Return coefficients times a share, the rest being the class shares, or nothing but the baseline."""
        if self.baseline is not None:
            return fit_share * coefficients
        return toward_class_shares(coefficients, fit_share, self.class_weight)


def _criterion(trial: RelevanceTrial) -> float:
    return trial.criterion


def _is_better(trial: RelevanceTrial, other: RelevanceTrial) -> bool:
    """Tell whether a trial is better by more than fits end apart: a search stays where it is on a tie.

    A strength that does not matter gives trials that differ by how closely they were fitted, and by nothing
    else: taking the smaller criterion would let the solver choose the way of the search.
    """
    return trial.criterion < (1 - SEARCH.precision) * other.criterion
