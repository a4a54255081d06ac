"""Cross-validated choice of ridge strengths and of the share of the generative estimate in the target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import toward_class_shares
from seminaive.design.rounding import ROUNDING
from seminaive.selection.decision import SEARCH, Decision, averaged, decide, weighty
from seminaive.selection.held_out import HeldOut
from seminaive.selection.strength_grid import NUMBER_MARGIN, Choice, Grid, Strengths
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.truncated_newton import gradient_norms, minimize_truncated_newton

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices
    from seminaive.objective.empirical_loss import EmpiricalLoss
    from seminaive.objective.penalised_loss import PenalisedLoss
    from seminaive.selection.baselines import Baseline
    from seminaive.selection.fold_table import FoldTable
    from seminaive.solvers.result import SolverResult


@dataclass
class StrengthTrial:
    """How far the folds have been fitted under some strengths.

    Parameters
    ----------
    solutions : list of ndarray
        The coefficients of all folds side by side, for each table.
    scores : ndarray of shape (n_held_out, n_columns)
        Of held-out rows.
    losses : ndarray of shape (n_held_out,)
        Their log losses.
    loss : float
        The weighted mean of these.
    error : float
        How much the loss may change if the fit goes on: infinite before there is a fit, 0 at its end.
    """

    strengths: Strengths
    solutions: list[Floats]
    scores: Floats
    losses: Floats
    loss: float
    error: float = np.inf
    change: float = np.inf

    def move_to(self, scores: Floats, held_out: HeldOut) -> None:
        """Note what one more Newton step has changed, and estimate what further steps will.

        Changes are the weighted mean of absolute changes of log losses, since gains of some rows hide losses
        of others. The ratio of two successive changes is taken to bound all further ratios (Newton steps
        shrink faster and faster), so that the changes to come sum to less than a geometric series; half of
        their absolute size is taken to cancel out.
        """
        losses = held_out.expected_losses(scores)
        change = float(held_out.mean(np.abs(losses - self.losses)))
        ratio = change / self.change if 0 < self.change < np.inf else np.inf
        ratio *= min(1.0, 2 * ratio)
        self.error = 0.5 * change * ratio / (1 - ratio) if ratio < 1 else np.inf
        self.change = change
        self.scores, self.losses, self.loss = scores, losses, float(held_out.mean(losses))
        if not self.error > SEARCH.precision * self.loss:
            self.error = 0.0


@dataclass(frozen=True)
class Average:
    """The fit of all rows that a search answers with.

    Parameters
    ----------
    best : Strengths
        Those of the trial of most weight.
    result : SolverResult
        The coefficients of the answer, in cells; the objective of the best trial, the worst certificate among
        the fits that are averaged, and the steps and passes of all of them.
    """

    best: Strengths
    decision: Decision
    result: SolverResult


@dataclass
class StrengthSearch:
    """Trials of strengths: all folds fitted side by side, as far as needed to tell which trial is better.

    Parameters
    ----------
    whole : FoldTable
        All rows under the coding of the final fit.
    tables : list of FoldTable
        The tables of the folds: the whole one where folds share its coding, else one for each fold.
    tol, max_iter
        For each fit.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are drawn together.
    report : callable or None
        Called with a line of text after each new trial.
    baseline : Baseline or None
        What the terms are added to, the offset of the tables; it takes the place of the class shares in the
        rest of an answer.
    """

    whole: FoldTable
    tables: list[FoldTable]
    tol: float
    max_iter: int
    groups: Indices | None = None
    report: Callable[[str], None] | None = None
    baseline: Baseline | None = None
    trials: dict[Strengths, StrengthTrial] = field(default_factory=dict)

    def run(self, grid: Grid) -> None:
        """Try strengths by climbing along one coordinate after the other.

        Along each, the log loss is taken to have one minimum, so that a climb ends where the loss rises.
        Coordinates at an end of their list are then followed beyond it.
        """
        # Where every list has one value, no climb compares anything: this is the one trial.
        self.trial(grid.strengths(grid.middle))
        choice = self._climb(grid, grid.middle, "tuples", grid.values["tuples"])
        if grid.hierarchical:
            before = choice.first
            choice = self._climb(grid, choice, "first", grid.values["first"])
            if choice.first != before:
                choice = self._climb(grid, choice, "tuples", grid.values["tuples"])
        if self.whole.space.n_numbers:
            shares = grid.values["number_share"]
            choice = self._climb(grid, choice, "number_share", shares, NUMBER_MARGIN)
        choice = self._climb(grid, choice, "share", grid.values["share"])
        names = ["tuples", *(["first"] if grid.hierarchical else [])]
        for name in [*names, *(["number_share"] if self.whole.space.n_numbers else [])]:
            margin = NUMBER_MARGIN if name == "number_share" else SEARCH.precision
            choice = self._climb(grid, choice, name, grid.beyond(choice, name), margin)

    def _climb(
        self, grid: Grid, choice: Choice, name: str, values: list[float], margin: float = SEARCH.precision
    ) -> Choice:
        """Return the best of increasing values of one coordinate, going in the direction of improvement."""

        def strengths(position: int) -> Strengths:
            return grid.strengths(replace(choice, **{name: values[position]}))

        at = values.index(getattr(choice, name))
        for direction in (1, -1):
            moved = False
            while 0 <= at + direction < len(values) and self._is_better(
                strengths(at + direction), strengths(at), margin
            ):
                at, moved = at + direction, True
            if moved:
                break
        return replace(choice, **{name: values[at]})

    def _is_better(self, candidate: Strengths, incumbent: Strengths, margin: float) -> bool:
        """Tell whether one trial is better than another by a margin, fitting each as far as needed."""
        old, new = self.trial(incumbent), self.trial(candidate)
        while True:
            gain = (1 - margin) * old.loss - new.loss
            vague = max(new, old, key=lambda trial: trial.error)
            if abs(gain) > new.error + old.error or not vague.error:
                return gain > 0
            self._improve(vague)

    # Trials

    def trial(self, strengths: Strengths) -> StrengthTrial:
        """Return the trial of some strengths; a new one starts from the nearest."""
        if strengths not in self.trials:
            if self.trials:
                nearest = self._nearest(strengths)
                change = strengths.share - nearest.strengths.share
                starts = [
                    table.with_equal_scores(solution, change * table.fold_estimates) if change else solution
                    for table, solution in zip(self.tables, nearest.solutions, strict=True)
                ]
                trial = StrengthTrial(strengths, starts, nearest.scores, nearest.losses, nearest.loss)
            else:
                starts = [self._first_start(table, strengths) for table in self.tables]
                scores = self._held_out_scores(
                    [table.folds.scores(start) for table, start in zip(self.tables, starts, strict=True)]
                )
                losses = self.held_out.expected_losses(scores)
                trial = StrengthTrial(strengths, starts, scores, losses, float(self.held_out.mean(losses)))
            self._improve(trial)
            self.trials[strengths] = trial
            if self.report is not None:
                self.report(f"trial {len(self.trials)}: {strengths}, log loss {trial.loss:.4f}")
        return self.trials[strengths]

    def _nearest(self, strengths: Strengths) -> StrengthTrial:
        """Return the trial of the nearest strengths, the best of equals."""

        def distance(trial: StrengthTrial) -> tuple[float, float]:
            here, other = (
                np.log(np.maximum([*which.ridge, which.number_ridge], ROUNDING))
                for which in (strengths, trial.strengths)
            )
            away = np.abs(here - other).sum() + abs(strengths.share - trial.strengths.share)
            return float(away), trial.loss

        return min(self.trials.values(), key=distance)

    def _improve(self, trial: StrengthTrial) -> None:
        """Fit a trial's folds further: until the error is known, or to the end.

        The end is needed where each fold has its table, and where some ridge is 0: without a penalty
        the loss may fall for long and then rise, so that its error is not known.
        """
        if len(self.tables) > 1 or not min(trial.strengths.ridge):
            self._finish(trial, self.tol)
            return

        def enough(scores: Floats) -> bool:
            trial.move_to(self._held_out_scores([scores]), self.held_out)
            return trial.error < np.inf

        result, _ = self._solve_folds(self.tables[0], trial.strengths, trial.solutions[0], enough, self.tol)
        trial.solutions = [result.solution]
        if result.converged or result.stalled or result.n_iter >= self.max_iter:
            trial.error = 0.0

    def _finish(self, trial: StrengthTrial, tol: float) -> None:
        """Fit a trial's folds to a tolerance."""
        results = [
            self._solve_folds(table, trial.strengths, solution, None, tol)
            for table, solution in zip(self.tables, trial.solutions, strict=True)
        ]
        trial.solutions = [result.solution for result, _ in results]
        scores = [loss.scores(result.solution) for result, loss in results]
        trial.move_to(self._held_out_scores(scores), self.held_out)
        trial.error = 0.0

    def _solve_folds(
        self,
        table: FoldTable,
        strengths: Strengths,
        start: Floats,
        enough: Callable[[Floats], bool] | None,
        tol: float,
    ) -> tuple[SolverResult, EmpiricalLoss]:
        loss, target = table.with_target(table.folds, strengths.share * table.fold_estimates)
        judge = None if enough is None else (lambda solution: enough(loss.scores(solution)))
        return self._solve(table, loss, strengths, target, start, tol, judge), loss

    def _first_start(self, table: FoldTable, strengths: Strengths) -> Floats:
        """Fit all rows roughly, for a start of all folds: losses differ by squares of gradients."""
        every_row = table.every_row
        zero = np.zeros(every_row.shape)
        solution = self._solve(
            table, every_row, strengths, zero, zero, float(np.sqrt(SEARCH.precision))
        ).solution
        return np.tile(solution, len(table.splits))

    @cached_property
    def held_out(self) -> HeldOut:
        """The rows that the folds hold out."""
        whole = self.whole
        splits = [split for table in self.tables for split in table.splits]
        held_out = HeldOut.of(whole.labels, whole.row_weight, whole.n_classes, splits, self.groups)
        return held_out if self.baseline is None else self.baseline.left_of(held_out)

    def _held_out_scores(self, scores: list[Floats]) -> Floats:
        """Return the scores of held-out rows, given those of all rows and folds of each table."""
        parts = [table.by_fold(of_table) for table, of_table in zip(self.tables, scores, strict=True)]
        return self.held_out.gathered([of_fold for part in parts for of_fold in part])

    def _solve(
        self,
        table: FoldTable,
        loss: EmpiricalLoss,
        strengths: Strengths,
        target: Floats,
        start: Floats,
        tol: float,
        enough: Callable[[Floats], bool] | None = None,
    ) -> SolverResult:
        """Minimise under strengths from a start; ``enough`` judges the coefficients after each step."""
        shape = (len(start), loss.n_weightings, loss.n_columns)
        with one_blas_thread():
            strength = table.strength(strengths.ridge, strengths.number_ridge)
            objective = table.objective(loss, strength, target, start)
            result = minimize_truncated_newton(
                objective,
                start.reshape(shape),
                tol=tol,
                max_iter=self.max_iter,
                reference=_reference(loss, objective, shape),
                enough=None if enough is None else (lambda z: enough(z.reshape(start.shape))),
            )
        return replace(result, solution=result.solution.reshape(start.shape))

    # The final fit

    def fit_average(self, tol: float, generator: np.random.Generator) -> Average:
        """Fit all rows under the trials that held-out rows give weight, and average the coefficients.

        Folds of trials that have weight are fitted to the same tolerance first: what they score decides the
        answer.
        """
        rule = averaged(np.zeros(len(self.trials)))
        trials = list(self.trials.values())
        weights = rule(self.held_out.total * np.array([trial.loss for trial in trials]))
        if len(self.tables) == 1:
            for which in np.flatnonzero(weighty(weights)):
                self._finish(trials[which], tol)
        trials.sort(key=lambda trial: trial.loss)
        scores = np.stack([trial.scores for trial in trials], axis=1)
        decision = decide(self.held_out, scores, rule, generator).without_negligible()
        parts = [(weight, trial) for weight, trial in zip(decision.weights, trials, strict=True) if weight]
        results = [self.fit_all(trial.strengths, tol) for _, trial in parts]
        mean = np.sum([w * result.solution for (w, _), result in zip(parts, results, strict=True)], axis=0)
        result = replace(
            results[0],
            solution=self._with_rest(mean, decision.fit_share),
            n_iter=sum(result.n_iter for result in results),
            passes=sum(result.passes for result in results),
            optimality=max(result.optimality for result in results),
            converged=all(result.converged for result in results),
        )
        return Average(trials[0].strengths, decision, result)

    def _with_rest(self, coefficients: Floats, fit_share: float) -> Floats:
        """Return coefficients times a share, the rest being the class shares, or nothing but the baseline."""
        if self.baseline is not None:
            return fit_share * coefficients
        whole = self.whole
        class_weight = np.bincount(whole.labels, whole.row_weight, minlength=whole.n_classes)
        return toward_class_shares(coefficients, fit_share, class_weight)

    def fit_all(self, strengths: Strengths, tol: float) -> SolverResult:
        """Fit all rows from the mean of the folds' solutions; the solution is in cells."""
        whole = self.whole
        if len(self.tables) == 1:
            start = np.mean(whole.by_fold(self.trials[strengths].solutions[0]), axis=0)
        else:
            start = np.zeros(whole.every_row.shape)
        in_cells = strengths.share * whole.estimate(whole.row_weight)
        loss, target = whole.with_target(whole.every_row, in_cells)
        result = self._solve(whole, loss, strengths, target, start, tol)
        return replace(result, solution=whole.in_cells(result.solution, in_cells))

    def results(self) -> dict[str, Floats]:
        """Return all trials as columns; ``error`` is how much a log loss may change if its fit went on."""
        trials = list(self.trials.values())
        return {
            "ridge": np.array([trial.strengths.ridge for trial in trials]),
            "number_ridge": np.array([trial.strengths.number_ridge for trial in trials]),
            "generative_share": np.array([trial.strengths.share for trial in trials]),
            "log_loss": np.array([trial.loss for trial in trials]),
            "error": np.array([trial.error for trial in trials]),
        }


def _reference(loss: EmpiricalLoss, objective: PenalisedLoss, shape: tuple[int, int, int]) -> Floats:
    """Return each fold's norm of the gradient at zero, in the preconditioner's metric or zero's if less.

    Where a start fits so well that its rows have little curvature left, the preconditioner there makes the
    gradient at zero far too long, and a certificate relative to it too lenient.
    """
    gradient = loss.gradient_at_zero
    diagonal = loss.curvature_at_zero + objective.ridge.strength
    squares = np.divide(gradient**2, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0).sum(axis=0)
    at_zero: Floats = np.sqrt(squares.reshape(shape[1:]).sum(axis=1))
    return np.minimum(at_zero, gradient_norms(objective, gradient.reshape(shape)))
