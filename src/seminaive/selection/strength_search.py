"""Cross-validated choice of ridges, by order and for numbers, and of the share of the generative estimate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_expit, log_softmax

from seminaive.objective.side_by_side import SideBySideLoss, SideBySideObjective
from seminaive.selection.compressed_problem import CompressedProblem
from seminaive.selection.search_space import SearchSpace
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.truncated_newton import gradient_norms, minimize_truncated_newton

if TYPE_CHECKING:
    from seminaive.selection.higher_order_problem import HigherOrderProblem

# Up to so many rows, coefficients of rows are fewer than coefficients of cells.
FEW_ROWS = 1000
# Relative norm of the gradient at which a first fit of all rows stops.
ROUGH = 0.03
# Held-out losses are wanted up to this share of themselves; smaller differences do not count.
PRECISION = 1e-3
# A weaker ridge of numbers must lower the log loss by this share: it is one more choice on the same rows.
MARGIN = 0.03


@dataclass(frozen=True)
class Strengths:
    """What a trial tries: the ridge of each order and of numbers, and the share of the estimate pulled to."""

    ridge: tuple[float, ...]
    number_ridge: float
    share: float


@dataclass
class Trial:
    """How far the folds have been fitted under some strengths.

    Parameters
    ----------
    strengths : Strengths
    solution : ndarray
        The coefficients of all folds side by side.
    log_posterior : ndarray
        That of the class of each held-out row under them.
    loss : float
        Its weighted mean, negative.
    error : float
        How much it may change if the fit goes on: infinite before there is a fit, 0 at its end.
    """

    strengths: Strengths
    solution: np.ndarray
    log_posterior: np.ndarray
    loss: float
    error: float = np.inf
    change: float = np.inf

    def move_to(self, log_posterior, weight) -> None:
        """Note what one more Newton step has brought.

        Steps that shrink go on to shrink, those that shrink fast ever faster: all steps to come are less than
        a geometric series. Changes are counted without signs, since rows that gain hide rows that lose, and
        at least half of what is to come is taken to cancel out.
        """
        change = float(weight @ np.abs(log_posterior - self.log_posterior))
        ratio = change / self.change if 0 < self.change < np.inf else np.inf
        ratio *= min(1.0, 2 * ratio)
        self.error = 0.5 * change * ratio / (1 - ratio) if ratio < 1 else np.inf
        self.change = change
        self.log_posterior, self.loss = log_posterior, -float(weight @ log_posterior)
        if self.error <= PRECISION * self.loss:
            self.error = 0.0


@dataclass
class StrengthSearch:
    """Trials of strengths: all folds fitted side by side, as far as needed to tell which trial is better.

    Parameters
    ----------
    problem : HigherOrderProblem
    compressed : CompressedProblem or None
        The same in fewer coefficients, where rows are few.
    space : SearchSpace
        What is solved: that of the compressed problem, or else that of the problem's own cells.
    splits : list of (ndarray, ndarray)
        The positions of the rows that train, and of those held out.
    tol, max_iter
        For each fit.
    """

    problem: HigherOrderProblem
    compressed: CompressedProblem | None
    space: SearchSpace
    splits: list
    tol: float
    max_iter: int
    trials: dict[Strengths, Trial] = field(default_factory=dict)

    @classmethod
    def of(cls, problem, codes, splits, *, tol, max_iter) -> StrengthSearch:
        """Choose the coefficients to search in: of rows where these are few, else of cells."""
        with one_blas_thread():
            compressed = CompressedProblem.of(problem, codes) if len(codes) <= FEW_ROWS else None
            space = compressed.space if compressed else SearchSpace.of_cells(problem)
        return cls(problem, compressed, space, splits, tol, max_iter)

    def run(self, *, first_ridges, ridges, number_shares, shares, order, hierarchical) -> Strengths:
        """Climb in the tuples' ridge, then in the first order's, then in the numbers', then in the share.

        The log loss has one valley along each, so that a climb from the middle stops where it rises again.
        """

        def strengths(first, higher, number_share, share):
            ridge = (first if hierarchical else higher, *(higher,) * (order - 1))
            return Strengths(ridge, number_share * first, share)

        first_ridges, ridges, shares = sorted(first_ridges), sorted(ridges), sorted(shares)
        number_shares = sorted(number_shares if self.space.n_numbers else [1.0])
        first, share, number_share = first_ridges[len(first_ridges) // 2], shares[0], number_shares[-1]
        higher = self._climb(
            ridges, ridges[len(ridges) // 2], lambda r: strengths(first, r, number_share, share)
        )
        if hierarchical:
            middle = first
            first = self._climb(first_ridges, middle, lambda r: strengths(r, higher, number_share, share))
            if first != middle:
                higher = self._climb(ridges, higher, lambda r: strengths(first, r, number_share, share))
        number_share = self._climb(
            number_shares, number_share, lambda n: strengths(first, higher, n, share), MARGIN
        )
        share = self._climb(shares, share, lambda s: strengths(first, higher, number_share, s))
        best = strengths(first, higher, number_share, share)
        self.trial(best)  # where there was no choice, nothing has been fitted yet
        return best

    def _climb(self, values, start, strengths, margin=PRECISION):
        """Return the best of increasing values, going from the start in the direction of improvement."""
        at = values.index(start)
        for direction in (1, -1):
            moved = False
            while 0 <= at + direction < len(values) and self._is_better(
                strengths(values[at + direction]), strengths(values[at]), margin
            ):
                at, moved = at + direction, True
            if moved:
                break
        return values[at]

    def _is_better(self, candidate, incumbent, margin):
        """Tell whether one trial is better than another by a margin, fitting each as far as needed."""
        incumbent, candidate = self.trial(incumbent), self.trial(candidate)
        while True:
            gain = (1 - margin) * incumbent.loss - candidate.loss
            vague = max(candidate, incumbent, key=lambda trial: trial.error)
            if abs(gain) > candidate.error + incumbent.error or not vague.error:
                return gain > 0
            self._improve(vague)

    def trial(self, strengths: Strengths) -> Trial:
        """Return the trial of strengths; a new one starts from the nearest."""
        if strengths not in self.trials:
            if self.trials:
                nearest = self._nearest(strengths)
                start = self._shifted(nearest.solution, strengths.share - nearest.strengths.share)
                self.trials[strengths] = Trial(strengths, start, nearest.log_posterior, nearest.loss)
            else:
                start = self._first_start(strengths)
                log_posterior = self._log_posterior(self._folds.scores(start))
                self.trials[strengths] = Trial(
                    strengths, start, log_posterior, -float(self._weight @ log_posterior)
                )
            self._improve(self.trials[strengths])
        return self.trials[strengths]

    def _nearest(self, strengths):
        """Return the trial of the nearest strengths, the best of equals."""

        def distance(trial):
            own, other = (
                np.log(np.maximum([*which.ridge, which.number_ridge], 1e-9))
                for which in (strengths, trial.strengths)
            )
            away = np.abs(own - other).sum() + abs(strengths.share - trial.strengths.share)
            return float(away), trial.loss

        return min(self.trials.values(), key=distance)

    def _improve(self, trial):
        """Fit a trial's folds one step further, and until its error is known."""
        loss, target = self._pulled(self._folds, trial.strengths.share * self._fold_estimates)
        error_before = trial.error

        def enough(solution):
            trial.move_to(self._log_posterior(loss.scores(solution)), self._weight)
            return trial.error < np.inf

        result = self._solve(loss, trial.strengths, target, trial.solution, self.tol, enough)
        trial.solution = result.solution
        if result.converged or trial.error in (error_before, np.inf):  # or the fit cannot go on
            trial.error = 0.0

    # Fits

    @cached_property
    def _folds(self):
        """The loss of the training rows of all folds."""
        row_weights = np.zeros((len(self.splits), len(self.problem.loss.labels)))
        for own, (train, _) in zip(row_weights, self.splits, strict=True):
            own[train] = self.problem.loss.row_weight[train]
        return SideBySideLoss(self.space.loss, row_weights)

    @cached_property
    def _every(self):
        """The loss of all rows."""
        return SideBySideLoss(self.space.loss, self.problem.loss.row_weight[None])

    def _first_start(self, strengths):
        """Fit all rows roughly, for a start of all folds."""
        zero = np.zeros(self._every.shape)
        return np.tile(self._solve(self._every, strengths, zero, zero, ROUGH).solution, len(self.splits))

    def _pulled(self, loss, target):
        """Return a loss and the target of its ridge; in coefficients of rows, the target is an offset."""
        if not self.compressed:
            return loss, target
        if not target.any():
            return loss, np.zeros(loss.shape)
        parts = np.split(target, loss.n_weightings, axis=1)
        offset = np.hstack([self.problem.loss.scores(own) for own in parts])
        return SideBySideLoss(self.space.loss, loss.row_weights, offset), np.zeros(loss.shape)

    @cached_property
    def _fold_estimates(self):
        """The generative estimates of all folds, in cells, side by side."""
        parts = [self.problem.reweighted(weights) for weights in self._folds.row_weights]
        return np.hstack([part.generative(centred=True) for part in parts])

    def _shifted(self, solution, share):
        """Return a solution as the start for a share that is larger by so much: with the same scores."""
        if not share or not self.compressed:
            return solution
        parts = np.split(share * self._fold_estimates, len(self.splits), axis=1)
        return solution - np.hstack([self.compressed.compress(own) for own in parts])

    @cached_property
    def _weight(self):
        """The share of each held-out row in all of them."""
        weight = self.problem.loss.row_weight[np.concatenate([held_out for _, held_out in self.splits])]
        return weight / weight.sum()

    def _log_posterior(self, scores):
        """Return the log posterior of the class of each held-out row, given the scores of all folds."""
        found = []
        for own, (_, held_out) in zip(np.split(scores, len(self.splits), axis=1), self.splits, strict=True):
            by_class, labels = own[held_out], self.problem.loss.labels[held_out]
            if by_class.shape[1] == 1:
                log_odds = np.where(labels == 1, by_class[:, 0], -by_class[:, 0])
                found.append(log_expit(log_odds))
            else:
                found.append(log_softmax(by_class, axis=1)[np.arange(len(labels)), labels])
        return np.concatenate(found)

    def _solve(self, loss, strengths, target, start, tol, enough=None):
        """Minimise under strengths from a start; ``enough`` judges the coefficients after each step."""
        shape = (len(start), loss.n_weightings, loss.width)
        with one_blas_thread():
            strength = self.space.strength(strengths)
            preconditioner = self.space.preconditioner(strength, loss, start)
            objective = SideBySideObjective(loss, strength, target, preconditioner)
            result = minimize_truncated_newton(
                objective,
                start.reshape(shape),
                tol=tol,
                max_iter=self.max_iter,
                reference=self._reference(objective, shape),
                enough=enough and (lambda z: enough(z.reshape(start.shape))),
            )
        return replace(result, solution=result.solution.reshape(start.shape))

    def _reference(self, objective, shape):
        """Return the norm of each fold's gradient at zero: in the metric of the start, or of zero if less.

        Where a start fits so well that its rows have little curvature left, its metric makes the gradient at
        zero far too long, and what is measured by it would count as solved too early.
        """
        loss = objective.loss
        gradient = loss.gradient_at_zero
        own = loss.curvature_at_zero + objective.strength[:, None]
        squares = np.divide(gradient**2, own, out=np.zeros_like(own), where=own > 0).sum(axis=0)
        at_zero = np.sqrt(squares.reshape(shape[1:]).sum(axis=1))
        return np.minimum(gradient_norms(objective, gradient.reshape(shape)), at_zero)

    def fit_all(self, strengths: Strengths, tol):
        """Fit all rows from the mean of the folds' solutions; the solution is in cells."""
        start = np.mean(np.split(self.trials[strengths].solution, len(self.splits), axis=1), axis=0)
        pulled_to = strengths.share * self.problem.generative(centred=True)
        loss, target = self._pulled(self._every, pulled_to)
        result = self._solve(loss, strengths, target, start, tol)
        if not self.compressed:
            return result
        return replace(result, solution=pulled_to + self.compressed.expand(result.solution))

    def results(self):
        """Return all trials as columns."""
        return {
            "ridge": np.array([strengths.ridge for strengths in self.trials]),
            "number_ridge": np.array([strengths.number_ridge for strengths in self.trials]),
            "generative_share": np.array([strengths.share for strengths in self.trials]),
            "log_loss": np.array([trial.loss for trial in self.trials.values()]),
        }
