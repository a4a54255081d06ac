"""Approximate inverses of Hessians: exact along a coarse space or a block, diagonal elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.objective.coordinates import LEAST_CURVATURE
from seminaive.objective.factor import inverse_of, lower_cholesky

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from seminaive.arrays import Floats, Indices
    from seminaive.design.coarse import CoarseSpace

    Multiply = Callable[[Floats], Floats]
    AddStep = Callable[[Floats, Floats], None]

# Columns from which on they share one coarse matrix: inverting more costs more than it saves.
MOST_COLUMNS = 4


@dataclass(frozen=True)
class SubspacePreconditioner:
    """The inverse of the Hessian along some directions, and that of its diagonal along other coefficients.

    Parameters
    ----------
    diagonal : ndarray, broadcast to the shape of a gradient
        One over the diagonal of the Hessian; 0 for coefficients that the directions stand for, and for those
        that stay as they are.
    parts : tuple of callable
        Each adds its share of the inverse times a gradient, the first argument, to a step, the second one.
    """

    diagonal: Floats
    parts: tuple[AddStep, ...] = ()

    @classmethod
    def of_blocks(
        cls, diagonal: Floats, blocks: Iterable[tuple[Indices, Multiply]]
    ) -> SubspacePreconditioner:
        """Take a dense block of each problem's Hessian, of shape (n_coefficients, n_problems, n_columns).

        Parameters
        ----------
        diagonal : ndarray
            0 within the blocks.
        blocks : iterable of (ndarray, callable)
            For each problem the coefficients of its block, and the function that multiplies their gradients,
            (n_members, n_columns), by the inverse.
        """
        return cls(
            diagonal, tuple(partial(_add_block, problem, *block) for problem, block in enumerate(blocks))
        )

    @classmethod
    def of_coarse_space(
        cls,
        coarse: CoarseSpace,
        strength: Floats,
        lifted_strength: float,
        row_curvature: Floats,
        curvature: Floats,
    ) -> SubspacePreconditioner:
        """Invert the coarse matrix and the diagonal of a ridge problem.

        Parameters
        ----------
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
        return cls(diagonal, (partial(_add_coarse, coarse, inverses),))

    def __call__(self, gradient: Floats) -> Floats:
        """Return the approximate inverse times a gradient."""
        step = np.asarray(self.diagonal * gradient)
        for add in self.parts:
            add(gradient, step)
        return step


@dataclass(frozen=True)
class BuiltPreconditioner:
    """An approximate inverse of the Hessians at some point.

    Parameters
    ----------
    inverse : callable
        Multiplies gradients by it.
    cost : float
        What another one costs, in Hessian products, by counting operations.
    build : callable
        From another point, and the Hessian products that were taken with this one, to the preconditioner
        there.
    """

    inverse: Any
    cost: float
    build: Callable[[Floats, int], BuiltPreconditioner]

    def __call__(self, gradient: Floats) -> Floats:
        """Return gradients times the inverse."""
        return np.asarray(self.inverse(gradient))

    def at(self, z: Floats, paid: int) -> BuiltPreconditioner:
        """Return the preconditioner at another point."""
        return self.build(z, paid)


def _add_block(problem: int, members: Indices, multiply: Multiply, gradient: Floats, step: Floats) -> None:
    """Add the inverse of a dense block, of the coefficients ``members`` of one problem."""
    step[members, problem] += multiply(gradient[members, problem])


def _add_coarse(coarse: CoarseSpace, inverses: Floats, gradient: Floats, step: Floats) -> None:
    """Add the inverse of the coarse matrix: one for each of some columns, which repeat, or one for all."""
    width, s, lift = len(inverses), len(coarse.first_order), coarse.lift
    lifted = coarse.restriction @ gradient.astype(lift.dtype, copy=False)
    along = np.concatenate([gradient[coarse.first_order], lifted])
    by_column = along.reshape(len(along), -1, width).transpose(2, 0, 1)
    along = (inverses @ by_column).transpose(1, 2, 0).reshape(along.shape)
    step[coarse.first_order] += along[:s]
    if lift.shape[1]:
        step += lift @ along[s:].astype(lift.dtype, copy=False)
