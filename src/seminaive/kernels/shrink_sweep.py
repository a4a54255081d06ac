"""Paths of models too wide for second derivatives: sweeps over features that update residuals.

A coded feature is one block: its indicators are disjoint, so one pass over the rows gathers the gradient
of all its categories, each is minimised exactly, and a second pass updates the residuals. Memory beyond
the design is a few values per row and score.

Letters
-------
n, m, k, d, K, g, l1, l2 : as in ``shrink_path``
v : curvature of each row's loss in its score, w p (1 - p); twice that for the softmax, whose classes move
    together: diag(p) - p p' is at most 2 diag(p (1 - p))
e : residuals of the quadratic model, w (y - p) - v A (x - x0)
h : curvature of each coefficient
"""

import numpy as np
from numba import njit

from seminaive.kernels.shrink_design import evaluate
from seminaive.kernels.shrink_path import (
    CONVERGED,
    NOISE,
    NOT_REACHED,
    OUT_OF_STEPS,
    STALLED,
    Path,
    duality_gap,
    gap_limit_of,
    penalty_of,
    set_penalty,
    worst_violation,
)
from seminaive.kernels.shrink_quadratic import violation

SWEEPS = 8  # at most, inside one quadratic model


@njit(cache=True, nogil=True)
def threshold(z, l1, curvature):
    """Minimiser of curvature x^2 / 2 - z x + l1 |x|."""
    if z > l1:
        return (z - l1) / curvature
    if z < -l1:
        return (z + l1) / curvature
    return 0.0


@njit(cache=True, nogil=True)
def column_curvatures(design, columns, v, h):
    """Fill h (d + 1,) with the curvature of every centred column under the row curvatures v (n,)."""
    n, k = design.places.shape
    m = columns.shape[0]
    h[:] = 0.0
    total = 0.0
    for i in range(n):
        total += v[i]
    for j in range(m):
        column, middle, part = columns[j], design.centre[1 + j], 0.0
        for i in range(n):
            part += v[i] * (column[i] - middle) ** 2
        h[1 + j] = part
    for i in range(n):
        for f in range(k):
            h[design.places[i, f]] += v[i]
    h[0] = total
    return total


@njit(cache=True, nogil=True)
def sweep_class(design, columns, v, e, h, total, x, l1, l2, live, sums):
    """One exact minimisation of every live feature of one score column; returns the worst residual met.

    x, h, sums (d + 1,), l1, l2 (d,), live (1 + m + k,): intercept, numbers, coded features.
    """
    n, k = design.places.shape
    m = columns.shape[0]
    worst = 0.0
    if live[0]:
        u = 0.0
        for i in range(n):
            u += e[i]
        worst = violation(x[0], u, l1[0], l2[0])
        curvature = max(total, 1e-300)
        new = threshold(u + curvature * x[0], l1[0], curvature + l2[0])
        step = new - x[0]
        if step != 0.0:
            x[0] = new
            for i in range(n):
                e[i] -= v[i] * step
    for j in range(m):
        if not live[1 + j] or h[1 + j] <= 0.0:
            continue
        column, middle, u = columns[j], design.centre[1 + j], 0.0
        for i in range(n):
            u += e[i] * (column[i] - middle)
        worst = max(worst, violation(x[1 + j], u, l1[1 + j], l2[1 + j]))
        new = threshold(u + h[1 + j] * x[1 + j], l1[1 + j], h[1 + j] + l2[1 + j])
        step = new - x[1 + j]
        if step != 0.0:
            x[1 + j] = new
            for i in range(n):
                e[i] -= v[i] * step * (column[i] - middle)
    d = design.centre.shape[0]
    for f in range(k):
        if not live[1 + m + f]:
            continue
        first, last = design.first_place[f], design.first_place[f + 1]
        sums[first:last] = 0.0
        everything = 0.0
        for i in range(n):
            sums[design.places[i, f]] += e[i]
            everything += e[i]
        # With centred indicators the categories meet through two running sums of what has moved.
        moved, moved_curvature = 0.0, 0.0
        for row in range(first, last):
            middle, own = design.centre[row], h[row]
            curvature = own * (1.0 - 2.0 * middle) + middle * middle * total
            u = sums[row] - middle * everything
            u += own * moved + middle * moved_curvature - middle * total * moved
            sums[row] = 0.0
            if curvature <= 0.0:
                continue
            worst = max(worst, violation(x[row], u, l1[row], l2[row]))
            new = threshold(u + curvature * x[row], l1[row], curvature + l2[row])
            step = new - x[row]
            x[row] = new
            sums[row] = step
            moved += middle * step
            moved_curvature += own * step
        sums[d] = 0.0
        for i in range(n):
            e[i] -= v[i] * (sums[design.places[i, f]] - moved)
    return worst


