"""One pass over the rows: scores X B, the pointwise loss and its residuals R, and the derivatives X'R.

Letters
-------
n, m, k, D, K, x, g : as in ``path_problem``
c, i, j, f          : score, row, coefficient, coded column
"""

import math

import numpy as np

from seminaive.kernels.compile_options import fused_part, inlined, reordered_part
from seminaive.kernels.compiled_log_loss import against, shortfall, softmax_loss
from seminaive.kernels.elementary import exponential
from seminaive.kernels.path_problem import CHUNK, LOSS, MARGIN, ODDS

SATURATED = 1e300  # stands for exp of a margin beyond what a float holds


@inlined
def predict_rows(design, offset, x, begin, size, n_scores, scores):
    """Write the scores X B of some rows, offset and centring included.

    Four rows at a time share the loads of the coefficients; the last row stands for those beyond the end.
    """
    numbers, places, centre = design.numbers, design.places, design.centre
    n, m = numbers.shape
    k, width, last = places.shape[1], centre.shape[0], begin + size - 1
    for c in range(n_scores):
        column = x[c * width : c * width + width]
        shift = column[0]
        for j in range(width):
            shift -= centre[j] * column[j]
        for i in range(size):
            total = shift + offset[c * n + begin + i]
            for f in range(k):
                total += column[places[begin + i, f]]
            scores[c * CHUNK + i] = total
        for row in range(begin, begin + size if m > 0 else begin, 4):
            row1 = row + 1 if row + 1 < last else last
            row2 = row + 2 if row + 2 < last else last
            row3 = row + 3 if row + 3 < last else last
            first = c * CHUNK - begin
            t0, t1, t2, t3 = (
                scores[first + row],
                scores[first + row1],
                scores[first + row2],
                scores[first + row3],
            )
            for j in range(m):
                coefficient = column[1 + j]
                t0 += coefficient * numbers[row, j]
                t1 += coefficient * numbers[row1, j]
                t2 += coefficient * numbers[row2, j]
                t3 += coefficient * numbers[row3, j]
            scores[first + row] = t0
            scores[first + row1] = t1
            scores[first + row2] = t2
            scores[first + row3] = t3


@inlined
def collect_rows(design, residual, begin, size, n_scores, g):
    """Add X'R of some rows to g, before centring; four rows at a time share the loads and stores of g."""
    numbers, places = design.numbers, design.places
    m, k, width, last = numbers.shape[1], places.shape[1], design.centre.shape[0], begin + size - 1
    for c in range(n_scores):
        column = g[c * width : c * width + width]
        total = 0.0
        for i in range(size):
            total += residual[c * CHUNK + i]
        column[0] += total
        for i in range(size if k > 0 else 0):
            error = residual[c * CHUNK + i]
            for f in range(k):
                column[places[begin + i, f]] += error
        for row in range(begin, begin + size if m > 0 else begin, 4):
            row1 = row + 1 if row + 1 < last else last
            row2 = row + 2 if row + 2 < last else last
            row3 = row + 3 if row + 3 < last else last
            first = c * CHUNK - begin
            t0 = residual[first + row]
            t1 = residual[first + row1] if row1 == row + 1 else 0.0
            t2 = residual[first + row2] if row2 == row + 2 else 0.0
            t3 = residual[first + row3] if row3 == row + 3 else 0.0
            for j in range(m):
                first_two = t0 * numbers[row, j] + t1 * numbers[row1, j]
                column[1 + j] += first_two + t2 * numbers[row2, j] + t3 * numbers[row3, j]


@fused_part
def exponentials(values, size, result):
    """Take exp of the first ``size`` of ``values``, all <= 0; below -708 the answer is exp(-708)."""
    for i in range(size):
        result[i] = exponential(values[i])


