"""A few directions that move the scores of many rows at once, and a preconditioner that knows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse import issparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Added to the diagonal of the coarse matrix, as a share of its mean: coarse directions depend on each other.
JITTER = 1e-7
# Beyond so many columns they share one coarse matrix: inverting more costs more than it saves.
MOST_APART = 4


@dataclass(frozen=True)
class CoarseSpace:
    """First-order coefficients, and the higher-order coefficients that together do the same to the scores.

    A value of a column has a coefficient of its own, and all its pairs with other columns' values, moved
    together, act like that coefficient. These two ways of doing the same make the coefficients of different
    orders correlated; along all other directions they are nearly independent.

    Parameters
    ----------
    rows : ndarray of shape (s,)
        The first-order coefficients and the intercept.
    lift : sparse or dense array of shape (n_coefficients, t)
        The higher-order coefficients that move together; zero in ``rows``.
    products : callable
        Given weights of the rows of the table, the weighted products of the scores along the directions,
        (s + t, s + t): those of ``rows``, then those of ``lift``.
    """

    rows: NDArray[np.int64]
    lift: Any
    products: Callable[[Floats], Floats]

    @cached_property
    def drop(self) -> Any:
        """Return the transpose of ``lift``."""
        return self.lift.T

    @cached_property
    def overlap(self) -> Floats:
        """Return the products of the columns of ``lift``."""
        products: Any = self.drop @ self.lift
        return np.asarray(products.toarray() if issparse(products) else products, dtype=np.float64)

    def preconditioner(
        self, strength: Floats, lifted_strength: float, row_curvature: Floats, curvature: Floats
    ) -> TwoLevelPreconditioner:
        """Return the preconditioner of a ridge problem.

        Parameters
        ----------
        strength : ndarray of shape (n_coefficients,)
            Ridge of each coefficient.
        lifted_strength : float
            Ridge of those that ``lift`` moves.
        row_curvature : ndarray of shape (n_rows, width)
            The loss's second derivative along the scores of each row.
        curvature : ndarray of shape (n_coefficients, n_columns)
            The loss's second derivative along each coefficient. Columns ``width`` apart are much alike.
        """
        s = len(self.rows)
        penalty = np.zeros((s + self.lift.shape[1],) * 2)
        penalty[:s, :s] = np.diag(strength[self.rows])
        penalty[s:, s:] = lifted_strength * self.overlap
        weights = np.ascontiguousarray(row_curvature.T)
        if len(weights) > MOST_APART:
            weights = weights.mean(axis=0, keepdims=True)
        inverses = np.stack([_inverse(self.products(own) + penalty) for own in weights])
        # A class or a cell without rows has no curvature: it may move by a thousand times a row's.
        fine = 1.0 / np.maximum(curvature + strength[:, None], 1e-6)
        fine[self.rows] = 0.0
        return TwoLevelPreconditioner(self, fine, inverses)


@dataclass(frozen=True)
class TwoLevelPreconditioner:
    """An approximate inverse of the second derivatives: exact along coarse directions, diagonal elsewhere.

    Parameters
    ----------
    coarse : CoarseSpace
    fine : ndarray of shape (n_coefficients, n_columns)
        Inverse of the diagonal, 0 for the coarse coefficients.
    inverses : ndarray of shape (width, s + t, s + t)
        Inverse of the coarse matrix for each of ``width`` columns, or a single one for all.
    """

    coarse: CoarseSpace
    fine: Floats
    inverses: Floats

    def __call__(self, gradient: Floats) -> Floats:
        """Return the step against a gradient, (n_coefficients, n_columns)."""
        s, width = len(self.coarse.rows), len(self.inverses)
        lift = self.coarse.lift
        step: Floats = self.fine * gradient
        lifted = self.coarse.drop @ gradient.astype(lift.dtype, copy=False)
        along = np.concatenate([gradient[self.coarse.rows], lifted])
        by_column = along.reshape(len(along), -1, width).transpose(2, 0, 1)
        along = (self.inverses @ by_column).transpose(1, 2, 0).reshape(along.shape)
        step[self.coarse.rows] += along[:s]
        if lift.shape[1]:
            step += lift @ along[s:].astype(lift.dtype, copy=False)
        return step


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive semidefinite matrix, raised until it has one."""
    diagonal = np.einsum("ii->i", matrix)
    added = JITTER * max(float(diagonal.mean()), 1e-300)
    while True:
        diagonal += added
        factor, failed = dpotrf(matrix, lower=True)
        if not failed:
            lower, _ = dpotri(factor, lower=True)
            inverse: Floats = np.tril(lower) + np.tril(lower, -1).T
            return inverse
        added *= 100
