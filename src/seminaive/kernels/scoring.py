"""Joint log scores of rows under additive scores, and their posterior.

Legend: i row, j column, t term, s position of a column within its term, c class, n rows, T terms, C classes.
The columns of term t are ``columns[starts[t]:starts[t + 1]]``.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Up to this many classes it is faster to sum two classes at a time in registers over all terms; beyond, to
# add a whole row of the tables at a time.
NARROW = 12


# Rows whose places on the axes of interpolated tables are kept together: with dozens of columns they stay in
# the second-level cache.
ROWS_OF_BLOCK = 128
# Scaled numbers stay within this, so that squares are finite: `scores.NumericTerms` has the same number.
FARTHEST = 1e140


@njit(cache=True, nogil=True)
def add_table_scores(codes, columns, strides, starts, offsets, tables, scores):
    """Add each term's cell to the scores of each row, term after term.

    codes (n, k) unsigned; columns and strides (sum of orders,), starts and offsets (T + 1,) int64; tables
    (cells, C); scores (n, C) is added to. The cell of term t is offsets[t] plus codes times strides.
    """
    n = codes.shape[0]
    T = starts.shape[0] - 1
    C = tables.shape[1]
    cells = np.empty(T, np.int64)
    for i in range(n):
        if columns.shape[0] == T:  # single columns only
            for t in range(T):
                cells[t] = offsets[t] + np.int64(codes[i, columns[t]])
        else:
            for t in range(T):
                cell = offsets[t]
                for s in range(starts[t], starts[t + 1]):
                    cell += np.int64(codes[i, columns[s]]) * strides[s]
                cells[t] = cell
        if C <= NARROW:
            for c in range(0, C - 1, 2):
                even = scores[i, c]
                odd = scores[i, c + 1]
                for t in range(T):
                    even += tables[cells[t], c]
                    odd += tables[cells[t], c + 1]
                scores[i, c] = even
                scores[i, c + 1] = odd
            if C % 2:
                last = scores[i, C - 1]
                for t in range(T):
                    last += tables[cells[t], C - 1]
                scores[i, C - 1] = last
        else:
            for t in range(T):
                for c in range(C):
                    scores[i, c] += tables[cells[t], c]


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
def add_interpolated_scores(
    codes, numbers, features, node_starts, nodes, columns, strides, starts, offsets, tables, scores
):
    """Add each term's table to the scores of each row, interpolated along the axes of numbers.

    As `add_table_scores` and `place_rows`; each term has one or two columns. Rows are taken in blocks, so
    that the table of a term stays in the first-level cache for a block. A row that stands at a code is read
    as if it were on the way to the same code: its share of the way is 0.
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
            stride, cell = strides[starts[t]], offsets[t]
            own = scores[first_row : first_row + n_rows]
            if a == b:
                add_along(tables, cell, 1, places[a], along[a], places[a], False, own)
            elif features[a] >= 0 and features[b] >= 0:
                add_bilinear(tables, cell, stride, places[a], along[a], places[b], along[b], own)
            elif features[a] >= 0:
                add_along(tables, cell, stride, places[a], along[a], places[b], True, own)
            elif features[b] >= 0:
                add_across(tables, cell, stride, places[a], places[b], along[b], own)
            else:
                add_cells(tables, cell, stride, places[a], places[b], own)


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


@njit(cache=True, nogil=True)
def add_cells(tables, first, stride, left, right, scores):
    """Add to the scores (B, C) the cell of a pair at the codes left and right (B,) of its columns."""
    for r in range(scores.shape[0]):
        at = np.uint64(first + left[r] * stride + right[r])
        for c in range(scores.shape[1]):
            scores[r, c] += tables[at, c]


@njit(cache=True, nogil=True)
def add_along(tables, first, stride, left, share, right, paired, scores):
    """Add a table that is interpolated along its first axis; its second axis, if any, is read by code."""
    for r in range(scores.shape[0]):
        at = np.uint64(first + left[r] * stride + (right[r] if paired else 0))
        next_at = at + np.uint64(stride if share[r] > 0.0 else 0)
        for c in range(scores.shape[1]):
            scores[r, c] += (1.0 - share[r]) * tables[at, c] + share[r] * tables[next_at, c]


