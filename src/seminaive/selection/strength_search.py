"""Cross-validated choice of ridge strengths and of the share of the generative estimate in the target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.selection.doubt import BELIEVED, CHANCE, loss_of_shares, standard_errors_of_gain
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.result import SolverResult
from seminaive.solvers.truncated_newton import gradient_norms, minimize_truncated_newton

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.objective.empirical_loss import EmpiricalLoss
    from seminaive.objective.penalised_loss import PenalisedLoss
    from seminaive.selection.fold_table import FoldTable

    Floats = NDArray[np.float64]

# Relative norm of the gradient at which the first fit of all rows, a start for the folds, stops.
ROUGH = 0.03
# Held-out losses are wanted to this share of themselves; smaller differences do not count.
PRECISION = 1e-3
# A weaker ridge of numbers must lower the log loss by this share: it is one more choice on the same rows.
MARGIN = 0.03
# A search whose best strength is the first or last tried goes on by factors of ten, so many of them at most;
# beyond the weakest, no penalty at all is tried.
MOST_DECADES = 6


@dataclass(frozen=True)
class Strengths:
    """What a trial tries.

    Parameters
    ----------
    ridge : tuple of float
        The ridge of each order, from 1 on; infinite leaves nothing but the class shares.
    number_ridge : float
        The ridge of numbers.
    share : float
        The share of the generative estimate in the target of the ridge.
    """

    ridge: tuple[float, ...]
    number_ridge: float
    share: float

    def times(self, factor: float) -> Strengths:
        """Return ridges that are stronger by a factor."""
        return replace(
            self,
            ridge=tuple(factor * ridge for ridge in self.ridge),
            number_ridge=factor * self.number_ridge,
        )

    @property
    def only_class_shares(self) -> bool:
        """Tell whether nothing but the intercept is left."""
        return bool(np.isinf(self.ridge).all())


@dataclass
class Trial:
    """How far the folds have been fitted under some strengths.

    Parameters
    ----------
    strengths : Strengths
    solutions : list of ndarray
        The coefficients of all folds side by side, for each table.
    log_posterior : ndarray
        That of the class of each held-out row.
    loss : float
        Minus its weighted mean.
    error : float
        How much the loss may change if the fit goes on: infinite before there is a fit, 0 at its end.
    """

    strengths: Strengths
    solutions: list[Floats]
    log_posterior: Floats
    loss: float
    error: float = np.inf
    change: float = np.inf

    def move_to(self, log_posterior: Floats, weight: Floats) -> None:
        """Note what one more Newton step has changed, and estimate what further steps will.

        Changes are the weighted mean of absolute changes of log posteriors, since gains of some rows hide
        losses of others. The ratio of two successive changes is taken to bound all further ratios (Newton
        steps shrink faster and faster), so that the changes to come sum to less than a geometric series; half
        of their absolute size is taken to cancel out.
        """
        change = float(weight @ np.abs(log_posterior - self.log_posterior))
        ratio = change / self.change if 0 < self.change < np.inf else np.inf
        ratio *= min(1.0, 2 * ratio)
        self.error = 0.5 * change * ratio / (1 - ratio) if ratio < 1 else np.inf
        self.change = change
        self.log_posterior, self.loss = log_posterior, -float(weight @ log_posterior)
        if self.error <= PRECISION * self.loss:
            self.error = 0.0


@dataclass(frozen=True)
class Choice:
    """One value of each coordinate of the search.

    Parameters
    ----------
    first, tuples : float
        The ridge of single features, and that of tuples of two and more.
    number_share : float
        The ridge of numbers over that of single features, at most 1.
    share : float
        The share of the generative estimate in the target, between 0 and 1.
    """

    first: float
    tuples: float
    number_share: float
    share: float


@dataclass(frozen=True)
class Grid:
    """The strengths that a search tries: values of each coordinate of `Choice`, increasing.

    Parameters
    ----------
    values : dict of str to list of float
    order : int
    hierarchical : bool
        Whether there are single features beside tuples.
    """

    values: dict[str, list[float]]
    order: int
    hierarchical: bool

    @classmethod
    def of(
        cls,
        first_ridges: Sequence[float],
        ridges: Sequence[float],
        number_shares: Sequence[float],
        shares: Sequence[float],
        order: int,
        *,
        hierarchical: bool,
    ) -> Grid:
        """Sort what a user has listed."""
        values = {
            "first": sorted(first_ridges) if hierarchical else [1.0],
            "tuples": sorted(ridges),
            "number_share": sorted(number_shares),
            "share": sorted(shares),
        }
        return cls(values, order, hierarchical)

    def strengths(self, choice: Choice) -> Strengths:
        """Return the strengths of a choice."""
        first = choice.first if self.hierarchical else choice.tuples
        ridge = (first, *(choice.tuples,) * (self.order - 1))
        return Strengths(ridge, choice.number_share * choice.first, choice.share)

    @property
    def middle(self) -> Choice:
        """Return where a search starts: ridges in the middle, numbers penalised as others, no target."""
        values = self.values
        return Choice(
            values["first"][len(values["first"]) // 2],
            values["tuples"][len(values["tuples"]) // 2],
            values["number_share"][-1],
            values["share"][0],
        )

    def beyond(self, choice: Choice, name: str) -> list[float]:
        """Return the values, increasing, that follow a choice at an end of its list.

        A list of one value is taken as given. Ridges go on by factors of ten, those of numbers only below
        that of single features; the weakest of all is no penalty.
        """
        values, own = self.values[name], getattr(choice, name)
        decades = 10.0 ** np.arange(1, MOST_DECADES + 1)
        if len(values) == 1 or own == 0 or name == "share":
            return [own]
        if own == values[0]:
            return [0.0, *(own / decades[::-1]).tolist(), own]
        if own == values[-1] and name != "number_share":
            return [own, *(own * decades).tolist()]
        return [own]


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
    report : callable or None
        Called with a line of text after each new trial.
    """

    whole: FoldTable
    tables: list[FoldTable]
    tol: float
    max_iter: int
    report: Callable[[str], None] | None = None
    trials: dict[Strengths, Trial] = field(default_factory=dict)

    def run(self, grid: Grid) -> Strengths:
        """Return the best strengths, found by climbing along one coordinate after the other.

        Along each, the log loss is taken to have one minimum, so that a climb ends where the loss rises.
        Coordinates at an end of their list are then followed beyond it.
        """
        choice = self._climb(grid, grid.middle, "tuples", grid.values["tuples"])
        if grid.hierarchical:
            before = choice.first
            choice = self._climb(grid, choice, "first", grid.values["first"])
            if choice.first != before:
                choice = self._climb(grid, choice, "tuples", grid.values["tuples"])
        if self.whole.space.n_numbers:
            choice = self._climb(grid, choice, "number_share", grid.values["number_share"], MARGIN)
        choice = self._climb(grid, choice, "share", grid.values["share"])
        names = ["tuples", *(["first"] if grid.hierarchical else [])]
        for name in [*names, *(["number_share"] if self.whole.space.n_numbers else [])]:
            margin = MARGIN if name == "number_share" else PRECISION
            choice = self._climb(grid, choice, name, grid.beyond(choice, name), margin)
        return self._doubted(grid, choice)

    def _doubted(self, grid: Grid, choice: Choice) -> Strengths:
        """Return the strengths of a choice, stronger ones, or infinite ones, by how sure its gain is.

        The best of many trials on the same rows gains over the class shares even where there is nothing to
        learn. A gain of few standard errors is answered by ridges ten times as strong. Where it could be
        chance, ever stronger ridges are tried, and if none is better than chance, the class shares are taken.
        """
        best = self.trial(grid.strengths(choice))
        if self._standard_errors_of_gain(best) < CHANCE:
            best = self._best_of_stronger(grid, choice)
        sure = self._standard_errors_of_gain(best)
        if sure < CHANCE:
            # As many ridges as every other trial, also where the columns are fewer than the orders.
            infinite = Strengths((np.inf,) * len(best.strengths.ridge), np.inf, 0.0)
            best = self.trials[infinite] = replace(self.class_share_trial, strengths=infinite)
        elif sure < BELIEVED:
            best = self.trial(best.strengths.times(10.0))
        return best.strengths

    @cached_property
    def class_share_trial(self) -> Trial:
        """The trial of infinite ridges, which leave nothing but the class shares of the training rows."""
        log_shares = np.concatenate([table.log_class_shares() for table in self.tables])
        infinite = (np.inf,) * self.whole.n_orders
        loss = loss_of_shares(log_shares, self._weight)
        return Trial(Strengths(infinite, np.inf, 0.0), [], log_shares, loss, error=0.0)

    def _standard_errors_of_gain(self, trial: Trial) -> float:
        """Return the mean gain in log posterior over the class shares, over its standard error."""
        return standard_errors_of_gain(
            trial.log_posterior, self.class_share_trial.log_posterior, self._weight
        )

    def _best_of_stronger(self, grid: Grid, choice: Choice) -> Trial:
        """Return the best of all trials after some with ever stronger ridges."""
        for factor in (10.0 ** np.arange(1, MOST_DECADES + 1)).tolist():
            self.trial(grid.strengths(replace(choice, share=0.0)).times(factor))
        while True:
            found = min(self.trials.values(), key=lambda trial: trial.loss)
            if not found.error:
                return found
            self._improve(found)

    def _climb(
        self, grid: Grid, choice: Choice, name: str, values: list[float], margin: float = PRECISION
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

    def trial(self, strengths: Strengths) -> Trial:
        """Return the trial of some strengths; a new one starts from the nearest."""
        if strengths not in self.trials:
            if self.trials:
                nearest = self._nearest(strengths)
                change = strengths.share - nearest.strengths.share
                starts = [
                    table.with_equal_scores(own, change * table.fold_estimates) if change else own
                    for table, own in zip(self.tables, nearest.solutions, strict=True)
                ]
                trial = Trial(strengths, starts, nearest.log_posterior, nearest.loss)
            else:
                starts = [self._first_start(table, strengths) for table in self.tables]
                scores = [table.folds.scores(own) for table, own in zip(self.tables, starts, strict=True)]
                log_posterior = self._log_posterior(scores)
                trial = Trial(strengths, starts, log_posterior, -float(self._weight @ log_posterior))
            self._improve(trial)
            self.trials[strengths] = trial
            if self.report is not None:
                self.report(f"trial {len(self.trials)}: {strengths}, log loss {trial.loss:.4f}")
        return self.trials[strengths]

    def _nearest(self, strengths: Strengths) -> Trial:
        """Return the trial of the nearest strengths, the best of equals."""

        def distance(trial: Trial) -> tuple[float, float]:
            own, other = (
                np.log(np.maximum([*which.ridge, which.number_ridge], 1e-9))
                for which in (strengths, trial.strengths)
            )
            away = np.abs(own - other).sum() + abs(strengths.share - trial.strengths.share)
            return float(away), trial.loss

        return min((trial for trial in self.trials.values() if trial.solutions), key=distance)

    def _improve(self, trial: Trial) -> None:
        """Fit a trial's folds further: until the error is known, or to the end.

        The end is needed where folds have tables of their own, and where some ridge is 0: without a penalty
        the loss may fall for long and then rise, so that its error cannot be told.
        """
        if len(self.tables) > 1 or not min(trial.strengths.ridge):
            results = [
                self._solve_folds(table, trial.strengths, own, None)
                for table, own in zip(self.tables, trial.solutions, strict=True)
            ]
            trial.solutions = [result.solution for result, _ in results]
            scores = [loss.scores(result.solution) for result, loss in results]
            trial.move_to(self._log_posterior(scores), self._weight)
            trial.error = 0.0
            return

        def enough(scores: Floats) -> bool:
            trial.move_to(self._log_posterior([scores]), self._weight)
            return trial.error < np.inf

        result, _ = self._solve_folds(self.tables[0], trial.strengths, trial.solutions[0], enough)
        trial.solutions = [result.solution]
        if result.converged or result.stalled or result.n_iter >= self.max_iter:
            trial.error = 0.0

    def _solve_folds(
        self,
        table: FoldTable,
        strengths: Strengths,
        start: Floats,
        enough: Callable[[Floats], bool] | None,
    ) -> tuple[SolverResult, EmpiricalLoss]:
        loss, target = table.with_target(table.folds, strengths.share * table.fold_estimates)
        judge = None if enough is None else (lambda solution: enough(loss.scores(solution)))
        return self._solve(table, loss, strengths, target, start, self.tol, judge), loss

    def _first_start(self, table: FoldTable, strengths: Strengths) -> Floats:
        """Fit all rows roughly, for a start of all folds."""
        every_row = table.every_row
        zero = np.zeros(every_row.shape)
        solution = self._solve(table, every_row, strengths, zero, zero, ROUGH).solution
        return np.tile(solution, len(table.splits))

    @cached_property
    def _weight(self) -> Floats:
        """The share of each held-out row in the weight of all of them."""
        held_out = np.concatenate([own for table in self.tables for _, own in table.splits])
        weight: Floats = self.whole.row_weight[held_out]
        shares: Floats = weight / weight.sum()
        return shares

    def _log_posterior(self, scores: list[Floats]) -> Floats:
        parts = [table.log_posterior(own) for table, own in zip(self.tables, scores, strict=True)]
        return np.concatenate(parts)

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
                reference=_reference(objective, shape),
                enough=None if enough is None else (lambda z: enough(z.reshape(start.shape))),
            )
        return replace(result, solution=result.solution.reshape(start.shape))

    # The final fit

    def fit_all(self, strengths: Strengths, tol: float) -> SolverResult:
        """Fit all rows from the mean of the folds' solutions; the solution is in cells."""
        whole = self.whole
        if strengths.only_class_shares:
            return self._class_shares()
        if len(self.tables) == 1:
            parts = np.split(self.trials[strengths].solutions[0], len(whole.splits), axis=1)
            start = np.mean(parts, axis=0)
        else:
            start = np.zeros(whole.every_row.shape)
        in_cells = strengths.share * whole.estimate(whole.row_weight)
        loss, target = whole.with_target(whole.every_row, in_cells)
        result = self._solve(whole, loss, strengths, target, start, tol)
        return replace(result, solution=whole.in_cells(result.solution, in_cells))

    def _class_shares(self) -> SolverResult:
        """Return the fit of an intercept alone."""
        whole = self.whole
        weight = np.bincount(whole.labels, whole.row_weight, minlength=whole.n_classes)
        logs = np.log(weight / weight.sum())
        loss = -float(weight @ logs)
        solution = np.zeros((whole.design.n_coefficients, whole.every_row.n_columns))
        solution[0] = logs[1] - logs[0] if solution.shape[1] == 1 else logs - logs.mean()
        return SolverResult(solution, loss, 0, 0.0, converged=True)

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


def _reference(objective: PenalisedLoss, shape: tuple[int, int, int]) -> Floats:
    """Return each fold's norm of the gradient at zero, in the preconditioner's metric or zero's if less.

    Where a start fits so well that its rows have little curvature left, the preconditioner there makes the
    gradient at zero far too long, and a certificate relative to it too lenient.
    """
    loss = objective.loss
    gradient = loss.gradient_at_zero
    diagonal = loss.curvature_at_zero + objective.ridge.strength
    squares = np.divide(gradient**2, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0).sum(axis=0)
    at_zero: Floats = np.sqrt(squares.reshape(shape[1:]).sum(axis=1))
    return np.minimum(at_zero, gradient_norms(objective, gradient.reshape(shape)))
