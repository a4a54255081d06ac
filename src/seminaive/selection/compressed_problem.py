"""A problem of few rows in as many coefficients as rows, with the same solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh
from scipy.special import comb

from seminaive.design.fusion import FusedTerms
from seminaive.objective.conditional_likelihood import ConditionalLoss
from seminaive.objective.preconditioner import CoarseSpace
from seminaive.selection.search_space import SearchSpace

if TYPE_CHECKING:
    from seminaive.selection.higher_order_problem import HigherOrderProblem

# Directions in which the rows differ by less than this share of the largest are rounding.
NEGLIGIBLE = 1e-11
# So many first-order features have counterparts among the features of tuples that a search looks after.
MOST_LIFTED = 24


@dataclass(frozen=True)
class CompressedProblem:
    """A ridge problem restricted to the span of its rows, where its solution lies.

    Two rows that agree in m columns share m single cells and ``m (m - 1) / 2`` pairs, so the products of all
    rows are known without their cells. The eigenvectors of these products, scaled by the roots of the
    eigenvalues, are features that replace the cells: the ridge keeps its value, and no two features of an
    order are correlated.

    Parameters
    ----------
    space : SearchSpace
        The loss over the features of single cells, those of tuples, and the numbers, in this order.
    first : ndarray of shape (n_single_cells, n_features_1)
        The coefficients of single cells in each of the first features.
    rows : ndarray of shape (n_rows, n_features_2)
        The weight of each row in each of the other features.
    original : HigherOrderProblem
        The problem that was compressed.
    """

    space: SearchSpace
    first: np.ndarray
    rows: np.ndarray
    original: HigherOrderProblem

    @classmethod
    def of(cls, original, codes) -> CompressedProblem:
        """Compress a problem, given the codes of its rows."""
        loss = original.loss
        singles, first = _rotated(_single_cell_design(original))
        tuples, rows = _from_products(_shared_cells(original, codes))
        nothing = FusedTerms(
            np.empty(0, np.int64), np.empty((0, len(codes)), np.uint32), np.zeros(1, np.int64), (), (), ()
        )
        features = np.ascontiguousarray(np.hstack([singles, tuples, loss.numbers]))
        compressed = ConditionalLoss(
            nothing, features, loss.labels, loss.row_weight, loss.n_classes, n_threads=loss.n_threads
        )
        widths = [1, singles.shape[1], tuples.shape[1], loss.numbers.shape[1]]
        orders = np.repeat([0, 1, 2, 1], widths)
        coarse = _coarse_features(orders, features)
        fixed = np.zeros(len(orders), dtype=bool)
        return cls(SearchSpace(compressed, orders, widths[-1], fixed, coarse), first, rows, original)

    def expand(self, solution):
        """Return the coefficients of the original problem."""
        original = self.original
        singles, tuples, numbers = self._parts(solution)
        sums = original.loss.sums_of_cells(self.rows @ tuples)
        expanded = np.concatenate([solution[:1], sums, numbers])
        expanded[original.fixed] = 0.0
        expanded[_single_cells(original)] = self.first @ singles
        return expanded

    def compress(self, coefficients):
        """Return the coefficients of the features that have the same scores of all rows."""
        original = self.original
        cells = _single_cells(original)
        of_tuples = coefficients.copy()
        of_tuples[original.orders <= 1] = 0.0
        tuples = self.rows.T @ original.loss.scores(of_tuples)
        numbers = coefficients[len(coefficients) - self.space.n_numbers :]
        return np.concatenate([coefficients[:1], self.first.T @ coefficients[cells], tuples, numbers])

    def _parts(self, solution):
        """Return the coefficients of the first features, of the others, and of the numbers."""
        n_first = self.first.shape[1]
        return np.split(solution[1:], [n_first, n_first + self.rows.shape[1]])


def _single_cells(problem):
    """Return the coefficients of single cells."""
    singles = (problem.orders == 1) & ~problem.fixed
    singles[len(singles) - problem.loss.numbers.shape[1] :] = False
    return np.flatnonzero(singles)


def _single_cell_design(problem):
    """Return the indicators of single cells, one column each."""
    loss = problem.loss
    rows = _single_cells(problem)
    place = np.full(loss.shape[0], -1)
    place[rows] = np.arange(len(rows))
    design = np.zeros((len(loss.labels), len(rows) + 1))
    singles = {term for term, columns in enumerate(problem.terms.features) if len(columns) == 1}
    design[np.arange(len(design))[:, None], place[1 + loss.fused.positions_of(singles)]] = 1.0
    return design[:, :-1]


def _coarse_features(orders, features):
    """Return the first-order features, and the combinations of features of tuples nearest to the largest."""
    rows, higher = np.flatnonzero(orders <= 1), np.flatnonzero(orders > 1)
    design = np.hstack([np.ones((len(features), 1)), features])
    first, tuples = design[:, rows], design[:, higher]
    sizes = (first**2).sum(axis=0)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MOST_LIFTED]) if len(higher) else rows[:0]
    lift = np.zeros((len(orders), len(largest)), dtype=np.float32)
    lift[higher] = (tuples.T @ first[:, largest]) / (tuples**2).sum(axis=0)[:, None]
    along = np.hstack([first, tuples @ lift[higher]]).astype(np.float32)

    def products(weights):
        rooted = along * np.sqrt(weights, dtype=np.float32)[:, None]
        return (rooted.T @ rooted).astype(np.float64)

    return CoarseSpace(rows, lift, products)


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
    values, vectors = eigh(products, driver="evd", check_finite=False)
    kept = values > NEGLIGIBLE * max(values.max(initial=0.0), 1.0)
    root = np.sqrt(values[kept])
    return vectors[:, kept] * root, vectors[:, kept] / root
