"""Multinomial group lasso on category codes: passes over distinct rows, and descent over groups.

Legend: u distinct row, j column, l level (a cell of the stacked levels of all columns), k label, m direction
of the label space, b block, g group (the levels of one column), n weight, p probability, e eigenvalue, c
penalty; U rows, q columns, P cells, K labels, M directions, A active cells or coordinates, B blocks of the
Hessian.
"""

import numpy as np

from seminaive.kernels.compilation import njit
from seminaive.kernels.compile_options import BARE, kernel, part
from seminaive.kernels.compiled_log_loss import exponentiate, largest
from seminaive.kernels.elementary import logarithm

# Newton steps for the norm of a block; each doubles the exact digits.
MOST_STEPS = 60
# Eigenvalues below this share of the largest are the rounding of a zero: a constant over the levels.
ROUNDING = 1e-11
# Relative precision of the norm of a block.
PRECISION = 1e-15


@part
def fill_scores(cells, table, intercept, u, p):
    """Fill p (K,) with the scores of row u."""
    for k in range(p.shape[0]):
        p[k] = intercept[k]
    for j in range(cells.shape[1]):
        l = cells[u, j]
        for k in range(p.shape[0]):
            p[k] += table[l, k]


@part
def fill_probabilities(cells, table, intercept, u, p):
    """Fill p (K,) with the probabilities of row u."""
    fill_scores(cells, table, intercept, u, p)
    total = exponentiate(p, largest(p))
    for k in range(p.shape[0]):
        p[k] /= total


@njit(**BARE, fastmath={"contract"})
def log_loss_gradient(cells, counts, table, intercept, gradient, at_intercept, p):
    """Return the log loss of label counts, and add its derivatives to gradient (P, K), at_intercept (K,).

    cells (U, q) int32, counts (U, K), table (P, K), intercept (K,); p (K,) is overwritten, here and below.
    """
    n_labels = counts.shape[1]
    loss = 0.0
    for u in range(cells.shape[0]):
        fill_scores(cells, table, intercept, u, p)
        highest = largest(p)
        n = 0.0
        for k in range(n_labels):
            n += counts[u, k]
            loss += counts[u, k] * (highest - p[k])
        total = exponentiate(p, highest)
        loss += n * logarithm(total)
        share = n / total
        for k in range(n_labels):
            p[k] = p[k] * share - counts[u, k]
            at_intercept[k] += p[k]
        for j in range(cells.shape[1]):
            l = cells[u, j]
            for k in range(n_labels):
                gradient[l, k] += p[k]
    return loss


@kernel
def negative_entropy(cells, counts, table, intercept, scale, p):
    """Return the sum of n q log q, the conjugate of the log loss at its derivative times scale.

    q = (1 - scale) counts / n + scale p; shapes as in `log_loss_gradient`.
    """
    n_labels = counts.shape[1]
    total = 0.0
    for u in range(cells.shape[0]):
        fill_probabilities(cells, table, intercept, u, p)
        n = 0.0
        for k in range(n_labels):
            n += counts[u, k]
        for k in range(n_labels):
            q = (1.0 - scale) * counts[u, k] / n + scale * p[k]
            if q > 0:
                total += n * q * np.log(q)
    return total


@kernel
def row_curvature(cells, counts, table, intercept, basis, width, p, weights):
    """Fill weights (M, width, U) with the second derivatives of each row's log loss along two directions.

    They are ``n (sum_k p_k b_km b_ko - sum_k p_k b_km sum_k p_k b_ko)``. Directions come in blocks of width;
    o is one in the block of m, and those up to m are filled. cells (U, q) int32 of the active columns alone;
    table (A, K); basis (K, M).
    """
    n_labels = counts.shape[1]
    for u in range(cells.shape[0]):
        fill_probabilities(cells, table, intercept, u, p)
        n = 0.0
        for k in range(n_labels):
            n += counts[u, k]
        for m in range(basis.shape[1]):
            first = m - m % width
            for o in range(first, m + 1):
                mean = 0.0
                other = 0.0
                product = 0.0
                for k in range(n_labels):
                    mean += p[k] * basis[k, m]
                    other += p[k] * basis[k, o]
                    product += p[k] * basis[k, m] * basis[k, o]
                weights[m, o - first, u] = n * (product - mean * other)


