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
    gap_share_of,
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
from seminaive.kernels.path_line_search import (
    SHORTEST,
    accept,
    falls_enough,
    predicted_change,
    rounding_of,
    shorten,
)
from seminaive.kernels.path_pass import evaluate
from seminaive.kernels.path_problem import (
    CONVERGED,
    CURVATURE,
    DONE,
    EVALUATE,
    FRESH,
    GAP,
    GAP_SHARE,
    INDEX,
    LAST_GAP,
    LENGTH,
    LOSS,
    LOSS_LIMIT,
    OBJECTIVE,
    OUT_OF_STEPS,
    PHASE,
    PREDICTED,
    PREVIOUS,
    RESIDUAL,
    RESIDUAL_LIMIT,
    STALE,
    STALLED,
    START_LOSS,
    STEPS,
    STRENGTH,
    STRENGTH_MAX,
    TOO_WIDE,
    WIDTH,
)

MAX_CYCLES = 500  # coordinate cycles inside one quadratic model
# Where a path goes on: after the first pass, at a strength, at a certified point, with second derivatives,
# at a trial.
FIRST_PASS, BEGIN, JUDGE, PROPOSE, SEARCH = 0, 1, 2, 3, 4


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
            finer = 0.02 * steep * math.sqrt(gram[b, b])
            tol[b] = finer if finer < limit else limit


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
def begin_strength(design, problem, rules, path, penalty, model, point, run):
    """Lay penalty, working set and limits of the strength at run's index, and certify the point under it."""
    scales, factor, share = path.scales, problem.l1_factor, problem.l1_share
    counts, facts, index = run.counts, run.facts, run.counts[INDEX]
    if index <= 0:
        measure_scales(factor, share, point.g, scales)
    if index == 0:
        lay_strengths(path.strengths, scales[STRENGTH_MAX], rules.ratio)
        first = path.strengths[0]
        facts[PREVIOUS] = scales[STRENGTH_MAX] if scales[STRENGTH_MAX] > first else first
    strength = path.strengths[index] if index >= 0 else NULL_FIT
    wide = point.x.shape[0] - point.x.shape[0] // model.chosen.shape[0]
    everything = share == 0.0 or (wide <= rules.gram_limit and wide <= rules.always_whole)
    set_penalty(problem, strength, penalty)
    choose_working_set(point.x, point.g, factor, everything, share, strength, facts[PREVIOUS], model.chosen)
    counts[STEPS] = 0
    facts[STRENGTH] = strength
    facts[LAST_GAP] = np.inf
    facts[RESIDUAL_LIMIT] = residual_limit_of(rules.residual_tol, scales)
    facts[GAP_SHARE] = gap_share_of(rules.gap_tol, strength, share)
    # No loss is below zero, so that without a penalty the loss itself is a gap.
    facts[LOSS_LIMIT] = 1e-3 * rules.gap_tol * scales[START_LOSS] if strength == 0.0 else -1.0
    certify(design, rules, penalty, point)


@inlined
def propose(design, rules, softmax, penalty, model, point, trial, run, gap_limit, by_decrement):
    """Write the minimum of the quadratic model into the trial; return whether the point was good enough."""
    facts, n_scores = run.facts, point.x.shape[0] // model.chosen.shape[0]
    q = model.state[WIDTH] * n_scores
    residual, residual_limit = point.facts[RESIDUAL], facts[RESIDUAL_LIMIT]
    if by_decrement and residual <= residual_limit:
        facts[LAST_GAP] = gap_by_decrement(design, rules, penalty, model, point, trial, q)
        if facts[LAST_GAP] <= gap_limit or point.facts[LOSS] <= facts[LOSS_LIMIT]:
            if point.facts[LOSS] < facts[LAST_GAP]:
                facts[LAST_GAP] = point.facts[LOSS]
            return True
    # The model is minimised to 2 % of the residual, or as far as is needed.
    limit, least = 0.02 * residual, 0.05 * residual_limit
    limit = least if facts[LAST_GAP] <= gap_limit and limit < least else limit
    minimise_model(softmax, penalty, model, point, trial, q, n_scores, limit, by_decrement)
    facts[LENGTH] = 1.0
    facts[PREDICTED] = predicted_change(penalty, point, trial)
    return False


