"""Passes over the rows for logistic and softmax models on numbers and codes.

Letters
-------
n, m, k : rows, numeric columns, coded columns
d       : coefficient rows: the intercept, the m numbers, one per category that is not a reference
K       : score columns: 1 for the logistic model, the number of classes for the softmax
A       : the n x d design [1, numbers, indicators], minus ``centre`` column by column; never stored
g       : A' (y - p), row weights included: minus the gradient of the loss
s       : rows of the working set, the part of d for which second derivatives are kept
q       : s * K, laid out with the K classes of one coefficient row side by side

Indicators are looked up: ``places`` holds the coefficient row of each cell of a coded column, and d, a
slot whose coefficient is always zero, stands for "no column" (a reference category, no evidence).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

CHUNK = 256  # rows that stay in cache between the two products of one pass
SATURATED = 1e300  # stands for exp of a margin beyond what a float holds
ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
REORDER = {"reassoc", "contract"}  # sums in any order and fused products; infinities stay what they are
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


class Design(NamedTuple):
    """The columns of a linear model.

    numbers (n, m) float64, places (n, k) uint16 or uint32, first_place (k + 1,) int64 (the coefficient
    rows of coded column f are those from first_place[f] up to first_place[f + 1]), centre (d,) float64.
    Arrays are C-contiguous.
    """

    numbers: np.ndarray
    places: np.ndarray
    first_place: np.ndarray
    centre: np.ndarray


@njit(cache=True, nogil=True)
def predict_rows(design, offset, coefficients, begin, end, scores):
    """Scores of the rows from begin to end; coefficients (d + 1, K), scores (CHUNK, K) is overwritten."""
    m, k = design.numbers.shape[1], design.places.shape[1]
    d, n_scores = design.centre.shape[0], coefficients.shape[1]
    size = end - begin
    if m > 0:
        block = design.numbers[begin:end]
        if n_scores == 1:
            np.dot(block, coefficients[1 : 1 + m].ravel(), scores[:size].ravel())
        else:
            np.dot(block, coefficients[1 : 1 + m], scores[:size])
    else:
        scores[:size] = 0.0
    for c in range(n_scores):
        shift = coefficients[0, c]
        for j in range(d):
            shift -= design.centre[j] * coefficients[j, c]
        for i in range(size):
            scores[i, c] += shift + offset[begin + i, c]
    if n_scores == 1 and k > 0:
        column = coefficients.ravel()
        for i in range(size):
            total = 0.0
            for f in range(k):
                total += column[design.places[begin + i, f]]
            scores[i, 0] += total
    else:
        for i in range(size):
            for f in range(k):
                row = design.places[begin + i, f]
                for c in range(n_scores):
                    scores[i, c] += coefficients[row, c]


@njit(cache=True, nogil=True, fastmath=REORDER)
def collect_rows(design, residual, begin, end, g):
    """Add A' residual of the rows from begin to end to g (d + 1, K), before centring."""
    m, k, n_scores = design.numbers.shape[1], design.places.shape[1], g.shape[1]
    size = end - begin
    if m > 0:
        block = design.numbers[begin:end]
        if n_scores == 1:
            part = np.dot(residual[:size].ravel(), block)
            for j in range(m):
                g[1 + j, 0] += part[j]
        else:
            parts = np.dot(block.T, residual[:size])
            for j in range(m):
                for c in range(n_scores):
                    g[1 + j, c] += parts[j, c]
    for c in range(n_scores):
        total = 0.0
        for i in range(size):
            total += residual[i, c]
        g[0, c] += total
    if n_scores == 1 and k > 0:
        sums = g.ravel()
        for i in range(size):
            own = residual[i, 0]
            for f in range(k):
                sums[design.places[begin + i, f]] += own
    else:
        for i in range(size):
            for f in range(k):
                row = design.places[begin + i, f]
                for c in range(n_scores):
                    g[row, c] += residual[i, c]


