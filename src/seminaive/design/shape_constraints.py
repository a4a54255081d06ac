"""The shapes of columns as linear inequalities in the coefficients of a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import block_diag

from seminaive.design.classes import n_columns_of
from seminaive.design.shaped_columns import BENT, LINEAR
from seminaive.design.smooth_scores import term_blocks

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns


@dataclass(frozen=True)
class ShapeConstraints:
    """Inequalities ``A b >= 0`` in the coefficients b of a model, (n_coefficients, n_columns).

    Parameters
    ----------
    positions : ndarray of shape (n_shaped,)
        The coefficients, as rows of b, that any inequality is about.
    rows : ndarray of shape (n_columns, n_inequalities, n_shaped)
        The entries of A for each column of scores: one log odds for two classes, else one per class.
    owners : ndarray of shape (n_inequalities,)
        The column, by its position among the smooth columns, that each inequality is about.
    """

    positions: Indices
    rows: Floats
    owners: Indices
    n_coefficients: int

    @classmethod
    def of(cls, columns: SmoothColumns, n_classes: int) -> ShapeConstraints:
        """Return the inequalities of all columns that have a shape."""
        positions: list[Indices] = [np.empty(0, dtype=np.int64)]
        parts: list[Floats] = []
        contrasts = [np.empty((0, n_columns_of(n_classes)))]
        owners: list[int] = []
        for j, block in zip(columns.mains, term_blocks(columns)[len(columns.slopes) :], strict=False):
            shape = columns.columns[j].shape
            if shape is None or shape.kind == LINEAR:
                continue
            about, inequalities = _inequalities(columns, j, block)
            of_classes = shape.contrasts(n_classes)
            positions.append(about)
            parts.append(np.repeat(inequalities, len(of_classes), axis=0))
            contrasts.append(np.tile(of_classes, (len(inequalities), 1)))
            owners += [j] * len(parts[-1])
        base = block_diag(*parts) if parts else np.empty((0, 0))
        rows = np.vstack(contrasts).T[:, :, None] * base
        n_coefficients = 1 + int(columns.sizes.sum())
        return cls(np.concatenate(positions), rows, np.array(owners, dtype=np.int64), n_coefficients)

    def __len__(self) -> int:
        """Return the number of inequalities."""
        return len(self.owners)

    def without(self, column: int) -> ShapeConstraints:
        """Return the inequalities of all columns but one."""
        kept = self.owners != column
        return replace(self, rows=self.rows[:, kept], owners=self.owners[kept])

    def slacks(self, coefficients: Floats) -> Floats:
        """Return A b: how far each inequality is from being violated."""
        return self.slacks_of(coefficients[self.positions])

    def slacks_of(self, shaped: Floats) -> Floats:
        """Return A b, given the coefficients at `positions` alone."""
        return np.asarray(sum(entries @ shaped[:, c] for c, entries in enumerate(self.rows)))

    def forces(self, multipliers: Floats) -> Floats:
        """Return A'm at `positions`, (n_shaped, n_columns)."""
        return np.asarray(multipliers @ self.rows).T

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return A'm, shaped like the coefficients."""
        found = np.zeros((self.n_coefficients, len(self.rows)))
        found[self.positions] = self.forces(multipliers)
        return found

    def covariance(self, covariance: Floats) -> Floats:
        """Return ``A C A'``, given a covariance C at `positions` that all columns of scores share."""
        return np.asarray(sum(entries @ covariance @ entries.T for entries in self.rows))

    def functions(self, features: Floats, variances: Floats) -> Floats:
        """Return ``A V F'``, (inequalities, rows, columns), of features and variances at `positions`."""
        return np.stack([(entries * variances) @ features.T for entries in self.rows], axis=2)

    def removed_degrees(self, covariance: Floats, ridge: Floats, shaped: Floats) -> Floats:
        """Return by how much shapes lower the effective degrees of freedom of coefficients at `positions`.

        With the covariance C = (H + R)^-1, R the ridge, and the inequalities E that hold as equalities, the
        covariance is C - C E'(E C E')^-1 E C. Degrees of freedom are the diagonal of H = C^-1 - R times
        that, the mean over the columns of scores. (What other coefficients gain by it is not counted.)

        Parameters
        ----------
        covariance : ndarray of shape (n_shaped, n_shaped)
            Shared by all columns of scores; 0 for coefficients that are not in the model.
        ridge : ndarray of shape (n_shaped,)
        shaped : ndarray of shape (n_shaped, n_columns)
            The coefficients, which say what is an equality.
        """
        nothing = np.sqrt(np.finfo(float).eps) * float(np.abs(shaped).max(initial=0.0))
        equalities = self.rows[:, self.slacks_of(shaped) <= nothing]
        images = equalities @ covariance
        spread = np.sum(equalities @ images.swapaxes(1, 2), axis=0)
        inverse = np.linalg.pinv(spread, hermitian=True)
        solved = inverse @ images
        removed = np.einsum("cis,cis->s", equalities, solved)
        removed -= np.where(np.isinf(ridge), 0.0, ridge) * np.einsum("cis,cis->s", images, solved)
        return np.asarray(removed / len(self.rows))


def _inequalities(columns: SmoothColumns, position: int, block: slice) -> tuple[Indices, Floats]:
    """Return what the inequalities of one column are about, and their entries for one class, of norm 1.

    The rises of slope and curve together, from knot to knot, must not be negative; or, for a curve that bends
    upward, their differences per distance between knots, which do not depend on the slope.
    """
    column = columns.columns[position]
    number = column.number or 0
    gaps = np.diff(column.knots) / columns.spreads[number]
    # A step has no part in the rises before and after it, but for rounding, nor has a missing number's level.
    n_steps = len(gaps)
    rises = np.diag(np.diagonal(np.diff(column.curve[: n_steps + 1, :n_steps], axis=0)))
    positions = np.arange(block.start, block.start + n_steps)
    if column.shape is not None and column.shape.kind in BENT:
        before, after = gaps[:-1, None], gaps[1:, None]
        rises = (rises[1:] * before - rises[:-1] * after) / (before + after)
    elif number in columns.slopes:
        positions = np.append(1 + columns.slopes.index(number), positions)
        rises = np.hstack([gaps[:, None], rises])
    norms = np.sqrt(np.einsum("ij,ij->i", rises, rises))[:, None]
    return positions, rises / np.where(norms > 0, norms, 1.0)
