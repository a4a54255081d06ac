"""Fits of smooth columns in the row space: exact and fast where rows are few."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsymm

from seminaive.design.workspace import row_blocks
from seminaive.objective.row_loss import RowLoss
from seminaive.solvers.kernel_newton import KernelFit, minimize_kernel, reml_projection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

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
        table = rows.table
        self._offsets: list[Floats] | None = None
        self._slopes = columns.slope_features(table.numbers)
        mains = [columns.columns[j].main_features(table) for j in columns.mains]
        self._mains = np.hstack([np.empty((rows.n_rows, 0)), *mains])
        self._main_of = np.repeat(np.arange(len(mains)), [main.shape[1] for main in mains])
        self._used = sorted({j for pair in columns.pairs for j in pair})
        self._pairs = {j: columns.columns[j].pair_features(table) for j in self._used}
        index = {j: k for k, j in enumerate(self._used)}
        pairs = [(index[j], index[k]) for j, k in columns.pairs]
        self._pair_indices = np.array(pairs, dtype=np.int64).reshape(-1, 2)

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

    @property
    def _n_entries(self) -> int:
        """Return the entries of a symmetric matrix that are kept: its lower triangle."""
        return self.rows.n_rows * (self.rows.n_rows + 1) // 2

    @cached_property
    def _stack(self) -> NDArray[np.float32]:
        """The kernel matrix of each column's functions of pairs, its kept entries in one row per column."""
        stack = np.empty((len(self._used), self._n_entries), dtype=np.float32)
        for kernel, j in zip(stack, self._used, strict=True):
            kernel[:] = _packed_kernel(self._pairs[j])
        return stack

    def prepare(self, relevances: Floats) -> list[Prepared]:
        """Compute the kernels of each fold's training rows and, last, of all rows, by their relevances."""
        every = np.arange(self.rows.n_rows)
        trains = [train for train, _ in self.rows.splits] + [every]
        different, which = np.unique(relevances, axis=0, return_inverse=True)
        kernels = np.empty((len(different), 3, self._n_entries))
        for fold_kernels, row in zip(kernels, different, strict=True):
            for kernel, features in zip(fold_kernels, self._weighted(row), strict=False):
                kernel[:] = _packed_kernel(features)
        n_first = len(self.columns.slopes) + len(self.columns.mains)
        kernels[:, 2] = self._pair_kernels(different[:, n_first:])
        prepared: list[Prepared] = []
        for fold_relevances, train, k in zip(relevances, trains, which.ravel().tolist(), strict=True):
            out = np.ones(self.rows.n_rows, dtype=bool)
            out[train] = False
            order = np.concatenate([train, every[out]])
            prepared.append(Prepared(fold_relevances, order, len(train), kernels[k]))
        return prepared

    def _weighted(self, relevances: Floats) -> tuple[Floats, Floats]:
        """Return the features of slopes and of main terms times the roots of relevances."""
        roots = np.sqrt(relevances)
        n_slopes = len(self.columns.slopes)
        return self._slopes * roots[:n_slopes], self._mains * roots[n_slopes:][self._main_of]

    def _pair_kernels(self, relevances: Floats) -> Floats:
        """Return sums over pairs of relevance times the product of the columns' kernels, kept entries only.

        One row for each row of relevances.
        """
        d = len(self._used)
        total = np.zeros((len(relevances), self._n_entries))
        weights = np.zeros((len(relevances), d, d), dtype=np.float32)
        weights[:, self._pair_indices[:, 0], self._pair_indices[:, 1]] = relevances
        for entries in row_blocks(self._n_entries):
            stack, block = self._stack[:, entries], total[:, entries]
            for j in range(d - 1):
                others = weights[:, j, j + 1 :] @ stack[j + 1 :]
                others *= stack[j]
                block += others
        return total

    # Fits

    def fit_folds(
        self,
        prepared: list[Prepared],
        strengths: Sequence[float],
        starts: Sequence[Floats] | None,
        tol: float,
        max_iter: int,
    ) -> list[RowFit]:
        """Fit every fold, from scores to start at."""
        return [
            self._fit(f, one, strengths, None if starts is None else starts[f], tol, max_iter)
            for f, one in enumerate(prepared[:-1])
        ]

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
        from seminaive.kernels.symmetric import pack_products

        n_first = len(self.columns.slopes) + len(self.columns.mains)
        traces = np.empty((2, len(fits), self.columns.n_terms))
        packed = np.empty((2, len(fits), self._n_entries), dtype=np.float32)
        scales = np.empty((len(fits), self.columns.n_terms))
        for number, (k, fit) in enumerate(zip(which, fits, strict=True)):
            fold = prepared[k]
            train = fold.order[: fold.n_train]
            loss = self._loss(k, train)
            curvature = loss.curvature(loss.evaluate(fit.fit.scores)[1]).mean(axis=1)
            lower, root = reml_projection(fold.kernel(strengths)[: fold.n_train], curvature)
            weights = fit.fit.weights / np.sqrt(loss.n_columns)
            features = [first[train] for first in (self._slopes, self._mains)]
            penalties = [(weights.T @ first) ** 2 for first in features]
            scaled = [root[:, None] * first for first in features]
            degrees = [first * dsymm(1.0, lower, first, lower=True) for first in scaled]
            traces[0, number, :n_first] = self._first_traces(*penalties)
            traces[1, number, :n_first] = self._first_traces(*degrees)
            pack_products((weights @ weights.T).T, np.ones(len(train)), train, packed[0, number])
            pack_products(lower, root, train, packed[1, number])
            scales[number] = fold.relevances / np.asarray(strengths)[self.columns.groups]
        of_pairs = self._pair_traces(packed.reshape(2 * len(fits), -1))
        traces[:, :, n_first:] = of_pairs.reshape(2, len(fits), -1)
        return scales * traces[0], scales * traces[1]

    def _first_traces(self, of_slopes: Floats, of_mains: Floats) -> Floats:
        """Return sums over the rows of products of features, by slope and by main term."""
        n_mains = len(self.columns.mains)
        by_main = np.bincount(self._main_of, of_mains.sum(axis=0), minlength=n_mains)
        return np.concatenate([of_slopes.sum(axis=0), by_main])

    def _pair_traces(self, packed: NDArray[np.float32]) -> Floats:
        """Return tr(M K_t) of each matrix M, by the weights of kept entries in it, and pair term t."""
        d = len(self._used)
        traces = np.zeros((len(packed), d, d))
        for entries in row_blocks(self._n_entries):
            stack, packed_block = self._stack[:, entries], packed[:, entries]
            for j in range(d - 1):
                traces[:, j, j + 1 :] += (packed_block * stack[j]) @ stack[j + 1 :].T
        return np.asarray(traces[:, self._pair_indices[:, 0], self._pair_indices[:, 1]])

    # Coefficients

    def coefficients(self, parts: list[tuple[float, list[Prepared], Sequence[float], RowFit]]) -> Floats:
        """Return the weighted sum of fits of all rows as coefficients, intercept and terms in order."""
        shares = np.array([part[0] for part in parts])
        scales = np.array(
            [prepared[-1].relevances / np.asarray(s)[self.columns.groups] for _, prepared, s, _ in parts]
        )
        weights = np.stack([fit.fit.weights for *_, fit in parts])
        blocks = [shares[None] @ np.stack([fit.fit.intercept for *_, fit in parts])]
        n_slopes, n_mains = len(self.columns.slopes), len(self.columns.mains)
        for term in range(n_slopes + n_mains):
            weighted = np.tensordot(shares * scales[:, term], weights, 1)
            if term < n_slopes:
                blocks.append(self._slopes[:, term : term + 1].T @ weighted)
            else:
                blocks.append(self._mains[:, self._main_of == term - n_slopes].T @ weighted)
        of_pairs = shares[:, None] * scales[:, n_slopes + n_mains :]
        return np.concatenate([*blocks, *self._pair_coefficients(of_pairs, weights)])

    def _pair_coefficients(self, shares: Floats, weights: Floats) -> Iterator[Floats]:
        """Yield the coefficients of each pair, by one product of matrices for all pairs of one first column.

        ``shares``, (fits, pairs), multiply the ``weights``, (fits, rows, columns).
        """
        n_columns = weights.shape[2]
        for j, numbered in groupby(enumerate(self.columns.pairs), key=lambda pair: pair[1][0]):
            pairs, seconds = zip(*((pair, k) for pair, (_, k) in numbered), strict=True)
            left, rights = self._pairs[j], [self._pairs[k] for k in seconds]
            widths = [right.shape[1] for right in rights]
            weighted = np.tensordot(shares[:, list(pairs)].T, weights, 1).swapaxes(0, 1)
            crossed = np.hstack(rights)[:, :, None] * np.repeat(weighted, widths, axis=1)
            block = (left.T @ crossed.reshape(len(left), -1)).reshape(left.shape[1], -1, n_columns)
            for of_pair in np.split(block, np.cumsum(widths)[:-1], axis=1):
                yield of_pair.reshape(-1, n_columns)


def _packed_kernel(features: Floats) -> Floats:
    """Return the lower triangle of F F'."""
    from seminaive.kernels.symmetric import pack

    triangle = np.empty(len(features) * (len(features) + 1) // 2)
    pack(features @ features.T, triangle)
    return triangle