@njit(cache=True, nogil=True, fastmath={"contract"})
def exponentials(values, size, power, power_bits, result):
    """Take exp of the first ``size`` of ``values``, all <= 0, in loops that the compiler can vectorise.

    x = j ln 2 + r with j an integer and |r| <= ln(2) / 2; exp(r) is its Taylor polynomial of degree 13,
    2^j is written into the exponent bits. power and power_bits are one scratch array seen as float64 and
    as int64. Agrees with math.exp to two units in the last place; below -708 the answer is exp(-708).
    """
    for i in range(size):
        power[i] = max(values[i], -708.0) * LOG2_E + ROUNDER
    for i in range(size):
        j = power[i] - ROUNDER
        r = max(values[i], -708.0) - j * LN2_HIGH
        r -= j * LN2_LOW
        t = 1.0 / 6227020800.0
        t = t * r + 1.0 / 479001600.0
        t = t * r + 1.0 / 39916800.0
        t = t * r + 1.0 / 3628800.0
        t = t * r + 1.0 / 362880.0
        t = t * r + 1.0 / 40320.0
        t = t * r + 1.0 / 5040.0
        t = t * r + 1.0 / 720.0
        t = t * r + 1.0 / 120.0
        t = t * r + 1.0 / 24.0
        t = t * r + 1.0 / 6.0
        t = t * r + 0.5
        t = t * r + 1.0
        result[i] = t * r + 1.0
    for i in range(size):
        power_bits[i] = (power_bits[i] + 1023) << 52
    for i in range(size):
        result[i] *= power[i]


@njit(cache=True, nogil=True, fastmath=REORDER)
def logistic_rows(score, size, sign, row_weight, probability, scratch):
    """Loss, odds and least margin of rows of a logistic model; score becomes the residual w (y - p).

    score, sign (+1 for label 1, -1 for label 0), row_weight, probability: (size,) or longer. scratch:
    three float64 rows; logarithms of rows of weight one are taken of their product.
    """
    least = np.inf
    odds = 0.0
    lost = 0.0
    small, negative, power = scratch[0], scratch[1], scratch[2]
    for i in range(size):
        negative[i] = -abs(score[i])
    exponentials(negative, size, power, power.view(np.int64), small)
    for i in range(size):
        margin = score[i] * sign[i]
        inverse = 1.0 / (1.0 + small[i])
        p_own = inverse if margin >= 0.0 else small[i] * inverse
        p_other = small[i] * inverse if margin >= 0.0 else inverse
        probability[i] = p_own if sign[i] > 0.0 else p_other
        score[i] = row_weight[i] * sign[i] * p_other
        least = min(least, margin)
        lost += row_weight[i] * max(-margin, 0.0)
        odds += row_weight[i] * (p_other / p_own)
    product = 1.0
    for i in range(size):
        if row_weight[i] == 1.0:
            product *= 1.0 + small[i]
        else:
            lost += row_weight[i] * math.log1p(small[i])
    return lost + math.log(product), odds, least


@njit(cache=True, nogil=True)
def softmax_rows(scores, size, label, row_weight, probability):
    """Loss, odds and least margin of rows of a softmax model; scores become the residuals w (y - p)."""
    n_scores = scores.shape[1]
    least = np.inf
    odds = 0.0
    loss = 0.0
    for i in range(size):
        own, weight = label[i], row_weight[i]
        rival = -np.inf
        for c in range(n_scores):
            if c != own:
                rival = max(rival, scores[i, c])
        margin = scores[i, own] - rival
        top = max(rival, scores[i, own])
        others = 0.0
        for c in range(n_scores):
            e = math.exp(scores[i, c] - top)
            scores[i, c] = e
            if c != own:
                others += e
        own_part = scores[i, own]
        total = others + own_part
        least = min(least, margin)
        loss += weight * (math.log1p(others) if margin >= 0.0 else math.log(total) - margin)
        odds += weight * (others / own_part if own_part > 0.0 else SATURATED)
        for c in range(n_scores):
            p = scores[i, c] / total
            probability[i, c] = p
            scores[i, c] = -weight * p
        # 1 - p of the own class as a sum of small terms: no cancellation when p is near 1.
        scores[i, own] = weight * others / total
    return loss, odds, least


