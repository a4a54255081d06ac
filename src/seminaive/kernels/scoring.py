"""Joint log scores of rows under additive scores, and their posterior.

Legend: i row, j column, t term, s position of a column within its term, c class, n rows, T terms, C classes.
The columns of term t are ``columns[starts[t]:starts[t + 1]]``.
"""

import numpy as np
from numba import njit

# Up to this many classes it is faster to sum two classes at a time in registers over all terms; beyond, to
# add a whole row of the tables at a time.
NARROW = 12


@njit(cache=True, nogil=True)
def add_table_scores(codes, columns, starts, cardinalities, offsets, tables, scores):
    """Add each term's cell to the scores of each row, term after term.

    codes (n, k) unsigned; columns (sum of orders,), starts (T + 1,), cardinalities (k,), offsets (T + 1,)
    int64; tables (cells, C); scores (n, C) is added to.
    """
    n = codes.shape[0]
    T = starts.shape[0] - 1
    C = tables.shape[1]
    cells = np.empty(T, np.int64)
    for i in range(n):
        for t in range(T):
            first = starts[t]
            if starts[t + 1] == first + 1:
                cells[t] = offsets[t] + np.int64(codes[i, columns[first]])
                continue
            cell = np.int64(0)
            known = True
            for s in range(first, starts[t + 1]):
                j = columns[s]
                code = np.int64(codes[i, j])
                cell = cell * cardinalities[j] + code
                known &= code < cardinalities[j]
            cells[t] = offsets[t] + cell if known else offsets[t + 1] - 1
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
def add_number_scores(numbers, features, centres, coefficients, scores):
    """Add each number's polynomial to the scores of each row, term after term.

    numbers (n, m) with NaN where missing; features (T,) int64; centres (T,); coefficients (T, 4, C): what a
    missing number adds, then constant, linear and quadratic; scores (n, C) is added to.
    """
    n = numbers.shape[0]
    T = features.shape[0]
    C = scores.shape[1]
    for i in range(n):
        for t in range(T):
            x = numbers[i, features[t]]
            if np.isnan(x):
                for c in range(C):
                    scores[i, c] += coefficients[t, 0, c]
            else:
                z = x - centres[t]
                for c in range(C):
                    scores[i, c] += coefficients[t, 1, c] + z * (
                        coefficients[t, 2, c] + z * coefficients[t, 3, c]
                    )


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
