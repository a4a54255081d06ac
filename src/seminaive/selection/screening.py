"""Which columns and pairs have terms where all would be too many, or where a number of pairs is given.

Columns are those with the most evidence; pairs those that more probably say something than not, given their
evidence at the residuals of a fit without pairs. A given number of pairs are those that pay most of the
penalty in a fit with all of them. Each fold chooses by its training rows alone, so that held-out rows have no
part in the choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from seminaive.design.smooth_columns import most_pair_features
from seminaive.selection.decision import SEARCH
from seminaive.selection.relevance_trials import MAINS, PAIRS, PLAN
from seminaive.selection.term_evidence import Residuals, evidence_for_columns, evidence_for_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.selection.split_rows import SplitRows

    Kept = NDArray[np.bool_]


@dataclass(frozen=True)
class Crossed:
    """Columns with terms of pairs, and which of them a search may use.

    Parameters
    ----------
    n_pairs : int
        How many pairs were looked at.
    kept : ndarray of shape (n_sets, n_terms) or None
        Which terms each training set has, folds first, then all rows; None for all.
    narrower : callable
        Gives such arrays for fewer and fewer columns.
    """

    columns: SmoothColumns
    n_pairs: int
    kept: Kept | None
    narrower: Callable[[], list[Kept]]


class Screen:
    """Which columns and pairs of columns the rows of a table can support.

    Parameters
    ----------
    columns : SmoothColumns
        Without terms of pairs.
    """

    def __init__(self, columns: SmoothColumns, rows: SplitRows) -> None:
        self.columns = columns
        self.rows = rows
        self._table, self._n_classes = rows.table, rows.n_classes

    def _residuals(self, scores: list[Floats] | None = None) -> Residuals:
        """Return what some scores, or else the class shares, leave unexplained."""
        return Residuals(self.rows, scores)

    @cached_property
    def _evidence(self) -> Floats:
        """The evidence for each column, given the class shares: (sets, columns)."""
        return evidence_for_columns(self.columns, self._table, self._residuals(), variances_of(MAINS))

    def crossed_by(
        self, wanted: Sequence[tuple[int, int]] | None, solver_of: Callable[..., Any], max_iter: int
    ) -> Crossed:
        """Return the columns with the terms of pairs.

        Parameters
        ----------
        wanted : sequence of pairs or None
            Positions in the table; None is all or, where these are too many, the best ones.
        solver_of : callable
            From columns and rows to what fits them.
        max_iter : int
            Newton steps of a fit without pairs.
        """
        named = None if wanted is None else self.columns.pairs_at(wanted, self._table.schema)
        kept = self._kept_columns(named)
        columns = self.columns.among(set(np.flatnonzero(kept.any(axis=0)).tolist()))
        if named is not None:
            crossed = columns.crossed(named, self._n_classes)
        elif columns.can_cross_all(self._n_classes):
            crossed = columns.with_all_pairs(self._n_classes)
        else:
            return self._crossed_by_best(columns, kept, solver_of(columns, self.rows), max_iter)
        n_pairs = self._n_all_pairs if named is None else len(named)
        return self._crossed(crossed, n_pairs, None if kept.all() else kept_terms(crossed, kept))

    @property
    def _n_all_pairs(self) -> int:
        n_columns = sum(bool(self.columns.columns[j].pair.shape[1]) for j in self.columns.mains)
        return n_columns * (n_columns - 1) // 2

    def _kept_columns(self, named: list[tuple[int, int]] | None) -> Kept:
        """Return which columns each training set has: all, or the best ones and those of named pairs.

        These are as many as there are rows, or as can all be paired.
        """
        can_be_paired = (1 + math.isqrt(1 + 8 * most_pair_features(self._n_classes))) // 2
        most = max(len(self._table), can_be_paired)
        if len(self.columns.mains) <= most:
            return np.ones((self.rows.n_sets, len(self.columns.columns)), dtype=bool)
        kept = halvings(self._evidence, most)[0]
        kept[:, sorted({j for pair in named or [] for j in pair})] = True
        return kept

    def _crossed_by_best(self, columns: SmoothColumns, kept: Kept, solver: Any, max_iter: int) -> Crossed:
        """Return columns with the terms of those of their pairs that say something, the best ones first."""
        columns = columns.crossed([], self._n_classes)
        pairs = columns.all_pairs
        evidence = self._evidence_for_pairs(columns, kept, pairs, solver, max_iter)
        first, second = np.array(pairs).T
        among = kept[:, first] & kept[:, second]
        says = np.stack([says_something(*of_set) for of_set in zip(evidence, among, strict=True)])
        widths = [column.pair.shape[1] for column in columns.columns]
        sizes = [widths[j] * widths[k] for j, k in pairs]
        best = best_pairs(np.where(says, evidence, -np.inf), sizes, most_pair_features(self._n_classes))
        return self._crossed_by(pairs, best, columns, kept_terms(columns, kept), self._n_all_pairs)

    def with_most_important(self, crossed: Crossed, n_kept: int, penalties: Floats) -> Crossed:
        """Return columns with fewer pairs: in each training set those of the largest penalties.

        Parameters
        ----------
        crossed : Crossed
            Columns with more pairs.
        n_kept : int
            How many pairs each training set keeps.
        penalties : ndarray of shape (n_sets, n_terms)
            What each term of these columns pays in the fit of each training set.
        """
        columns, pairs = crossed.columns, crossed.columns.pairs
        kept = np.ones(penalties.shape, dtype=bool) if crossed.kept is None else crossed.kept
        others, among = np.hsplit(kept, [columns.n_terms - len(pairs)])
        pays = np.where(among, penalties[:, -len(pairs) :], -np.inf)
        # Fewer pairs have room for more functions of each column.
        uncrossed = replace(columns, columns=self.columns.columns, pairs=())
        return self._crossed_by(pairs, among & (ranks(pays) < n_kept), uncrossed, others, crossed.n_pairs)

    def _crossed_by(
        self, pairs: Sequence[tuple[int, int]], best: Kept, columns: SmoothColumns, others: Kept, n_pairs: int
    ) -> Crossed:
        """Return columns with the pairs that any training set keeps, given which each keeps.

        ``others`` tells which of the other terms it keeps.
        """
        chosen = np.flatnonzero(best.any(axis=0)).tolist()
        crossed = columns.crossed([pairs[number] for number in chosen], self._n_classes)
        return self._crossed(crossed, n_pairs, np.hstack([others, best[:, chosen]]))

    def _evidence_for_pairs(
        self, columns: SmoothColumns, kept: Kept, pairs: list[tuple[int, int]], solver: Any, max_iter: int
    ) -> Floats:
        """Return the evidence for pairs beyond slopes and main terms: (sets, pairs)."""
        prepared = solver.prepare(kept_terms(columns, kept).astype(np.float64))
        fits = [
            *solver.fit_folds(prepared, PLAN.starts, None, SEARCH.precision, max_iter),
            solver.fit_all(prepared, PLAN.starts, None, SEARCH.precision, max_iter),
        ]
        residuals = self._residuals([fit.scores for fit in fits])
        return evidence_for_pairs(columns, self._table, residuals, pairs, variances_of(PAIRS))

    def _crossed(self, columns: SmoothColumns, n_pairs: int, kept: Kept | None = None) -> Crossed:
        def narrower() -> list[Kept]:
            halved = halvings(self._evidence, len(columns.mains) // 2)
            screens = [kept_terms(columns, screen) for screen in halved]
            return screens if kept is None else [screen & kept for screen in screens]

        return Crossed(columns, n_pairs, kept, narrower)


def variances_of(group: int) -> list[float]:
    """Return the prior variances of coefficients of a group at the start of a search, over all relevances."""
    lowest, highest = np.log(PLAN.relevances)
    n_steps = round((highest - lowest) / np.log(PLAN.factors[group]))
    relevances = np.exp(np.linspace(lowest, highest, n_steps + 1))
    return [float(relevance) / PLAN.starts[group] for relevance in relevances]


def ranks(evidence: Floats) -> Indices:
    """Return the rank of each entry of a row among those of the row, 0 for the largest."""
    order = np.argsort(-evidence, axis=1, kind="stable")
    return np.argsort(order, axis=1, kind="stable")


def halvings(evidence: Floats, most: int) -> list[Kept]:
    """Return which columns each training set keeps: its best ones, first ``most``, then half as many, ....

    A column without evidence is in none.
    """
    rank = ranks(evidence)
    kept = [(rank < most // 2**k) & (evidence > 0) for k in range(most.bit_length())]
    return [screen for k, screen in enumerate(kept) if not k or not np.array_equal(screen, kept[k - 1])]


def says_something(evidence: Floats, among: Kept) -> Kept:
    """Return which of some pairs more probably say something than not, given the log evidence for each.

    The share of pairs that do is the one under which the data of all of them are most probable: with odds
    o of it, the root of ``mean(o e / (1 + o e)) = o / (1 + o)`` over their evidence e. A pair that says
    nothing has an e of 1 in the mean, so that 1 / x of N such pairs, at most, are expected above N x.

    Parameters
    ----------
    evidence : ndarray of shape (n_pairs,)
    among : ndarray of shape (n_pairs,)
        Which pairs there are.

    Examples
    --------
    >>> says_something(np.array([9.0, -2.0, -3.0, -3.0, 9.0]), np.array([True, True, True, True, False]))
    array([ True, False, False, False, False])
    """
    # Evidence beyond this is certain, and its products with all odds that are tried stay within a float.
    most = 0.25 * np.log(np.finfo(np.float64).max)
    logs = np.clip(evidence[among], -most, most)
    if not len(logs) or np.mean(np.expm1(logs)) <= 0:
        return np.zeros_like(among)
    if np.mean(np.expm1(-logs)) <= 0:
        return among

    def excess(log_odds: float) -> float:
        # The difference of two probabilities, taken from the smaller ones, which are exact.
        if log_odds < 0:
            return float(expit(log_odds + logs).mean() - expit(log_odds))
        return float(expit(-log_odds) - expit(-log_odds - logs).mean())

    return np.asarray(among & (evidence > -brentq(excess, -2 * most, 2 * most)))


def best_pairs(evidence: Floats, sizes: Sequence[int], most: int) -> Kept:
    """Return which pairs each training set keeps: its best ones, as many in every set.

    The number is the largest for which all pairs that are kept by any set have few enough features.

    Parameters
    ----------
    evidence : ndarray of shape (n_sets, n_pairs)
        A pair of minus infinity is left out.
    sizes : sequence of int
        The features of each pair.
    most : int
        How many features these may have together.
    """
    rank = np.where(np.isfinite(evidence), ranks(evidence), evidence.shape[1])
    first = rank.min(axis=0)
    order = np.argsort(first, kind="stable")
    affordable = np.cumsum(np.asarray(sizes)[order]) <= most
    beyond = first[order[~affordable]].min(initial=evidence.shape[1])
    return np.asarray(rank < beyond)


def kept_terms(columns: SmoothColumns, kept: Kept) -> Kept:
    """Return which terms are of kept columns only, for each training set, given which columns it keeps."""
    column_of = {column.number: j for j, column in enumerate(columns.columns) if column.number is not None}
    slopes = [column_of[number] for number in columns.slopes]
    first, second = np.array(columns.pairs, dtype=np.int64).reshape(-1, 2).T
    return np.hstack([kept[:, slopes], kept[:, list(columns.mains)], kept[:, first] & kept[:, second]])