@njit(cache=True, nogil=True)
def evaluate(design, offset, label, row_weight, coefficients, probability, g):
    """One pass: fill probability (n, K) and g (d + 1, K); return loss, odds and least margin.

    The loss is the weighted negative log-likelihood; ``odds`` is the weighted sum of (1 - p) / p with p
    the probability of the observed class, which bounds the curvature of the dual; the least margin is
    positive when every row is on its own class's side.
    """
    n, n_scores = probability.shape
    d = design.centre.shape[0]
    scores = np.empty((min(CHUNK, n), n_scores))
    scratch = np.empty((3, CHUNK))
    sign = np.empty(CHUNK)
    g[:] = 0.0
    loss, odds, least = 0.0, 0.0, np.inf
    for begin in range(0, n, CHUNK):
        end = min(n, begin + CHUNK)
        predict_rows(design, offset, coefficients, begin, end, scores)
        if n_scores == 1:
            for i in range(end - begin):
                sign[i] = 1.0 if label[begin + i] == 1 else -1.0
            part = logistic_rows(
                scores.ravel(),
                end - begin,
                sign,
                row_weight[begin:end],
                probability[begin:end].ravel(),
                scratch,
            )
        else:
            part = softmax_rows(
                scores, end - begin, label[begin:end], row_weight[begin:end], probability[begin:end]
            )
        loss += part[0]
        odds += part[1]
        least = min(least, part[2])
        collect_rows(design, scores, begin, end, g)
    for j in range(1, d):
        if design.centre[j] != 0.0:
            for c in range(n_scores):
                g[j, c] -= design.centre[j] * g[0, c]
    return loss, min(odds, SATURATED), least


@njit(cache=True, nogil=True)
def fill_block(design, slot, begin, end, root_weight, block):
    """Write sqrt(weight) * A of some rows and of the working set, uncentred, into block (CHUNK, s + 1)."""
    m, k = design.numbers.shape[1], design.places.shape[1]
    d = design.centre.shape[0]
    whole = slot[d] == d
    for i in range(end - begin):
        root = root_weight[i]
        row_of_block = block[i]
        if whole:
            row_of_block[0] = root
            for j in range(m):
                row_of_block[1 + j] = root * design.numbers[begin + i, j]
            row_of_block[1 + m :] = 0.0
        else:
            row_of_block[:] = 0.0
            row_of_block[slot[0]] = root
            for j in range(m):
                row_of_block[slot[1 + j]] = root * design.numbers[begin + i, j]
        for f in range(k):
            row = design.places[begin + i, f]
            row_of_block[slot[row]] = root


@njit(cache=True, nogil=True)
def scatter_gram(design, slot, row_weight, probability, gram):
    """Add A' W A of a logistic model entry by entry: for many categories and few columns."""
    n, m = design.numbers.shape
    k = design.places.shape[1]
    width = 1 + m + k
    where = np.empty(width, dtype=np.int64)
    value = np.ones(width)
    where[0] = slot[0]
    for j in range(m):
        where[1 + j] = slot[1 + j]
    for i in range(n):
        p = probability[i, 0]
        weight = row_weight[i] * p * (1.0 - p)
        for j in range(m):
            value[1 + j] = design.numbers[i, j]
        for f in range(k):
            where[1 + m + f] = slot[design.places[i, f]]
        for a in range(width):
            part = weight * value[a]
            for b in range(width):
                gram[where[a], where[b]] += part * value[b]


