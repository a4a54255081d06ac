"""Preconditioners of many classes: each class has the Hessian of the rows that may belong to it.

The Hessian of a class weighs a row by ``w p (1 - p)``, and most rows are sure not to belong to it. One
Hessian for all classes, the mean, is then far from that of any of them, and conjugate gradients take three to
five times as many products (`letter` 104 for 21, `segment` 135 for 32).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import spotrs

from seminaive.design.weighted_gram import weighted_gram
from seminaive.design.workspace import row_blocks
from seminaive.objective.factor import lower_cholesky

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices, Singles
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable

    Inverse = Callable[[Floats], Floats]

# How fast a minimum is found, not which (`tests/selection/test_fold_solvers.py`). The rows of a class are
# those of the largest curvature that hold a SHARE of it; the others count by their diagonal. A Gram matrix
# of the coefficients is that of a sample of ROWS_PER_COEFFICIENT of them. The blocks of all classes and folds
# have at most MOST_ENTRIES. A block of rows has at most ENTRIES_PER_GATHER times what a pass reads; where
# these rows hold less than the SHARE, one Hessian serves all classes.
SHARE, ROWS_PER_COEFFICIENT, MOST_ENTRIES, ENTRIES_PER_GATHER = 0.8, 4, 1 << 26, 4


@dataclass(frozen=True)
class ClassPreconditioner:
    """About the inverse of the penalised Hessians of several weightings and more than two classes.

    The columns of all weightings lie side by side. A function that is added to the scores of all classes
    changes the penalty only, so that along the mean of the classes the inverse is that of the ridge.

    Parameters
    ----------
    blocks : tuple of callable
        For each column the function that multiplies its gradient by about the inverse of its Hessian.
    of_mean : ndarray of shape (n_coefficients, n_weightings * n_classes)
        One over the ridge; 0 where there is none.
    operations : float
        Multiplications that building it took.
    """

    blocks: tuple[Inverse, ...]
    of_mean: Floats
    n_classes: int
    operations: float

    @classmethod
    def of(
        cls, features: Singles, curvature: Floats, ridge: Floats, n_classes: int, n_reads: int
    ) -> ClassPreconditioner | None:
        """Invert the Hessian of each class; None where that takes longer than it saves.

        It does where most rows may belong to most classes, or where passes over the rows are fast.

        Parameters
        ----------
        features : ndarray of shape (n_rows, n_coefficients)
        curvature : ndarray of shape (n_rows, n_weightings * n_classes)
            Of each row along each score.
        ridge : ndarray of shape (n_coefficients, n_weightings * n_classes)
            Infinite for coefficients that stay 0.
        n_reads : int
            What a pass over the rows reads for each column of scores.
        """
        n_coefficients = features.shape[1]
        ranked = [_RankedRows.of(of_class) for of_class in curvature.T]
        most_entries = min(MOST_ENTRIES // curvature.shape[1], n_reads)
        most_rows = ENTRIES_PER_GATHER * most_entries // n_coefficients
        can_factor = n_coefficients**2 <= most_entries
        chosen = [_ChosenRows.of(of_class, n_coefficients, most_rows, can_factor) for of_class in ranked]
        if sum(rows.share for rows in chosen) < SHARE * len(chosen):
            return None
        blocks = tuple(
            _block(features, rows, of_ridge) for rows, of_ridge in zip(chosen, ridge.T, strict=True)
        )
        of_mean = np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0)
        n_rows = np.array([len(rows.rows) for rows in chosen], dtype=np.float64)
        operations = n_coefficients * n_rows * np.minimum(n_rows, n_coefficients)
        return cls(blocks, of_mean, n_classes, float(operations.sum()))

    def __call__(self, gradient: Floats) -> Floats:
        """Return about the inverse times a gradient, (n_coefficients, n_weightings, n_classes)."""
        return self._times(gradient.reshape(len(gradient), -1)).reshape(gradient.shape)

    def _times(self, gradient: Floats) -> Floats:
        mean = _mean_of_classes(gradient, self.n_classes)
        apart = np.ascontiguousarray((gradient - mean).T)
        found = np.stack([block(column) for block, column in zip(self.blocks, apart, strict=True)], axis=1)
        found -= _mean_of_classes(found, self.n_classes)
        return np.asarray(found + self.of_mean * mean)


def _mean_of_classes(columns: Floats, n_classes: int) -> Floats:
    """Return the mean over the classes of each weighting, in the place of every class."""
    by_weighting = columns.reshape(len(columns), -1, n_classes)
    return np.broadcast_to(by_weighting.mean(axis=2, keepdims=True), by_weighting.shape).reshape(
        columns.shape
    )


@dataclass(frozen=True)
class _RankedRows:
    """The rows in the order of their curvature for a class, the largest first, and its sums up to each."""

    order: Indices
    curvature: Floats
    cumulated: Floats

    @classmethod
    def of(cls, curvature: Floats) -> _RankedRows:
        order = np.argsort(-curvature, kind="stable")
        return cls(order, curvature, np.cumsum(curvature[order]))

    def holding(self, share: float) -> Indices:
        """Return the first rows that hold a share of the curvature."""
        return self.order[: int(np.searchsorted(self.cumulated, share * self.cumulated[-1])) + 1]


@dataclass(frozen=True)
class _ChosenRows:
    """The rows whose Gram matrix is in the preconditioner of a class.

    Parameters
    ----------
    rows : ndarray of shape (n_chosen,)
    curvature : ndarray of shape (n_chosen,)
        Their curvatures; those of a sample are multiplied, so as to stand for all that it was drawn from.
    share : float
        Of the curvature of all rows.
    in_coefficients : bool
        Whether coefficients are fewer than these rows, so that the Gram matrix is theirs.
    """

    rows: Indices
    curvature: Floats
    share: float
    in_coefficients: bool

    @classmethod
    def of(cls, ranked: _RankedRows, n_coefficients: int, most_rows: int, can_factor: bool) -> _ChosenRows:
        """Choose the rows that hold most of the curvature, or the first of them."""
        rows, times = ranked.holding(SHARE), 1
        in_coefficients = can_factor and len(rows) >= n_coefficients
        if in_coefficients:
            times = -(-len(rows) // (ROWS_PER_COEFFICIENT * n_coefficients))
        rows = rows[::times] if in_coefficients else rows[:most_rows]
        curvature = times * ranked.curvature[rows]
        total = float(ranked.cumulated[-1])
        return cls(rows, curvature, float(curvature.sum()) / total if total else 1.0, in_coefficients)


def _block(features: Singles, chosen: _ChosenRows, ridge: Floats) -> Inverse:
    """Return about the inverse of ``X'VX + Lambda`` for one class, V being the curvatures of the rows."""
    free = np.isfinite(ridge)
    row_weight = chosen.curvature.astype(np.float32)
    of_rows = features[chosen.rows]
    of_rows[:, ~free] = 0.0
    squares = np.asarray(row_weight @ of_rows**2, np.float64)
    # The other rows are like these in the mean, and a little is left even where there are none.
    left = max(1.0 / (chosen.share or 1.0) - 1.0, 1.0 - SHARE)
    diagonal = left * squares + np.where(free, ridge, 1.0)
    diagonal[diagonal == 0.0] = 1.0
    inverse_of = _coefficient_space_inverse if chosen.in_coefficients else _row_space_inverse
    return inverse_of(of_rows, row_weight, diagonal, free)


