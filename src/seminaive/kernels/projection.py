"""Tables of low rank and piecewise-linear curves: from coefficients to cells and rows, and back.

Legend: t term, a code of the left column, b code of the right one, q and r their functions, c score column, i
row, j curve, k knot. The functions of all columns lie in one flat array; a term knows where those of its two
columns begin (left, right), how many codes and functions each has, and where coefficients and cells begin.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Columns of the array that describes terms.
LEFT, LEFT_CODES, LEFT_FUNCTIONS, RIGHT, RIGHT_CODES, RIGHT_FUNCTIONS, FIRST, CELL = range(8)


@njit(cache=True, nogil=True)
def expand_pairs(terms, functions, coefficients, tables):
    """Fill tables (cells, P) with U_left theta U_right' of each term.

    terms (T, 8) int64, functions (any,) float64 flat and row-major, coefficients (m, P); all float64.
    """
    n_columns = coefficients.shape[1]
    for t in range(terms.shape[0]):
        n_q, n_r = terms[t, LEFT_FUNCTIONS], terms[t, RIGHT_FUNCTIONS]
        half = np.empty((n_r, n_columns))
        for a in range(terms[t, LEFT_CODES]):
            half[:] = 0.0
            for q in range(n_q):
                u = functions[terms[t, LEFT] + a * n_q + q]
                for r in range(n_r):
                    row = terms[t, FIRST] + q * n_r + r
                    for c in range(n_columns):
                        half[r, c] += u * coefficients[row, c]
            for b in range(terms[t, RIGHT_CODES]):
                cell = terms[t, CELL] + a * terms[t, RIGHT_CODES] + b
                for c in range(n_columns):
                    tables[cell, c] = 0.0
                for r in range(n_r):
                    v = functions[terms[t, RIGHT] + b * n_r + r]
                    for c in range(n_columns):
                        tables[cell, c] += v * half[r, c]


@njit(cache=True, nogil=True)
def project_pairs(terms, functions, tables, coefficients):
    """Add U_left' table U_right of each term to coefficients (m, P): the adjoint of `expand_pairs`."""
    n_columns = coefficients.shape[1]
    for t in range(terms.shape[0]):
        n_q, n_r = terms[t, LEFT_FUNCTIONS], terms[t, RIGHT_FUNCTIONS]
        half = np.empty((n_r, n_columns))
        for a in range(terms[t, LEFT_CODES]):
            half[:] = 0.0
            for b in range(terms[t, RIGHT_CODES]):
                cell = terms[t, CELL] + a * terms[t, RIGHT_CODES] + b
                for r in range(n_r):
                    v = functions[terms[t, RIGHT] + b * n_r + r]
                    for c in range(n_columns):
                        half[r, c] += v * tables[cell, c]
            for q in range(n_q):
                u = functions[terms[t, LEFT] + a * n_q + q]
                for r in range(n_r):
                    row = terms[t, FIRST] + q * n_r + r
                    for c in range(n_columns):
                        coefficients[row, c] += u * half[r, c]


# Both loops go through the rows and, within a row, through the curves, so that levels and places are read in
# the order in which they lie in memory, and one addition need not wait for another. A row at a knot has a
# share of 0 of the next one, which is why each curve has one place more than it has knots.


@njit(cache=True, nogil=True)
def interpolate(levels, along, starts, values, scores):
    """Add to the scores (n, P) the value of each curve.

    levels (n, d) unsigned knots within a curve, along (n, d) float64 from 0 to 1, starts (d,) int64 first
    knot of each curve in values (knots and one more for each curve, P).
    """
    for i in range(levels.shape[0]):
        for j in range(levels.shape[1]):
            k = starts[j] + np.int64(levels[i, j])
            x = along[i, j]
            for c in range(scores.shape[1]):
                scores[i, c] += (1.0 - x) * values[k, c] + x * values[k + 1, c]


@njit(cache=True, nogil=True)
def spread_to_knots(levels, along, starts, residuals, first, last, sums):
    """Add the rows' residuals (n, P) to the knots of some curves: the adjoint of `interpolate`.

    The curves from first on, before last; sums as the values there.
    """
    for i in range(levels.shape[0]):
        for j in range(first, last):
            k = starts[j] + np.int64(levels[i, j])
            x = along[i, j]
            for c in range(residuals.shape[1]):
                sums[k, c] += (1.0 - x) * residuals[i, c]
                sums[k + 1, c] += x * residuals[i, c]
