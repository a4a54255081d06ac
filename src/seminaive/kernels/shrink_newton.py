"""Whole paths by Newton steps: a quadratic model of the loss, minimised with the penalty as it is.

Letters
-------
n, D, K, S, x, g : as in ``shrink_problem``; s, q, slot: as in ``shrink_curvature``
"""

import math
from typing import NamedTuple

import numpy as np

from seminaive.kernels.shrink_compile import inlined, kernel, part
from seminaive.kernels.shrink_curvature import curvature
from seminaive.kernels.shrink_path import (
    NULL_FIT,
    SHORTEST,
    accept,
    gap_limit_of,
    judge,
    measure_scales,
    record,
    residual_limit_of,
    rounding_of,
    search_line,
    set_penalty,
)
from seminaive.kernels.shrink_problem import (
    CONVERGED,
    GAP,
    LOSS,
    OBJECTIVE,
    OUT_OF_STEPS,
    RESIDUAL,
    STALE,
    STALLED,
    START_LOSS,
    STRENGTH_MAX,
    TOO_WIDE,
    WIDTH,
)
from seminaive.kernels.shrink_quadratic import minimise_quadratic, solve_part, violation
from seminaive.kernels.shrink_rows import evaluate

MAX_CYCLES = 500  # coordinate cycles inside one quadratic model
ALWAYS_WHOLE = 400  # coefficients up to which the working set is all of them


class Goal(NamedTuple):
    """When one strength is solved: at this residual and gap; without a penalty, also at this loss.

    No loss is below zero, so the loss itself is a gap then. Free coefficients have no dual bound and are
    judged by their Newton decrement.
    """

    residual: float
    gap: float
    loss: float
    by_decrement: bool


@part
def choose_rows(problem, rules, point, strength, previous, chosen):
    """Mark the working set in chosen (D,) by the strong rule; the intercept is always in it.

    A null fit has only what is free in it.
    """
    x, g, factor, share = point.x, point.g, problem.factor, problem.share
    size = chosen.shape[0]
    width = x.shape[0] // size * (size - 1)
    everything = share == 0.0 or width <= min(rules.gram_limit, ALWAYS_WHOLE)
    for j in range(size):
        chosen[j] = j == 0 or (everything and strength != NULL_FIT)
    for a in range(x.shape[0]):
        limit = share * factor[a] * (2.0 * strength - previous)
        steep = strength != NULL_FIT and abs(g[a]) >= limit
        if factor[a] == 0.0 or x[a] != 0.0 or steep:
            chosen[a % size] = True
    chosen[size - 1] = False  # the empty slot


@part
def add_violators(g, l1, chosen):
    """Mark what violates optimality as well; return the size of the working set."""
    size = chosen.shape[0]
    for a in range(g.shape[0]):
        if abs(g[a]) > l1[a]:
            chosen[a % size] = True
    wanted = 0
    for j in range(size):
        wanted += chosen[j]
    return wanted


@inlined
def covers(model, wanted):
    """Whether second derivatives are there for all that is chosen, and not for much else."""
    chosen, slot, s = model.chosen, model.slot, model.state[WIDTH]
    covered = 0 < s <= 2 * wanted + 50
    for j in range(chosen.shape[0] if covered else 0):
        covered = covered and (not chosen[j] or slot[j] < s)
    return covered


@inlined
def renew(design, problem, work, model, wanted):
    """Compute the second derivatives over what is chosen at the point evaluated last."""
    chosen, rows, slot = model.chosen, model.rows, model.slot
    s = 0
    for j in range(chosen.shape[0]):
        slot[j] = wanted
        if chosen[j]:
            rows[s] = j
            slot[j] = s
            s += 1
    curvature(design, problem.row_weight, work.probability, rows, wanted, slot, model.gram)
    work.passes[0] += 1
    model.state[WIDTH] = wanted