def _row_space_inverse(
    features: Singles, row_weight: Singles, diagonal: Floats, free: NDArray[np.bool_]
) -> Inverse:
    """Return the inverse of ``X'VX + D`` by that of ``I + V^1/2 X D^-1 X'V^1/2`` (Woodbury)."""
    scale = np.where(free, 1.0 / np.sqrt(diagonal), 0.0)
    scaled = np.sqrt(row_weight)[:, None] * features * scale.astype(np.float32)
    gram = np.asarray(scaled @ scaled.T, np.float32)
    np.einsum("ii->i", gram)[:] += 1.0
    # No eigenvalue is below one: there is nothing but rounding to make up for.
    factor = lower_cholesky(gram, float(np.finfo(np.float32).eps))

    def inverse(gradient: Floats) -> Floats:
        found = scale * gradient
        along, _ = spotrs(factor, scaled @ found.astype(np.float32), lower=True)
        found -= along @ scaled
        return scale * found

    return inverse


def _coefficient_space_inverse(
    features: Singles, row_weight: Singles, diagonal: Floats, free: NDArray[np.bool_]
) -> Inverse:
    """Return the inverse of ``X'VX + D`` by its Cholesky factor."""
    gram = weighted_gram(features, row_weight)
    np.einsum("ii->i", gram)[:] += diagonal
    factor = np.asarray(lower_cholesky(gram), np.float32, order="F")

    def inverse(gradient: Floats) -> Floats:
        found, _ = spotrs(factor, np.where(free, gradient, 0.0).astype(np.float32), lower=True)
        return np.asarray(found, np.float64)

    return inverse


def features_of(columns: SmoothColumns, table: EncodedTable) -> Singles:
    """Return all features of all rows, in single precision."""
    n_rows, n_features = len(table), 1 + int(columns.sizes.sum())
    found = np.empty((n_rows, n_features), dtype=np.float32)
    for block in row_blocks(n_rows):
        parts = columns.features(table.rows(np.arange(n_rows)[block]))
        np.concatenate(parts, axis=1, out=found[block], casting="same_kind")
    return found
