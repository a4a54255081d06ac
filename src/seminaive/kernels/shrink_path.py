"""What every solver of a path does at every strength: penalties, certificates, line search, book-keeping.

The unknown is the deviation from the target, x = coefficients - target; the target's own scores are part
of the offset, so the penalty is an ordinary one: strength * factor * (share |x| + (1 - share) x^2 / 2).

Letters
-------
n, D, K, S, x, g : as in ``shrink_problem``
a                : position of a coefficient among all scores'
"""

import math

from seminaive.kernels.shrink_compile import inlined, kernel, part
from seminaive.kernels.shrink_problem import (
    GAP,
    LOSS,
    MARGIN,
    OBJECTIVE,
    ODDS,
    OUT_OF_STEPS,
    RESIDUAL,
    START_LOSS,
    STEEPEST,
    STRENGTH_MAX,
)
from seminaive.kernels.shrink_quadratic import violation
from seminaive.kernels.shrink_rows import evaluate

NOISE = 4e-16  # relative rounding of an objective, times the square root of its number of terms
HELD = 1e300  # L1 penalty of a coefficient that must not move
NULL_FIT = -1.0  # stands for a strength at which nothing that is penalised moves
SHORTEST = 1e-8  # step length at which a line search gives up


@part
def set_penalty(problem, strength, penalty):
    """Fill the penalty for a strength, or for the null fit."""
    factor, square_factor, share = problem.factor, problem.square_factor, problem.share
    l1, l2 = penalty.l1, penalty.l2
    for a in range(l1.shape[0]):
        l1[a] = strength * factor[a] * share
        l2[a] = strength * square_factor[a] * (1.0 - share)
        if strength == NULL_FIT:
            l1[a] = HELD if factor[a] > 0.0 else 0.0
            l2[a] = 0.0


@kernel
def judge(design, rules, penalty, point):
    """Fill objective, residual and gap of an evaluated point.

    The residual is the largest optimality violation. Where an intercept is free, centring is only a device,
    and what is left of its derivative counts in the raw columns as much as the farthest is off centre.

    The gap is an upper bound of primal minus dual objective at the dual point t (y - p), t <= 1. At t = 1 it
    is sum(penalty + conjugate - x g). Pure L1 coefficients need |t g| <= l1; their t is scaled down, and
    the dual's change is bounded by its tangent and its curvature, odds / t. Free coefficients are left out.
    """
    x, g, facts = point.x, point.g, point.facts
    l1, l2 = penalty.l1, penalty.l2
    hidden = 0.0
    for a in range(0, x.shape[0], design.centre.shape[0]):
        if l1[a] == 0.0 and l2[a] == 0.0:
            hidden = max(hidden, rules.farthest * abs(g[a]))
    worst = 0.0
    scale = 1.0
    for a in range(x.shape[0]):
        worst = max(worst, violation(x[a], g[a], l1[a], l2[a]))
        if l1[a] > 0.0 and l2[a] == 0.0 and abs(g[a]) > l1[a]:
            scale = min(scale, l1[a] / abs(g[a]))
    cost = 0.0
    gap = 0.0
    correlation = 0.0
    for a in range(x.shape[0]):
        own = l1[a] * abs(x[a]) + 0.5 * l2[a] * x[a] * x[a]
        cost += own
        if l2[a] > 0.0:
            excess = max(0.0, abs(scale * g[a]) - l1[a])
            gap += excess * excess / (2.0 * l2[a])
        if l1[a] > 0.0 or l2[a] > 0.0:
            gap += own - x[a] * g[a]
            correlation += x[a] * g[a]
    rest = 1.0 - scale
    facts[OBJECTIVE] = facts[LOSS] + cost
    facts[RESIDUAL] = worst + hidden
    facts[GAP] = gap + rest * correlation + 0.5 * rest * rest / scale * facts[ODDS]


@inlined
def residual_limit_of(rules, path):
    """Residual at which to stop."""
    return rules.residual_tol * path.scales[STEEPEST]


@part
def gap_limit_of(rules, path, strength, share):
    """Gap at which to stop.

    The bound of a pure L1 penalty shrinks like the residual; with an L2 part it shrinks like the
    residual's square, and without any penalty it is a Newton decrement: there more is asked of it.
    """
    limit = rules.gap_tol * max(path.scales[START_LOSS], 1e-300)
    if strength == 0.0:
        limit *= 1e-9
    elif share < 1.0:
        limit *= 1e-3
    return limit


@part
def measure_scales(problem, g, path):
    """Find strength_max, from which on nothing penalised leaves its target, and the steepest derivative.

    A pure L2 penalty counts as one with an L1 share of 1e-3: no strength holds its coefficients entirely.
    """
    factor = problem.factor
    steepest = 0.0
    for a in range(g.shape[0]):
        if factor[a] > 0.0:
            steepest = max(steepest, abs(g[a]) / factor[a])
    path.scales[STEEPEST] = steepest
    path.scales[STRENGTH_MAX] = steepest / max(problem.share, 1e-3)


@part
def accept(trial, point):
    """Move to the trial."""
    x, g, facts = point.x, point.g, point.facts
    new_x, new_g, new_facts = trial.x, trial.g, trial.facts
    for a in range(x.shape[0]):
        x[a] = new_x[a]
        g[a] = new_g[a]
    for t in range(facts.shape[0]):
        facts[t] = new_facts[t]


@part
def rounding_of(objective, n):
    """How much of an objective of n rows is rounding."""
    return NOISE * math.sqrt(n + 100.0) * (abs(objective) + 1.0)


@inlined
def search_line(design, problem, rules, work, penalty, point, trial, shortest):
    """Halve the way from point to trial until the objective falls; the trial is judged where it ends.

    Returns the length of the step, 0 if none down to ``shortest`` pays.
    """
    x, new, g, l1, l2 = point.x, trial.x, point.g, penalty.l1, penalty.l2
    promise = 0.0
    for a in range(x.shape[0]):
        promise -= g[a] * (new[a] - x[a])
        promise += l1[a] * (abs(new[a]) - abs(x[a]))
        promise += 0.5 * l2[a] * (new[a] * new[a] - x[a] * x[a])
    before = point.facts[OBJECTIVE]
    noise = rounding_of(before, problem.label.shape[0])
    length = 1.0
    while True:
        evaluate(design, problem, work, trial)
        judge(design, rules, penalty, trial)
        if trial.facts[OBJECTIVE] <= before + 1e-4 * length * promise + noise:
            break
        if length <= shortest:
            length = 0.0
            break
        length *= 0.5
        for a in range(x.shape[0]):
            new[a] = x[a] + 0.5 * (new[a] - x[a])
    return length


@part
def record(rules, path, index, point, work, status):
    """Write down the solution of a strength; return whether the path ends with it."""
    x, facts, deviations = point.x, point.facts, path.deviations
    for a in range(x.shape[0]):
        deviations[index, a] = x[a]
    path.losses[index] = facts[LOSS]
    path.gaps[index] = facts[GAP]
    path.residuals[index] = facts[RESIDUAL]
    path.statuses[index] = status
    path.passes[index] = work.passes[0]
    work.passes[0] = 0
    weak = path.strengths[index] < rules.separated_ratio * path.scales[STRENGTH_MAX]
    # After running out of steps, smaller strengths are harder still.
    return status == OUT_OF_STEPS or facts[LOSS] <= rules.least_loss or (facts[MARGIN] > 0.0 and weak)
