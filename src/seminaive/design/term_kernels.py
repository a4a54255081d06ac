"""Kernel matrices between rows of the terms of smooth columns: that of a pair is a product of two."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsymm

from seminaive.design.workspace import row_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable

    # Rows, a symmetric matrix S between them, of which the lower triangle is meant, and factors d of the
    # rows: diag(d) S diag(d).
    Scaled = tuple[Indices, Floats, Floats]


class TermKernels:
    """The kernel matrix ``X_t X_t'`` between all rows of a table, for each term t of smooth columns.

    That of a pair is the product, entry by entry, of the kernels of its two columns, so that no feature of a
    pair is ever computed. Of symmetric matrices the lower triangles are kept, row after row.
    """

    def __init__(self, columns: SmoothColumns, table: EncodedTable) -> None:
        self.columns = columns
        self.n_rows = len(table)
        mains = [columns.columns[j].main_features(table) for j in columns.mains]
        # The features of slopes, then those of main terms.
        self.first = np.hstack([columns.slope_features(table.numbers), *mains])
        self._n_first = len(columns.slopes) + len(columns.mains)
        self._first_of = np.repeat(
            np.arange(self._n_first), [*[1] * len(columns.slopes), *(main.shape[1] for main in mains)]
        )
        self._used = sorted({j for pair in columns.pairs for j in pair})
        self.of_pairs = {j: columns.columns[j].pair_features(table) for j in self._used}
        index = {j: k for k, j in enumerate(self._used)}
        pairs = [(index[j], index[k]) for j, k in columns.pairs]
        self._pair_indices = np.array(pairs, dtype=np.int64).reshape(-1, 2)

    @property
    def _n_entries(self) -> int:
        """Return the entries of a symmetric matrix that are kept."""
        return self.n_rows * (self.n_rows + 1) // 2

    @cached_property
    def _stack(self) -> NDArray[np.float32]:
        """The kernel of each column's functions of pairs, its kept entries in one row per column."""
        stack = np.empty((len(self._used), self._n_entries), dtype=np.float32)
        for kernel, j in zip(stack, self._used, strict=True):
            kernel[:] = _packed_kernel(self.of_pairs[j])
        return stack

    def features_of(self, term: int) -> Floats:
        """Return the features of a slope or of a main term."""
        return self.first[:, self._first_of == term]

    def by_group(self, variance: Floats) -> Floats:
        """Return the sums of variance times kernel over slopes, main terms and pairs, kept entries only.

        Parameters
        ----------
        variance : ndarray of shape (n, n_terms)

        Returns
        -------
        ndarray of shape (n, 3, n_entries)
        """
        kernels = np.empty((len(variance), 3, self._n_entries))
        n_slopes, roots = len(self.columns.slopes), np.sqrt(variance[:, : self._n_first])
        for of_one, root in zip(kernels, roots, strict=True):
            weighted = self.first * root[self._first_of]
            of_one[0], of_one[1] = map(_packed_kernel, np.split(weighted, [n_slopes], axis=1))
        kernels[:, 2] = self._pair_kernels(variance[:, self._n_first :])
        return kernels

    def _pair_kernels(self, variance: Floats) -> Floats:
        """Return sums over pairs of variance times the product of the columns' kernels, kept entries only."""
        d = len(self._used)
        total = np.zeros((len(variance), self._n_entries))
        weights = np.zeros((len(variance), d, d), dtype=np.float32)
        weights[:, self._pair_indices[:, 0], self._pair_indices[:, 1]] = variance
        for entries in row_blocks(self._n_entries):
            stack, block = self._stack[:, entries], total[:, entries]
            for j in range(d - 1):
                others = weights[:, j, j + 1 :] @ stack[j + 1 :]
                others *= stack[j]
                block += others
        return total

    def traces(self, matrices: Sequence[Scaled]) -> Floats:
        """Return ``tr(M X_t X_t')`` of each matrix M between some of the rows, and each term t."""
        from seminaive.kernels.symmetric import pack_products

        found = np.empty((len(matrices), self.columns.n_terms))
        packed = np.empty((len(matrices), self._n_entries), dtype=np.float32)
        for number, (rows, lower, scale) in enumerate(matrices):
            scaled = scale[:, None] * self.first[rows]
            squares = (scaled * dsymm(1.0, lower, scaled, lower=True)).sum(axis=0)
            found[number, : self._n_first] = np.bincount(self._first_of, squares, minlength=self._n_first)
            pack_products(lower, scale, rows, packed[number])
        found[:, self._n_first :] = self._pair_traces(packed)
        return found

    def _pair_traces(self, packed: NDArray[np.float32]) -> Floats:
        """Return the traces of each pair, by the weights of kept entries in them."""
        d = len(self._used)
        traces = np.zeros((len(packed), d, d))
        for entries in row_blocks(self._n_entries):
            stack, packed_block = self._stack[:, entries], packed[:, entries]
            for j in range(d - 1):
                traces[:, j, j + 1 :] += (packed_block * stack[j]) @ stack[j + 1 :].T
        return np.asarray(traces[:, self._pair_indices[:, 0], self._pair_indices[:, 1]])


def _packed_kernel(features: Floats) -> Floats:
    """Return the lower triangle of F F'."""
    from seminaive.kernels.symmetric import pack

    triangle = np.empty(len(features) * (len(features) + 1) // 2)
    pack(features @ features.T, triangle)
    return triangle
