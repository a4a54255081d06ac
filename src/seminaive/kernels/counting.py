"""Weighted counts of cells per class, and the plans that describe tuples of columns to a loop.

Legend: i row, j column, c class, t term, s position of a column within its term; ``n`` rows.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_singles(codes, labels, offsets, counts):
    """Count rows per cell and class where term t is column t.

    codes (n, k) unsigned, labels (n,) int64, offsets (k + 1,) int64; counts (cells, C) int64 is added to.
    """
    n, k = codes.shape
    for i in range(n):
        c = labels[i]
        for j in range(k):
            counts[offsets[j] + np.int64(codes[i, j]), c] += 1


@njit(cache=True, nogil=True)
def count_singles_weighted(codes, labels, weights, offsets, counts):
    """Add up weights per cell and class where term t is column t.

    codes (n, k) unsigned, labels (n,) int64, weights (n,), offsets (k + 1,) int64; counts (cells, C)
    float64 is added to.
    """
    n, k = codes.shape
    for i in range(n):
        c = labels[i]
        w = weights[i]
        for j in range(k):
            counts[offsets[j] + np.int64(codes[i, j]), c] += w


@njit(cache=True, nogil=True)
def count_tuple(codes, labels, weights, columns, cardinalities, counts):
    """Add up weights per cell and class for one tuple of columns.

    codes (n, k) unsigned, labels (n,) int64, weights (n,), columns (order,) int64, cardinalities (k,)
    int64; counts (combinations + 1, C) float64 is added to, its last row being that of no evidence.
    """
    n = codes.shape[0]
    none = counts.shape[0] - 1
    for i in range(n):
        cell = np.int64(0)
        known = True
        for s in range(columns.shape[0]):
            j = columns[s]
            code = np.int64(codes[i, j])
            cell = cell * cardinalities[j] + code
            known &= code < cardinalities[j]
        counts[cell if known else none, labels[i]] += weights[i]
