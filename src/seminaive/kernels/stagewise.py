"""Training errors of naive Bayes when one feature's alpha is changed, at rows x classes per candidate.

The current score of every row and class is kept; a candidate takes the feature's present contribution off and
adds that at another grid position. All grid positions that are tried for a feature are computed side by side:
the innermost loops run over contiguous positions and become vector loops. Rows are sorted by class. Among
equal scores the first class wins, as in argmax.

Legend: i row, c class, y the rows' own class, j feature, k grid position, v cell, t candidate position, n
rows, C classes, K + 1 grid positions, p tables, m numbers. ``starts`` (C + 1,) int64 says where each class's
rows begin.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.elementary import exponential, logarithm


@njit(cache=True, nogil=True)
def table_errors(cells, present, tried, scores, starts, weights, own, wrong, errors):
    """Sum up the weight of misclassified rows with one coded feature at each position that is tried.

    cells (n,) int32, from 0 on; present (cells, C) and tried (cells, C, T): contributions now and at the
    candidate positions; scores (n, C); weights (n,); own and wrong (T,) are overwritten; errors (T,) is
    overwritten.
    """
    C = scores.shape[1]
    T = tried.shape[2]
    errors[:] = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            v = cells[i]
            base = scores[i, y] - present[v, y]
            for t in range(T):
                own[t] = base + tried[v, y, t]
                wrong[t] = 0.0
            for c in range(y):
                base = scores[i, c] - present[v, c]
                for t in range(T):
                    wrong[t] = 1.0 if base + tried[v, c, t] >= own[t] else wrong[t]
            for c in range(y + 1, C):
                base = scores[i, c] - present[v, c]
                for t in range(T):
                    wrong[t] = 1.0 if base + tried[v, c, t] > own[t] else wrong[t]
            w = weights[i]
            for t in range(T):
                errors[t] += w * wrong[t]


@njit(cache=True, nogil=True)
def number_errors(z, present, tried, scores, starts, weights, own, wrong, errors):
    """Sum up the weight of misclassified rows with one number at each position that is tried.

    z (n,), less the overall mean, NaN where missing; present (3, C) and tried (3, C, T): constant, linear and
    quadratic coefficients now and at the candidate positions; the rest as in `table_errors`.
    """
    C = scores.shape[1]
    T = tried.shape[2]
    errors[:] = 0.0
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
            base = scores[i, y] - (present[0, y] + x * (present[1, y] + x * present[2, y]))
            for t in range(T):
                own[t] = base + (tried[0, y, t] + x * (tried[1, y, t] + x * tried[2, y, t]))
                wrong[t] = 0.0
            for c in range(y):
                base = scores[i, c] - (present[0, c] + x * (present[1, c] + x * present[2, c]))
                for t in range(T):
                    other = base + (tried[0, c, t] + x * (tried[1, c, t] + x * tried[2, c, t]))
                    wrong[t] = 1.0 if other >= own[t] else wrong[t]
            for c in range(y + 1, C):
                base = scores[i, c] - (present[0, c] + x * (present[1, c] + x * present[2, c]))
                for t in range(T):
                    other = base + (tried[0, c, t] + x * (tried[1, c, t] + x * tried[2, c, t]))
                    wrong[t] = 1.0 if other > own[t] else wrong[t]
            for t in range(T):
                errors[t] += w * wrong[t]


@njit(cache=True, nogil=True)
def table_error(cells, present, tried, scores, starts, weights):
    """Return what `table_errors` does for a single position: present and tried (cells, C)."""
    C = scores.shape[1]
    error = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            v = cells[i]
            own = (scores[i, y] - present[v, y]) + tried[v, y]
            lost = False
            for c in range(C):
                other = (scores[i, c] - present[v, c]) + tried[v, c]
                lost |= other > own or (other == own and c < y)
            error += weights[i] if lost else 0.0
    return error


@njit(cache=True, nogil=True)
def number_error(z, present, tried, scores, starts, weights):
    """Return what `number_errors` does for a single position: present and tried (3, C)."""
    C = scores.shape[1]
    error = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            x = z[i]
            missing = np.isnan(x)
            x = 0.0 if missing else x
            own = scores[i, y]
            if not missing:
                own = (own - (present[0, y] + x * (present[1, y] + x * present[2, y]))) + (
                    tried[0, y] + x * (tried[1, y] + x * tried[2, y])
                )
            lost = False
            for c in range(C):
                other = scores[i, c]
                if not missing:
                    other = (other - (present[0, c] + x * (present[1, c] + x * present[2, c]))) + (
                        tried[0, c] + x * (tried[1, c] + x * tried[2, c])
                    )
                lost |= other > own or (other == own and c < y)
            error += weights[i] if lost else 0.0
    return error


@njit(cache=True, nogil=True)
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
    for f in range(features.shape[0]):
        j = features[f]
        T = last[j] - first[j] + 1
        own = np.empty(T)
        wrong = np.empty(T)
        errors[f, T:] = np.inf
        # Contiguous copies of a few positions: the row loops index them directly, without making slices.
        if j < p:
            at = tables[offsets[j] : offsets[j + 1]]
            present = at[:, :, now[j]].copy()
            if T == 1:
                tried_one = at[:, :, first[j]].copy()
                errors[f, 0] = table_error(cells[j], present, tried_one, scores, starts, weights)
                continue
            tried = at[:, :, first[j] : last[j] + 1].copy()
            table_errors(cells[j], present, tried, scores, starts, weights, own, wrong, errors[f, :T])
        else:
            at = polynomials[j - p]
            present = at[:, :, now[j]].copy()
            if T == 1:
                tried_one = at[:, :, first[j]].copy()
                errors[f, 0] = number_error(z[j - p], present, tried_one, scores, starts, weights)
                continue
            tried = at[:, :, first[j] : last[j] + 1].copy()
            number_errors(z[j - p], present, tried, scores, starts, weights, own, wrong, errors[f, :T])


@njit(cache=True, nogil=True)
def move_table(cells, tables, now, to, scores):
    """Move one coded feature to another grid position: scores (n, C) change in place.

    cells (n,) int32; tables (cells, C, K + 1): the feature's own cells.
    """
    for i in range(scores.shape[0]):
        v = cells[i]
        for c in range(scores.shape[1]):
            scores[i, c] = (scores[i, c] - tables[v, c, now]) + tables[v, c, to]


@njit(cache=True, nogil=True)
def move_number(z, polynomials, now, to, scores):
    """Move one number to another grid position: scores (n, C) change in place; polynomials (3, C, K + 1)."""
    for i in range(scores.shape[0]):
        x = z[i]
        if np.isnan(x):
            continue
        for c in range(scores.shape[1]):
            q = polynomials[:, c]
            base = scores[i, c] - (q[0, now] + x * (q[1, now] + x * q[2, now]))
            scores[i, c] = base + (q[0, to] + x * (q[1, to] + x * q[2, to]))


@njit(cache=True, nogil=True)
def error_and_deviance(scores, starts, weights):
    """Return the weight of misclassified rows and minus twice the weighted log likelihood of the classes."""
    C = scores.shape[1]
    error = 0.0
    total = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            largest = scores[i, 0]
            winner = 0
            for c in range(1, C):
                if scores[i, c] > largest:
                    largest = scores[i, c]
                    winner = c
            if winner != y:
                error += weights[i]
            exponentials = 0.0
            for c in range(C):
                exponentials += exponential(scores[i, c] - largest)
            total += weights[i] * (largest - scores[i, y] + logarithm(exponentials))
    return error, 2.0 * total
