"""A design in as many coefficients as rows, for tables with fewer rows than cells."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import comb

from seminaive.design.coarse import CoarseSpace
from seminaive.design.protocol import Design
from seminaive.design.rounding import ROUNDING
from seminaive.design.weighted_gram import weighted_gram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Booleans, Floats, Indices
    from seminaive.design.table_design import TableDesign

# The most first-order features that a preconditioner matches by combinations of the features of tuples.
MOST_LIFTED = 24


class RowSpace(Design):
    """A table design restricted to the span of its rows, which contains the solution of any ridge problem.

    Two rows that agree in m columns share m single cells and ``m (m - 1) / 2`` pairs, so that the kernel
    matrix X X' of each order is known without its cells. Its eigenvectors, scaled by the roots of the
    eigenvalues, are features that replace the cells: a ridge on their coefficients equals that on the cells'
    coefficients, and features of one order are orthogonal.

    Coefficients stand in the order intercept, features of single cells, features of tuples, numbers.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_coefficients - 1)
    orders : ndarray of shape (n_coefficients,)
    single_cells : ndarray of shape (n_single_cells, n_features of single cells)
        The coefficients of single cells in each of their features.
    row_weights : ndarray of shape (n_rows, n_features of tuples)
        The weight of each row in each of the features of tuples.
    """

    def __init__(
        self,
        original: TableDesign,
        features: NDArray[Any],
        orders: Indices,
        single_cells: Floats,
        row_weights: Floats,
    ) -> None:
        self.original = original
        self.features = features
        self.orders = orders
        self._single_cells = single_cells
        self._row_weights = row_weights

    @classmethod
    def of(cls, original: TableDesign, codes: NDArray[Any]) -> RowSpace:
        """Find the features of a table design, given the codes of its rows."""
        singles, single_cells = _rotated(_single_cell_columns(original))
        tuples, row_weights = _from_kernel(_shared_cells(original, codes))
        features = np.ascontiguousarray(np.hstack([singles, tuples, original.numbers]))
        widths = [1, singles.shape[1], tuples.shape[1], original.n_numbers]
        return cls(original, features, np.repeat([0, 1, 2, 1], widths), single_cells, row_weights)

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.features)

    @property
    def n_coefficients(self) -> int:
        """Return the number of coefficients."""
        return 1 + int(self.features.shape[1])

    @property
    def n_numbers(self) -> int:
        """Return the number of coefficients of numbers, which come last."""
        return self.original.n_numbers

    @property
    def fixed(self) -> Booleans:
        """Return which coefficients stay 0: none."""
        return np.zeros(self.n_coefficients, dtype=bool)

    @property
    def operations(self) -> float:
        """Return what a pass takes for each score of each row: one multiplication for each coefficient."""
        return float(self.n_coefficients)

    @cached_property
    def rough(self) -> RowSpace:
        """Return the same design in single precision, at half the time of a product."""
        features = self.features.astype(np.float32)
        return RowSpace(self.original, features, self.orders, self._single_cells, self._row_weights)

    def scores(self, coefficients: Floats) -> Floats:
        """Return X B."""
        slopes = coefficients[1:].astype(self.features.dtype, copy=False)
        return np.asarray(self.features @ slopes + coefficients[0], dtype=np.float64)

    def adjoint(self, residuals: Floats) -> Floats:
        """Return X'R."""
        return self._sums(residuals, self.features)

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R."""
        return self._sums(residuals, self._squares)

    @cached_property
    def _squares(self) -> NDArray[Any]:
        return self.features**2

    def _sums(self, residuals: Floats, features: NDArray[Any]) -> Floats:
        sums = np.empty((self.n_coefficients, residuals.shape[1]))
        sums[0] = residuals.sum(axis=0)
        sums[1:] = np.matmul(residuals.T.astype(features.dtype, copy=False), features).T
        return sums

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some coefficients, by default for all."""
        design = np.hstack([np.ones((self.n_rows, 1)), self.features])
        design = design if columns is None else design[:, columns]
        return weighted_gram(design, row_weight)

    # Coefficients of the original design

    def expand(self, coefficients: Floats) -> Floats:
        """Return the coefficients of the original design that have the same scores and the same ridge."""
        original = self.original.coefficients
        singles, tuples, numbers = np.split(coefficients[1:], self._borders)
        expanded = self.original.adjoint(self._row_weights @ tuples)
        expanded[0] = coefficients[0]
        expanded[1 + len(original.cells) :] = numbers
        expanded[original.fixed] = 0.0
        expanded[original.single_cells] = self._single_cells @ singles
        return expanded

    def compress(self, coefficients: Floats) -> Floats:
        """Return the coefficients that give all rows the scores of coefficients of the original design."""
        original = self.original.coefficients
        of_tuples = coefficients.copy()
        of_tuples[original.orders <= 1] = 0.0
        tuples = self._row_weights.T @ self.original.scores(of_tuples)
        singles = self._single_cells.T @ coefficients[original.single_cells]
        return np.concatenate([coefficients[:1], singles, tuples, coefficients[1 + len(original.cells) :]])

    @property
    def _borders(self) -> list[int]:
        """Return where the coefficients of tuples and of numbers begin, behind the intercept."""
        n_singles = self._single_cells.shape[1]
        return [n_singles, n_singles + self._row_weights.shape[1]]

    def coarse_space(self) -> CoarseSpace:
        """Return the first-order features, and the combinations of the others nearest to the largest."""
        first, higher = np.flatnonzero(self.orders <= 1), np.flatnonzero(self.orders > 1)
        design = np.hstack([np.ones((self.n_rows, 1)), self.features])
        singles, tuples = design[:, first], design[:, higher]
        sizes = (singles**2).sum(axis=0)
        largest = np.sort(np.argsort(-sizes, kind="stable")[:MOST_LIFTED]) if len(higher) else first[:0]
        lift = np.zeros((self.n_coefficients, len(largest)), dtype=np.float32)
        lift[higher] = (tuples.T @ singles[:, largest]) / (tuples**2).sum(axis=0)[:, None]
        along = np.hstack([singles, tuples @ lift[higher]]).astype(np.float32)

        def products(row_weight: Floats) -> Floats:
            return weighted_gram(along, row_weight.astype(np.float32))

        return CoarseSpace(first, lift, products)


