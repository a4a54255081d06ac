"""Trials of a search over strengths and relevances: what is tried, what fits it, and what a search finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seminaive.selection.decision import cost_of_weakness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats, Indices
    from seminaive.selection.decision import Decision
    from seminaive.selection.split_rows import SplitRows

    Steps = tuple[int, int, int, int]


SLOPES, MAINS, PAIRS, ALL = range(4)


@dataclass(frozen=True)
class RelevancePlan:
    """The numbers of the search (docs/decisions/0014-prior-of-strengths.md, 0015-decide-by-the-rows.md).

    Parameters
    ----------
    starts : tuple of float
        Strengths of slopes, main terms and pairs from which the search starts. Features have variances of
        about 1, so that 1 is a prior of log odds of a few units; pairs have as many functions as 16 to 64.
    factors : tuple of float
        The factor of one step of each of them and, last, of all at once.
    decades : tuple of float
        Prior deviations of weaker strengths in decades.
    damping : float
        Added to the evidence and to the degrees of freedom of a term; from .1 to 2 nothing changed.
    relevances : tuple of float
        The least and the largest relevance, which bound ridges near 0 and near infinity.
    """

    starts: tuple[float, float, float] = (1.0, 1.0, 25.0)
    factors: tuple[float, float, float, float] = (10.0, float(np.sqrt(10.0)), 5.0, 10.0)
    decades: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 2.0)
    damping: float = 0.5
    relevances: tuple[float, float] = (0.003, 100.0)


PLAN = RelevancePlan()


class FoldSolver(Protocol):
    """Fits of the folds and of all rows under strengths and relevances."""

    columns: Any
    rows: SplitRows

    def prepare(self, relevances: Floats) -> Any:
        """Take in relevances, one row per fold and, last, that of all rows."""

    def fit_folds(
        self, prepared: Any, strengths: Sequence[float], starts: Any, tol: float, max_iter: int
    ) -> list[Any]:
        """Fit the training rows of every fold, from the warm starts of other fits.

        A fit has ``scores`` of all rows and a ``warm_start``, from which another fit can start.
        """

    def fit_all(
        self, prepared: Any, strengths: Sequence[float], start: Any, tol: float, max_iter: int
    ) -> Any:
        """Fit all rows from a warm start; the fit has its certificate in ``fit.optimality``."""

    def evidence(
        self, prepared: Any, which: Sequence[int], strengths: Sequence[float], fits: list[Any]
    ) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, and its effective degrees of freedom, one row per fit.

        ``which`` training sets they are fits of: folds by number and, last, all rows.
        """

    def coefficients(self, parts: list[tuple[float, Any, Sequence[float], Any]]) -> Floats:
        """Return the weighted sum of fits of all rows as coefficients."""

    def around(self, offsets: list[Floats]) -> FoldSolver:
        """Return the same solver with offsets of all rows: one for each fold and, last, that of all rows."""


@dataclass
class RelevanceTrial:
    """The folds fitted under some strengths and relevances.

    Parameters
    ----------
    steps : tuple of int
        Steps of the strength of each group, and of all at once, from where they start.
    number : int
        The round of relevances.
    prepared : object
        What the solver made of the relevances.
    fits : list
        One fit per fold.
    scores : ndarray of shape (n_held_out, n_columns)
        Of held-out rows.
    loss : float
        Their mean log loss.
    criterion : float
        The loss plus the cost of the steps per half row: what the search minimises.
    """

    steps: Steps
    strengths: tuple[float, float, float]
    number: int
    prepared: Any
    fits: list[Any]
    scores: Floats
    loss: float
    criterion: float

    @property
    def mean_warm_start(self) -> Floats:
        """Return the mean of where the fits of the folds ended."""
        return np.asarray(np.mean([fit.warm_start for fit in self.fits], axis=0))


@dataclass(frozen=True)
class RelevanceAnswer:
    """What a search has found.

    Parameters
    ----------
    parts : list of (float, RelevanceTrial)
        The trials of the average, with their weights.
    fits : list
        The fit of all rows of each of them.
    decision : Decision
        The share of the average in the answer, and what it loses on held-out rows.
    coefficients : ndarray
        Those of the answer.
    optimality : float
        The worst certificate among the fits that are averaged.
    penalties, degrees : ndarray of shape (n_terms,)
        Of the best trial's fit of all rows.
    """

    best: RelevanceTrial
    parts: list[tuple[float, RelevanceTrial]]
    fits: list[Any]
    decision: Decision
    coefficients: Floats
    optimality: float
    n_iter: int
    objective: float
    relevances: Floats
    penalties: Floats
    degrees: Floats


def strengths_after(steps: Steps) -> tuple[float, float, float]:
    """Return the strengths of slopes, main terms and pairs after some steps from the start."""
    of_all = PLAN.factors[ALL] ** steps[ALL]
    slopes, mains, pairs = (
        PLAN.starts[group] * PLAN.factors[group] ** steps[group] * of_all for group in (SLOPES, MAINS, PAIRS)
    )
    return slopes, mains, pairs


def cost_of(steps: Steps) -> float:
    """Return minus the log of the prior density of strengths, over that at the start.

    It is flat toward stronger strengths, and falls like a normal density of logarithms toward weaker ones.
    Where all held-out rows are classified rightly, weaker strengths lower the held-out loss without end: no
    held-out row shows how sure is too sure.
    """
    decades = -np.array(steps) * np.log10(PLAN.factors) / PLAN.decades
    return float(cost_of_weakness(decades).sum())


def after_evidence(
    relevances: Floats, penalties: Floats, degrees: Floats, damping: float = PLAN.damping
) -> Floats:
    """Return relevances after one damped evidence update, by default ``w (q + 1/2) / (g + 1/2)``."""
    return np.asarray(relevances * (penalties + damping) / (degrees + damping))


def updated_relevances(relevances: Floats, penalties: Floats, degrees: Floats, groups: Indices) -> Floats:
    """Return relevances after one evidence update, normalised in each group; 0 stays 0.

    `after_evidence`, divided by the mean of the group in which each term counts by its effective degrees of
    freedom g, and clipped.
    """
    new = after_evidence(relevances, penalties, degrees)
    for group in np.unique(groups).tolist():
        members = groups == group
        total = degrees[members].sum()
        if total > 0:
            new[members] /= (degrees[members] @ new[members]) / total
    return np.where(relevances > 0, np.clip(new, *PLAN.relevances), 0.0)
