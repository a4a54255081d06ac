"""Joint log scores of rows under additive scores: one gather per row and term.

Legend: i row, j column, t term, s position of a column within its term, c class, n rows, T terms, C classes.
The columns of term t are ``columns[starts[t]:starts[t + 1]]``.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_table_scores(codes, columns, starts, cardinalities, offsets, tables, scores):
    """Add each term's cell to the scores of each row, term after term.

    codes (n, k) unsigned; columns (sum of orders,), starts (T + 1,), cardinalities (k,), offsets (T + 1,)
    int64; tables (cells, C); scores (n, C) is added to.
    """
    n = codes.shape[0]
    T = starts.shape[0] - 1
    C = tables.shape[1]
    for i in range(n):
        for t in range(T):
            cell = np.int64(0)
            known = True
            for s in range(starts[t], starts[t + 1]):
                j = columns[s]
                code = np.int64(codes[i, j])
                cell = cell * cardinalities[j] + code
                known &= code < cardinalities[j]
            if known:
                cell += offsets[t]
            else:
                cell = offsets[t + 1] - 1
            for c in range(C):
                scores[i, c] += tables[cell, c]
