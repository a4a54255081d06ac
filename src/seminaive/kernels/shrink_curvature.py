"""Second derivatives of logistic and softmax losses over a working set of coefficients.

Letters
-------
n, m, k, D, K : as in ``shrink_problem``
s             : coefficients of one score in the working set, the intercept first
q             : s K, with the K scores of one coefficient side by side
slot          : (D,), the place of a coefficient in the working set, s meaning "not there"

The second derivatives between scores c and e are A' W A with W = w p_c (1 - p_c) where they are the same and
-w p_c p_e where not: one weighted product per pair.
"""

import math

import numpy as np

from seminaive.kernels.shrink_compile import inlined, numpy_kernel
from seminaive.kernels.shrink_problem import CHUNK


@inlined
def multiply_block(design, slot, weight, begin, end, block, product):
    """Write A' W A of some rows into product (s + 1, s + 1) through sqrt(W) A, in block (CHUNK, s + 1)."""
    numbers, places = design.numbers, design.places
    m, k = numbers.shape[1], places.shape[1]
    width = block.shape[1]
    whole = width == slot.shape[0]
    for i in range(end - begin):
        root = math.sqrt(weight[i])
        for j in range(1 + m if whole else 0, width):
            block[i, j] = 0.0
        block[i, slot[0]] = root
        if whole:
            for j in range(m):
                block[i, 1 + j] = root * numbers[begin + i, j]
        else:
            for j in range(m):
                block[i, slot[1 + j]] = root * numbers[begin + i, j]
        for f in range(k):
            block[i, slot[places[begin + i, f]]] = root
    used = block[: end - begin]
    np.dot(used.T, used, product)


@inlined
def scatter_block(design, slot, weight, begin, end, where, value, product):
    """Write A' W A of some rows into product (s + 1, s + 1) entry by entry: for many categories.

    where and value, (1 + m + k,), are scratch; value is one but for the numbers.
    """
    numbers, places = design.numbers, design.places
    m, k = numbers.shape[1], places.shape[1]
    product[:] = 0.0
    for j in range(1 + m):
        where[j] = slot[j]
    for i in range(end - begin):
        for j in range(m):
            value[1 + j] = numbers[begin + i, j]
        for f in range(k):
            where[1 + m + f] = slot[places[begin + i, f]]
        for a in range(1 + m + k):
            part = weight[i] * value[a]
            for b in range(1 + m + k):
                product[where[a], where[b]] += part * value[b]


@inlined
def finish_gram(gram, q, rows, s, design):
    """Turn the second derivatives of raw columns into those of centred ones, plus a small ridge, in place."""
    centre, squares = design.centre, design.squares
    n_scores = q // s
    for a in range(n_scores, q):
        shift = centre[rows[a // n_scores]]
        for b in range(q if shift != 0.0 else 0):
            gram[a, b] -= shift * gram[a % n_scores, b]
    for a in range(n_scores, q):
        shift = centre[rows[a // n_scores]]
        for b in range(q if shift != 0.0 else 0):
            gram[b, a] -= shift * gram[b, a % n_scores]
    for a in range(q):
        diagonal = gram[a, a] * (1.0 + 1e-10) + 1e-13 * squares[rows[a // n_scores]]
        gram[a, a] = diagonal if diagonal > 0.0 else 1.0


@numpy_kernel
def curvature(design, row_weight, probability, rows, s, slot, gram):
    """Write the second derivatives of the loss over the working set into gram, (q, q) or larger.

    rows, (s,) or longer, are the coefficients of the working set. A ridge of 1e-13 of the columns' sums of
    squares, and of 1e-10 of the diagonal, keeps saturated and duplicated columns from making the matrix
    singular.
    """
    n = row_weight.shape[0]
    n_scores = probability.shape[0] // n
    q = s * n_scores
    entries = 1 + design.numbers.shape[1] + design.places.shape[1]
    scattered = s * s > 12 * entries * entries
    stride = n if scattered else min(n, CHUNK)
    gram[:q, :q] = 0.0
    product = np.empty((s + 1, s + 1))
    block = np.empty((1 if scattered else stride, s + 1))
    weight = np.empty(stride)
    where = np.empty(entries, dtype=np.int64)
    value = np.ones(entries)
    for begin in range(0, n, stride):
        end = min(n, begin + stride)
        for pair in range(n_scores * n_scores):
            c, e = pair // n_scores, pair % n_scores
            if e > c:
                continue
            for i in range(end - begin):
                p, other = probability[c * n + begin + i], probability[e * n + begin + i]
                weight[i] = row_weight[begin + i] * p * (1.0 - p if e == c else other)
            if scattered:
                scatter_block(design, slot, weight, begin, end, where, value, product)
            else:
                multiply_block(design, slot, weight, begin, end, block, product)
            for a in range(s):
                for b in range(s):
                    if e == c:
                        gram[a * n_scores + c, b * n_scores + c] += product[a, b]
                    else:
                        gram[a * n_scores + c, b * n_scores + e] -= product[a, b]
                        gram[a * n_scores + e, b * n_scores + c] -= product[a, b]
    finish_gram(gram, q, rows, s, design)
