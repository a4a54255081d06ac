"""Targets of shrinkage: the paths toward them, of all rows and of the folds, and what a search finds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Booleans, Floats
    from seminaive.design.reference import AnchoredDesign
    from seminaive.scores import AdditiveScores
    from seminaive.selection.decision import Decision
    from seminaive.selection.fold_losses import FoldLosses
    from seminaive.solvers import PathOptions, ShrinkagePath
    from seminaive.statistics import TableStatistics


@dataclass(frozen=True)
class Shrinkage:
    """What is shrunk to what.

    Parameters
    ----------
    naive_bayes : callable
        From the statistics of some rows to their generative estimate.
    anchor : callable
        From that estimate and a share of it to the target.
    options : callable
        From changes to when a path ends.
    path : callable
        From an anchored design, labels, weights, options and strengths to a path.
    """

    naive_bayes: Callable[[TableStatistics], AdditiveScores]
    anchor: Callable[[AdditiveScores, float], AdditiveScores]
    options: Callable[..., PathOptions]
    path: Callable[..., ShrinkagePath]


@dataclass(frozen=True)
class Target:
    """The path of all rows toward one target, and those of the folds at its strengths.

    Parameters
    ----------
    share : float
        The share of naive Bayes.
    of_folds : tuple of ndarray of shape (n_strengths, n_coefficients, n_scores)
        The coefficients of each fold; where a fold's path broke off, its last ones.
    totals : ndarray of shape (n_strengths,)
        The total expected log loss of the held-out rows.
    n_solved : int
        The strengths, from the largest on, at which all rows and all folds were solved to their tolerances.
        Losses at the others are those of unfinished fits.
    """

    share: float
    linear: AnchoredDesign
    path: ShrinkagePath
    of_folds: tuple[Floats, ...]
    losses: FoldLosses
    totals: Floats
    n_solved: int

    @property
    def is_solved(self) -> bool:
        """Tell whether all strengths were solved."""
        return self.n_solved == len(self.path)

    def solved_part(self) -> Target:
        """Return the strengths that were solved."""
        kept = slice(self.n_solved)
        return replace(
            self,
            path=self.path.first(self.n_solved),
            of_folds=tuple(of_fold[kept] for of_fold in self.of_folds),
            losses=self.losses.first(self.n_solved),
            totals=self.totals[kept],
        )

    def then(self, further: Target) -> Target:
        """Return these strengths continued by smaller ones."""
        pairs = zip(self.of_folds, further.of_folds, strict=True)
        return replace(
            self,
            path=self.path.then(further.path),
            of_folds=tuple(np.concatenate(pair) for pair in pairs),
            losses=self.losses.then(further.losses),
            totals=np.concatenate([self.totals, further.totals]),
            n_solved=self.n_solved + further.n_solved if self.is_solved else self.n_solved,
        )


@dataclass(frozen=True)
class ShrinkageAnswer:
    """What a search has found.

    Parameters
    ----------
    best : Target
        The target of the trial of most weight.
    position : int
        The strength of that trial, along the path toward its target.
    decision : Decision
        Its weights are those of ``parts``.
    parts : tuple of (Target, int)
        The targets and positions of the trials that are averaged.
    """

    best: Target
    position: int
    decision: Decision
    parts: tuple[tuple[Target, int], ...]

    def mean(self, of_part: Callable[[Target, int], Any]) -> Any:
        """Return the weighted mean of something over the trials."""
        values = [of_part(target, position) for target, position in self.parts]
        return np.tensordot(self.decision.weights, np.stack(values), 1)


def n_leading(converged: Booleans) -> int:
    """Return how many strengths converged before the first that did not."""
    return len(converged) if converged.all() else int(np.argmin(converged))
