"""Stochastic gradient descent on additive scores, one row at a time.

Legend: i row, t term, j number, p coefficient, c coefficient column (one per class; a single one, the
log-odds of class 1, for two classes), n rows, T terms, m numbers, P coefficients, K coefficient columns, g
gradient.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.compiled_log_loss import against, exponentiate, largest
from seminaive.kernels.elementary import exponential


@njit(cache=True, nogil=True)
def descend(
    positions,
    numbers,
    labels,
    weights,
    rate,
    shrinkage,
    target,
    scale,
    beta,
    squares,
):
    """Take one step per row, each coefficient with its own falling rate (AdaGrad).

    positions (n, T) int64, the row of beta of each term's cell; numbers (n, m) float64, labels (n,) int64,
    weights (n,) float64. shrinkage, target, scale, beta and squares are (P, K), the intercept first and the
    numbers last: the penalty per visit of a coefficient and what it is pulled to, the scale of its search
    space, its value and the sum of its squared gradients; beta and squares are updated.
    """
    n, n_terms = positions.shape
    n_numbers = numbers.shape[1]
    n_columns = beta.shape[1]
    first_number = beta.shape[0] - n_numbers
    scores = np.empty(n_columns)
    for i in range(n):
        for c in range(n_columns):
            scores[c] = beta[0, c]
        for t in range(n_terms):
            for c in range(n_columns):
                scores[c] += beta[positions[i, t], c]
        for j in range(n_numbers):
            for c in range(n_columns):
                scores[c] += beta[first_number + j, c] * numbers[i, j]
        turn_into_residuals(scores, labels[i], weights[i])
        step(0, 1.0, scores, rate, shrinkage, target, scale, beta, squares)
        for t in range(n_terms):
            step(positions[i, t], 1.0, scores, rate, shrinkage, target, scale, beta, squares)
        for j in range(n_numbers):
            step(first_number + j, numbers[i, j], scores, rate, shrinkage, target, scale, beta, squares)


@njit(cache=True, nogil=True)
def turn_into_residuals(scores, label, weight):
    """Replace the scores (K,) of one row by weight * (posterior - truth)."""
    n_columns = scores.shape[0]
    if n_columns == 1:
        scores[0] = weight * (against(-scores[0], exponential(-abs(scores[0]))) - label)
        return
    total = exponentiate(scores, largest(scores))
    for c in range(n_columns):
        scores[c] *= weight / total
    scores[label] -= weight


@njit(cache=True, nogil=True)
def step(p, x, residuals, rate, shrinkage, target, scale, beta, squares):
    """Move one row of coefficients against its gradient, x times the residuals plus the penalty's pull."""
    for c in range(residuals.shape[0]):
        g = x * residuals[c] + shrinkage[p, c] * (beta[p, c] - target[p, c])
        squares[p, c] += g * g
        if squares[p, c] > 0.0:
            beta[p, c] -= rate * scale[p, c] * g / np.sqrt(squares[p, c])
