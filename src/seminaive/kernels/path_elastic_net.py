"""Quadratic models with an elastic-net penalty: coordinate descent and orthant-wise Newton steps.

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

from seminaive.kernels.compile_options import inlined, part, reordered_part

SMALL = 16  # coefficients whose Newton step costs no more than a cycle
HELD = 1e300  # L1 penalty of a coefficient that must not move
NULL_FIT = -1.0  # stands for a strength at which nothing that is penalised moves


@part
def set_penalty(problem, strength, penalty):
    """Fill the penalty for a strength, or for the null fit."""
    l1_factor, l2_factor, share = problem.l1_factor, problem.l2_factor, problem.l1_share
    l1, l2 = penalty.l1, penalty.l2
    for a in range(l1.shape[0]):
        l1[a] = strength * l1_factor[a] * share
        l2[a] = strength * l2_factor[a] * (1.0 - share)
        if strength == NULL_FIT:
            l1[a] = HELD if l1_factor[a] > 0.0 else 0.0
            l2[a] = 0.0


@part
def violation(x, u, l1, l2):
    """How far u - l2 x is from the subdifferential of l1 |x|: the optimality residual of one coefficient."""
    if l1 == 0.0:
        return abs(u - l2 * x)
    if x > 0.0:
        return abs(u - l2 * x - l1)
    if x < 0.0:
        return abs(u - l2 * x + l1)
    excess = abs(u) - l1
    return excess if excess > 0.0 else 0.0


@inlined
def soft_threshold(z, l1, curvature):
    """Minimiser of curvature x^2 / 2 - z x + l1 |x|, the proximal step of the L1 norm."""
    return ((z - l1 if z > l1 else 0.0) if z > 0.0 else (z + l1 if z < -l1 else 0.0)) / curvature


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
        new = soft_threshold(u[j] + gram[j, j] * old, l1[j], gram[j, j] + l2[j])
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
        factor[a, a] = math.sqrt(total if total > floor else floor)
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
def balance(x, l1, first, n_scores, level):
    """Return the L1 weight of one coefficient's scores above a level less that below it, and that at it."""
    excess = 0.0
    at = 0.0
    for b in range(first, first + n_scores):
        if x[b] > level:
            excess += l1[b]
        elif x[b] < level:
            excess -= l1[b]
        else:
            at += l1[b]
    return excess, at


@part
def centre_scores(gram, q, u, x, l1, l2, n_scores):
    """Shift the scores of each coefficient so that their median, weighted by l1, is zero; x, u updated.

    The softmax does not change under such a shift, and the L1 norm is least where the weighted median is
    zero. Coordinate descent moves slowly in these directions, where the Gram matrix is singular, and a Newton
    step stops at the first change of a sign. With an L2 penalty the problem has no such directions.
    """
    for first in range(0, q, n_scores):
        excess, at = balance(x, l1, first, n_scores, 0.0)
        centred = abs(excess) <= at
        for b in range(first, first + n_scores):
            centred = centred or l2[b] > 0.0
        if centred:
            continue
        shift = 0.0
        for b in range(first, first + n_scores):
            excess, at = balance(x, l1, first, n_scores, x[b])
            if abs(excess) <= at:
                shift = x[b]
                break
        for j in range(first, first + n_scores):
            x[j] -= shift
            for b in range(q):
                u[b] += shift * gram[j, b]


@part
def minimise_quadratic(gram, q, u, x, l1, l2, tol, max_cycles, active, step, factor, n_scores, softmax):
    """Minimise the model from x until every residual is at most its tol; x and u are updated in place.

    Arrays are (q,) and (q, q) or larger; active (int64), step and factor are scratch; softmax is None where
    there is one score.

    Coordinate descent finds the signs. A Newton step on E costs about as much as |E| / 6 cycles and is taken
    after as many of them (in every cycle where E is small); it ends the descent however ill-conditioned the
    columns are. A step that is cut is followed by another, more often with many scores: cycles bring back
    what the steps have set to zero. Returns the number of cycles.
    """
    since_newton = 0
    crossings = 5
    if softmax is not None:
        crossings += q // 20
    for cycle in range(max_cycles):
        if descend(gram, q, u, x, l1, l2, tol) == 0:
            return cycle + 1
        if softmax is not None:
            centre_scores(gram, q, u, x, l1, l2, n_scores)
        since_newton += 1
        affordable = 6 * since_newton if 6 * since_newton > SMALL else SMALL
        for _ in range(crossings):
            e = q - q  # typed like q: a literal would compile another solver
            for j in range(q):
                if x[j] != 0.0 or l1[j] == 0.0:
                    active[e] = j
                    e += 1
            if e == 0 or e > affordable:
                break
            since_newton = 0
            if newton_in_orthant(gram, q, u, x, l1, l2, active, e, step, factor):
                break
    return max_cycles
