"""The shapes of columns as linear inequalities in the coefficients of a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from seminaive.design.classes import n_columns_of
from seminaive.design.rounding import ROUNDING
from seminaive.design.shaped_columns import BENT, LINEAR
from seminaive.design.smooth_scores import term_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.design.smooth_columns import SmoothColumns

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


@dataclass(frozen=True)
class ShapeConstraints:
    """Inequalities ``A b >= 0`` in the coefficients b of a model, (n_coefficients, n_columns).

    Parameters
    ----------
    rows : sparse array of shape (n_inequalities, n_coefficients * n_columns)
        A, the coefficients being flattened by rows.
    owners : ndarray of shape (n_inequalities,)
        The column, by its position among the smooth columns, that each of them is about.
    n_columns : int
        Of scores: one log odds for two classes, else one per class.
    """

    rows: sparse.csr_array
    owners: Indices
    n_columns: int

    @classmethod
    def of(cls, columns: SmoothColumns, n_classes: int) -> ShapeConstraints:
        """Return the inequalities of all columns that have a shape."""
        k = n_columns_of(n_classes)
        parts = [sparse.csr_array((0, (1 + int(columns.sizes.sum())) * k))]
        owners: list[int] = []
        for j, block in zip(columns.mains, term_blocks(columns)[len(columns.slopes) :], strict=False):
            shape = columns.columns[j].shape
            if shape is None or shape.kind == LINEAR:
                continue
            contrasts = shape.contrasts(n_classes)
            parts.append(sparse.csr_array(sparse.kron(_inequalities(columns, j, block), contrasts)))
            owners += [j] * parts[-1].shape[0]
        return cls(sparse.csr_array(sparse.vstack(parts)), np.array(owners, dtype=np.int64), k)

    def __len__(self) -> int:
        """Return the number of inequalities."""
        return len(self.owners)

    def without(self, column: int) -> ShapeConstraints:
        """Return the inequalities of all columns but one."""
        kept = self.owners != column
        return replace(self, rows=self.rows[kept], owners=self.owners[kept])

    def slacks(self, coefficients: Floats) -> Floats:
        """Return A b: how far each inequality is from being violated."""
        return np.asarray(self.rows @ np.ravel(coefficients))

    def adjoint(self, multipliers: Floats) -> Floats:
        """Return A'm, shaped like the coefficients."""
        return np.asarray(self.rows.T @ multipliers).reshape(-1, self.n_columns)

    @cached_property
    def coefficients(self) -> Indices:
        """The coefficients, as rows of b, that any inequality is about."""
        return np.unique(self.rows.indices // self.n_columns).astype(np.int64)

    @cached_property
    def _by_column(self) -> list[sparse.csr_array]:
        """The entries of A for each column of scores, at `coefficients` only."""
        shaped = self.coefficients * self.n_columns
        by_column = sparse.csc_array(self.rows)
        return [sparse.csr_array(by_column[:, shaped + c]) for c in range(self.n_columns)]

    def covariance(self, covariance: Floats) -> Floats:
        """Return ``A C A'``, given a covariance C of `coefficients` that all columns of scores share."""
        found = np.zeros((len(self), len(self)))
        for own in self._by_column:
            found += own @ (own @ covariance).T
        return found

    def functions(self, features: Floats, variances: Floats) -> Floats:
        """Return ``A V F'``, (inequalities, rows, columns), of features and variances of `coefficients`."""
        return np.stack([(own * variances) @ features.T for own in self._by_column], axis=2)

    def removed_degrees(self, covariance: Floats, ridge: Floats, fitted: Floats) -> Floats:
        """Return by how much shapes lower the effective degrees of freedom of each of `coefficients`.

        With the covariance C = (H + R)^-1, R the ridge, and the inequalities E that hold as equalities, the
        covariance is C - C E'(E C E')^-1 E C. Degrees of freedom are the diagonal of H = C^-1 - R times
        that, the mean over the columns of scores. (What other coefficients gain by it is not counted.)

        Parameters
        ----------
        covariance : ndarray
            Between `coefficients`, shared by all columns of scores; 0 for those that are not in the model.
        ridge : ndarray
            Of `coefficients`.
        fitted : ndarray
            The values of `coefficients`, which say what is an equality.
        """
        nothing = np.sqrt(np.finfo(float).eps) * float(np.abs(fitted).max(initial=0.0))
        slacks = sum(own @ fitted[:, c] for c, own in enumerate(self._by_column))
        equal = np.asarray(slacks <= nothing)
        equalities = [own[equal] for own in self._by_column]
        images = [own @ covariance for own in equalities]
        spread = np.zeros((int(equal.sum()),) * 2)
        for own, image in zip(equalities, images, strict=True):
            spread += own @ image.T
        removed = np.zeros(len(covariance))
        for own, image in zip(equalities, images, strict=True):
            solved = np.linalg.lstsq(spread, image, rcond=None)[0]
            removed += np.asarray(own.multiply(solved).sum(axis=0)).ravel()
            removed -= np.where(np.isinf(ridge), 0.0, ridge) * np.einsum("ij,ij->j", image, solved)
        return removed / self.n_columns


def _inequalities(columns: SmoothColumns, position: int, block: slice) -> sparse.csr_array:
    """Return the inequalities of one column in the coefficients of one class, each of norm 1.

    The rises of slope and curve together, from knot to knot, must not be negative; or, for a curve that bends
    upward, their differences per distance between knots, which do not depend on the slope.
    """
    column = columns.columns[position]
    number = column.number or 0
    gaps = np.diff(column.knots) / columns.spreads[number]
    rises = np.diff(column.curve[: len(column.knots)], axis=0)
    places = np.arange(block.start, block.stop)
    if column.shape is not None and column.shape.kind in BENT:
        before, after = gaps[:-1, None], gaps[1:, None]
        rises = (rises[1:] * before - rises[:-1] * after) / (before + after)
    elif number in columns.slopes:
        places = np.append(1 + columns.slopes.index(number), places)
        rises = np.hstack([gaps[:, None], rises])
    norms = np.sqrt(np.einsum("ij,ij->i", rises, rises))[:, None]
    rises = rises / np.where(norms > 0, norms, 1.0)
    row, entry = np.nonzero(np.abs(rises) > ROUNDING)
    shape = (len(rises), 1 + int(columns.sizes.sum()))
    return sparse.csr_array((rises[row, entry], (row, places[entry])), shape=shape)
