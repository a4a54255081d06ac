"""Cross-validated choice of one ridge per order and of the share of the generative estimate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import log_softmax

# How often in a row the log loss may rise before a descending search gives up.
PATIENCE = 2


@dataclass(frozen=True)
class Strengths:
    """One trial: the ridge of each order, and the share of the generative estimate pulled to."""

    ridge: tuple[float, ...]
    share: float


@dataclass
class StrengthSearch:
    """Log losses of held-out rows under strengths, each fold warm-started from its last solution.

    Parameters
    ----------
    folds : list of (HigherOrderProblem, ndarray)
        The problem in which the fold's rows weigh nothing, and which rows they are.
    row_weight : ndarray of shape (n_rows,)
    tol, max_iter
        For each fit.
    """

    folds: list
    row_weight: np.ndarray
    tol: float
    max_iter: int
    losses: dict[Strengths, float] = field(default_factory=dict)
    solutions: dict[Strengths, list] = field(default_factory=dict)

    @classmethod
    def over_splits(cls, problem, splits, *, tol, max_iter) -> StrengthSearch:
        """Make one problem per split, in which only its training rows weigh anything."""
        weight = problem.loss.row_weight
        folds = [(problem.reweighted(np.where(train, weight, 0.0)), test) for train, test in splits]
        return cls(folds, weight, tol, max_iter)

    def run(self, *, first_ridges, ridges, shares, order, hierarchical) -> Strengths:
        """Search the tuples' ridge downwards, then the first order's around it, then the share."""
        middle = sorted(first_ridges)[len(first_ridges) // 2]

        def strengths(first, higher, share):
            return Strengths((first if hierarchical else higher, *(higher,) * (order - 1)), share)

        share = min(shares)
        higher = self._descend([(r, strengths(middle, r, share)) for r in sorted(ridges, reverse=True)])
        if hierarchical:
            trials = [(r, strengths(r, higher, share)) for r in first_ridges]
            first = self._best(trials)
            if first != middle:
                near = [r for r in ridges if higher / 4 <= r <= higher * 4]
                higher = self._best([(r, strengths(first, r, share)) for r in near])
        else:
            first = higher
        share = self._descend([(s, strengths(first, higher, s)) for s in sorted(shares)])
        return strengths(first, higher, share)

    def _descend(self, trials):
        """Try in order until the log loss has risen twice running, and return the best one's key."""
        tried: list = []
        risen = 0
        for trial in trials:
            risen = risen + 1 if tried and self.loss(trial[1]) > min(self.loss(s) for _, s in tried) else 0
            tried.append(trial)
            if risen == PATIENCE:
                break
        return self._best(tried)

    def _best(self, trials):
        return min(trials, key=lambda trial: self.loss(trial[1]))[0]

    def loss(self, strengths: Strengths) -> float:
        """Return the mean log loss of the held-out rows."""
        if strengths not in self.losses:
            total, weight, solutions = 0.0, 0.0, []
            last = self.solutions[next(reversed(self.solutions))] if self.solutions else None
            for number, (problem, held_out) in enumerate(self.folds):
                strength, target = self.penalty(problem, strengths)
                start = np.zeros(problem.loss.shape) if last is None else last[number]
                result = problem.solve(
                    "lbfgs",
                    strength,
                    target,
                    problem.scale("curvature", strength),
                    start,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    reference=problem.norm_at_zero(strength, target),
                )
                solutions.append(result.solution)
                scores = problem.loss.scores(result.solution)[held_out]
                if scores.shape[1] == 1:
                    scores = np.hstack([np.zeros_like(scores), scores])
                truth = problem.loss.labels[held_out]
                log_posterior = log_softmax(scores, axis=1)[np.arange(len(truth)), truth]
                total -= float(self.row_weight[held_out] @ log_posterior)
                weight += float(self.row_weight[held_out].sum())
            self.losses[strengths] = total / weight
            self.solutions[strengths] = solutions
        return self.losses[strengths]

    def penalty(self, problem, strengths: Strengths):
        """Return the strength and the target of every coefficient."""
        target = strengths.share * problem.generative(centred=True)
        return problem.ridge_strengths(np.array(strengths.ridge)), target

    def mean_solution(self, strengths: Strengths):
        """Return the mean of the folds' solutions, a good start for all rows."""
        return np.mean(self.solutions[strengths], axis=0)

    def results(self):
        """Return all trials as columns."""
        trials = list(self.losses)
        return {
            "ridge": np.array([trial.ridge for trial in trials]),
            "generative_share": np.array([trial.share for trial in trials]),
            "log_loss": np.array(list(self.losses.values())),
        }
