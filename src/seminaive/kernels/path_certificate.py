"""How good a point of a path is: objective, optimality residual and duality gap; and when that is enough.

The unknown is the deviation from the target, x = coefficients - target; the target's own scores are part
of the offset, so the penalty is an ordinary one, centred at zero.

Letters
-------
n, D, K, S, x, g : as in ``path_problem``
a                : position of a coefficient among all scores'
"""

from seminaive.kernels.compile_options import inlined, part
from seminaive.kernels.path_elastic_net import violation
from seminaive.kernels.path_problem import (
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

ROUNDING = 2.2e-16  # of a float
LEAST_GAP = 1e-13  # a duality gap, a difference of sums over the rows, as a share of the objective
LEAST_SHARE = 1e-3  # L1 share that a pure L2 penalty counts as where strengths are laid


@part
def certify(design, rules, penalty, point):
    """Fill objective, residual and duality gap of an evaluated point.

    The residual is the largest violation of optimality. Where an intercept is free, the columns are centred
    only to speed up the solver; in raw columns what is left of the intercept's derivative counts as many
    times as the farthest column is off zero.

    The gap is an upper bound of primal minus dual objective at the dual point t (y - p), t <= 1. At t = 1 it
    is sum(penalty + conjugate - x g). Pure L1 coefficients need |t g| <= l1, so t is as small as that takes,
    and the dual's change is bounded by its tangent and its curvature, odds / t. Free coefficients are left
    out.
    """
    x, g, facts = point.x, point.g, point.facts
    l1, l2 = penalty.l1, penalty.l2
    worst = 0.0
    t = 1.0
    for a in range(x.shape[0]):
        slope = abs(g[a])
        off = violation(x[a], g[a], l1[a], l2[a])
        worst = off if off > worst else worst
        if l1[a] > 0.0 and l2[a] == 0.0 and slope * t > l1[a]:
            t = l1[a] / slope
    hidden = 0.0
    for a in range(0, x.shape[0], design.centre.shape[0]):
        far = rules.farthest * abs(g[a])
        if l1[a] == 0.0 and l2[a] == 0.0 and far > hidden:
            hidden = far
    cost = 0.0
    gap = 0.0
    correlation = 0.0
    for a in range(x.shape[0]):
        penalised = l1[a] * abs(x[a]) + 0.5 * l2[a] * x[a] * x[a]
        cost += penalised
        if l2[a] > 0.0:
            excess = abs(t * g[a]) - l1[a]
            gap += excess * excess / (2.0 * l2[a]) if excess > 0.0 else 0.0
        if l1[a] > 0.0 or l2[a] > 0.0:
            gap += penalised - x[a] * g[a]
            correlation += x[a] * g[a]
    rest = 1.0 - t
    facts[OBJECTIVE] = facts[LOSS] + cost
    facts[RESIDUAL] = worst + hidden
    facts[GAP] = gap + rest * correlation + 0.5 * rest * rest / t * facts[ODDS]


@inlined
def residual_limit_of(residual_tol, scales):
    """Residual at which to stop."""
    return residual_tol * scales[STEEPEST]


@inlined
def gap_share_of(gap_tol, strength, l1_share):
    """Duality gap at which to stop, as a share of the objective.

    The bound of a pure L1 penalty is of the order of the residual, that of one with an L2 part of the order
    of the residual's square, and without any penalty it is a Newton decrement: there more is asked of it.
    """
    factor = 1.0 if l1_share == 1.0 else 1e-3
    if strength == 0.0:
        return 1e-9 * gap_tol
    return factor * gap_tol if factor * gap_tol > LEAST_GAP else LEAST_GAP


@inlined
def gap_limit_of(gap_share, objective, scales):
    """Duality gap at which to stop: below the rounding of the loss at the target nothing is left to gain."""
    limit, least = gap_share * objective, ROUNDING * scales[START_LOSS] + 1e-300
    return limit if limit > least else least


@inlined
def measure_scales(factor, share, g, scales):
    """Find strength_max, from which on nothing penalised leaves its target, and the steepest derivative.

    A pure L2 penalty counts as one with a small L1 share: no strength keeps its coefficients at the target.
    """
    steepest = 0.0
    for a in range(g.shape[0]):
        if factor[a] > 0.0 and abs(g[a]) > steepest * factor[a]:
            steepest = abs(g[a]) / factor[a]
    scales[STEEPEST] = steepest
    scales[STRENGTH_MAX] = steepest / (share if share > LEAST_SHARE else LEAST_SHARE)


@part
def record(rules, path, index, point, work, status):
    """Write down the solution of a strength; return whether the path ends with it."""
    x, facts, deviations = point.x, point.facts, path.deviations
    for a in range(x.shape[0]):
        deviations[index, a] = x[a]
    for t in range(facts.shape[0]):
        path.facts[index, t] = facts[t]
    path.statuses[index] = status
    path.passes[index] = work.passes[0]
    work.passes[0] = 0
    weak = path.strengths[index] < rules.separated_ratio * path.scales[STRENGTH_MAX]
    # After running out of steps, smaller strengths are harder still.
    return status == OUT_OF_STEPS or facts[LOSS] <= rules.least_loss or (facts[MARGIN] > 0.0 and weak)
