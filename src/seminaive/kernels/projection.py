"""Tables of low rank and piecewise-linear curves: from coefficients to cells and rows, and back.

Legend: t term, a code of the left column, b code of the right one, q and r their functions, c score column, i
row, j curve, k knot. The functions of all columns lie in one flat array; a term knows where those of its two
columns begin (left, right), how many codes and functions each has, and where coefficients and cells begin.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.vectors import LANES, add_between, add_scaled, spread_between

# Columns of the array that describes terms.
LEFT, LEFT_CODES, LEFT_FUNCTIONS, RIGHT, RIGHT_CODES, RIGHT_FUNCTIONS, FIRST, CELL = range(8)


@njit(cache=True, nogil=True)
def expand_pairs(terms, functions, coefficients, tables):
    """Fill tables (cells, P) with U_left theta U_right' of each term, P being 1 or a multiple of 4.

    terms (T, 8) int64, functions (any,) float64 flat and row-major, coefficients (m, P); all float64.
    """
    for t in range(terms.shape[0]):
        n_q, n_r = terms[t, LEFT_FUNCTIONS], terms[t, RIGHT_FUNCTIONS]
        n_b = terms[t, RIGHT_CODES]
        half = np.empty((n_r, coefficients.shape[1]))
        for a in range(terms[t, LEFT_CODES]):
            half[:] = 0.0
            for q in range(n_q):
                u = functions[terms[t, LEFT] + a * n_q + q]
                for r in range(n_r):
                    _add_row_times(half, r, coefficients, terms[t, FIRST] + q * n_r + r, u)
            cell = terms[t, CELL] + a * n_b
            tables[cell : cell + n_b] = 0.0
            for r in range(n_r):
                for b in range(n_b):
                    v = functions[terms[t, RIGHT] + b * n_r + r]
                    _add_row_times(tables, cell + b, half, r, v)


@njit(cache=True, nogil=True)
def project_pairs(terms, functions, tables, coefficients):
    """Add U_left' table U_right of each term to coefficients (m, P): the adjoint of `expand_pairs`."""
    for t in range(terms.shape[0]):
        n_q, n_r = terms[t, LEFT_FUNCTIONS], terms[t, RIGHT_FUNCTIONS]
        n_b = terms[t, RIGHT_CODES]
        half = np.empty((n_r, coefficients.shape[1]))
        for a in range(terms[t, LEFT_CODES]):
            half[:] = 0.0
            cell = terms[t, CELL] + a * n_b
            for b in range(n_b):
                for r in range(n_r):
                    v = functions[terms[t, RIGHT] + b * n_r + r]
                    _add_row_times(half, r, tables, cell + b, v)
            for q in range(n_q):
                u = functions[terms[t, LEFT] + a * n_q + q]
                for r in range(n_r):
                    _add_row_times(coefficients, terms[t, FIRST] + q * n_r + r, half, r, u)


@njit(cache=True, nogil=True, inline="always")
def _add_row_times(target, i, source, a, x):
    """Add x times row a of the source to row i of the target."""
    if target.shape[1] == 1:
        target[i, 0] += x * source[a, 0]
    else:
        for c in range(0, target.shape[1], LANES):
            add_scaled(target, i, source, a, x, c)


# A row at a knot has a share of 0 of the next one, which is why each curve has one place more than it has
# knots. Curve by curve, an addition to a row need not wait for the one before; ROWS of scores stay in the
# nearest cache meanwhile. In the other direction rows may share a knot, while curves never do: some CURVES at
# a time.
ROWS, CURVES = 256, 4


@njit(cache=True, nogil=True)
def interpolate(levels, along, starts, values, first_row, scores):
    """Add the value of each curve to the scores (n, P) of the rows from first_row on.

    P is 1 or a multiple of 4; levels (d, rows) unsigned knots within a curve, along (d, rows) float64 from 0
    to 1, starts (d,) int64 first knot of each curve in values (knots and one more for each curve, P).
    """
    n_rows, n_columns = scores.shape
    for low in range(0, n_rows, ROWS):
        high = min(low + ROWS, n_rows)
        for j in range(levels.shape[0]):
            for i in range(low, high):
                k = starts[j] + np.int64(levels[j, first_row + i])
                x = along[j, first_row + i]
                if n_columns == 1:
                    scores[i, 0] += (1.0 - x) * values[k, 0] + x * values[k + 1, 0]
                else:
                    for c in range(0, n_columns, LANES):
                        add_between(scores, i, values, k, x, c)


@njit(cache=True, nogil=True)
def spread_to_knots(levels, along, starts, residuals, first, last, sums):
    """Add the rows' residuals (n, P) to the knots of some curves: the adjoint of `interpolate`.

    The curves from first on, before last; sums as the values there.
    """
    n_rows, n_columns = residuals.shape
    whole = last - (last - first) % CURVES
    for low in range(0, n_rows, ROWS):
        high = min(low + ROWS, n_rows)
        for f in range(first, whole, CURVES):
            for i in range(low, high):
                for j in range(CURVES):
                    _spread_row(levels, along, starts, f + j, residuals, i, n_columns, sums)
        for f in range(whole, last):
            for i in range(low, high):
                _spread_row(levels, along, starts, f, residuals, i, n_columns, sums)


@njit(cache=True, nogil=True, inline="always")
def _spread_row(levels, along, starts, j, residuals, i, n_columns, sums):
    """Add the residuals of row i to the two knots of curve j between which it lies."""
    k = starts[j] + np.int64(levels[j, i])
    x = along[j, i]
    if n_columns == 1:
        sums[k, 0] += (1.0 - x) * residuals[i, 0]
        sums[k + 1, 0] += x * residuals[i, 0]
    else:
        for c in range(0, n_columns, LANES):
            spread_between(sums, k, x, residuals, i, c)
