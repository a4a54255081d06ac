"""X'WX, the second derivatives of logistic and softmax losses over a working set of coefficients.

Letters
-------
n, m, k, D, K : as in ``path_problem``
s             : coefficients of one score in the working set, the intercept first
q             : s K, with the K scores of one coefficient side by side
slot          : (D,), the place of a coefficient in the working set, s meaning "not there"

The second derivatives between scores c and e are X'WX with W = w p_c (1 - p_c) where they are the same and
-w p_c p_e where not: one weighted product per pair, symmetric, of which the lower triangle is computed.
"""

import math

from seminaive.kernels.compile_options import inlined, reordered_part
from seminaive.kernels.path_problem import CHUNK, WIDTH


@inlined
def fill_block(design, slot, begin, size, block, s):
    """Multiply the columns of some rows by the root of their weights, block[0]; one row of block per column.

    Row s of the block takes what is not in the working set.
    """
    numbers, places = design.numbers, design.places
    m, k = numbers.shape[1], places.shape[1]
    for a in range(1, s if k > 0 else 1):
        for i in range(size):
            block[a, i] = 0.0
    for j in range(m):
        place = slot[1 + j]
        for i in range(size if place < s else 0):
            block[place, i] = block[0, i] * numbers[begin + i, j]
    for i in range(size):
        for f in range(k):
            block[slot[places[begin + i, f]], i] = block[0, i]


@inlined
def multiply_block(block, size, s, sign, n_scores, c, e, gram):
    """Add the products of the rows of block, times sign, to the entries of gram between scores c and e.

    Two times four products share their loads. Some of them lie above the diagonal, or beyond the working set:
    gram has room for those, and `finish_gram` overwrites them.
    """
    for a in range(0, s, 2):
        for b in range(0, a + 2, 4):
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            u0, u1, u2, u3 = 0.0, 0.0, 0.0, 0.0
            for i in range(size):
                t, u = block[a, i], block[a + 1, i]
                v0, v1, v2, v3 = block[b, i], block[b + 1, i], block[b + 2, i], block[b + 3, i]
                t0 += t * v0
                t1 += t * v1
                t2 += t * v2
                t3 += t * v3
                u0 += u * v0
                u1 += u * v1
                u2 += u * v2
                u3 += u * v3
            row, column = a * n_scores + c, b * n_scores + e
            gram[row, column] += sign * t0
            gram[row, column + n_scores] += sign * t1
            gram[row, column + 2 * n_scores] += sign * t2
            gram[row, column + 3 * n_scores] += sign * t3
            row += n_scores
            gram[row, column] += sign * u0
            gram[row, column + n_scores] += sign * u1
            gram[row, column + 2 * n_scores] += sign * u2
            gram[row, column + 3 * n_scores] += sign * u3


@inlined
def scatter_rows(design, slot, begin, size, root, where, value, sign, n_scores, c, e, gram):
    """Add the products of the columns that each row has: fewer than all, where there are many categories.

    root[i] is the root of the weight of row i; where and value, (1 + m + k,), are scratch; value is one but
    for the numbers. A row's columns are in increasing order, so that the lower triangle is filled; columns
    not in the working set are added to the rows and columns of gram beyond q.
    """
    numbers, places = design.numbers, design.places
    m, k = numbers.shape[1], places.shape[1]
    for j in range(1 + m):
        where[j] = slot[j]
    for i in range(size):
        for j in range(m):
            value[1 + j] = numbers[begin + i, j]
        for f in range(k):
            where[1 + m + f] = slot[places[begin + i, f]]
        for a in range(1 + m + k):
            part = sign * root[i] * root[i] * value[a]
            for b in range(a + 1):
                gram[where[a] * n_scores + c, where[b] * n_scores + e] += part * value[b]


@inlined
def finish_gram(gram, s, n_scores, position, design):
    """Fill the upper triangles, centre the columns, and add a small ridge, in place.

    The second derivatives by centred columns are those by raw columns minus multiples of the intercept's.
    """
    centre = design.centre
    width, q = centre.shape[0], s * n_scores
    for row in range(q):
        for column in range(row // n_scores * n_scores):
            # Between coefficients a > b and scores c >= e; the other three are equal by symmetry.
            c, e = row % n_scores, column % n_scores
            if e <= c:
                entry = gram[row, column]
                gram[column, row] = entry
                gram[row - c + e, column - e + c] = entry
                gram[column - e + c, row - c + e] = entry
        for column in range(row // n_scores * n_scores, row):
            gram[column, row] = gram[row, column]
    for a in range(n_scores, q):
        shift = centre[position[a] % width]
        if shift != 0.0:
            for b in range(q):
                gram[a, b] -= shift * gram[a % n_scores, b]
    for a in range(n_scores, q):
        shift = centre[position[a] % width]
        if shift != 0.0:
            for b in range(q):
                gram[b, a] -= shift * gram[b, a % n_scores]
    for a in range(q):
        diagonal = gram[a, a] * (1.0 + 1e-10)
        gram[a, a] = diagonal if diagonal > 0.0 else 1.0


@inlined
def add_products(design, problem, work, softmax, model):
    """Add X'WX of all rows over the working set to the lower triangle of model.gram."""
    slot, gram, block, s = model.slot, model.gram, model.block, model.state[WIDTH]
    row_weight, probability = problem.row_weight, work.probability
    n = row_weight.shape[0]
    n_scores = 1  # a constant where there is one score
    if softmax is not None:
        n_scores = probability.shape[0] // n
    entries = model.where.shape[0]
    scattered = s * s > 12 * entries * entries
    for pair in range(n_scores * n_scores):
        c, e = pair // n_scores, pair % n_scores
        if e > c:
            continue
        sign = 1.0 if e == c else -1.0
        for begin in range(0, n, CHUNK):
            size = n - begin if n - begin < CHUNK else CHUNK
            for i in range(size):
                p, other = probability[c * n + begin + i], probability[e * n + begin + i]
                other = 1.0 - p if e == c else other
                block[0, i] = math.sqrt(row_weight[begin + i] * p * other)
            if scattered:
                scatter_rows(
                    design, slot, begin, size, block[0], model.where, model.value, sign, n_scores, c, e, gram
                )
            else:
                fill_block(design, slot, begin, size, block, s)
                multiply_block(block, size, s, sign, n_scores, c, e, gram)


@reordered_part
def weighted_gram(design, problem, work, softmax, model):
    """Write the second derivatives of the loss over the working set, of model.state[WIDTH], into model.gram.

    A ridge of 1e-10 of the diagonal keeps duplicated columns from making the matrix singular. It follows the
    curvature alone: where a few saturated rows hold nearly all of a column's squares, a ridge relative to the
    squares would exceed the curvature of the other rows, and Newton steps would be short.
    """
    gram, s = model.gram, model.state[WIDTH]
    n_scores = work.probability.shape[0] // problem.row_weight.shape[0]
    for a in range((s + 1) * n_scores):
        for b in range((s + 4) * n_scores):
            gram[a, b] = 0.0
    add_products(design, problem, work, softmax, model)
    finish_gram(gram, s, n_scores, model.position, design)
    work.passes[0] += 1
