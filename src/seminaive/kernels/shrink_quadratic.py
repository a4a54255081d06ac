"""Quadratic models with an elastic-net penalty, by coordinate descent and orthant-wise Newton steps.

Minimise over x: ``-g'(x - x0) + (x - x0)' G (x - x0) / 2 + sum_j l1_j |x_j| + l2_j x_j^2 / 2``.

Letters
-------
q : coefficients
G : curvature, (q, q), positive definite
u : g - G (x - x0), minus the gradient of the smooth part of the model at x, (q,)
E : the coefficients that are not zero
"""

import math

import numpy as np
from numba import njit

SMALL = 16  # coefficients whose Newton step costs no more than a cycle


@njit(cache=True, nogil=True)
def violation(x, u, l1, l2):
    """How far u - l2 x is from the subdifferential of l1 |x|: the optimality residual of one coefficient."""
    if l1 == 0.0:
        return abs(u - l2 * x)
    if x > 0.0:
        return abs(u - l2 * x - l1)
    if x < 0.0:
        return abs(u - l2 * x + l1)
    return max(0.0, abs(u) - l1)


@njit(cache=True, nogil=True)
def descend(gram, u, x, l1, l2, tol):
    """One cycle of exact minimisations of the coefficients whose residual passes its tol; x, u updated.

    Returns the worst residual met, 0 when none passes tol (q,).
    """
    q = x.shape[0]
    worst = 0.0
    for j in range(q):
        old = x[j]
        residual = violation(old, u[j], l1[j], l2[j])
        if residual <= tol[j]:
            continue
        worst = max(worst, residual)
        z = u[j] + gram[j, j] * old
        if z > l1[j]:
            new = (z - l1[j]) / (gram[j, j] + l2[j])
        elif z < -l1[j]:
            new = (z + l1[j]) / (gram[j, j] + l2[j])
        else:
            new = 0.0
        step = new - old
        if step != 0.0:
            x[j] = new
            row = gram[j]
            for b in range(q):
                u[b] -= step * row[b]
    return worst


@njit(cache=True, nogil=True)
def newton_in_orthant(gram, u, x, l1, l2, factor):
    """Newton step over E with the signs held, cut where the first sign would change; x, u updated.

    factor (q, q) is scratch for the Cholesky factor. Along the step the model is a convex quadratic, so
    the step never increases it. Returns whether the whole step was taken.
    """
    q = x.shape[0]
    active = np.empty(q, dtype=np.int64)
    e = 0
    for j in range(q):
        if x[j] != 0.0 or l1[j] == 0.0:
            active[e] = j
            e += 1
    step = np.empty(e)
    for a in range(e):
        j = active[a]
        row = factor[a]
        for b in range(a):
            row[b] = gram[j, active[b]]
        total = gram[j, j] + l2[j]
        floor = 1e-13 * total
        for b in range(a):
            other = factor[b]
            part = row[b]
            for t in range(b):
                part -= row[t] * other[t]
            part /= other[b]
            row[b] = part
            total -= part * part
        row[a] = math.sqrt(max(total, floor))
    for a in range(e):
        j = active[a]
        right = u[j] - l2[j] * x[j]
        if x[j] > 0.0:
            right -= l1[j]
        elif x[j] < 0.0:
            right += l1[j]
        row = factor[a]
        for t in range(a):
            right -= row[t] * step[t]
        step[a] = right / row[a]
    for a in range(e - 1, -1, -1):
        step[a] /= factor[a, a]
        for t in range(a):
            step[t] -= factor[a, t] * step[a]
    length = 1.0
    crossing = -1
    for a in range(e):
        j = active[a]
        if l1[j] > 0.0 and x[j] * (x[j] + step[a]) < 0.0:
            reach = -x[j] / step[a]
            if reach < length:
                length = reach
                crossing = a
    for a in range(e):
        j = active[a]
        move = length * step[a]
        if a == crossing:
            move = -x[j]
            x[j] = 0.0
        else:
            x[j] += move
        if move != 0.0:
            row = gram[j]
            for b in range(q):
                u[b] -= move * row[b]
    return crossing < 0


@njit(cache=True, nogil=True)
def minimise_quadratic(gram, u, x, l1, l2, tol, max_cycles, factor):
    """Minimise the model from x until every residual is at most its tol (q,); x and u are updated in place.

    Coordinate descent finds the signs; Newton steps, each worth about |E| / 6 cycles, finish the job
    however ill-conditioned the columns are; few coefficients take one in every cycle.
    Returns the number of cycles.
    """
    q = x.shape[0]
    since_newton = 0
    for cycle in range(max_cycles):
        if descend(gram, u, x, l1, l2, tol) == 0.0:
            return cycle + 1
        since_newton += 1
        e = 0
        for j in range(q):
            if x[j] != 0.0 or l1[j] == 0.0:
                e += 1
        if e > 0 and (e <= SMALL or 6 * since_newton >= e):
            since_newton = 0
            for _ in range(5):
                if newton_in_orthant(gram, u, x, l1, l2, factor):
                    break
    return max_cycles