@inlined
def gap_of_free(design, rules, penalty, model, point, trial):
    """Duality gap where some coefficients F are free, by what a Newton step on them will remove.

    G_FF t = g_F; without G_F t the dual residual is feasible for them to first order, and half the squared
    decrement g_F' t is the gap that they leave. The trial is scratch.
    """
    rows, gram, l1, l2, g = model.rows, model.gram, penalty.l1, penalty.l2, trial.g
    free, step, none = model.active, model.step, model.l2
    size = design.centre.shape[0]
    n_scores = g.shape[0] // size
    q = model.state[WIDTH] * n_scores
    accept(point, trial)
    found = q - q  # typed like q: a literal would compile another solver
    for b in range(q):
        a = b % n_scores * size + rows[b // n_scores]
        none[b] = 0.0
        if l1[a] == 0.0 and l2[a] == 0.0:
            free[found] = b
            step[found] = g[a]
            found += 1
    solve_part(gram, none, free, found, step, model.factor)
    decrement = 0.0
    for t in range(found):
        own = free[t]
        decrement += step[t] * point.g[own % n_scores * size + rows[own // n_scores]]
        for b in range(q):
            g[b % n_scores * size + rows[b // n_scores]] -= step[t] * gram[own, b]
    judge(design, rules, penalty, trial)
    return trial.facts[GAP] + 0.5 * decrement


@inlined
def propose(design, penalty, model, point, least, by_decrement, trial):
    """Write the minimum of the quadratic model plus penalty into the trial.

    It is exact to 2 % of the residual, or to ``least``. Where coefficients are free they are judged by their
    decrement: each derivative then counts in units of the square root of its curvature, whatever the
    columns' scales.
    """
    rows, gram, old, new = model.rows, model.gram, point.x, trial.x
    size = design.centre.shape[0]
    n_scores = old.shape[0] // size
    q = model.state[WIDTH] * n_scores
    x, u, l1, l2, tol = model.x, model.u, model.l1, model.l2, model.tol
    steep = 0.0
    for b in range(q):
        a = b % n_scores * size + rows[b // n_scores]
        x[b] = old[a]
        u[b] = point.g[a]
        l1[b] = penalty.l1[a]
        l2[b] = penalty.l2[a]
        tol[b] = max(0.02 * point.facts[RESIDUAL], least)
        steep = max(steep, violation(x[b], u[b], l1[b], l2[b]) / math.sqrt(gram[b, b]))
    for b in range(q if by_decrement else 0):
        tol[b] = min(tol[b], 0.02 * steep * math.sqrt(gram[b, b]))
    minimise_quadratic(
        gram, q, u, x, l1, l2, tol, MAX_CYCLES, model.active, model.step, model.factor, n_scores
    )
    for a in range(old.shape[0]):
        new[a] = old[a]
    for b in range(q):
        new[b % n_scores * size + rows[b // n_scores]] = x[b]


@part
def outlives(length, before, after, limit, q):
    """Whether second derivatives that took the residual from before to after are worth keeping.

    An evaluation reads the design twice, second derivatives cost about q / 8 of that.
    """
    keep = length == 1.0 and after < 0.5 * before
    if keep and after > limit:
        remaining = math.log(0.5 * limit / after) / math.log(after / before)
        keep = remaining <= 2.0 + q / 16.0
    return keep


@part
def lay_strengths(path, rules):
    """Fill the strengths, logarithmically from strength_max down, unless they are given."""
    strengths = path.strengths
    count = strengths.shape[0]
    for t in range(count if rules.ratio > 0.0 else 0):
        strengths[t] = path.scales[STRENGTH_MAX] * rules.ratio ** (t / max(1, count - 1))


@inlined
def solve_strength(design, problem, rules, work, penalty, goal, model, point, trial):
    """Newton steps from point, at one strength, until the goal is reached; returns the status.

    Second derivatives stay in use from step to step, and along the path, while they still contract the
    residual faster than computing them anew would.
    """
    facts, state = point.facts, model.state
    n_scores = point.x.shape[0] // design.centre.shape[0]
    gap = np.inf
    status = OUT_OF_STEPS
    judge(design, rules, penalty, point)
    for step in range(rules.max_steps + 1):
        residual = facts[RESIDUAL]
        if not goal.by_decrement:
            gap = facts[GAP]
            if residual <= goal.residual and gap <= goal.gap:
                status = CONVERGED
                break
        if step == rules.max_steps:
            break
        wanted = add_violators(point.g, penalty.l1, model.chosen)
        if wanted * n_scores > rules.gram_limit:
            status = TOO_WIDE
            break
        fresh = state[STALE] == 1 or not covers(model, wanted)
        if fresh:
            renew(design, problem, work, model, wanted)
        state[STALE] = 0
        if goal.by_decrement and residual <= goal.residual:
            gap = gap_of_free(design, rules, penalty, model, point, trial)
            if gap <= goal.gap or facts[LOSS] <= goal.loss:
                gap = min(gap, facts[LOSS])
                status = CONVERGED
                break
        least = 0.05 * goal.residual if gap <= goal.gap else 0.0
        propose(design, penalty, model, point, least, goal.by_decrement, trial)
        shortest = SHORTEST if fresh else 1.0
        length = search_line(design, problem, rules, work, penalty, point, trial, shortest)
        if length == 0.0:
            evaluate(design, problem, work, point)
            state[STALE] = 1
            if fresh:
                status = STALLED
                break
            continue
        after, gain = trial.facts[RESIDUAL], facts[OBJECTIVE] - trial.facts[OBJECTIVE]
        settled = fresh and 0.9 * residual <= after <= 10.0 * goal.residual
        settled = settled and gain <= rounding_of(facts[OBJECTIVE], problem.label.shape[0])
        if not outlives(length, residual, after, goal.residual, state[WIDTH] * n_scores):
            state[STALE] = 1
        accept(trial, point)
        if settled:  # rounding is all that is left of the residual
            status = STALLED
            break
    facts[GAP] = gap
    return status


@kernel
def newton_path(design, problem, rules, path, work, penalty, model, point, trial):
    """Solve for decreasing strengths, each from the one before, into path; point starts at the target.

    Ends at the first strength whose working set is too wide for second derivatives.
    """
    strengths, scales, factor = path.strengths, path.scales, problem.factor
    any_free = False
    for a in range(factor.shape[0]):
        any_free = any_free or factor[a] == 0.0
    evaluate(design, problem, work, point)
    scales[START_LOSS] = point.facts[LOSS]
    previous = np.inf
    for index in range(-1 if any_free else 0, strengths.shape[0]):
        if index <= 0:
            measure_scales(problem, point.g, path)
        if index == 0:
            lay_strengths(path, rules)
            previous = max(scales[STRENGTH_MAX], strengths[0])
        strength = strengths[index] if index >= 0 else NULL_FIT
        set_penalty(problem, strength, penalty)
        choose_rows(problem, rules, point, strength, previous, model.chosen)
        goal = Goal(
            residual_limit_of(rules, path),
            gap_limit_of(rules, path, strength, problem.share),
            1e-3 * rules.gap_tol * scales[START_LOSS] if strength == 0.0 else -1.0,
            any_free or strength == 0.0,
        )
        status = solve_strength(design, problem, rules, work, penalty, goal, model, point, trial)
        if index < 0:
            continue
        if status == TOO_WIDE:
            path.statuses[index] = TOO_WIDE
            break
        if record(rules, path, index, point, work, status):
            break
        previous = strength