@njit(cache=True, nogil=True)
def add_across(tables, first, stride, left, right, share, scores):
    """Add a pair that is interpolated along its second axis; its first axis is read by code."""
    for r in range(scores.shape[0]):
        at = np.uint64(first + left[r] * stride + right[r])
        next_at = at + np.uint64(1 if share[r] > 0.0 else 0)
        for c in range(scores.shape[1]):
            scores[r, c] += (1.0 - share[r]) * tables[at, c] + share[r] * tables[next_at, c]


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
def add_number_scores(numbers, features, ranges, coefficients, scores):
    """Add each number's polynomial to the scores of each row, term after term.

    numbers (n, m) with NaN where missing; features (T,) int64; ranges (T, 4): lowest and highest number,
    centre and scale, scaled numbers being at most FARTHEST from the centre; coefficients (T, 4, C): what a
    missing number adds, then constant, linear and quadratic; scores (n, C) is added to.
    """
    n = numbers.shape[0]
    T = features.shape[0]
    C = scores.shape[1]
    clipped = (ranges[:, 0] > -np.inf) | (ranges[:, 1] < np.inf)
    scaled = ranges[:, 3] != 1.0
    centres = ranges[:, 2].copy()
    for i in range(n):
        for t in range(T):
            x = numbers[i, features[t]]
            if np.isnan(x):
                for c in range(C):
                    scores[i, c] += coefficients[t, 0, c]
            else:
                if clipped[t]:
                    x = min(max(x, ranges[t, 0]), ranges[t, 1])
                z = x - centres[t]
                if scaled[t]:
                    z = min(max(z * ranges[t, 3], -FARTHEST), FARTHEST)
                for c in range(C):
                    scores[i, c] += coefficients[t, 1, c] + z * (
                        coefficients[t, 2, c] + z * coefficients[t, 3, c]
                    )


@njit(cache=True, nogil=True)
def add_curve_scores(
    numbers, features, starts, knots, gaps, values, rises, missing, densities, below, scores
):
    """Add each number's piecewise-linear curve to the scores of each row, term after term.

    numbers (n, m) with NaN where missing; features (T,), starts (T + 1,) int64; knots and gaps (q,):
    increasing within a term, and the distances to the next; values and rises (q, C) at the knots and up to
    the next; missing (T, C); scores (n, C) is added to. Beyond the ends a curve is constant.

    A binary search of the knots begins in a grid of G cells of equal width per term: densities (T,) are the
    cells per unit, below (T, G + 1) int64 is the number of knots in earlier cells.
    """
    C = scores.shape[1]
    last_cell = below.shape[1] - 2
    for t in range(features.shape[0]):
        first, feature, density, below_cell = starts[t], features[t], densities[t], below[t]
        lowest, highest = knots[first], knots[starts[t + 1] - 1]
        for i in range(numbers.shape[0]):
            x = numbers[i, feature]
            if np.isnan(x):
                for c in range(C):
                    scores[i, c] += missing[t, c]
                continue
            x = min(max(x, lowest), highest)
            cell = min(np.int64((x - lowest) * density), last_cell)
            low = first + below_cell[cell + 1] - 1
            if knots[low] > x:  # rare: numbers are often tied, and then knots are among them
                low, above = first + max(below_cell[cell] - 1, 0), low
                while above - low > 1:
                    middle = (low + above) // 2
                    if knots[middle] <= x:
                        low = middle
                    else:
                        above = middle
            at = np.uint64(low)  # unsigned indices are not tested for being negative
            along = (x - knots[at]) / gaps[at]
            for c in range(0, C - 1, 2):
                scores[i, c] += values[at, c] + along * rises[at, c]
                scores[i, c + 1] += values[at, c + 1] + along * rises[at, c + 1]
            if C % 2:
                scores[i, C - 1] += values[at, C - 1] + along * rises[at, C - 1]


@njit(cache=True, nogil=True)
def add_pair_scores(codes, columns, first, factors, cores, scores):
    """Add to the scores of each row the product of factors of each pair, term after term.

    codes (n, k) unsigned; columns and first (T, 2) int64: the columns of each pair, and the first rows of
    their codes in factors (rows, R); cores (T, R, R, C); scores (n, C) is added to.
    """
    R = factors.shape[1]
    C = scores.shape[1]
    part = np.empty(C)
    for i in range(codes.shape[0]):
        for t in range(columns.shape[0]):
            left = first[t, 0] + np.int64(codes[i, columns[t, 0]])
            right = first[t, 1] + np.int64(codes[i, columns[t, 1]])
            part[:] = 0.0
            for u in range(R):
                for v in range(R):
                    product = factors[left, u] * factors[right, v]
                    for c in range(C):
                        part[c] += product * cores[t, u, v, c]
            for c in range(C):
                scores[i, c] += part[c]


@njit(cache=True, nogil=True)
def normalize_log_scores(scores):
    """Subtract from each row of ``scores`` (n, C) the log of the sum of its exponentials, in place."""
    n, C = scores.shape
    for i in range(n):
        largest = scores[i, 0]
        for c in range(1, C):
            largest = max(largest, scores[i, c])
        total = 0.0
        for c in range(C):
            total += np.exp(scores[i, c] - largest)
        # The largest first: beside an immense score the logarithm would be lost.
        log_total = np.log(total)
        for c in range(C):
            scores[i, c] = (scores[i, c] - largest) - log_total
