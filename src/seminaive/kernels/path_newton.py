"""Whole paths by proximal Newton steps: a quadratic model of the loss, minimised with the penalty as it is.

Letters
-------
n, D, K, S, x, g : as in ``path_problem``; s, q, slot: as in ``path_gram``
"""

import math

import numpy as np

from seminaive.kernels.compile_options import inlined, kernel
from seminaive.kernels.path_certificate import (
    certify,
    gap_limit_of,
    measure_scales,
    record,
    residual_limit_of,
)
from seminaive.kernels.path_elastic_net import (
    NULL_FIT,
    minimise_quadratic,
    set_penalty,
    solve_part,
    violation,
)
from seminaive.kernels.path_gram import weighted_gram
from seminaive.kernels.path_line_search import SHORTEST, accept, rounding_of, search_line
from seminaive.kernels.path_pass import evaluate
from seminaive.kernels.path_problem import (
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

MAX_CYCLES = 500  # coordinate cycles inside one quadratic model
ALWAYS_WHOLE = 400  # coefficients up to which the working set is all of them


@inlined
def choose_working_set(x, g, factor, everything, share, strength, previous, chosen):
    """Mark the working set in chosen (D,) by the strong rule; the intercept is always in it.

    A null fit has only what is free in it.
    """
    size = chosen.shape[0]
    limit = share * (2.0 * strength - previous)
    for j in range(size):
        chosen[j] = j == 0 or (everything and strength != NULL_FIT)
        for a in range(j, x.shape[0], size):
            steep = strength != NULL_FIT and abs(g[a]) >= limit * factor[a]
            if factor[a] == 0.0 or x[a] != 0.0 or steep:
                chosen[j] = True
    chosen[size - 1] = False  # the empty slot


@inlined
def add_violators(g, l1, chosen):
    """Mark what violates optimality as well; return the size of the working set."""
    size = chosen.shape[0]
    wanted = 0
    for j in range(size):
        for a in range(j, g.shape[0], size):
            if abs(g[a]) > l1[a]:
                chosen[j] = True
        wanted += chosen[j]
    return wanted


@inlined
def covers(chosen, slot, s, wanted):
    """Whether second derivatives are there for all that is chosen, and not for much else."""
    covered = 0 < s <= 2 * wanted + 50
    for j in range(chosen.shape[0]):
        if chosen[j] and slot[j] >= s:
            covered = False
    return covered


@inlined
def number_working_set(chosen, n_scores, wanted, slot, position):
    """Give what is chosen its places in the working set."""
    size = chosen.shape[0]
    s = 0
    for j in range(size):
        slot[j] = wanted
        if chosen[j]:
            for c in range(n_scores):
                position[s * n_scores + c] = c * size + j
            slot[j] = s
            s += 1


@inlined
def decrement_of_free(position, q, gram, l1, l2, g, free, step, none, factor):
    """Return the squared Newton decrement g_F' t of the free coefficients F, where G_FF t = g_F.

    g becomes g - G_F t, which is feasible for the dual to first order, so that half the decrement is the gap
    that the free coefficients leave. free, step, none and factor are scratch.
    """
    found = q - q  # typed like q: a literal would compile another solver
    for b in range(q):
        a = position[b]
        none[b] = 0.0
        if l1[a] == 0.0 and l2[a] == 0.0:
            free[found] = b
            step[found] = g[a]
            found += 1
    solve_part(gram, none, free, found, step, factor)
    decrement = 0.0
    for t in range(found):
        decrement += step[t] * g[position[free[t]]]
    for t in range(found):
        for b in range(q):
            g[position[b]] -= step[t] * gram[free[t], b]
    return decrement


@inlined
def open_model(position, q, gram, old, g, all_l1, all_l2, limit, by_decrement, x, u, l1, l2, tol):
    """Fill the quadratic model over the working set, to be minimised to residuals of ``limit``.

    Where coefficients are free they are judged by their decrement: each derivative then counts in units of
    the square root of its curvature, whatever the columns' scales.
    """
    steep = 0.0
    for b in range(q):
        a = position[b]
        x[b] = old[a]
        u[b] = g[a]
        l1[b] = all_l1[a]
        l2[b] = all_l2[a]
        tol[b] = limit
        scaled = violation(x[b], u[b], l1[b], l2[b]) / math.sqrt(gram[b, b])
        steep = scaled if scaled > steep else steep
    if by_decrement:
        for b in range(q):
            own = 0.02 * steep * math.sqrt(gram[b, b])
            tol[b] = own if own < limit else limit


@inlined
def outlives(length, before, after, limit, q):
    """Whether second derivatives that took the residual from before to after are worth keeping.

    An evaluation reads the design twice, second derivatives cost about q / 8 of that.
    """
    keep = length == 1.0 and after < 0.5 * before
    if keep and after > limit:
        remaining = math.log(0.5 * limit / after) / math.log(after / before)
        keep = remaining <= 2.0 + q / 16.0
    return keep


@inlined
def lay_strengths(strengths, strength_max, ratio):
    """Fill the strengths, logarithmically from strength_max down, unless they are given."""
    last = strengths.shape[0] - 1.0
    if ratio > 0.0:
        for t in range(strengths.shape[0]):
            share = t / last if last > 0.0 else 0.0
            strengths[t] = strength_max * ratio**share


@inlined
def refresh_gram(design, problem, work, softmax, model, n_scores, wanted):
    """Compute the second derivatives of the working set, unless those in use cover it; return whether so."""
    state = model.state
    fresh = state[STALE] == 1 or not covers(model.chosen, model.slot, state[WIDTH], wanted)
    if fresh:
        number_working_set(model.chosen, n_scores, wanted, model.slot, model.position)
        state[WIDTH] = wanted
        weighted_gram(design, problem, work, softmax, model)
    state[STALE] = 0
    return fresh


@inlined
def gap_by_decrement(design, rules, penalty, model, point, trial, q):
    """Return the gap where coefficients are free: half their decrement, and the dual gap without them."""
    accept(point, trial)
    decrement = decrement_of_free(
        model.position, q, model.gram, penalty.l1, penalty.l2, trial.g, model.active, model.step, model.l2,
        model.factor,
    )  # fmt: skip
    certify(design, rules, penalty, trial)
    return 0.5 * decrement + trial.facts[GAP]


@inlined
def minimise_model(softmax, penalty, model, point, trial, q, n_scores, limit, by_decrement):
    """Minimise the quadratic model over the working set to residuals of ``limit``, into the trial's x."""
    old, new, x, position = point.x, trial.x, model.x, model.position
    gram, u, l1, l2, tol = model.gram, model.u, model.l1, model.l2, model.tol
    open_model(
        position, q, gram, old, point.g, penalty.l1, penalty.l2, limit, by_decrement, x, u, l1, l2, tol
    )
    minimise_quadratic(
        gram, q, u, x, l1, l2, tol, MAX_CYCLES, model.active, model.step, model.factor, n_scores, softmax
    )
    for a in range(old.shape[0]):
        new[a] = old[a]
    for b in range(q):
        new[position[b]] = x[b]


@inlined
def solve_strength(design, problem, rules, work, softmax, penalty, model, point, trial, limits, n_scores):
    """Take Newton steps at one strength; return how they ended, the gap being in the point's facts.

    limits are those of residual, gap and loss, and whether the gap is that of a decrement.
    """
    residual_limit, gap_limit, loss_limit, by_decrement = limits
    facts, state = point.facts, model.state
    gap = np.inf
    status = OUT_OF_STEPS
    certify(design, rules, penalty, point)
    for count in range(rules.max_steps + 1):
        residual = facts[RESIDUAL]
        if not by_decrement:
            gap = facts[GAP]
            if residual <= residual_limit and gap <= gap_limit:
                status = CONVERGED
                break
        if count == rules.max_steps:
            break
        wanted = add_violators(point.g, penalty.l1, model.chosen)
        if wanted * n_scores > rules.gram_limit:
            status = TOO_WIDE
            break
        fresh = refresh_gram(design, problem, work, softmax, model, n_scores, wanted)
        q = state[WIDTH] * n_scores
        if by_decrement and residual <= residual_limit:
            gap = gap_by_decrement(design, rules, penalty, model, point, trial, q)
            if gap <= gap_limit or facts[LOSS] <= loss_limit:
                gap = facts[LOSS] if facts[LOSS] < gap else gap
                status = CONVERGED
                break
        # The model is minimised to 2 % of the residual, or as far as is needed.
        limit = 0.02 * residual
        limit = 0.05 * residual_limit if gap <= gap_limit and limit < 0.05 * residual_limit else limit
        minimise_model(softmax, penalty, model, point, trial, q, n_scores, limit, by_decrement)
        shortest = SHORTEST if fresh else 1.0
        length = search_line(design, problem, rules, work, softmax, penalty, point, trial, shortest)
        if length == 0.0:
            state[STALE] = 1
            if fresh:
                status = STALLED
                break
            continue
        after, gain = trial.facts[RESIDUAL], facts[OBJECTIVE] - trial.facts[OBJECTIVE]
        settled = fresh and 0.9 * residual <= after <= 10.0 * residual_limit
        settled = settled and gain <= rounding_of(facts[OBJECTIVE], problem.label.shape[0])
        if not outlives(length, residual, after, residual_limit, q):
            state[STALE] = 1
        accept(trial, point)
        if settled:  # rounding is all that is left of the residual
            status = STALLED
            break
    facts[GAP] = gap
    return status


@kernel
def newton_path(design, problem, rules, path, work, softmax, penalty, model, point, trial):
    """Solve for decreasing strengths, each from the one before, into path; point starts at the target.

    Ends at the first strength whose working set is too wide for second derivatives. softmax is None where
    there is one score. Second derivatives stay in use from step to step, and along the path, while they still
    contract the residual faster than computing them anew would.
    """
    strengths, scales = path.strengths, path.scales
    factor, share = problem.l1_factor, problem.l1_share
    n_scores = point.x.shape[0] // model.chosen.shape[0]
    wide = point.x.shape[0] - n_scores
    everything = share == 0.0 or (wide <= rules.gram_limit and wide <= ALWAYS_WHOLE)
    any_free = False
    for a in range(factor.shape[0]):
        any_free = any_free or factor[a] == 0.0
    evaluate(design, problem, work, softmax, point)
    scales[START_LOSS] = point.facts[LOSS]
    previous = np.inf
    for index in range(-1 if any_free else 0, strengths.shape[0]):
        if index <= 0:
            measure_scales(factor, share, point.g, scales)
        if index == 0:
            lay_strengths(strengths, scales[STRENGTH_MAX], rules.ratio)
            previous = scales[STRENGTH_MAX] if scales[STRENGTH_MAX] > strengths[0] else strengths[0]
        strength = strengths[index] if index >= 0 else NULL_FIT
        set_penalty(problem, strength, penalty)
        choose_working_set(point.x, point.g, factor, everything, share, strength, previous, model.chosen)
        limits = (
            residual_limit_of(rules.residual_tol, scales),
            gap_limit_of(rules.gap_tol, scales, strength, share),
            # No loss is below zero, so that without a penalty the loss itself is a gap.
            1e-3 * rules.gap_tol * scales[START_LOSS] if strength == 0.0 else -1.0,
            # Where a coefficient is free there is no dual bound; the gap is that of a Newton decrement.
            any_free or strength == 0.0,
        )
        status = solve_strength(
            design, problem, rules, work, softmax, penalty, model, point, trial, limits, n_scores
        )
        if index < 0:
            continue
        if status == TOO_WIDE:
            path.statuses[index] = TOO_WIDE
            break
        if record(rules, path, index, point, work, status):
            break
        previous = strength
