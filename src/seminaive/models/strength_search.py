"""Cross-validated choice of one ridge per order and of the share of the generative estimate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_softmax

from seminaive.models.compressed_problem import CompressedProblem
from seminaive.solvers.blas import one_blas_thread

if TYPE_CHECKING:
    from seminaive.models.higher_order_problem import HigherOrderProblem

# Up to so many rows, coefficients of rows are fewer than coefficients of cells.
FEW_ROWS = 1000
# Relative norms of the gradient at which the curvature is measured.
ROUGH = (0.1, 0.01)


@dataclass(frozen=True)
class Strengths:
    """One trial: the ridge of each order, and the share of the generative estimate pulled to."""

    ridge: tuple[float, ...]
    share: float


@dataclass
class StrengthSearch:
    """Log losses of held-out rows under strengths, each split warm-started from its last solution.

    Parameters
    ----------
    problem : HigherOrderProblem
    compressed : CompressedProblem or None
        The same in fewer coefficients, where rows are few.
    splits : list of (ndarray, ndarray)
        Which rows train, and which are held out.
    tol, max_iter
        For each fit.
    """

    problem: HigherOrderProblem
    compressed: CompressedProblem | None
    splits: list
    tol: float
    max_iter: int
    losses: dict[Strengths, float] = field(default_factory=dict)
    solutions: dict[Strengths, list] = field(default_factory=dict)
    _folds: dict = field(default_factory=dict)
    _first_start: np.ndarray | None = None

    @classmethod
    def of(cls, problem, codes, splits, *, tol, max_iter) -> StrengthSearch:
        """Choose the coefficients to search in: of rows where these are few, else of cells."""
        with one_blas_thread():
            compressed = CompressedProblem.of(problem, codes) if len(codes) <= FEW_ROWS else None
        return cls(problem, compressed, splits, tol, max_iter)

    def run(self, *, first_ridges, ridges, shares, order, hierarchical) -> Strengths:
        """Climb in the tuples' ridge, then in the first order's, then in the share.

        The log loss has one valley along each, so that a climb from the middle stops where it rises again.
        """

        def strengths(first, higher, share):
            return Strengths((first if hierarchical else higher, *(higher,) * (order - 1)), share)

        first_ridges, ridges, shares = sorted(first_ridges), sorted(ridges), sorted(shares)
        first, share = first_ridges[len(first_ridges) // 2], shares[0]
        higher = self._climb(ridges, ridges[len(ridges) // 2], lambda r: strengths(first, r, share))
        if hierarchical:
            middle = first
            first = self._climb(first_ridges, middle, lambda r: strengths(r, higher, share))
            if first != middle:
                higher = self._climb(ridges, higher, lambda r: strengths(first, r, share))
        share = self._climb(shares, share, lambda s: strengths(first, higher, s))
        best = strengths(first, higher, share)
        self.loss(best)  # where there was no choice, nothing has been fitted yet
        return best

    def _climb(self, values, start, trial):
        """Return the best of increasing values, going from the start in the direction of improvement."""
        at = values.index(start)
        for direction in (1, -1):
            moved = False
            while 0 <= at + direction < len(values) and (
                self.loss(trial(values[at + direction])) < self.loss(trial(values[at]))
            ):
                at, moved = at + direction, True
            if moved:
                break
        return values[at]

    def loss(self, strengths: Strengths) -> float:
        """Return the mean log loss of the held-out rows."""
        if strengths not in self.losses:
            if not self.losses:
                self._first_start = self._measure_curvature(strengths)
            last = next(reversed(self.solutions.values()), [self._first_start] * len(self.splits))
            total = weight = 0.0
            found = []
            for number, (train, held_out) in enumerate(self.splits):
                solution, log_posterior = self._fit_split(number, strengths, train, last[number])
                own = self.problem.loss.row_weight[held_out]
                total -= float(own @ log_posterior[held_out])
                weight += float(own.sum())
                found.append(solution)
            self.losses[strengths] = total / weight
            self.solutions[strengths] = found
        return self.losses[strengths]

    def _measure_curvature(self, strengths):
        """Scale all fits by the curvature near the first solution; return where a few iterations arrived."""
        problem = self.compressed.problem if self.compressed else self.problem
        target = solution = np.zeros(problem.loss.shape)
        for tol in ROUGH:
            solution = self._solve(problem, strengths, target, solution, tol).solution
            with one_blas_thread():
                problem = problem.curved_at(solution)
        if self.compressed:
            self.compressed = replace(self.compressed, problem=problem)
        else:
            self.problem = problem
        return solution

    def _fit_split(self, number, strengths, train, start):
        if number not in self._folds:
            weights = np.where(train, self.problem.loss.row_weight, 0.0)
            working = self.compressed.problem if self.compressed else self.problem
            self._folds[number] = working.reweighted(weights)
        fold = self._folds[number]
        target = np.zeros(fold.loss.shape)
        if strengths.share and self.compressed:
            original = self.problem.reweighted(fold.loss.row_weight)
            offset = original.loss.scores(strengths.share * original.generative(centred=True))
            fold = replace(fold, loss=fold.loss.reweighted(fold.loss.row_weight, offset))
        elif strengths.share:
            target = strengths.share * fold.generative(centred=True)
        result = self._solve(fold, strengths, target, start, self.tol)
        scores = fold.loss.scores(result.solution)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        log_posterior = log_softmax(scores, axis=1)
        return result.solution, log_posterior[np.arange(len(scores)), fold.loss.labels]

    def _solve(self, problem, strengths, target, start, tol):
        strength = problem.ridge_strengths(np.array(strengths.ridge))
        return problem.solve(
            "lbfgs",
            strength,
            target,
            problem.scale("curvature", strength),
            start,
            tol=tol,
            max_iter=self.max_iter,
            reference=problem.norm_at_zero(strength, target),
        )

    def fit_all(self, strengths: Strengths, tol):
        """Fit all rows from the mean of the splits' solutions; the solution is in cells."""
        start = np.mean(self.solutions[strengths], axis=0)
        target = strengths.share * self.problem.generative(centred=True)
        if not self.compressed:
            return self._solve(self.problem, strengths, target, start, tol)
        working = self.compressed.problem
        if strengths.share:
            offset = self.problem.loss.scores(target)
            working = replace(working, loss=working.loss.reweighted(working.loss.row_weight, offset))
        result = self._solve(working, strengths, np.zeros(working.loss.shape), start, tol)
        return replace(result, solution=target + self.compressed.expand(result.solution))

    def results(self):
        """Return all trials as columns."""
        trials = list(self.losses)
        return {
            "ridge": np.array([trial.ridge for trial in trials]),
            "generative_share": np.array([trial.share for trial in trials]),
            "log_loss": np.array(list(self.losses.values())),
        }
