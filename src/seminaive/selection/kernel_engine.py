"""Fits of smooth columns in the row space: exact and fast where rows are few."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.solvers.kernel_newton import KernelFit, RowLoss, minimize_kernel, smoother

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Split = tuple[Indices, Indices]

# The variance of the intercept, which stands for a flat prior.
FLAT = 1000.0


@dataclass(frozen=True)
class Prepared:
    """The kernels of the groups of terms under some relevances, for one training set.

    Parameters
    ----------
    relevances : ndarray of shape (n_terms,)
    order : ndarray of shape (n_rows,)
        The rows: first those of training, then all others.
    n_train : int
    kernels : tuple of ndarray of shape (n_rows, n_train)
        Of slopes, main terms and pairs, the rows in this order.
    """

    relevances: Floats
    order: Indices
    n_train: int
    kernels: tuple[Floats, Floats, Floats]

    def kernel(self, strengths: Sequence[float]) -> Floats:
        """Return the kernel of all groups under strengths, and of the intercept."""
        total = np.full(self.kernels[0].shape, FLAT)
        for kernel, strength in zip(self.kernels, strengths, strict=True):
            total += kernel * (1.0 / strength)
        return total


@dataclass(frozen=True)
class RowFit:
    """A fit of some training rows, and its scores of all rows."""

    fit: KernelFit
    scores: Floats


class KernelEngine:
    """Fits of all folds through kernel matrices between rows.

    The kernel of a pair of columns is the product of the columns' kernels, so that no feature of a pair is
    ever computed.

    Parameters
    ----------
    columns : SmoothColumns
    table : EncodedTable
    labels, row_weight : ndarray of shape (n_rows,)
    n_classes : int
    splits : list of (training rows, held-out rows)
    """

    def __init__(
        self,
        columns: SmoothColumns,
        table: EncodedTable,
        labels: Indices,
        row_weight: Floats,
        n_classes: int,
        splits: list[Split],
    ) -> None:
        self.columns = columns
        self.labels = labels
        self.row_weight = row_weight
        self.n_classes = n_classes
        self.splits = splits
        self._slopes = columns.slope_features(table.numbers)
        self._mains = [columns.columns[j].main_features(table) for j in columns.mains]
        self._used = sorted({j for pair in columns.pairs for j in pair})
        self._pairs = {j: columns.columns[j].pair_features(table) for j in self._used}
        place = {j: k for k, j in enumerate(self._used)}
        self._places = np.array([(place[j], place[k]) for j, k in columns.pairs], dtype=np.int64).reshape(
            -1, 2
        )

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    @cached_property
    def _stack(self) -> NDArray[np.float32]:
        """The kernel matrix of each column's functions of pairs, one row per column."""
        n = self.n_rows
        stack = np.empty((len(self._used), n * n), dtype=np.float32)
        for own, j in zip(stack, self._used, strict=True):
            features = self._pairs[j].astype(np.float32)
            np.matmul(features, features.T, out=own.reshape(n, n))
        return stack

    def prepare(self, relevances: Floats) -> list[Prepared]:
        """Compute the kernels of each fold's training rows and, last, of all rows, by their relevances."""
        prepared: list[Prepared] = []
        every = np.arange(self.n_rows)
        trains = [train for train, _ in self.splits] + [every]
        whole: tuple[Floats, ...] | None = None
        for own, train in zip(relevances, trains, strict=True):
            if whole is None or not np.array_equal(own, prepared[-1].relevances):
                whole = self._group_kernels(own)
            out = np.ones(self.n_rows, dtype=bool)
            out[train] = False
            order = np.concatenate([train, every[out]])
            if len(train) == self.n_rows:
                order, cut = every, whole
            else:
                cut = tuple(kernel[np.ix_(order, train)] for kernel in whole)
            prepared.append(Prepared(own, order, len(train), (cut[0], cut[1], cut[2])))
        return prepared

    def _group_kernels(self, relevances: Floats) -> tuple[Floats, Floats, Floats]:
        n_slopes, n_mains = len(self.columns.slopes), len(self.columns.mains)
        of_slopes, of_mains, of_pairs = np.split(relevances, [n_slopes, n_slopes + n_mains])
        slopes = self._slopes * np.sqrt(of_slopes)
        mains = np.hstack(
            [
                np.empty((self.n_rows, 0)),
                *(f * np.sqrt(w) for f, w in zip(self._mains, of_mains, strict=True)),
            ]
        )
        return slopes @ slopes.T, mains @ mains.T, self._pair_kernel(of_pairs)

    def _pair_kernel(self, relevances: Floats) -> Floats:
        """Return the sum over pairs of relevance times the product of the columns' kernels."""
        n, d = self.n_rows, len(self._used)
        total = np.zeros((n, n))
        if not d:
            return total
        weights = np.zeros((d, d), dtype=np.float32)
        weights[self._places[:, 0], self._places[:, 1]] = relevances
        stack = self._stack
        for j in range(d - 1):
            if weights[j].any():
                others = (weights[j, j + 1 :] @ stack[j + 1 :]).reshape(n, n)
                others *= stack[j].reshape(n, n)
                total += others
        return total

    # Fits

    def fit_folds(
        self,
        prepared: list[Prepared],
        strengths: Sequence[float],
        starts: Sequence[RowFit] | None,
        tol: float,
        max_iter: int,
    ) -> list[RowFit]:
        """Fit every fold, from scores to start at."""
        return [
            self._fit(own, strengths, None if starts is None else starts[f].scores, tol, max_iter)
            for f, own in enumerate(prepared[:-1])
        ]

    def fit_all(
        self,
        prepared: list[Prepared],
        strengths: Sequence[float],
        starts: Sequence[RowFit] | None,
        tol: float,
        max_iter: int,
    ) -> RowFit:
        """Fit all rows from the mean of other fits."""
        start = None if not starts else np.mean([fit.scores for fit in starts], axis=0)
        return self._fit(prepared[-1], strengths, start, tol, max_iter)

    def _fit(
        self,
        prepared: Prepared,
        strengths: Sequence[float],
        start: Floats | None,
        tol: float,
        max_iter: int,
    ) -> RowFit:
        kernel = prepared.kernel(strengths)
        train, n = prepared.order[: prepared.n_train], prepared.n_train
        loss = RowLoss(self.labels[train], self.row_weight[train], self.n_classes)
        first = np.zeros((n, loss.n_columns)) if start is None else start[train]
        fit = minimize_kernel(kernel[:n], loss, first, tol=tol, max_iter=max_iter)
        scores = np.empty((self.n_rows, loss.n_columns))
        scores[train] = fit.scores
        scores[prepared.order[n:]] = kernel[n:] @ fit.weights
        return RowFit(fit, scores)

    # Relevances

    def evidence(
        self, prepared: list[Prepared], which: int, strengths: Sequence[float], fit: RowFit
    ) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, its mean over the classes, and its effective degrees of freedom.

        With Q = (V^-1 + K)^-1, V the mean curvature of each row over the classes, a term of kernel K_t and
        prior variance s has s a'K_t a and s tr(Q K_t).
        """
        own = prepared[which]
        n = own.n_train
        train = own.order[:n]
        kernel = own.kernel(strengths)[:n]
        loss = RowLoss(self.labels[train], self.row_weight[train], self.n_classes)
        curvature = loss.curvature(loss.posterior(fit.fit.scores)).mean(axis=1)
        both = [fit.fit.weights @ fit.fit.weights.T / loss.n_columns, smoother(kernel, curvature)]
        scale = own.relevances / np.asarray(strengths)[self.columns.groups]
        found = []
        for matrix in both:
            parts = [
                np.einsum("ij,ij->j", self._slopes[train], matrix @ self._slopes[train]),
                np.array([np.vdot(f[train], matrix @ f[train]) for f in self._mains]),
                self._pair_products(matrix, train),
            ]
            found.append(scale * np.concatenate(parts))
        return found[0], found[1]

    def _pair_products(self, matrix: Floats, train: Indices) -> Floats:
        """Return tr(matrix K_t) of each pair term t."""
        if not len(self._places):
            return np.empty(0)
        n, d = self.n_rows, len(self._used)
        wide = np.zeros((n, n), dtype=np.float32)
        wide[np.ix_(train, train)] = matrix
        products = np.zeros((d, d))
        for j in range(d - 1):
            weighted = wide.ravel() * self._stack[j]
            products[j, j + 1 :] = self._stack[j + 1 :] @ weighted
        return np.asarray(products[self._places[:, 0], self._places[:, 1]])

    # Coefficients

    def coefficients(self, parts: list[tuple[float, list[Prepared], Sequence[float], RowFit]]) -> Floats:
        """Return the weighted sum of fits of all rows as coefficients, intercept and terms in order."""
        shares = np.array([part[0] for part in parts])
        scales = np.array([own[-1].relevances / np.asarray(s)[self.columns.groups] for _, own, s, _ in parts])
        weights = np.stack([fit.fit.weights for *_, fit in parts])
        n_columns = weights.shape[2]
        blocks = [FLAT * np.tensordot(shares, weights.sum(axis=1), 1)[None]]
        n_slopes, n_mains = len(self.columns.slopes), len(self.columns.mains)
        for term in range(self.columns.n_terms):
            own = np.tensordot(shares * scales[:, term], weights, 1)
            if term < n_slopes:
                blocks.append(self._slopes[:, term : term + 1].T @ own)
            elif term < n_slopes + n_mains:
                blocks.append(self._mains[term - n_slopes].T @ own)
            else:
                j, k = self.columns.pairs[term - n_slopes - n_mains]
                left, right = self._pairs[j], self._pairs[k]
                crossed = (left[:, :, None] * own[:, None, :]).reshape(len(own), -1)
                block = (crossed.T @ right).reshape(left.shape[1], n_columns, right.shape[1])
                blocks.append(block.swapaxes(1, 2).reshape(-1, n_columns))
        return np.concatenate(blocks)
