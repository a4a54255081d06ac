"""What a search over strengths solves: a loss, the kinds of its coefficients, and their coarse directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from seminaive.design.gram import PairProducts
from seminaive.objective.preconditioner import CoarseSpace

if TYPE_CHECKING:
    from seminaive.objective.conditional_likelihood import ConditionalLoss

# Beyond so many first-order coefficients, their products cost more than they save.
MOST_COARSE = 600


@dataclass(frozen=True)
class SearchSpace:
    """A loss over an intercept, cells or features, and numbers.

    Parameters
    ----------
    loss : ConditionalLoss
    orders : ndarray of shape (n_coefficients,)
        The order of each coefficient, 0 for the intercept; the numbers, last, are of order 1.
    n_numbers : int
    fixed : ndarray of shape (n_coefficients,)
        Which coefficients stay 0.
    coarse : CoarseSpace
    """

    loss: ConditionalLoss
    orders: np.ndarray
    n_numbers: int
    fixed: np.ndarray
    coarse: CoarseSpace

    @classmethod
    def of_cells(cls, problem) -> SearchSpace:
        """Search over the coefficients of a problem itself."""
        return cls(
            problem.loss, problem.orders, problem.loss.numbers.shape[1], problem.fixed, _coarse_cells(problem)
        )

    def strength(self, strengths):
        """Return the ridge of each coefficient."""
        strength = np.concatenate([[0.0], strengths.ridge])[self.orders]
        strength[len(strength) - self.n_numbers :] = strengths.number_ridge
        return strength

    def preconditioner(self, strength, loss, coefficients):
        """Return an approximate inverse of the second derivatives of side-by-side losses."""
        row_curvature = loss.row_curvature(coefficients)
        higher = strength[self.orders > 1]
        made = self.coarse.preconditioner(
            strength,
            higher.mean() if len(higher) else 0.0,
            row_curvature.reshape(-1, loss.n_weightings, loss.width).mean(axis=1),
            loss.curvature(row_curvature),
        )
        made.fine[self.fixed] = 0.0
        return made


def _coarse_cells(problem):
    """Return the first-order coefficients, and for each single cell all the tuples that it takes part in."""
    loss, terms = problem.loss, problem.terms
    n = len(problem.orders)
    rows = np.flatnonzero((problem.orders <= 1) & ~problem.fixed)
    if len(rows) > MOST_COARSE:
        return CoarseSpace(rows[:1], csr_array((n, 0)), lambda weights: np.full((1, 1), weights.sum()))
    singles = {columns[0]: term for term, columns in enumerate(terms.features) if len(columns) == 1}
    pairs = PairProducts(loss.fused, loss.numbers, set(singles.values()))
    moving = np.flatnonzero(np.isin(pairs.rows, rows))
    # Every row has each of its single cells in so many tuples: that often tuples do what single cells do.
    times = sum(len(columns) > 1 and 0 in columns for columns in terms.features)
    cells = rows[(rows > 0) & (rows <= loss.fused.n_parameters)] if times else rows[:0]
    directions = np.concatenate([moving, np.searchsorted(pairs.rows, cells)])
    factor = np.repeat([1.0, times], [len(moving), len(cells)])

    def products(weights):
        return pairs(weights)[np.ix_(directions, directions)] * factor * factor[:, None]

    return CoarseSpace(rows, _lift(problem, singles, cells), products)


def _lift(problem, singles, cells):
    """Return which tuples each single cell takes part in, one column per single cell."""
    shape = (len(problem.orders), len(cells))
    if not len(cells):
        return csr_array(shape)
    tuples, parts = _parts_of_tuples(problem.terms, problem.loss.fused.observed, singles)
    kept = ~problem.fixed[tuples] & ~problem.fixed[parts]
    tuples, parts = tuples[kept], np.searchsorted(cells, parts[kept])
    return csr_array((np.ones(len(tuples)), (tuples, parts)), shape=shape)


def _parts_of_tuples(terms, observed, singles):
    """Return the coefficients of observed tuples and, for each, that of one of its single cells."""
    starts = np.searchsorted(observed, terms.offsets)
    tuples, parts = [], []
    for term, columns in enumerate(terms.features):
        if len(columns) == 1:
            continue
        local = observed[starts[term] : starts[term + 1]] - terms.offsets[term]
        known = np.flatnonzero(terms.are_known(local + terms.offsets[term]))
        place = starts[term] + known
        values = np.unravel_index(local[known], terms.shape(term))
        for column, value in zip(columns, values, strict=True):
            tuples.append(1 + place)
            parts.append(1 + np.searchsorted(observed, terms.offsets[singles[column]] + value))
    return np.concatenate(tuples), np.concatenate(parts)
