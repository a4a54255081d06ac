"""Approximate inverses of Hessians: exact along a coarse space or a block, diagonal elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.objective.coordinates import LEAST_CURVATURE
from seminaive.objective.factor import inverse_of, lower_cholesky

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices
    from seminaive.design.coarse import CoarseSpace

    Multiply = Callable[[Floats], Floats]

# Columns from which on they share one coarse matrix: inverting more costs more than it saves.
MOST_COLUMNS = 4


@dataclass(frozen=True)
class TwoLevelPreconditioner:
    """The inverse of the coarse matrix along the coarse space, that of the diagonal elsewhere.

    Parameters
    ----------
    coarse : CoarseSpace
    diagonal : ndarray of shape (n_coefficients, n_columns)
        Inverse of the diagonal of the Hessian, 0 for the first-order coefficients.
    inverses : ndarray of shape (width, s + t, s + t)
        Inverse of the coarse matrix for each of ``width`` columns, or a single one for all.
    """

    coarse: CoarseSpace
    diagonal: Floats
    inverses: Floats

    @classmethod
    def of(
        cls,
        coarse: CoarseSpace,
        strength: Floats,
        lifted_strength: float,
        row_curvature: Floats,
        curvature: Floats,
    ) -> TwoLevelPreconditioner:
        """Invert the coarse matrix and the diagonal of a ridge problem.

        Parameters
        ----------
        coarse : CoarseSpace
        strength : ndarray of shape (n_coefficients, 1)
            Ridge of each coefficient.
        lifted_strength : float
            Ridge of the coefficients that the lifted directions combine.
        row_curvature : ndarray of shape (n_rows, width)
            The loss's second derivative along the scores of each row.
        curvature : ndarray of shape (n_coefficients, n_columns)
            The diagonal of the loss's Hessian. Columns ``width`` apart are taken to be nearly equal.
        """
        s = len(coarse.first_order)
        penalty = np.zeros((s + coarse.lift.shape[1],) * 2)
        penalty[:s, :s] = np.diag(strength[coarse.first_order, 0])
        penalty[s:, s:] = lifted_strength * coarse.overlap
        weights = np.ascontiguousarray(row_curvature.T)
        if len(weights) > MOST_COLUMNS:
            weights = weights.mean(axis=0, keepdims=True)
        # Coarse directions depend on each other, up to the rounding of the single floats they are kept in.
        rounding = float(np.finfo(np.single).eps)
        inverses = np.stack(
            [
                inverse_of(lower_cholesky(coarse.products(row_weight) + penalty, rounding))
                for row_weight in weights
            ]
        )
        diagonal = 1.0 / np.maximum(curvature + strength, LEAST_CURVATURE)
        diagonal[coarse.first_order] = 0.0
        return cls(coarse, diagonal, inverses)

    def __call__(self, gradient: Floats) -> Floats:
        """Return the approximate inverse times a gradient, (n_coefficients, n_columns)."""
        coarse, width = self.coarse, len(self.inverses)
        s, lift = len(coarse.first_order), coarse.lift
        step: Floats = self.diagonal * gradient
        lifted = coarse.restriction @ gradient.astype(lift.dtype, copy=False)
        along = np.concatenate([gradient[coarse.first_order], lifted])
        by_column = along.reshape(len(along), -1, width).transpose(2, 0, 1)
        along = (self.inverses @ by_column).transpose(1, 2, 0).reshape(along.shape)
        step[coarse.first_order] += along[:s]
        if lift.shape[1]:
            step += lift @ along[s:].astype(lift.dtype, copy=False)
        return step


@dataclass(frozen=True)
class BlockPreconditioner:
    """The inverse of a dense block of each problem's Hessian, and that of the diagonal elsewhere.

    Parameters
    ----------
    diagonal : ndarray, broadcast to (n_coefficients, n_problems, n_columns)
        One over the diagonal of the Hessian; 0 within the blocks, and for coefficients that stay as they are.
    blocks : tuple of (ndarray, callable)
        For each problem the coefficients of its block, and the function that multiplies their gradients,
        (n_members, n_columns), by the inverse.
    """

    diagonal: Floats
    blocks: tuple[tuple[Indices, Multiply], ...] = ()

    def __call__(self, gradient: Floats) -> Floats:
        """Return the approximate inverses times gradients, (n_coefficients, n_problems, n_columns)."""
        step = np.asarray(self.diagonal * gradient)
        for problem, (members, multiply) in enumerate(self.blocks):
            step[members, problem] += multiply(gradient[members, problem])
        return step
