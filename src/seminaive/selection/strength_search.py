"""Cross-validated choice of ridge strengths and of the share of the generative estimate in the target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import toward_class_shares
from seminaive.design.rounding import ROUNDING
from seminaive.selection.decision import SEARCH, Decision, averaged, decide
from seminaive.selection.held_out import HeldOut
from seminaive.selection.strength_grid import NUMBER_MARGIN, Choice, Grid, Strengths
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.minimize import minimize

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices
    from seminaive.objective.empirical_loss import EmpiricalLoss
    from seminaive.selection.baselines import Baseline
    from seminaive.selection.fold_table import FoldTable
    from seminaive.solvers.result import SolverResult


@dataclass(frozen=True)
class StrengthTrial:
    """The folds fitted under some strengths.

    Parameters
    ----------
    solutions : list of ndarray
        The coefficients of all folds side by side, for each table.
    scores : ndarray of shape (n_held_out, n_columns)
        Of held-out rows.
    loss : float
        Their mean log loss.
    """

    strengths: Strengths
    solutions: list[Floats]
    scores: Floats
    loss: float


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
    """Trials of strengths: all folds fitted side by side.

    Parameters
    ----------
    whole : FoldTable
        All rows under the coding of the final fit.
    tables : list of FoldTable
        The tables of the folds: the whole one where folds share its coding, else one for each fold.
    max_iter : int
        Newton steps per fit.
    groups : ndarray of shape (n_rows,) or None
        Rows of one group are drawn together.
    report : callable or None
        Called with a line of text after each new trial.
    baseline : Baseline or None
        What the terms are added to, the offset of the tables; it takes the place of the class shares in the
        rest of an answer.
    copies : ndarray of shape (n_rows,) or None
        How many equal rows each one stands for.
    """

    whole: FoldTable
    tables: list[FoldTable]
    max_iter: int
    groups: Indices | None = None
    report: Callable[[str], None] | None = None
    baseline: Baseline | None = None
    copies: Indices | None = None
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
        """Tell whether one trial is better than another by a margin."""
        return self.trial(candidate).loss < (1 - margin) * self.trial(incumbent).loss

    # Trials

    def trial(self, strengths: Strengths) -> StrengthTrial:
        """Return the trial of some strengths; a new one starts from the nearest."""
        if strengths not in self.trials:
            self.trials[strengths] = trial = self._fitted(strengths)
            if self.report is not None:
                self.report(f"trial {len(self.trials)}: {strengths}, log loss {trial.loss:.4f}")
        return self.trials[strengths]

    def _fitted(self, strengths: Strengths) -> StrengthTrial:
        """Fit the folds of every table."""
        if self.trials:
            nearest = self._nearest(strengths)
            change = strengths.share - nearest.strengths.share
            starts = [
                table.with_equal_scores(solution, change * table.fold_estimates) if change else solution
                for table, solution in zip(self.tables, nearest.solutions, strict=True)
            ]
        else:
            starts = [self._first_start(table, strengths) for table in self.tables]
        solutions, scores = [], []
        for table, start in zip(self.tables, starts, strict=True):
            loss, target = table.with_target(table.folds, strengths.share * table.fold_estimates)
            result = self._solve(table, loss, strengths, target, start, SEARCH.precision)
            solutions.append(result.solution)
            scores += table.by_fold(loss.scores(result.solution))
        held_out = self.held_out.gathered(scores)
        loss_of_rows = float(self.held_out.mean(self.held_out.expected_losses(held_out)))
        return StrengthTrial(strengths, solutions, held_out, loss_of_rows)

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
        held_out = HeldOut.of(
            whole.labels, whole.row_weight, whole.n_classes, splits, self.groups, self.copies
        )
        return held_out if self.baseline is None else self.baseline.left_of(held_out)

    def _solve(
        self,
        table: FoldTable,
        loss: EmpiricalLoss,
        strengths: Strengths,
        target: Floats,
        start: Floats,
        tol: float,
    ) -> SolverResult:
        """Minimise under strengths from a start."""
        shape = (len(start), loss.n_weightings, loss.n_columns)
        with one_blas_thread():
            strength = table.strength(strengths.ridge, strengths.number_ridge)
            result = minimize(
                table.objective(loss, strength, target),
                start.reshape(shape),
                table.preconditioner(loss, strength, start),
                tol=tol,
                max_iter=self.max_iter,
            )
        return replace(result, solution=result.solution.reshape(start.shape))

    # The final fit

    def fit_average(self, tol: float, generator: np.random.Generator) -> Average:
        """Fit all rows under the trials that held-out rows give weight, and average the coefficients."""
        trials = sorted(self.trials.values(), key=lambda trial: trial.loss)
        rule = averaged(np.zeros(len(trials)))
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
        """Return all trials as columns."""
        trials = list(self.trials.values())
        return {
            "ridge": np.array([trial.strengths.ridge for trial in trials]),
            "number_ridge": np.array([trial.strengths.number_ridge for trial in trials]),
            "generative_share": np.array([trial.strengths.share for trial in trials]),
            "log_loss": np.array([trial.loss for trial in trials]),
        }