@reordered_part
def logistic_rows(score, label, row_weight, probability, exponent, small, facts):
    """Add loss and odds of some rows to facts; their log odds become the residuals w (y - p).

    label, row_weight and probability are those of the rows, a chunk at most; exponent and small are scratch.
    Logarithms of rows of weight one are taken of their product.
    """
    size = label.shape[0]
    least = facts[MARGIN]
    odds = 0.0
    loss = 0.0
    for i in range(size):
        exponent[i] = -abs(score[i])
    exponentials(exponent, size, small)
    for i in range(size):
        sign = 1.0 if label[i] == 1 else -1.0
        margin = sign * score[i]
        probability[i] = against(-score[i], small[i])
        score[i] = row_weight[i] * sign * against(margin, small[i])
        least = margin if margin < least else least
        loss += row_weight[i] * shortfall(margin)
        odds += row_weight[i] * (small[i] if margin >= 0.0 else 1.0 / small[i])
    product = 1.0
    for i in range(size):
        if row_weight[i] == 1.0:
            product *= 1.0 + small[i]
        else:
            loss += row_weight[i] * math.log1p(small[i])
    facts[LOSS] += loss + math.log(product)
    facts[ODDS] += odds
    facts[MARGIN] = least


@inlined
def softmax_rows(label, row_weight, begin, size, work, softmax, facts):
    """Add loss and odds of some rows to facts; their scores become the residuals w (y - p)."""
    scores, probability, exponent, small = work.scores, work.probability, work.exponent, work.exponential
    rival, top, others = softmax.rival, softmax.top, softmax.others
    n = label.shape[0]
    n_scores = scores.shape[0] // CHUNK
    for i in range(size):
        true = label[begin + i]
        rival[i] = -np.inf
        others[i] = 0.0
        for c in range(n_scores):
            if c != true:
                rival[i] = max(rival[i], scores[c * CHUNK + i])
        top[i] = max(rival[i], scores[true * CHUNK + i])
        rival[i] = scores[true * CHUNK + i] - rival[i]
        facts[MARGIN] = min(facts[MARGIN], rival[i])
    for c in range(n_scores):
        for i in range(size):
            # 0 times a score that is not finite makes the loss NaN: overflow is no fit.
            facts[LOSS] += 0.0 * scores[c * CHUNK + i]
            exponent[i] = scores[c * CHUNK + i] - top[i]
        exponentials(exponent, size, small)
        for i in range(size):
            scores[c * CHUNK + i] = small[i]
            others[i] += small[i] if c != label[begin + i] else 0.0
    for i in range(size):
        of_true, weight = scores[label[begin + i] * CHUNK + i], row_weight[begin + i]
        top[i] = of_true + others[i]
        facts[LOSS] += weight * softmax_loss(rival[i], others[i], top[i])
        facts[ODDS] += weight * min(others[i] / of_true, SATURATED)
    for c in range(n_scores):
        for i in range(size):
            p = scores[c * CHUNK + i] / top[i]
            probability[c * n + begin + i] = p
            # 1 - p of the true class as a sum of small terms: no cancellation when p is near 1.
            rest = others[i] / top[i] if c == label[begin + i] else -p
            scores[c * CHUNK + i] = row_weight[begin + i] * rest


@reordered_part
def evaluate(design, problem, work, softmax, point):
    """One pass at point.x: fill point.g, loss, odds and margin of point.facts, and work.probability."""
    label, row_weight, centre = problem.label, problem.row_weight, design.centre
    x, g, facts = point.x, point.g, point.facts
    n, width = label.shape[0], centre.shape[0]
    n_scores = 1  # a constant where there is one score
    if softmax is not None:
        n_scores = x.shape[0] // width
    facts[LOSS] = 0.0
    facts[ODDS] = 0.0
    facts[MARGIN] = np.inf
    for a in range(g.shape[0]):
        g[a] = 0.0
    for begin in range(0, n, CHUNK):
        size = n - begin if n - begin < CHUNK else CHUNK
        predict_rows(design, problem.offset, x, begin, size, n_scores, work.scores)
        if softmax is None:
            end = begin + size
            logistic_rows(
                work.scores,
                label[begin:end],
                row_weight[begin:end],
                work.probability[begin:end],
                work.exponent,
                work.exponential,
                facts,
            )
        else:
            softmax_rows(label, row_weight, begin, size, work, softmax, facts)
        collect_rows(design, work.scores, begin, size, n_scores, g)
    for first in range(0, x.shape[0], width):
        for j in range(1, width):
            g[first + j] -= centre[j] * g[first]
        g[first + width - 1] = 0.0
    facts[ODDS] = SATURATED if facts[ODDS] > SATURATED else facts[ODDS]
    work.passes[0] += 1