@inlined
def take_step(model, point, trial, run, n_rows):
    """Move to a trial that falls enough; return whether rounding is all that is left of the residual."""
    residual, after = point.facts[RESIDUAL], trial.facts[RESIDUAL]
    residual_limit, before = run.facts[RESIDUAL_LIMIT], point.facts[OBJECTIVE]
    settled = run.counts[FRESH] == 1 and 0.9 * residual <= after <= 10.0 * residual_limit
    settled = settled and before - trial.facts[OBJECTIVE] <= rounding_of(before, n_rows)
    q = model.state[WIDTH] * (point.x.shape[0] // model.chosen.shape[0])
    if not outlives(run.facts[LENGTH], residual, after, residual_limit, q):
        model.state[STALE] = 1
    accept(trial, point)
    return settled


@inlined
def end_strength(rules, path, work, point, run, status):
    """Write down how a strength ended, and go to the next; return whether the path ends with it."""
    counts, facts, index = run.counts, run.facts, run.counts[INDEX]
    point.facts[GAP] = facts[LAST_GAP]
    counts[INDEX] += 1
    ends = False
    if index >= 0 and status == TOO_WIDE:
        path.statuses[index] = TOO_WIDE
        ends = True
    elif index >= 0:
        facts[PREVIOUS] = facts[STRENGTH]
        ends = record(rules, path, index, point, work, status) or counts[INDEX] == path.strengths.shape[0]
    return ends


@kernel
def newton_path(design, problem, rules, path, work, softmax, penalty, model, point, trial, run, n_rows):
    """Solve for decreasing strengths, each from the one before, into path; point starts at the target.

    Where problem has all n_rows rows, the path is solved to its end. Where it has none, because they lie
    elsewhere, the path goes on until it needs them, and what for is returned: `EVALUATE` asks for a pass at
    the trial (before the first call, at the point), `CURVATURE` for the second derivatives of the working set
    at the point, `DONE` for nothing: all strengths are solved, or the status of the last one says why not.
    softmax is None where there is one score. Second derivatives stay in use from step to step, and along the
    path, while they still contract the residual faster than computing them anew would.
    """
    counts, facts, state = run.counts, run.facts, model.state
    n_scores = point.x.shape[0] // model.chosen.shape[0]
    in_memory = problem.label.shape[0] == n_rows
    phase = counts[PHASE]
    any_free = False
    for a in range(problem.l1_factor.shape[0]):
        any_free = any_free or problem.l1_factor[a] == 0.0
    if phase == FIRST_PASS:
        if in_memory:
            evaluate(design, problem, work, softmax, point)
        path.scales[START_LOSS] = point.facts[LOSS]
        facts[PREVIOUS] = np.inf
        counts[INDEX] = -1 if any_free else 0
        phase = BEGIN
    while True:
        status, request = -1, -1
        if phase == BEGIN:
            begin_strength(design, problem, rules, path, penalty, model, point, run)
            phase = JUDGE
        # Where a coefficient is free there is no dual bound; the gap is that of a Newton decrement.
        by_decrement = any_free or facts[STRENGTH] == 0.0
        gap_limit = gap_limit_of(facts[GAP_SHARE], point.facts[OBJECTIVE], path.scales)
        if phase == JUDGE:
            if not by_decrement:
                facts[LAST_GAP] = point.facts[GAP]
            low = point.facts[RESIDUAL] <= facts[RESIDUAL_LIMIT] and facts[LAST_GAP] <= gap_limit
            wanted = add_violators(point.g, penalty.l1, model.chosen)
            if low and not by_decrement:
                status = CONVERGED
            elif counts[STEPS] == rules.max_steps:
                status = OUT_OF_STEPS
            elif wanted * n_scores > rules.gram_limit:
                status = TOO_WIDE
            else:
                counts[STEPS] += 1
                fresh = state[STALE] == 1 or not covers(model.chosen, model.slot, state[WIDTH], wanted)
                counts[FRESH] = 1 if fresh else 0
                state[STALE] = 0
                phase = PROPOSE
                if fresh:
                    number_working_set(model.chosen, n_scores, wanted, model.slot, model.position)
                    state[WIDTH] = wanted
                    request = CURVATURE
        elif phase == PROPOSE:
            if propose(design, rules, softmax, penalty, model, point, trial, run, gap_limit, by_decrement):
                status = CONVERGED
            else:
                phase, request = SEARCH, EVALUATE
        else:
            certify(design, rules, penalty, trial)
            length, before = facts[LENGTH], point.facts[OBJECTIVE]
            phase = JUDGE
            if length == 0.0:
                state[STALE] = 1
                status = STALLED if counts[FRESH] == 1 else -1
            elif falls_enough(before, trial.facts[OBJECTIVE], length, facts[PREDICTED], n_rows):
                status = STALLED if take_step(model, point, trial, run, n_rows) else -1
            else:
                facts[LENGTH] = shorten(point, trial, length, SHORTEST if counts[FRESH] == 1 else 1.0)
                phase, request = SEARCH, EVALUATE
        if status >= 0:
            phase = BEGIN
            if end_strength(rules, path, work, point, run, status):
                return DONE
        if request >= 0 and not in_memory:
            counts[PHASE] = phase
            return request
        if request == EVALUATE:
            evaluate(design, problem, work, softmax, trial)
        elif request == CURVATURE:
            weighted_gram(design, problem, work, softmax, model)
