"""Quadratic models with an elastic-net penalty, by coordinate descent and orthant-wise Newton steps.

Minimise over x: ``-g'(x - x0) + (x - x0)' G (x - x0) / 2 + sum_j l1_j |x_j| + l2_j x_j^2 / 2``.

Letters
-------
q : coefficients
G : curvature, (q, q), positive definite
u : g - G (x - x0), minus the gradient of the smooth part of the model at x, (q,)
E : the coefficients that are not zero
K : scores; those of one coefficient stand side by side

With several scores G is singular: shifting a coefficient of all of them together changes only the penalty.
"""

import math

from seminaive.kernels.shrink_compile import inlined, kernel, part, reordered_part

SMALL = 16  # coefficients whose Newton step costs no more than a cycle


@part
def violation(x, u, l1, l2):
    """How far u - l2 x is from the subdifferential of l1 |x|: the optimality residual of one coefficient."""
    if l1 == 0.0:
        return abs(u - l2 * x)
    if x > 0.0:
        return abs(u - l2 * x - l1)
    if x < 0.0:
        return abs(u - l2 * x + l1)
    return max(0.0, abs(u) - l1)


@inlined
def descend(gram, q, u, x, l1, l2, tol):
    """One cycle of exact minimisations of the coefficients whose residual passes its tol; x, u updated.

    Returns how many did.
    """
    moved = 0
    for j in range(q):
        old = x[j]
        if violation(old, u[j], l1[j], l2[j]) <= tol[j]:
            continue
        moved += 1
        z = u[j] + gram[j, j] * old
        new = (z - min(max(z, -l1[j]), l1[j])) / (gram[j, j] + l2[j])
        step = new - old
        x[j] = new
        for b in range(q if step != 0.0 else 0):
            u[b] -= step * gram[j, b]
    return moved


@reordered_part
def solve_part(gram, l2, part, size, right, factor):
    """Solve (G + l2) t = right over the first ``size`` coefficients in part, by Cholesky; t replaces right.

    factor (q, q) is scratch. A pivot is at least 1e-13 of its diagonal
    entry, so that copies of a column do no harm.
    """
    for a in range(size):
        j = part[a]
        total = gram[j, j] + l2[j]
        floor = 1e-13 * total
        for b in range(a):
            entry = gram[j, part[b]]
            for t in range(b):
                entry -= factor[a, t] * factor[b, t]
            entry /= factor[b, b]
            factor[a, b] = entry
            total -= entry * entry
        factor[a, a] = math.sqrt(max(total, floor))
        entry = right[a]
        for t in range(a):
            entry -= factor[a, t] * right[t]
        right[a] = entry / factor[a, a]
    for a in range(size - 1, -1, -1):
        last = right[a] / factor[a, a]
        right[a] = last
        for t in range(a):
            right[t] -= factor[a, t] * last


@inlined
def newton_in_orthant(gram, q, u, x, l1, l2, active, e, step, factor):
    """Newton step on E with the signs held, cut where the first sign would change; x, u updated.

    active (q,) starts with the e coefficients of E; step (q,) and factor (q, q) are scratch. Along the step
    the model is a convex quadratic, so the step never increases it. Returns whether the whole step was taken.
    """
    for a in range(e):
        j = active[a]
        sign = 1.0 if x[j] > 0.0 else (-1.0 if x[j] < 0.0 else 0.0)
        step[a] = u[j] - l2[j] * x[j] - sign * l1[j]
    solve_part(gram, l2, active, e, step, factor)
    length = 1.0
    crossing = -1
    for a in range(e):
        j = active[a]
        if l1[j] > 0.0 and x[j] * (x[j] + step[a]) < 0.0 and -x[j] / step[a] < length:
            length = -x[j] / step[a]
            crossing = a
    for a in range(e):
        j = active[a]
        move = length * step[a] if a != crossing else -x[j]
        x[j] = x[j] + move if a != crossing else 0.0
        for b in range(q if move != 0.0 else 0):
            u[b] -= move * gram[j, b]
    return crossing < 0


@part
def pull(x, l1, first, n_scores, centre):
    """L1 penalty of one coefficient above ``centre`` less that below it, and that at it."""
    excess = 0.0
    at = 0.0
    for b in range(first, first + n_scores):
        if x[b] > centre:
            excess += l1[b]
        elif x[b] < centre:
            excess -= l1[b]
        else:
            at += l1[b]
    return excess, at


@inlined
def centre_scores(gram, q, u, x, l1, l2, n_scores):
    """Shift each coefficient, all scores together, to where its L1 penalty is least; x, u updated.

    That is where the median of the scores, weighted by l1, is zero. Coordinate descent crawls along these
    shifts, and Newton steps follow them to the first change of a sign. An L2 penalty makes shifts harmless.
    """
    for first in range(0, q, n_scores):
        excess, at = pull(x, l1, first, n_scores, 0.0)
        centred = abs(excess) <= at
        for b in range(first, first + n_scores):
            centred = centred or l2[b] > 0.0
        if centred:
            continue
        shift = 0.0
        for b in range(first, first + n_scores):
            excess, at = pull(x, l1, first, n_scores, x[b])
            if abs(excess) <= at:
                shift = x[b]
                break
        for j in range(first, first + n_scores):
            x[j] -= shift
            for b in range(q):
                u[b] += shift * gram[j, b]


@part
def find_active(x, q, l1, active):
    """Fill active with E, and return its size."""
    e = 0
    for j in range(q):
        if x[j] != 0.0 or l1[j] == 0.0:
            active[e] = j
            e += 1
    return e


@kernel
def minimise_quadratic(gram, q, u, x, l1, l2, tol, max_cycles, active, step, factor, n_scores=1):
    """Minimise the model from x until every residual is at most its tol; x and u are updated in place.

    Arrays are (q,) and (q, q) or larger; active (int64), step and factor are scratch.

    Coordinate descent finds the signs; Newton steps, each worth about |E| / 6 cycles, finish the job
    however ill-conditioned the columns are; few coefficients take one in every cycle. A step that is cut is
    followed by another, more often with many scores: cycles there bring back what the steps have set to zero.
    Returns the number of cycles.
    """
    since_newton = 0
    crossings = 5 + (q // 20 if n_scores > 1 else 0)
    for cycle in range(max_cycles):
        if descend(gram, q, u, x, l1, l2, tol) == 0:
            return cycle + 1
        if n_scores > 1:
            centre_scores(gram, q, u, x, l1, l2, n_scores)
        since_newton += 1
        affordable = max(SMALL, 6 * since_newton)
        for _ in range(crossings):
            e = find_active(x, q, l1, active)
            if e == 0 or e > affordable:
                break
            since_newton = 0
            if newton_in_orthant(gram, q, u, x, l1, l2, active, e, step, factor):
                break
    return max_cycles