def _single_cell_columns(design: TableDesign) -> Floats:
    """Return the indicators of single cells, one column each."""
    coefficients, fused = design.coefficients, design.fused
    column_of = np.full(design.n_coefficients, len(coefficients.single_cells))
    column_of[coefficients.single_cells] = np.arange(len(coefficients.single_cells))
    columns = np.zeros((design.n_rows, len(coefficients.single_cells) + 1))
    singles = {term for term, features in enumerate(coefficients.terms.features) if len(features) == 1}
    columns[np.arange(len(columns))[:, None], column_of[1 + fused.positions_of(singles)]] = 1.0
    return columns[:, :-1]


def _shared_cells(design: TableDesign, codes: NDArray[Any]) -> Floats:
    """Return how many cells of higher orders each two rows share: the kernel matrix of the tuples."""
    terms = design.coefficients.terms
    known = codes < np.array(terms.cardinalities)
    agreeing = np.zeros((len(codes), len(codes)), dtype=np.int16)
    for column, present in zip(codes.T, known.T, strict=True):
        agreeing += (column[:, None] == column) & present[:, None] & present
    most = agreeing.max(initial=0)
    of_count = np.zeros(most + 1)
    for order in sorted({len(columns) for columns in terms.features} - {1}):
        of_count += comb(np.arange(most + 1), order)
    return of_count[agreeing]


def _rotated(design: Floats) -> tuple[Floats, Floats]:
    """Return orthogonal features that span the columns of a design, and the coefficients of each."""
    n_rows, n_columns = design.shape
    if n_columns <= n_rows:
        values, vectors = eigh(design.T @ design, check_finite=False)
        kept = values > len(values) * ROUNDING * max(values.max(initial=0.0), 1.0)
        return design @ vectors[:, kept], vectors[:, kept]
    features, row_weights = _from_kernel(design @ design.T)
    return features, design.T @ row_weights


def _from_kernel(kernel: Floats) -> tuple[Floats, Floats]:
    """Return features F with ``F F'`` the kernel matrix, and the weight of each row in each."""
    values, vectors = eigh(kernel, driver="evd", check_finite=False)
    kept = values > len(values) * ROUNDING * max(values.max(initial=0.0), 1.0)
    root = np.sqrt(values[kept])
    return vectors[:, kept] * root, vectors[:, kept] / root
