"""A problem of few rows in as many coefficients as rows, with the same solutions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh
from scipy.special import comb

from seminaive.scores.conditional_likelihood import ConditionalLoss
from seminaive.statistics import Terms
from seminaive.statistics.fusion import FusedTerms

if TYPE_CHECKING:
    from seminaive.models.higher_order_problem import HigherOrderProblem

# Directions in which the rows differ by less than this share of the largest are rounding.
NEGLIGIBLE = 1e-11


@dataclass(frozen=True)
class CompressedProblem:
    """A ridge problem restricted to the span of its rows, where its solution lies.

    Two rows that agree in m columns share m single cells and ``m (m - 1) / 2`` pairs, so the products of all
    rows are known without their cells. The eigenvectors of these products, scaled by the roots of the
    eigenvalues, are features that replace the cells: the ridge keeps its value, and no two features of an
    order are correlated.

    Parameters
    ----------
    problem : HigherOrderProblem
        Over the new features, as numbers of order 1 and 2.
    first : ndarray of shape (n_first_order, n_features_1)
        The first-order coefficients of each of the first features.
    rows : ndarray of shape (n_rows, n_features_2)
        The weight of each row in each of the other features.
    original : HigherOrderProblem
        The problem that was compressed.
    """

    problem: HigherOrderProblem
    first: np.ndarray
    rows: np.ndarray
    original: HigherOrderProblem

    @classmethod
    def of(cls, original, codes) -> CompressedProblem:
        """Compress a problem, given the codes of its rows."""
        design = _first_order_design(original)
        features_1, first = _rotated(design)
        features_2, rows = _from_products(_shared_cells(original, codes))
        loss = original.loss
        nothing = FusedTerms(
            np.empty(0, np.int64), np.empty((0, len(codes)), np.uint32), np.zeros(1, np.int64), (), (), ()
        )
        features = np.ascontiguousarray(np.hstack([features_1, features_2]))
        compressed = ConditionalLoss(
            nothing, features, loss.labels, loss.row_weight, loss.n_classes, n_threads=loss.n_threads
        )
        problem = original.over(
            Terms((), ()), compressed, np.zeros(features.shape[1]), np.ones(features.shape[1])
        )
        orders = np.repeat([0, 1, 2], [1, features_1.shape[1], features_2.shape[1]])
        return cls(replace(problem, orders=orders), first, rows, original)

    def expand(self, solution):
        """Return the coefficients of the original problem."""
        n_first = self.first.shape[1]
        higher = self.original.loss.sums_of_cells(self.rows @ solution[1 + n_first :])
        expanded = np.zeros(self.original.loss.shape)
        expanded[1 : 1 + len(higher)] = higher
        expanded[self.original.fixed] = 0.0
        expanded[self.original.orders == 1] = 0.0
        expanded[_first_order_rows(self.original)] = self.first @ solution[1 : 1 + n_first]
        expanded[0] = solution[0]
        return expanded


def _first_order_rows(problem):
    """Return the coefficients of single cells and of numbers."""
    return np.flatnonzero((problem.orders == 1) & ~problem.fixed)


def _first_order_design(problem):
    """Return the indicators of single cells and the numbers, one column per first-order coefficient."""
    loss = problem.loss
    rows = _first_order_rows(problem)
    place = np.full(loss.shape[0], -1)
    place[rows] = np.arange(len(rows))
    design = np.zeros((len(loss.labels), len(rows) + 1))
    singles = {term for term, columns in enumerate(problem.terms.features) if len(columns) == 1}
    positions = place[1 + loss.fused.positions_of(singles)]
    design[np.arange(len(design))[:, None], positions] = 1.0
    design[:, place[1 + loss.fused.n_parameters :]] = loss.numbers
    return design[:, :-1]


def _shared_cells(problem, codes):
    """Return how many cells of higher orders each two rows share."""
    known = codes < np.array(problem.terms.cardinalities)
    agreeing = np.zeros((len(codes), len(codes)), dtype=np.int16)
    for column, present in zip(codes.T, known.T, strict=True):
        agreeing += (column[:, None] == column) & present[:, None] & present
    counts = agreeing.max(initial=0)
    of_count = np.zeros(counts + 1)
    for order in sorted({len(columns) for columns in problem.terms.features} - {1}):
        of_count += comb(np.arange(counts + 1), order)
    return of_count[agreeing]


def _rotated(design):
    """Return uncorrelated features that span the design, and the coefficients of each."""
    n_rows, n_columns = design.shape
    if n_columns <= n_rows:
        values, vectors = eigh(design.T @ design, check_finite=False)
        kept = values > NEGLIGIBLE * max(values.max(initial=0.0), 1.0)
        return design @ vectors[:, kept], vectors[:, kept]
    features, rows = _from_products(design @ design.T)
    return features, design.T @ rows


def _from_products(products):
    """Return features whose products are those given, and the weight of each row in each."""
    values, vectors = eigh(products, check_finite=False)
    kept = values > NEGLIGIBLE * max(values.max(initial=0.0), 1.0)
    root = np.sqrt(values[kept])
    return vectors[:, kept] * root, vectors[:, kept] / root