@kernel
def solve_block(e, r, penalty, z):
    """Fill z (B, L) with the minimum of sum e z^2 / 2 - r z + penalty |z|; return whether z is not 0.

    e (B, L) eigenvalues, r (B, L). Where z is not 0, its norm t solves sum (r / (e t + penalty))^2 = 1; the
    inverse root of that sum is concave in t, so that Newton's method from 0 rises to the solution.
    """
    n_blocks, n_levels = r.shape
    size = 0.0
    for b in range(n_blocks):
        highest = 0.0
        for l in range(n_levels):
            highest = e[b, l] if e[b, l] > highest else highest
        for l in range(n_levels):
            if e[b, l] <= ROUNDING * highest:
                r[b, l] = 0.0
            size += r[b, l] ** 2
            z[b, l] = 0.0
    if np.sqrt(size) <= penalty:
        return False
    t = 0.0
    for _ in range(MOST_STEPS):
        total = 0.0
        slope = 0.0
        for b in range(n_blocks):
            for l in range(n_levels):
                if r[b, l] != 0.0:
                    below = e[b, l] * t + penalty
                    share = (r[b, l] / below) ** 2
                    total += share
                    slope += share * e[b, l] / below
        # h(t) = total^(-1/2) - 1 has the derivative total^(-3/2) slope.
        step = (np.sqrt(total) - 1.0) * total / slope
        t += step
        if step <= PRECISION * t:
            break
    for b in range(n_blocks):
        for l in range(n_levels):
            if r[b, l] != 0.0:
                z[b, l] = r[b, l] * t / (e[b, l] * t + penalty)
    return True


@kernel
def descend(
    gram,
    slopes,
    starts,
    eigenvalues,
    eigenvectors,
    places,
    penalties,
    tol,
    max_sweeps,
    turned,
    solved,
    z,
):
    """Minimise sum <slopes, y - z> + (y - z)'gram (y - z) / 2 + penalties |y_g| over y by groups, from y = z.

    gram (B, A, A); slopes and z (B, A), both overwritten: z by the solution, slopes by the derivatives there;
    starts (G + 1,) int64 where the coordinates of each group begin; eigenvalues (B, A); eigenvectors of each
    group's diagonal block, L x L one after the other in (B, V), from places (G + 1,) int64 on; penalties
    (G,); turned (B, L) and solved (B + 1, L), for the widest group, are overwritten. A group's norm runs over
    all blocks. Stops when a sweep lowers the objective by less than tol times what the first one did. Returns
    the number of sweeps.
    """
    n_blocks = z.shape[0]
    first = 0.0
    for sweep in range(max_sweeps):
        decrease = 0.0
        for g in range(penalties.shape[0]):
            low = starts[g]
            width = starts[g + 1] - low
            r = turned[:, :width]
            new = solved[:n_blocks, :width]
            change = solved[n_blocks]
            e = eigenvalues[:, low : low + width]
            for b in range(n_blocks):
                vectors = eigenvectors[b, places[g] : places[g + 1]]
                for v in range(width):
                    value = 0.0
                    old = 0.0
                    for l in range(width):
                        value -= vectors[l * width + v] * slopes[b, low + l]
                        old += vectors[l * width + v] * z[b, low + l]
                    r[b, v] = value + e[b, v] * old
            solve_block(e, r, penalties[g], new)
            for b in range(n_blocks):
                vectors = eigenvectors[b, places[g] : places[g + 1]]
                for l in range(width):
                    value = 0.0
                    for v in range(width):
                        value += vectors[l * width + v] * new[b, v]
                    change[l] = value - z[b, low + l]
                    z[b, low + l] = value
                for l in range(width):
                    if change[l] == 0.0:
                        continue
                    row = gram[b, low + l]
                    decrease += 0.5 * row[low + l] * change[l] ** 2
                    for other in range(row.shape[0]):
                        slopes[b, other] += row[other] * change[l]
        first = decrease if sweep == 0 else first
        if decrease <= tol * first:
            return sweep + 1
    return max_sweeps
