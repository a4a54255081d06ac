"""Fits of smooth columns in the row space: exact and fast where rows are few."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.term_kernels import TermKernels
from seminaive.objective.row_loss import RowLoss
from seminaive.solvers.row_space_system import KernelFit, minimize_kernel, reml_projection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.selection.split_rows import SplitRows


@dataclass(frozen=True)
class Prepared:
    """The kernels of the groups of terms under some relevances, for one training set.

    Parameters
    ----------
    relevances : ndarray of shape (n_terms,)
    order : ndarray of shape (n_rows,)
        The rows: first those of training, then all others.
    kernels : ndarray of shape (3, n_rows (n_rows + 1) / 2)
        The lower triangles of the kernel matrices of slopes, main terms and pairs between all rows.
    """

    relevances: Floats
    order: Indices
    n_train: int
    kernels: Floats

    def kernel(self, strengths: Sequence[float]) -> Floats:
        """Return the kernel of all groups under strengths, (n_rows, n_train)."""
        from seminaive.kernels.symmetric import weighted_sum

        found = np.empty((len(self.order), self.n_train))
        variances = 1.0 / np.asarray(strengths, dtype=np.float64)
        weighted_sum(self.kernels, variances, 0.0, self.order, found)
        return found


@dataclass(frozen=True)
class RowFit:
    """A fit of some training rows.

    Parameters
    ----------
    warm_start : ndarray of shape (n_rows, n_columns)
        What its terms give to all rows, from which another fit can start.
    scores : ndarray of shape (n_rows, n_columns)
        That and the offset.
    """

    fit: KernelFit
    warm_start: Floats
    scores: Floats


class RowSpaceSolver:
    """Fits of all folds through kernel matrices between rows.

    The kernel of a pair of columns is the product of the columns' kernels, so that no feature of a pair is
    ever computed.
    """

    def __init__(self, columns: SmoothColumns, rows: SplitRows) -> None:
        self.columns = columns
        self.rows = rows
        self.kernels = TermKernels(columns, rows.table)
        self._offsets: list[Floats] | None = None

    def around(self, offsets: list[Floats]) -> RowSpaceSolver:
        """Return the same solver with offsets of all rows: one for each fold and, last, that of all rows."""
        made = copy(self)
        vars(made).update(_offsets=offsets)
        return made

    def _loss(self, which: int, train: Indices) -> RowLoss:
        """Return the loss of the training rows of one fold or, by -1, of all rows."""
        offset = None if self._offsets is None else self._offsets[which][train]
        rows = self.rows
        return RowLoss(rows.labels[train], rows.row_weight[train], rows.n_classes, offset)

    def prepare(self, relevances: Floats) -> list[Prepared]:
        """Compute the kernels of each fold's training rows and, last, of all rows, by their relevances."""
        every = np.arange(self.rows.n_rows)
        trains = [train for train, _ in self.rows.splits] + [every]
        different, which = np.unique(relevances, axis=0, return_inverse=True)
        kernels = self.kernels.by_group(different)
        prepared: list[Prepared] = []
        for fold_relevances, train, k in zip(relevances, trains, which.ravel().tolist(), strict=True):
            out = np.ones(self.rows.n_rows, dtype=bool)
            out[train] = False
            order = np.concatenate([train, every[out]])
            prepared.append(Prepared(fold_relevances, order, len(train), kernels[k]))
        return prepared

    # Fits

    def fit_folds(
        self,
        prepared: list[Prepared],
        strengths: Sequence[float],
        starts: Sequence[Floats] | None,
        tol: float,
        max_iter: int,
    ) -> list[RowFit]:
        """Fit every fold, from scores to start at plus the mean move of earlier folds from theirs."""
        fits: list[RowFit] = []
        total_move = np.zeros((self.rows.n_rows, self.rows.n_columns))
        for fold, one in enumerate(prepared[:-1]):
            start = np.zeros_like(total_move) if starts is None else starts[fold]
            fit = self._fit(fold, one, strengths, start + total_move / max(fold, 1), tol, max_iter)
            total_move += fit.warm_start - start
            fits.append(fit)
        return fits

    def fit_all(
        self,
        prepared: list[Prepared],
        strengths: Sequence[float],
        start: Floats | None,
        tol: float,
        max_iter: int,
    ) -> RowFit:
        """Fit all rows, from scores to start at."""
        return self._fit(-1, prepared[-1], strengths, start, tol, max_iter)

    def _fit(
        self,
        which: int,
        prepared: Prepared,
        strengths: Sequence[float],
        start: Floats | None,
        tol: float,
        max_iter: int,
    ) -> RowFit:
        kernel = prepared.kernel(strengths)
        train, n = prepared.order[: prepared.n_train], prepared.n_train
        loss = self._loss(which, train)
        first = np.zeros((n, loss.n_columns)) if start is None else start[train]
        fit = minimize_kernel(kernel[:n], loss, first, tol=tol, max_iter=max_iter)
        scores = np.empty((self.rows.n_rows, loss.n_columns))
        scores[train] = fit.scores
        scores[prepared.order[n:]] = kernel[n:] @ fit.weights + fit.intercept
        return RowFit(fit, scores, scores if self._offsets is None else scores + self._offsets[which])

    # Relevances

    def evidence(
        self, prepared: list[Prepared], which: Sequence[int], strengths: Sequence[float], fits: list[RowFit]
    ) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, its mean over the classes, and its effective degrees of freedom.

        With Q = (V^-1 + K)^-1, less what the free intercept explains, and V the mean curvature of each row
        over the classes, a term of kernel K_t and prior variance s has s a'K_t a and s tr(Q K_t). One row for
        each fit of some training sets.
        """
        squares, projections = [], []
        for k, fit in zip(which, fits, strict=True):
            fold = prepared[k]
            train = fold.order[: fold.n_train]
            loss = self._loss(k, train)
            curvature = loss.curvature(loss.evaluate(fit.fit.scores)[1]).mean(axis=1)
            kernel = fold.kernel(strengths)[: fold.n_train]
            projections.append((train, *reml_projection(kernel, curvature)))
            outer = fit.fit.weights @ fit.fit.weights.T / loss.n_columns
            squares.append((train, outer.T, np.ones(len(train))))
        variance = (
            np.stack([prepared[k].relevances for k in which]) / np.asarray(strengths)[self.columns.groups]
        )
        traces = self.kernels.traces([*squares, *projections])
        return variance * traces[: len(fits)], variance * traces[len(fits) :]

    # Coefficients

    def coefficients(self, parts: list[tuple[float, list[Prepared], Sequence[float], RowFit]]) -> Floats:
        """Return the weighted sum of fits of all rows as coefficients, intercept and terms in order."""
        shares = np.array([part[0] for part in parts])
        scales = np.array(
            [prepared[-1].relevances / np.asarray(s)[self.columns.groups] for _, prepared, s, _ in parts]
        )
        weights = np.stack([fit.fit.weights for *_, fit in parts])
        blocks = [shares[None] @ np.stack([fit.fit.intercept for *_, fit in parts])]
        n_first = len(self.columns.slopes) + len(self.columns.mains)
        for term in range(n_first):
            weighted = np.tensordot(shares * scales[:, term], weights, 1)
            blocks.append(self.kernels.features_of(term).T @ weighted)
        of_pairs = shares[:, None] * scales[:, n_first:]
        return np.concatenate([*blocks, *self._pair_coefficients(of_pairs, weights)])

    def _pair_coefficients(self, shares: Floats, weights: Floats) -> Iterator[Floats]:
        """Yield the coefficients of each pair, by one product of matrices for all pairs of one first column.

        ``shares``, (fits, pairs), multiply the ``weights``, (fits, rows, columns).
        """
        n_columns = weights.shape[2]
        for j, numbered in groupby(enumerate(self.columns.pairs), key=lambda pair: pair[1][0]):
            pairs, seconds = zip(*((pair, k) for pair, (_, k) in numbered), strict=True)
            left, rights = self.kernels.of_pairs[j], [self.kernels.of_pairs[k] for k in seconds]
            widths = [right.shape[1] for right in rights]
            weighted = np.tensordot(shares[:, list(pairs)].T, weights, 1).swapaxes(0, 1)
            crossed = np.hstack(rights)[:, :, None] * np.repeat(weighted, widths, axis=1)
            block = (left.T @ crossed.reshape(len(left), -1)).reshape(left.shape[1], -1, n_columns)
            for of_pair in np.split(block, np.cumsum(widths)[:-1], axis=1):
                yield of_pair.reshape(-1, n_columns)
