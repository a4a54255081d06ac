"""Passes over the rows for logistic and softmax models on numbers and codes.

Letters
-------
n, m, k, D, K, x, g : as in ``shrink_problem``
A                   : the design, centred
c, i, j, f          : score, row, coefficient, coded column
"""

import math

import numpy as np

from seminaive.kernels.elementary import exponential
from seminaive.kernels.shrink_compile import fused_kernel, inlined, kernel, numpy_part, reordered_part
from seminaive.kernels.shrink_problem import CHUNK, LOSS, MARGIN, ODDS

SATURATED = 1e300  # stands for exp of a margin beyond what a float holds


@numpy_part
def multiply_rows(numbers, begin, end, column, result):
    """Write the product of some rows of numbers with the m numbers that follow the intercept in column."""
    np.dot(numbers[begin:end], column[1 : 1 + numbers.shape[1]], result)


@numpy_part
def multiply_columns(numbers, begin, end, residual, sums):
    """Write the product of every column of some rows of numbers with the residual."""
    np.dot(residual, numbers[begin:end], sums)


@inlined
def predict_rows(design, offset, x, begin, end, scores):
    """Scores of the rows from begin to end, offset and centring included, into scores."""
    numbers, places, centre = design.numbers, design.places, design.centre
    n, m = numbers.shape
    k, size = places.shape[1], centre.shape[0]
    for c in range(x.shape[0] // size):
        column = x[c * size : c * size + size]
        own = scores[c * CHUNK : c * CHUNK + end - begin]
        fixed = offset[c * n + begin : c * n + end]
        shift = column[0]
        for j in range(size):
            shift -= centre[j] * column[j]
        if m > 0:
            multiply_rows(numbers, begin, end, column, own)
        else:
            own[:] = 0.0
        for i in range(end - begin):
            own[i] += shift + fixed[i]
        for i in range(end - begin if k > 0 else 0):
            total = 0.0
            for f in range(k):
                total += column[places[begin + i, f]]
            own[i] += total


@reordered_part
def sum_of(values):
    """Sum in the order that is fastest."""
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i]
    return total


@inlined
def collect_rows(design, residual, begin, end, sums, g):
    """Add A' residual of the rows from begin to end to g, before centring; sums (m,) is overwritten."""
    numbers, places = design.numbers, design.places
    m, k, size = numbers.shape[1], places.shape[1], design.centre.shape[0]
    for c in range(g.shape[0] // size):
        column = g[c * size : c * size + size]
        own = residual[c * CHUNK : c * CHUNK + end - begin]
        if m > 0:
            multiply_columns(numbers, begin, end, own, sums)
            for j in range(m):
                column[1 + j] += sums[j]
        column[0] += sum_of(own)
        for i in range(end - begin if k > 0 else 0):
            part = own[i]
            for f in range(k):
                column[places[begin + i, f]] += part


@fused_kernel
def exponentials(values, size, result):
    """Take exp of the first ``size`` of ``values``, all <= 0; below -708 the answer is exp(-708)."""
    for i in range(size):
        result[i] = exponential(values[i])


@reordered_part
def logistic_rows(score, label, row_weight, probability, exponent, small, facts):
    """Add loss and odds of some rows to facts; their score becomes the residual w (y - p).

    label, row_weight and probability are those of the rows, a chunk at most; exponent and small are scratch.
    Logarithms of rows of weight one are taken of their product.
    """
    size = label.shape[0]
    least = np.inf
    odds = 0.0
    lost = 0.0
    for i in range(size):
        exponent[i] = -abs(score[i])
    exponentials(exponent, size, small)
    for i in range(size):
        sign = 1.0 if label[i] == 1 else -1.0
        weight = row_weight[i]
        margin = score[i] * sign
        inverse = 1.0 / (1.0 + small[i])
        p_own = inverse if margin >= 0.0 else small[i] * inverse
        p_other = small[i] * inverse if margin >= 0.0 else inverse
        probability[i] = p_own if sign > 0.0 else p_other
        score[i] = weight * sign * p_other
        least = min(least, margin)
        lost += weight * max(-margin, 0.0)
        odds += weight * (p_other / p_own)
    product = 1.0
    for i in range(size):
        if row_weight[i] == 1.0:
            product *= 1.0 + small[i]
        else:
            lost += row_weight[i] * math.log1p(small[i])
    facts[LOSS] += lost + math.log(product)
    facts[ODDS] += odds
    facts[MARGIN] = min(facts[MARGIN], least)


@inlined
def softmax_rows(label, row_weight, begin, size, work, facts):
    """Add loss and odds of some rows to facts; their scores become the residuals w (y - p)."""
    scores, probability, exponent, small = work.scores, work.probability, work.exponent, work.exponential
    rival, top, others = work.rival, work.top, work.others
    n = label.shape[0]
    n_scores = scores.shape[0] // CHUNK
    for i in range(size):
        own = label[begin + i]
        rival[i] = -np.inf
        others[i] = 0.0
        for c in range(n_scores):
            if c != own:
                rival[i] = max(rival[i], scores[c * CHUNK + i])
        top[i] = max(rival[i], scores[own * CHUNK + i])
        rival[i] = scores[own * CHUNK + i] - rival[i]
        facts[MARGIN] = min(facts[MARGIN], rival[i])
    for c in range(n_scores):
        for i in range(size):
            exponent[i] = scores[c * CHUNK + i] - top[i]
        exponentials(exponent, size, small)
        for i in range(size):
            scores[c * CHUNK + i] = small[i]
            others[i] += small[i] if c != label[begin + i] else 0.0
    for i in range(size):
        own, weight = scores[label[begin + i] * CHUNK + i], row_weight[begin + i]
        top[i] = own + others[i]
        lost = math.log1p(others[i]) if rival[i] >= 0.0 else math.log(top[i]) - rival[i]
        facts[LOSS] += weight * lost
        facts[ODDS] += weight * min(others[i] / own, SATURATED)
    for c in range(n_scores):
        for i in range(size):
            p = scores[c * CHUNK + i] / top[i]
            probability[c * n + begin + i] = p
            # 1 - p of the own class as a sum of small terms: no cancellation when p is near 1.
            rest = others[i] / top[i] if c == label[begin + i] else -p
            scores[c * CHUNK + i] = row_weight[begin + i] * rest


@kernel
def evaluate(design, problem, work, point):
    """One pass at point.x: fill point.g, loss, odds and margin of point.facts, and work.probability."""
    label, row_weight, centre = problem.label, problem.row_weight, design.centre
    x, g, facts, probability = point.x, point.g, point.facts, work.probability
    n, size = label.shape[0], centre.shape[0]
    facts[LOSS] = 0.0
    facts[ODDS] = 0.0
    facts[MARGIN] = np.inf
    g[:] = 0.0
    for begin in range(0, n, CHUNK):
        end = min(n, begin + CHUNK)
        predict_rows(design, problem.offset, x, begin, end, work.scores)
        if x.shape[0] == size:
            logistic_rows(
                work.scores,
                label[begin:end],
                row_weight[begin:end],
                probability[begin:end],
                work.exponent,
                work.exponential,
                facts,
            )
        else:
            softmax_rows(label, row_weight, begin, end - begin, work, facts)
        collect_rows(design, work.scores, begin, end, work.sums, g)
    for first in range(0, x.shape[0], size):
        for j in range(1, size):
            g[first + j] -= centre[j] * g[first]
        g[first + size - 1] = 0.0
    facts[ODDS] = min(facts[ODDS], SATURATED)
    work.passes[0] += 1
