"""Training errors of naive Bayes when one feature's alpha is changed, at rows x classes per candidate.

The current score of every row and class is kept; a candidate takes the feature's present contribution off and
adds that at another grid position. All grid positions that are tried for a feature are computed side by side:
the innermost loops run over contiguous positions and become vector loops. Rows are sorted by class. Among
equal scores the first class wins, as in argmax.

Legend: i row, c class, y the true class of the rows, j feature, k grid position, v cell, t candidate
position, n rows, C classes, K + 1 grid positions, p tables, m numbers. ``starts`` (C + 1,) int64 says where
each class's rows begin.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.compile_options import kernel, part


@part
def table_errors(cells, present, tried, T, scores, starts, weights, true_score, wrong, errors):
    """Sum up the weight of misclassified rows with one coded feature at each position that is tried.

    cells (n,) int32, from 0 on; present (cells C,) and tried (cells C, T): contributions now and at the
    candidate positions; scores (n, C); weights (n,); true_score (that of the row's class), wrong and errors,
    all (T,), are overwritten.
    """
    C = scores.shape[1]
    for t in range(T):
        errors[t] = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            v = cells[i]
            base = scores[i, y] - present[v * C + y]
            for t in range(T):
                true_score[t] = base + tried[v * C + y, t]
                wrong[t] = 0.0
            for c in range(y):
                base = scores[i, c] - present[v * C + c]
                for t in range(T):
                    wrong[t] = 1.0 if base + tried[v * C + c, t] >= true_score[t] else wrong[t]
            for c in range(y + 1, C):
                base = scores[i, c] - present[v * C + c]
                for t in range(T):
                    wrong[t] = 1.0 if base + tried[v * C + c, t] > true_score[t] else wrong[t]
            w = weights[i]
            for t in range(T):
                errors[t] += w * wrong[t]


@part
def number_errors(z, present, tried, T, scores, starts, weights, true_score, wrong, errors):
    """Sum up the weight of misclassified rows with one number at each position that is tried.

    z (n,), less the overall mean, NaN where missing; present (3 C,) and tried (3 C, T): constant, linear and
    quadratic coefficients now and at the candidate positions; the rest as in `table_errors`.
    """
    C = scores.shape[1]
    for t in range(T):
        errors[t] = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            x = z[i]
            w = weights[i]
            if np.isnan(x):
                lost = False
                for c in range(C):
                    lost |= scores[i, c] >= scores[i, y] if c < y else scores[i, c] > scores[i, y]
                if lost:
                    for t in range(T):
                        errors[t] += w
                continue
            base = scores[i, y] - (present[y] + x * (present[C + y] + x * present[2 * C + y]))
            for t in range(T):
                true_score[t] = base + (tried[y, t] + x * (tried[C + y, t] + x * tried[2 * C + y, t]))
                wrong[t] = 0.0
            for c in range(y):
                base = scores[i, c] - (present[c] + x * (present[C + c] + x * present[2 * C + c]))
                for t in range(T):
                    other = base + (tried[c, t] + x * (tried[C + c, t] + x * tried[2 * C + c, t]))
                    wrong[t] = 1.0 if other >= true_score[t] else wrong[t]
            for c in range(y + 1, C):
                base = scores[i, c] - (present[c] + x * (present[C + c] + x * present[2 * C + c]))
                for t in range(T):
                    other = base + (tried[c, t] + x * (tried[C + c, t] + x * tried[2 * C + c, t]))
                    wrong[t] = 1.0 if other > true_score[t] else wrong[t]
            for t in range(T):
                errors[t] += w * wrong[t]


@part
def table_error(cells, present, tried, scores, starts, weights):
    """Return what `table_errors` does for a single position."""
    C = scores.shape[1]
    error = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            v = cells[i]
            true_score = (scores[i, y] - present[v * C + y]) + tried[v * C + y, 0]
            lost = False
            for c in range(C):
                other = (scores[i, c] - present[v * C + c]) + tried[v * C + c, 0]
                lost |= other > true_score or (other == true_score and c < y)
            error += weights[i] if lost else 0.0
    return error


@part
def number_error(z, present, tried, scores, starts, weights):
    """Return what `number_errors` does for a single position."""
    C = scores.shape[1]
    error = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            x = z[i]
            missing = np.isnan(x)
            x = 0.0 if missing else x
            true_score = scores[i, y]
            if not missing:
                true_score = (true_score - (present[y] + x * (present[C + y] + x * present[2 * C + y]))) + (
                    tried[y, 0] + x * (tried[C + y, 0] + x * tried[2 * C + y, 0])
                )
            lost = False
            for c in range(C):
                other = scores[i, c]
                if not missing:
                    other = (other - (present[c] + x * (present[C + c] + x * present[2 * C + c]))) + (
                        tried[c, 0] + x * (tried[C + c, 0] + x * tried[2 * C + c, 0])
                    )
                lost |= other > true_score or (other == true_score and c < y)
            error += weights[i] if lost else 0.0
    return error


@part
def copy_positions(contributions, now, first, T, present, tried):
    """Copy contributions (V, C, K + 1) at the present position to present (V C,), at T others to tried.

    tried (V C, T): the row loops read contiguous positions.
    """
    C = contributions.shape[1]
    for v in range(contributions.shape[0]):
        for c in range(C):
            present[v * C + c] = contributions[v, c, now]
            for t in range(T):
                tried[v * C + c, t] = contributions[v, c, first + t]


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def candidate_errors(
    features, now, first, last, cells, offsets, tables, z, polynomials, scores, starts, weights, errors
):
    """Evaluate all candidate positions of some features.

    features (F,) int64: a table's number, or the number of tables plus that of a number; now, first and last
    (p + m,) int64: present and candidate positions; cells (p, n) int32; offsets (p + 1,) int64; tables
    (cells, C, K + 1); z (m, n); polynomials (m, 3, C, K + 1); scores (n, C); weights (n,); errors (F, width)
    is overwritten with the weight of misclassified rows, infinite beyond a feature's last position.
    """
    p = cells.shape[0]
    C = scores.shape[1]
    width = errors.shape[1]
    most = 3
    for j in range(p):
        n_cells = offsets[j + 1] - offsets[j]
        most = n_cells if n_cells > most else most
    present = np.empty(most * C)
    tried = np.empty((most * C, width))
    true_score = np.empty(width)
    wrong = np.empty(width)
    for f in range(features.shape[0]):
        j = features[f]
        T = last[j] - first[j] + 1
        for t in range(T, width):
            errors[f, t] = np.inf
        out = errors[f]
        if j < p:
            copy_positions(tables[offsets[j] : offsets[j + 1]], now[j], first[j], T, present, tried)
            if T == 1:
                out[0] = table_error(cells[j], present, tried, scores, starts, weights)
            else:
                table_errors(cells[j], present, tried, T, scores, starts, weights, true_score, wrong, out)
        else:
            copy_positions(polynomials[j - p], now[j], first[j], T, present, tried)
            if T == 1:
                out[0] = number_error(z[j - p], present, tried, scores, starts, weights)
            else:
                number_errors(z[j - p], present, tried, T, scores, starts, weights, true_score, wrong, out)


@kernel
def move_table(cells, tables, now, to, scores):
    """Move one coded feature to another grid position: scores (n, C) change in place.

    cells (n,) int32; tables (cells, C, K + 1): those of the feature.
    """
    for i in range(scores.shape[0]):
        v = cells[i]
        for c in range(scores.shape[1]):
            scores[i, c] = (scores[i, c] - tables[v, c, now]) + tables[v, c, to]


@kernel
def move_number(z, polynomials, now, to, scores):
    """Move one number to another grid position: scores (n, C) change in place; polynomials (3, C, K + 1)."""
    for i in range(scores.shape[0]):
        x = z[i]
        if np.isnan(x):
            continue
        for c in range(scores.shape[1]):
            old = polynomials[0, c, now] + x * (polynomials[1, c, now] + x * polynomials[2, c, now])
            new = polynomials[0, c, to] + x * (polynomials[1, c, to] + x * polynomials[2, c, to])
            scores[i, c] = (scores[i, c] - old) + new
