"""Weighted counts of cells per class.

Legend: i row, j column, c class, n rows, k columns, C classes.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Rows whose codes stay in the nearest caches while the columns pass over them.
ROW_BLOCK = 4096


@njit(cache=True, nogil=True)
def fill_cells(codes, columns, strides, starts, offsets, cells):
    """Fill in the cell of each row and term.

    codes (n, k) unsigned; term t has columns[starts[t]:starts[t + 1]] with their strides, and begins at
    offsets[t], all int64; cells (n, terms) int64.
    """
    n, n_terms = cells.shape
    for i in range(n):
        for t in range(n_terms):
            cell = offsets[t]
            for s in range(starts[t], starts[t + 1]):
                cell += np.int64(codes[i, columns[s]]) * strides[s]
            cells[i, t] = cell


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
def join_labels(lead, column, n_codes):
    """Refine numbers by one more column: lead * n_codes + code. lead (n,) uint32 is overwritten."""
    for i in range(lead.shape[0]):
        lead[i] = lead[i] * np.uint32(n_codes) + np.uint32(column[i])


@njit(cache=True, nogil=True)
def count_last_columns(by_column, lead, width, first, offsets, counts):
    """Count rows per code of each column from first on and per lead, which joins other columns and the label.

    by_column (k, n) unsigned, lead (n,) uint32 below width; the cell of column j is offsets[j] + code * width
    + lead in counts (cells,) int64, which is added to. Two columns at a time: their cells never coincide, so
    that one addition need not wait for the one before.
    """
    k, n = by_column.shape
    w = np.uint64(width)
    for low in range(0, n, ROW_BLOCK):
        lead_block = lead[low : low + ROW_BLOCK]
        for j in range(first, k - 1, 2):
            one = by_column[j, low : low + ROW_BLOCK]
            two = by_column[j + 1, low : low + ROW_BLOCK]
            left = counts[offsets[j] : offsets[j + 1]]
            right = counts[offsets[j + 1] : offsets[j + 2]]
            for i in range(lead_block.shape[0]):
                left[np.uint64(one[i]) * w + np.uint64(lead_block[i])] += 1
                right[np.uint64(two[i]) * w + np.uint64(lead_block[i])] += 1
        if (k - first) % 2:
            one = by_column[k - 1, low : low + ROW_BLOCK]
            left = counts[offsets[k - 1] : offsets[k]]
            for i in range(lead_block.shape[0]):
                left[np.uint64(one[i]) * w + np.uint64(lead_block[i])] += 1


@njit(cache=True, nogil=True)
def count_last_columns_weighted(by_column, lead, weights, width, first, offsets, counts):
    """Add up weights (n,) as `count_last_columns` counts rows; counts (cells,) float64 is added to."""
    k, n = by_column.shape
    w = np.uint64(width)
    for low in range(0, n, ROW_BLOCK):
        lead_block = lead[low : low + ROW_BLOCK]
        weight = weights[low : low + ROW_BLOCK]
        for j in range(first, k):
            column = by_column[j, low : low + ROW_BLOCK]
            cells = counts[offsets[j] : offsets[j + 1]]
            for i in range(lead_block.shape[0]):
                cells[np.uint64(column[i]) * w + np.uint64(lead_block[i])] += weight[i]
