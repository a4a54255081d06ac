"""Tables over coded columns that are interpolated along the axes of numbers.

Legend: i row, r row of a block, j column, t term, c class, n rows, k columns, T terms, C classes. The columns
of term t are ``columns[starts[t]:starts[t + 1]]``, one or two. A row stands on the axis of a column at a code
or between two nodes: its place is the code of the node below, ``along`` the share of the way to the next.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Rows whose places are kept together: with dozens of columns they stay in the second-level cache, and the
# table of a term stays in the first-level cache for all of them.
ROWS_OF_BLOCK = 128
# From this many columns on, one loop over them, which the compiler makes wide, is faster than pairs of them.
WIDE = 8


@njit(cache=True, nogil=True)
def place_rows(codes, numbers, features, node_starts, nodes, first_row, places, along):
    """Find where some rows stand on the axis of each column: at a code, or on the way to the next one.

    codes (n, k) unsigned; numbers (n, m); features (k,) int64: the number of each column, -1 where it is read
    by its code; node_starts (k + 1,) int64, nodes (q,): increasing within a column, one in each bin; places
    (k, B) int64 and along (k, B), for B rows from the first one on, are filled in.
    """
    for j in range(features.shape[0]):
        first, last = node_starts[j], node_starts[j + 1] - 1
        for r in range(places.shape[1]):
            i = first_row + r
            code = np.int64(codes[i, j])
            share = 0.0
            if features[j] >= 0 and first + code <= last:
                x = numbers[i, features[j]]
                node = first + code
                if x < nodes[node]:
                    node = max(node - 1, first)
                code = node - first
                if node < last and x > nodes[node]:
                    share = (x - nodes[node]) / (nodes[node + 1] - nodes[node])
            places[j, r] = code
            along[j, r] = share


@njit(cache=True, nogil=True)
def add_cells(tables, first, stride, left, right, scores):
    """Add to the scores (B, C) the cell of a pair at the codes left and right (B,) of its columns."""
    for r in range(scores.shape[0]):
        at = np.uint64(first + left[r] * stride + right[r])
        for c in range(scores.shape[1]):
            scores[r, c] += tables[at, c]


@njit(cache=True, nogil=True)
def add_bilinear(tables, first, stride, left, down, right, across, scores):
    """Add a pair that is interpolated along both axes."""
    C = scores.shape[1]
    for r in range(scores.shape[0]):
        u, v = down[r], across[r]
        w00, w01, w10, w11 = (1.0 - u) * (1.0 - v), (1.0 - u) * v, u * (1.0 - v), u * v
        c00 = np.uint64(first + left[r] * stride + right[r])
        c01 = c00 + np.uint64(1 if v > 0.0 else 0)
        below = np.uint64(stride if u > 0.0 else 0)
        c10, c11 = c00 + below, c01 + below
        if C >= WIDE:
            for c in range(C):
                value = w00 * tables[c00, c] + w10 * tables[c10, c]
                scores[r, c] += value + w01 * tables[c01, c] + w11 * tables[c11, c]
            continue
        for c in range(0, C - 1, 2):
            even = w00 * tables[c00, c] + w10 * tables[c10, c]
            odd = w00 * tables[c00, c + 1] + w10 * tables[c10, c + 1]
            even = even + w01 * tables[c01, c] + w11 * tables[c11, c]
            odd = odd + w01 * tables[c01, c + 1] + w11 * tables[c11, c + 1]
            scores[r, c] += even
            scores[r, c + 1] += odd
        if C % 2:
            last = w00 * tables[c00, C - 1] + w10 * tables[c10, C - 1]
            last = last + w01 * tables[c01, C - 1] + w11 * tables[c11, C - 1]
            scores[r, C - 1] += last


@njit(cache=True, nogil=True)
def add_interpolated_scores(
    codes, numbers, features, node_starts, nodes, columns, strides, starts, offsets, tables, scores
):
    """Add each term's table to the scores of each row, interpolated along the axes of numbers.

    codes, numbers, features, node_starts and nodes as in `place_rows`; columns and strides (sum of orders,),
    starts and offsets (T + 1,) int64; tables (cells, C); scores (n, C) is added to. A row that stands at a
    code is read as if it were on the way to the same code, of which its share is 0.
    """
    n, k = codes.shape
    places, along = np.empty((k, ROWS_OF_BLOCK), np.int64), np.empty((k, ROWS_OF_BLOCK))
    first_code, at_code = np.zeros(ROWS_OF_BLOCK, np.int64), np.zeros(ROWS_OF_BLOCK)
    for first_row in range(0, n, ROWS_OF_BLOCK):
        n_rows = min(ROWS_OF_BLOCK, n - first_row)
        place_rows(
            codes, numbers, features, node_starts, nodes, first_row, places[:, :n_rows], along[:, :n_rows]
        )
        for t in range(starts.shape[0] - 1):
            a, b = columns[starts[t]], columns[starts[t + 1] - 1]
            stride, cell = strides[starts[t]], offsets[t]
            block_scores = scores[first_row : first_row + n_rows]
            right, across = (first_code, at_code) if a == b else (places[b], along[b])
            if features[a] < 0 and (a == b or features[b] < 0):
                add_cells(tables, cell, stride, places[a], right, block_scores)
            else:
                add_bilinear(tables, cell, stride, places[a], along[a], right, across, block_scores)


@njit(cache=True, nogil=True)
def weigh_interpolated_cells(
    codes, numbers, features, node_starts, nodes, columns, strides, starts, offsets, row_weight, weights
):
    """Add the weight of each row to the cells (cells,) that it is read from: the adjoint of the scores.

    As `add_interpolated_scores`; row_weight (n,).
    """
    n, k = codes.shape
    places, along = np.empty((k, ROWS_OF_BLOCK), np.int64), np.empty((k, ROWS_OF_BLOCK))
    for first_row in range(0, n, ROWS_OF_BLOCK):
        n_rows = min(ROWS_OF_BLOCK, n - first_row)
        place_rows(
            codes, numbers, features, node_starts, nodes, first_row, places[:, :n_rows], along[:, :n_rows]
        )
        for t in range(starts.shape[0] - 1):
            a, b = columns[starts[t]], columns[starts[t + 1] - 1]
            stride = strides[starts[t]]
            for r in range(n_rows):
                w, u, v = row_weight[first_row + r], along[a, r], 0.0
                cell = offsets[t] + places[a, r] * stride
                below = stride if u > 0.0 else 0
                if a != b:
                    cell += places[b, r]
                    v = along[b, r]
                weights[cell] += w * (1.0 - u) * (1.0 - v)
                if u > 0.0:
                    weights[cell + below] += w * u * (1.0 - v)
                if v > 0.0:
                    weights[cell + 1] += w * (1.0 - u) * v
                    if u > 0.0:
                        weights[cell + below + 1] += w * u * v
