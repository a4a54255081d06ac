"""Whole paths of penalised logistic and softmax models in one call.

The unknown is the deviation from the target, x = coefficients - target; the target's own scores are part
of the offset, so the penalty is an ordinary one: strength * factor * (share |x| + (1 - share) x^2 / 2).

Letters
-------
n, d, K, s, q, g : as in ``shrink_design``; x is (d + 1, K), its last row the empty slot
share            : part of the penalty that is L1
l1, l2           : strength * factor * share, strength * square_factor * (1 - share), (d, K)
residual         : worst optimality violation; gap: primal minus dual objective
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from seminaive.kernels.shrink_design import column_squares, curvature, evaluate
from seminaive.kernels.shrink_quadratic import minimise_quadratic, violation

CONVERGED, STALLED, OUT_OF_STEPS, TOO_WIDE, NOT_REACHED = 0, 1, 2, 3, 4
MAX_CYCLES = 500  # coordinate cycles inside one quadratic model
NOISE = 4e-16  # relative rounding of an objective, times the square root of its number of terms


class Problem(NamedTuple):
    """Rows and penalty of one path.

    offset (n, K) float64, label (n,) int64, row_weight (n,) float64; factor and square_factor (d, K) float64
    multiply the L1 and the L2 part (0 in both leaves a coefficient free); share in [0, 1].
    """

    offset: np.ndarray
    label: np.ndarray
    row_weight: np.ndarray
    factor: np.ndarray
    square_factor: np.ndarray
    share: float


class Rules(NamedTuple):
    """When to stop.

    gap_tol is relative to the loss at the target, residual_tol to the largest derivative there; max_steps
    bounds the Newton steps per strength; explained is the share of the null deviance at which the path ends;
    separated_ratio is the part of strength_max below which the path ends once the classes are
    separated; gram_limit is the largest q for which second derivatives are kept.
    """

    gap_tol: float
    residual_tol: float
    max_steps: int
    explained: float
    separated_ratio: float
    gram_limit: int


class Path(NamedTuple):
    """One entry per strength: deviations (S, d, K), the rest (S,); then the scales.

    steepest is the largest derivative at the target (after fitting what is free), per unit of factor:
    for a pure L1 penalty it is strength_max. start_loss is the loss at the target.
    """

    strengths: np.ndarray
    deviations: np.ndarray
    losses: np.ndarray
    gaps: np.ndarray
    residuals: np.ndarray
    passes: np.ndarray
    statuses: np.ndarray
    strength_max: float
    steepest: float
    start_loss: float


@njit(cache=True, nogil=True)
def penalty_of(x, l1, l2):
    """Penalty of the deviations x (d + 1, K)."""
    total = 0.0
    d, n_scores = l1.shape
    for j in range(d):
        for c in range(n_scores):
            total += l1[j, c] * abs(x[j, c]) + 0.5 * l2[j, c] * x[j, c] * x[j, c]
    return total


@njit(cache=True, nogil=True)
def worst_violation(x, g, l1, l2, farthest):
    """Largest optimality violation over all coefficients.

    ``farthest`` is the largest centre of a column: where the intercept is free, centring is only a
    device, and what is left of the intercept's derivative counts that much in the raw columns.
    """
    worst = 0.0
    hidden = 0.0
    d, n_scores = l1.shape
    for c in range(n_scores):
        if l1[0, c] == 0.0 and l2[0, c] == 0.0:
            hidden = max(hidden, farthest * abs(g[0, c]))
    for j in range(d):
        for c in range(n_scores):
            worst = max(worst, violation(x[j, c], g[j, c], l1[j, c], l2[j, c]))
    return worst + hidden


@njit(cache=True, nogil=True)
def duality_gap(x, g, l1, l2, odds, free_gap):
    """Upper bound of primal minus dual objective at the dual point t (y - p), t <= 1.

    At t = 1 the gap is sum(penalty + conjugate - x g). Pure L1 coefficients need |t g| <= l1; their t
    is scaled down, and the dual's change is bounded by its tangent and its curvature, odds / t.
    ``free_gap`` stands for the unpenalised coefficients: half their squared Newton decrement.
    """
    d, n_scores = l1.shape
    scale = 1.0
    for j in range(d):
        for c in range(n_scores):
            if l1[j, c] > 0.0 and l2[j, c] == 0.0 and abs(g[j, c]) > l1[j, c]:
                scale = min(scale, l1[j, c] / abs(g[j, c]))
    gap = 0.0
    correlation = 0.0
    for j in range(d):
        for c in range(n_scores):
            a, b = l1[j, c], l2[j, c]
            if a == 0.0 and b == 0.0:
                continue
            value, slope = x[j, c], g[j, c]
            if b > 0.0:
                excess = max(0.0, abs(scale * slope) - a)
                gap += excess * excess / (2.0 * b)
            gap += a * abs(value) + 0.5 * b * value * value - value * slope
            correlation += value * slope
    rest = 1.0 - scale
    return gap + rest * correlation + 0.5 * rest * rest / scale * odds + free_gap


@njit(cache=True, nogil=True)
def gap_limit_of(gap_tol, strength, share):
    """Relative gap at which to stop.

    The bound of a pure L1 penalty shrinks like the residual; with an L2 part it shrinks like the
    residual's square, and without any penalty it is a Newton decrement: there more is asked of it.
    """
    if strength == 0.0:
        return 1e-9 * gap_tol
    return gap_tol if share == 1.0 else 1e-3 * gap_tol


@njit(cache=True, nogil=True)
def choose_rows(x, g, factor, share, strength, previous, everything):
    """Working set by the strong rule: a boolean (d,), the intercept always included."""
    d, n_scores = factor.shape
    chosen = np.zeros(d, dtype=np.bool_)
    for j in range(d):
        if everything or j == 0:
            chosen[j] = True
            continue
        for c in range(n_scores):
            limit = share * factor[j, c] * (2.0 * strength - previous)
            if factor[j, c] == 0.0 or x[j, c] != 0.0 or abs(g[j, c]) >= limit:
                chosen[j] = True
    return chosen


@njit(cache=True, nogil=True)
def free_decrement(gram, g, l1, l2, rows, gap_g):
    """Remove from gap_g what a Newton step on the free coefficients will remove; return half its decrement.

    gap_g (d + 1, K) starts as a copy of g. With F the free coefficients, G_FF t = g_F and the dual
    residual loses G_F t, which makes it feasible for them to first order.
    """
    s, n_scores = rows.shape[0], g.shape[1]
    free = np.empty(s * n_scores, dtype=np.int64)
    f = 0
    for a in range(s):
        for c in range(n_scores):
            if l1[rows[a], c] == 0.0 and l2[rows[a], c] == 0.0:
                free[f] = a * n_scores + c
                f += 1
    if f == 0:
        return 0.0
    small = np.empty((f, f))
    right = np.empty(f)
    for a in range(f):
        for b in range(f):
            small[a, b] = gram[free[a], free[b]]
        small[a, a] *= 1.0 + 1e-12
        right[a] = g[rows[free[a] // n_scores], free[a] % n_scores]
    step = np.linalg.solve(small, right)
    for a in range(f):
        for b in range(s * n_scores):
            gap_g[rows[b // n_scores], b % n_scores] -= step[a] * gram[free[a], b]
    return 0.5 * np.dot(step, right)


@njit(cache=True, nogil=True)
def set_penalty(strength, factor, square_factor, share, l1, l2):
    """Fill l1 and l2 for a strength."""
    d, n_scores = factor.shape
    for j in range(d):
        for c in range(n_scores):
            l1[j, c] = strength * factor[j, c] * share
            l2[j, c] = strength * square_factor[j, c] * (1.0 - share)


@njit(cache=True, nogil=True)
def largest_strength(g, factor, share):
    """Return the strength from which on nothing penalised leaves its target; pure L2 counts as share 1e-3."""
    largest = 0.0
    d, n_scores = factor.shape
    for j in range(d):
        for c in range(n_scores):
            if factor[j, c] > 0.0:
                largest = max(largest, abs(g[j, c]) / (factor[j, c] * max(share, 1e-3)))
    return largest


@njit(cache=True, nogil=True)
def solve_path(design, problem, rules, given, n_strengths, ratio, null_loss):
    """Solve for decreasing strengths, each from the one before.

    given (S,) are the strengths; empty, n_strengths of them are laid from strength_max to ratio times
    it. Second derivatives are kept from step to step, and along the path, while they still contract the
    residual faster than computing them anew would.
    """
    n, n_scores = problem.offset.shape
    d = design.centre.shape[0]
    factor, share = problem.factor, problem.share
    squares = column_squares(design, problem.row_weight)
    x = np.zeros((d + 1, n_scores))
    trial = np.zeros((d + 1, n_scores))
    g = np.zeros((d + 1, n_scores))
    trial_g = np.zeros((d + 1, n_scores))
    gap_g = np.zeros((d + 1, n_scores))
    probability = np.empty((n, n_scores))
    l1 = np.zeros((d, n_scores))
    l2 = np.zeros((d, n_scores))
    slot = np.empty(d + 1, dtype=np.int64)
    gram = np.zeros((0, 0))
    scratch = np.zeros((0, 0))
    rows = np.zeros(0, dtype=np.int64)
    farthest = np.abs(design.centre).max()
    any_free = False
    for j in range(d):
        for c in range(n_scores):
            any_free = any_free or factor[j, c] == 0.0

    loss, odds, margin = evaluate(
        design, problem.offset, problem.label, problem.row_weight, x, probability, g
    )
    n_passes = 1
    start_loss = loss
    scale_loss = max(loss, 1e-300)
    strength_max = largest_strength(g, factor, share)
    steepest = largest_strength(g, factor, 1.0)
    count = given.shape[0] if given.shape[0] > 0 else n_strengths
    strengths = np.zeros(count)
    strengths[: given.shape[0]] = given
    deviations = np.zeros((count, d, n_scores))
    losses = np.full(count, np.nan)
    gaps = np.full(count, np.nan)
    residuals = np.full(count, np.nan)
    passes = np.zeros(count, dtype=np.int64)
    statuses = np.full(count, NOT_REACHED, dtype=np.int64)

    # An evaluation reads the design twice, a curvature costs about s * K / 8 of that.
    everything = share == 0.0 or d * n_scores <= min(rules.gram_limit, 400)
    previous = np.inf
    stale = True
    first = -1 if any_free else 0
    for index in range(first, count):
        if index == 0 and given.shape[0] == 0:
            strength_max = largest_strength(g, factor, share)
            for t in range(count):
                strengths[t] = strength_max * ratio ** (t / max(1, count - 1))
        if index == 0:
            strength_max = largest_strength(g, factor, share)
            steepest = largest_strength(g, factor, 1.0)
            previous = max(strength_max, strengths[0])
        chosen = np.zeros(d, dtype=np.bool_)
        if index < 0:
            # The null fit: only the free coefficients move.
            strength = strength_max if strength_max > 0.0 else 1.0
            for j in range(d):
                for c in range(n_scores):
                    l1[j, c] = 0.0 if factor[j, c] == 0.0 else np.inf
                    l2[j, c] = 0.0
                    chosen[j] = chosen[j] or factor[j, c] == 0.0
            chosen[0] = True
        else:
            strength = strengths[index]
            set_penalty(strength, factor, problem.square_factor, share, l1, l2)
            chosen = choose_rows(x, g, factor, share, strength, previous, everything)
        residual_limit = rules.residual_tol * steepest
        gap_limit = gap_limit_of(rules.gap_tol, strength, share) * scale_loss
        objective = loss + (penalty_of(x, l1, l2) if index >= 0 else 0.0)
        status = OUT_OF_STEPS
        gap = np.inf
        residual = np.inf
        cost_of_gram = 1.0
        for step in range(rules.max_steps + 1):
            residual = worst_violation(x, g, l1, l2, farthest)
            by_decrement = any_free or strength == 0.0
            if not by_decrement:
                gap = duality_gap(x, g, l1, l2, odds, 0.0)
            if residual <= residual_limit and gap <= gap_limit and not by_decrement:
                status = CONVERGED
                break
            if step == rules.max_steps:
                break
            for j in range(d):
                if not chosen[j]:
                    for c in range(n_scores):
                        if abs(g[j, c]) > l1[j, c]:
                            chosen[j] = True
            wanted = 0
            known = True
            for j in range(d):
                if chosen[j]:
                    wanted += 1
                    known = known and slot[j] < rows.shape[0]
            if wanted * n_scores > rules.gram_limit:
                status = TOO_WIDE
                break
            if stale or not known or rows.shape[0] == 0 or rows.shape[0] > 2 * wanted + 50:
                rows = np.empty(wanted, dtype=np.int64)
                wanted = 0
                slot[:] = rows.shape[0]
                for j in range(d):
                    if chosen[j]:
                        rows[wanted] = j
                        slot[j] = wanted
                        wanted += 1
                gram = curvature(design, problem.row_weight, probability, rows, slot, squares)
                n_passes += 1
                if scratch.shape[0] < gram.shape[0]:
                    scratch = np.empty(gram.shape)
                age = 0
                stale = False
            else:
                age = 1
            if by_decrement and residual <= residual_limit:
                gap_g[:] = g
                gap = free_decrement(gram, g, l1, l2, rows, gap_g)
                if index >= 0:
                    gap = duality_gap(x, gap_g, l1, l2, odds, gap)
                # Without a penalty no objective is below zero, so the loss itself is a gap.
                if gap <= gap_limit or (strength == 0.0 and loss <= 1e-3 * rules.gap_tol * scale_loss):
                    gap = min(gap, loss)
                    status = CONVERGED
                    break
            s = rows.shape[0]
            q = s * n_scores
            cost_of_gram = 0.5 + q / 16.0
            part = np.empty(q)
            u = np.empty(q)
            part_l1 = np.empty(q)
            part_l2 = np.empty(q)
            for a in range(s):
                for c in range(n_scores):
                    part[a * n_scores + c] = x[rows[a], c]
                    u[a * n_scores + c] = g[rows[a], c]
                    part_l1[a * n_scores + c] = l1[rows[a], c]
                    part_l2[a * n_scores + c] = l2[rows[a], c]
            inner_tol = max(0.02 * residual, 0.05 * residual_limit)
            if gap > gap_limit:
                inner_tol = 0.02 * residual
            part_tol = np.full(q, inner_tol)
            if by_decrement:
                # Free coefficients are judged by their decrement: whatever the columns' scales, each
                # derivative counts in units of the square root of its curvature.
                steep = 0.0
                for a in range(q):
                    own = violation(part[a], u[a], part_l1[a], part_l2[a])
                    steep = max(steep, own / np.sqrt(gram[a, a]))
                for a in range(q):
                    part_tol[a] = min(inner_tol, 0.02 * steep * np.sqrt(gram[a, a]))
            minimise_quadratic(gram, u, part, part_l1, part_l2, part_tol, MAX_CYCLES, scratch)
            trial[:] = x
            promise = 0.0
            for a in range(s):
                for c in range(n_scores):
                    j = rows[a]
                    new = part[a * n_scores + c]
                    promise -= g[j, c] * (new - x[j, c])
                    if index >= 0:
                        promise += l1[j, c] * (abs(new) - abs(x[j, c]))
                        promise += 0.5 * l2[j, c] * (new * new - x[j, c] * x[j, c])
                    trial[j, c] = new
            length = 1.0
            noise = NOISE * np.sqrt(n + 100.0) * (abs(objective) + 1.0)
            accepted = False
            while True:
                trial_loss, trial_odds, trial_margin = evaluate(
                    design, problem.offset, problem.label, problem.row_weight, trial, probability, trial_g
                )
                n_passes += 1
                trial_objective = trial_loss + (penalty_of(trial, l1, l2) if index >= 0 else 0.0)
                if trial_objective <= objective + 1e-4 * length * promise + noise:
                    accepted = True
                    break
                if age > 0 or length < 1e-8:
                    break
                length *= 0.5
                for j in range(d):
                    for c in range(n_scores):
                        trial[j, c] = x[j, c] + 0.5 * (trial[j, c] - x[j, c])
            if not accepted:
                loss, odds, margin = evaluate(
                    design, problem.offset, problem.label, problem.row_weight, x, probability, g
                )
                n_passes += 1
                if age > 0:
                    stale = True
                    continue
                status = STALLED
                break
            before = residual
            after = worst_violation(trial, trial_g, l1, l2, farthest)
            settled = age == 0 and after >= 0.9 * before and objective - trial_objective <= noise
            x[:] = trial
            g[:] = trial_g
            loss, odds, margin, objective = trial_loss, trial_odds, trial_margin, trial_objective
            if settled and after <= 10.0 * residual_limit:
                # Rounding is all that is left of the residual.
                residual = after
                status = STALLED
                break
            if length < 1.0 or after >= 0.5 * before:
                stale = True
            elif after > residual_limit:
                contraction = after / before
                remaining = np.log(0.5 * residual_limit / after) / np.log(contraction)
                stale = remaining > 1.5 + cost_of_gram
        if index < 0:
            continue
        if status == TOO_WIDE:
            statuses[index] = TOO_WIDE
            break
        deviations[index] = x[:d]
        losses[index] = loss
        gaps[index] = gap
        residuals[index] = residual
        passes[index] = n_passes
        n_passes = 0
        statuses[index] = status
        previous = strength
        if status == OUT_OF_STEPS or loss <= (1.0 - rules.explained) * null_loss:
            # Smaller strengths are harder still.
            break
        if margin > 0.0 and strength < rules.separated_ratio * strength_max:
            break
    return Path(
        strengths, deviations, losses, gaps, residuals, passes, statuses, strength_max, steepest, start_loss
    )
