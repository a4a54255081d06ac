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
from numba import njit

from seminaive.kernels.elementary import exponential, logarithm


@njit(cache=True, nogil=True)
def table_errors(cells, tables, now, first, scores, starts, weights, own, wrong, errors):
    """Sum up the weight of misclassified rows with one coded feature at positions first, first + 1, ...

    cells (n,) int32; tables (cells, C, K + 1); now, the present position; scores (n, C); weights (n,); own
    and wrong (T,) are overwritten; errors (T,) is overwritten.
    """
    C = scores.shape[1]
    T = errors.shape[0]
    errors[:] = 0.0
    for y in range(C):
        for i in range(starts[y], starts[y + 1]):
            at = tables[cells[i]]
            base = scores[i, y] - at[y, now]
            mine = at[y, first : first + T]
            for t in range(T):
                own[t] = base + mine[t]
                wrong[t] = 0.0
            for c in range(y):
                base = scores[i, c] - at[c, now]
                other = at[c, first : first + T]
                for t in range(T):
                    wrong[t] = 1.0 if base + other[t] >= own[t] else wrong[t]
            for c in range(y + 1, C):
                base = scores[i, c] - at[c, now]
                other = at[c, first : first + T]
                for t in range(T):
                    wrong[t] = 1.0 if base + other[t] > own[t] else wrong[t]
            w = weights[i]
            for t in range(T):
                errors[t] += w * wrong[t]


@njit(cache=True, nogil=True)
def number_errors(z, coefficients, now, first, scores, starts, weights, own, wrong, errors):
    """Sum up the weight of misclassified rows with one number at positions first, first + 1, ...

    z (n,), less the overall mean, NaN where missing; coefficients (3, C, K + 1): constant, linear, quadratic;
    the rest as in `table_errors`.
    """
    C = scores.shape[1]
    T = errors.shape[0]
    errors[:] = 0.0
    constant = coefficients[0]
    linear = coefficients[1]
    quadratic = coefficients[2]
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
            base = scores[i, y] - (constant[y, now] + x * (linear[y, now] + x * quadratic[y, now]))
            q0 = constant[y, first : first + T]
            q1 = linear[y, first : first + T]
            q2 = quadratic[y, first : first + T]
            for t in range(T):
                own[t] = base + (q0[t] + x * (q1[t] + x * q2[t]))
                wrong[t] = 0.0
            for c in range(C):
                if c == y:
                    continue
                base = scores[i, c] - (constant[c, now] + x * (linear[c, now] + x * quadratic[c, now]))
                q0 = constant[c, first : first + T]
                q1 = linear[c, first : first + T]
                q2 = quadratic[c, first : first + T]
                if c < y:
                    for t in range(T):
                        wrong[t] = 1.0 if base + (q0[t] + x * (q1[t] + x * q2[t])) >= own[t] else wrong[t]
                else:
                    for t in range(T):
                        wrong[t] = 1.0 if base + (q0[t] + x * (q1[t] + x * q2[t])) > own[t] else wrong[t]
            for t in range(T):
                errors[t] += w * wrong[t]


@njit(cache=True, nogil=True)
def candidate_errors(
    features, now, first, last, cells, tables, z, coefficients, scores, starts, weights, errors
):
    """Evaluate all candidate positions of some features.

    features (F,) int64: a table's number, or the number of tables plus that of a number; now, first and last
    (p + m,) int64: present and candidate positions; cells (p, n) int32; tables (cells, C, K + 1); z (m, n);
    coefficients (m, 3, C, K + 1); scores (n, C); weights (n,); errors (F, width) is overwritten with the
    weight of misclassified rows, infinite beyond a feature's last position.
    """
    p = cells.shape[0]
    own = np.empty(errors.shape[1])
    wrong = np.empty(errors.shape[1])
    for f in range(features.shape[0]):
        j = features[f]
        T = last[j] - first[j] + 1
        found = errors[f, :T]
        errors[f, T:] = np.inf
        if j < p:
            table_errors(
                cells[j], tables, now[j], first[j], scores, starts, weights, own[:T], wrong[:T], found
            )
        else:
            number_errors(
                z[j - p],
                coefficients[j - p],
                now[j],
                first[j],
                scores,
                starts,
                weights,
                own[:T],
                wrong[:T],
                found,
            )


@njit(cache=True, nogil=True)
def move_table(cells, tables, now, to, scores):
    """Move one coded feature to another grid position: scores (n, C) change in place."""
    for i in range(scores.shape[0]):
        at = tables[cells[i]]
        for c in range(scores.shape[1]):
            scores[i, c] = (scores[i, c] - at[c, now]) + at[c, to]


@njit(cache=True, nogil=True)
def move_number(z, coefficients, now, to, scores):
    """Move one number to another grid position: scores (n, C) change in place."""
    for i in range(scores.shape[0]):
        x = z[i]
        if np.isnan(x):
            continue
        for c in range(scores.shape[1]):
            q = coefficients[:, c]
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
