"""Second derivatives of the conditional log-likelihood: weighted counts of pairs of cells.

Legend: i row, t, u terms, p, q parameter rows (0 is the intercept), c, d classes, K coefficient columns,
T terms; w weight.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_pairs(positions, curvature, gram):
    """Add each row's curvature to all pairs of its parameters, the lower triangle only.

    positions (n, T) int32 parameter rows, increasing along each row; curvature (n,) float64; gram (m, m)
    float64 is added to.
    """
    n, n_terms = positions.shape
    for i in range(n):
        h = curvature[i]
        gram[0, 0] += h
        for t in range(n_terms):
            p = positions[i, t]
            gram[p, 0] += h
            for u in range(t + 1):
                gram[p, positions[i, u]] += h


@njit(cache=True, nogil=True)
def count_numbers(positions, weighted, gram):
    """Add each row's weighted numbers to its parameters.

    positions (n, T) int32 parameter rows, weighted (n, numbers) float64 curvatures times numbers; gram
    (numbers, m) float64 is added to.
    """
    n, n_terms = positions.shape
    for i in range(n):
        for j in range(weighted.shape[1]):
            gram[j, 0] += weighted[i, j]
        for t in range(n_terms):
            p = np.int64(positions[i, t])
            for j in range(weighted.shape[1]):
                gram[j, p] += weighted[i, j]