@njit(cache=True, nogil=True)
def mark_live(design, m, x, g, l1, c, live):
    """Mark the features of score column c that hold a deviation or violate optimality."""
    k = design.places.shape[1]
    live[:] = False
    live[0] = True
    for j in range(1 + m):
        live[j] = live[j] or x[j, c] != 0.0 or abs(g[j, c]) > l1[j, c]
    for f in range(k):
        for row in range(design.first_place[f], design.first_place[f + 1]):
            if x[row, c] != 0.0 or abs(g[row, c]) > l1[row, c]:
                live[1 + m + f] = True


@njit(cache=True, nogil=True)
def sweep_path(design, columns, problem, rules, strengths, scales, start, null_loss):
    """Solve for decreasing strengths by sweeps, from the deviations ``start`` (d, K).

    columns (m, n) are the numbers, column by column; scales (3,) are strength_max, steepest and start_loss
    of `Path`.
    """
    strength_max, steepest, start_loss = scales[0], scales[1], scales[2]
    n, n_scores = problem.offset.shape
    d, m = design.centre.shape[0], columns.shape[0]
    factor, share = problem.factor, problem.share
    x = np.zeros((d + 1, n_scores))
    x[:d] = start
    trial = np.zeros((d + 1, n_scores))
    last = np.zeros((d + 1, n_scores))
    model = np.zeros((d + 1, n_scores))
    g = np.zeros((d + 1, n_scores))
    trial_g = np.zeros((d + 1, n_scores))
    probability = np.empty((n, n_scores))
    l1 = np.zeros((d, n_scores))
    l2 = np.zeros((d, n_scores))
    v = np.empty(n)
    e = np.empty(n)
    h = np.empty(d + 1)
    sums = np.zeros(d + 1)
    one_x = np.zeros(d + 1)
    live = np.zeros(1 + m + design.places.shape[1], dtype=np.bool_)
    one_l1 = np.empty(d)
    one_l2 = np.empty(d)
    count = strengths.shape[0]
    deviations = np.zeros((count, d, n_scores))
    losses = np.full(count, np.nan)
    gaps = np.full(count, np.nan)
    residuals = np.full(count, np.nan)
    passes = np.zeros(count, dtype=np.int64)
    statuses = np.full(count, NOT_REACHED, dtype=np.int64)
    loss, odds, margin = evaluate(
        design, problem.offset, problem.label, problem.row_weight, x, probability, g
    )
    n_passes = 1
    farthest = np.abs(design.centre).max()
    bound = 1.0 if n_scores == 1 else 2.0
    for index in range(count):
        strength = strengths[index]
        set_penalty(strength, factor, problem.square_factor, share, l1, l2)
        objective = loss + penalty_of(x, l1, l2)
        residual_limit = rules.residual_tol * steepest
        gap_limit = gap_limit_of(rules.gap_tol, strength, share) * max(start_loss, 1e-300)
        status = OUT_OF_STEPS
        gap = np.inf
        residual = np.inf
        momentum = 1.0
        last[:] = x
        for step in range(rules.max_steps + 1):
            residual = worst_violation(x, g, l1, l2, farthest)
            free_gap = 0.0
            for c in range(n_scores):
                if factor[0, c] == 0.0 or strength == 0.0:
                    curvature = 0.0
                    for i in range(n):
                        curvature += problem.row_weight[i] * probability[i, c] * (1.0 - probability[i, c])
                    free_gap += 0.5 * g[0, c] ** 2 / max(curvature, 1e-300)
            gap = duality_gap(x, g, l1, l2, odds, free_gap)
            if residual <= residual_limit and gap <= gap_limit:
                status = CONVERGED
                break
            if step == rules.max_steps:
                break
            for c in range(n_scores):
                mark_live(design, m, x, g, l1, c, live)
                for i in range(n):
                    p = probability[i, c]
                    v[i] = bound * problem.row_weight[i] * max(p * (1.0 - p), 1e-10)
                    own = 1.0 if (problem.label[i] == (1 if n_scores == 1 else c)) else 0.0
                    e[i] = problem.row_weight[i] * (own - p)
                total = column_curvatures(design, columns, v, h)
                n_passes += 1
                one_x[:] = x[:, c]
                one_l1[:] = l1[:, c]
                one_l2[:] = l2[:, c]
                for _ in range(SWEEPS):
                    met = sweep_class(design, columns, v, e, h, total, one_x, one_l1, one_l2, live, sums)
                    n_passes += 1
                    if met <= max(0.1 * residual, 0.1 * residual_limit):
                        break
                model[:, c] = one_x
            # Nesterov's extrapolation of the models' minima, dropped whenever it does not pay.
            next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            pull = (momentum - 1.0) / next_momentum
            momentum = next_momentum
            if pull > 0.0 and n_scores > 1:
                for j in range(d):
                    for c in range(n_scores):
                        trial[j, c] = model[j, c] + pull * (model[j, c] - last[j, c])
                trial_loss, trial_odds, trial_margin = evaluate(
                    design, problem.offset, problem.label, problem.row_weight, trial, probability, trial_g
                )
                n_passes += 1
                trial_objective = trial_loss + penalty_of(trial, l1, l2)
                if trial_objective < objective:
                    last[:] = model
                    x[:] = trial
                    g[:] = trial_g
                    loss, odds, margin, objective = trial_loss, trial_odds, trial_margin, trial_objective
                    continue
                momentum = 1.0
            last[:] = model
            trial[:] = model
            promise = penalty_of(trial, l1, l2) - penalty_of(x, l1, l2)
            for j in range(d):
                for c in range(n_scores):
                    promise -= g[j, c] * (trial[j, c] - x[j, c])
            noise = NOISE * np.sqrt(n + 100.0) * (abs(objective) + 1.0)
            length = 1.0
            accepted = False
            while length > 1e-8:
                trial_loss, trial_odds, trial_margin = evaluate(
                    design, problem.offset, problem.label, problem.row_weight, trial, probability, trial_g
                )
                n_passes += 1
                trial_objective = trial_loss + penalty_of(trial, l1, l2)
                if trial_objective <= objective + 1e-4 * length * promise + noise:
                    accepted = True
                    break
                length *= 0.5
                for j in range(d):
                    for c in range(n_scores):
                        trial[j, c] = x[j, c] + 0.5 * (trial[j, c] - x[j, c])
            if not accepted:
                status = STALLED
                loss, odds, margin = evaluate(
                    design, problem.offset, problem.label, problem.row_weight, x, probability, g
                )
                break
            x[:] = trial
            g[:] = trial_g
            loss, odds, margin, objective = trial_loss, trial_odds, trial_margin, trial_objective
        deviations[index] = x[:d]
        losses[index] = loss
        gaps[index] = gap
        residuals[index] = residual
        passes[index] = n_passes
        n_passes = 0
        statuses[index] = status
        if status == OUT_OF_STEPS or loss <= (1.0 - rules.explained) * null_loss:
            break
        if margin > 0.0 and strength < rules.separated_ratio * strength_max:
            break
    return Path(
        strengths, deviations, losses, gaps, residuals, passes, statuses, strength_max, steepest, start_loss
    )
