"""Joint log scores of rows under additive scores, and their posterior.

Legend: i row, j column, t term, s position of a column within its term, c class, n rows, T terms, C classes.
The columns of term t are ``columns[starts[t]:starts[t + 1]]``.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Up to this many classes it is faster to sum two classes at a time in registers over all terms; beyond, to
# add a whole row of the tables at a time.
NARROW = 12


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