@njit(cache=True, nogil=True)
def centre_gram(gram, centre, n_scores):
    """Turn the second derivatives of raw columns into those of centred ones, in place.

    gram (q, q) with the intercept as its first coefficient row; centre (s,).
    """
    q = gram.shape[0]
    for j in range(n_scores, q):
        shift = centre[j // n_scores]
        if shift != 0.0:
            for b in range(q):
                gram[j, b] -= shift * gram[j % n_scores, b]
    for j in range(n_scores, q):
        shift = centre[j // n_scores]
        if shift != 0.0:
            for b in range(q):
                gram[b, j] -= shift * gram[b, j % n_scores]


@njit(cache=True, nogil=True)
def curvature(design, row_weight, probability, rows, slot, squares):
    """Second derivatives of the loss over the working set: a (q, q) array.

    rows (s,) are the coefficient rows of the working set, the intercept first; slot (d + 1,) maps a
    coefficient row to its place among them, s meaning "not there"; squares (d,) are the weighted sums
    of squares of the columns; a ridge of 1e-13 of them, and of 1e-10 of the diagonal, keeps saturated and
    duplicated columns from making the matrix singular.
    """
    n, n_scores = probability.shape
    s = rows.shape[0]
    entries = 1 + design.numbers.shape[1] + design.places.shape[1]
    gram = np.zeros((s * n_scores, s * n_scores))
    if n_scores == 1 and s * s > 12 * entries * entries:
        wide = np.zeros((s + 1, s + 1))
        scatter_gram(design, slot, row_weight, probability, wide)
        gram[:] = wide[:s, :s]
    elif n_scores == 1:
        size = min(CHUNK, n)
        block = np.empty((size, s + 1))
        root = np.empty(size)
        total = np.zeros((s + 1, s + 1))
        part = np.empty((s + 1, s + 1))
        for begin in range(0, n, CHUNK):
            end = min(n, begin + CHUNK)
            for i in range(end - begin):
                p = probability[begin + i, 0]
                root[i] = math.sqrt(row_weight[begin + i] * p * (1.0 - p))
            fill_block(design, slot, begin, end, root, block)
            used = block[: end - begin]
            np.dot(used.T, used, part)
            total += part
        gram[:] = total[:s, :s]
    else:
        size = min(CHUNK, n)
        block = np.zeros((size, s + 1))
        class_block = np.empty((size, s + 1))
        wide = np.empty((size, s * n_scores))
        root = np.empty(size)
        part = np.empty((s + 1, s + 1))
        square = np.empty((s * n_scores, s * n_scores))
        for begin in range(0, n, CHUNK):
            end = min(n, begin + CHUNK)
            for i in range(end - begin):
                root[i] = math.sqrt(row_weight[begin + i])
            fill_block(design, slot, begin, end, root, block)
            for c in range(n_scores):
                for i in range(end - begin):
                    p = probability[begin + i, c]
                    root_p = math.sqrt(p)
                    for j in range(s):
                        class_block[i, j] = root_p * block[i, j]
                        wide[i, j * n_scores + c] = p * block[i, j]
                    class_block[i, s] = 0.0
                used = class_block[: end - begin]
                np.dot(used.T, used, part)
                for a in range(s):
                    for b in range(s):
                        gram[a * n_scores + c, b * n_scores + c] += part[a, b]
            used_wide = wide[: end - begin]
            np.dot(used_wide.T, used_wide, square)
            gram -= square
    centre = np.empty(s)
    for j in range(s):
        centre[j] = design.centre[rows[j]]
    centre_gram(gram, centre, n_scores)
    for j in range(s):
        for c in range(n_scores):
            a = j * n_scores + c
            gram[a, a] = gram[a, a] * (1.0 + 1e-10) + 1e-13 * squares[rows[j]]
            if gram[a, a] <= 0.0:
                gram[a, a] = 1.0
    return gram


@njit(cache=True, nogil=True)
def column_squares(design, row_weight):
    """Weighted sum of squares of every centred column: (d,)."""
    n, m = design.numbers.shape
    k = design.places.shape[1]
    d = design.centre.shape[0]
    squares = np.zeros(d + 1)
    sums = np.zeros(d + 1)
    total = 0.0
    for i in range(n):
        weight = row_weight[i]
        total += weight
        for j in range(m):
            x = design.numbers[i, j] - design.centre[1 + j]
            squares[1 + j] += weight * x * x
        for f in range(k):
            sums[design.places[i, f]] += weight
    squares[0] = total
    for j in range(1 + m, d):
        middle = design.centre[j]
        squares[j] = sums[j] * (1.0 - middle) ** 2 + (total - sums[j]) * middle * middle
    return squares[:d]
