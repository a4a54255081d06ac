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


@kernel
def newton_path(design, problem, rules, path, work, softmax, penalty, model, point, trial):
    """Solve for decreasing strengths, each from the one before, into path; point starts at the target.

    Ends at the first strength whose working set is too wide for second derivatives. softmax is None where
    there is one score. Second derivatives stay in use from step to step, and along the path, while they still
    contract the residual faster than computing them anew would.
    """
    strengths, scales = path.strengths, path.scales
    factor, share = problem.l1_factor, problem.l1_share
    all_l1, all_l2 = penalty.l1, penalty.l2
    old, g, facts = point.x, point.g, point.facts
    new, new_g, new_facts = trial.x, trial.g, trial.facts
    chosen, slot, position = model.chosen, model.slot, model.position
    active, state, gram = model.active, model.state, model.gram
    root, step, tol = model.factor, model.step, model.tol
    x, u = model.x, model.u
    l1, l2 = model.l1, model.l2
    gram_limit, max_steps = rules.gram_limit, rules.max_steps
    n, size = problem.label.shape[0], chosen.shape[0]
    n_scores = old.shape[0] // size
    wide = old.shape[0] - n_scores
    everything = share == 0.0 or (wide <= gram_limit and wide <= ALWAYS_WHOLE)
    any_free = False
    for a in range(factor.shape[0]):
        any_free = any_free or factor[a] == 0.0
    evaluate(design, problem, work, softmax, point)
    scales[START_LOSS] = facts[LOSS]
    previous = np.inf
    for index in range(-1 if any_free else 0, strengths.shape[0]):
        if index <= 0:
            measure_scales(factor, share, g, scales)
        if index == 0:
            lay_strengths(strengths, scales[STRENGTH_MAX], rules.ratio)
            previous = scales[STRENGTH_MAX] if scales[STRENGTH_MAX] > strengths[0] else strengths[0]
        strength = strengths[index] if index >= 0 else NULL_FIT
        set_penalty(problem, strength, penalty)
        choose_working_set(old, g, factor, everything, share, strength, previous, chosen)
        # Where a coefficient is free there is no dual bound; the gap is that of a Newton decrement.
        by_decrement = any_free or strength == 0.0
        residual_limit = residual_limit_of(rules.residual_tol, scales)
        gap_limit = gap_limit_of(rules.gap_tol, scales, strength, share)
        # No loss is below zero, so that without a penalty the loss itself is a gap.
        loss_limit = 1e-3 * rules.gap_tol * scales[START_LOSS] if strength == 0.0 else -1.0
        gap = np.inf
        status = OUT_OF_STEPS
        certify(design, rules, penalty, point)
        for count in range(max_steps + 1):
            residual = facts[RESIDUAL]
            if not by_decrement:
                gap = facts[GAP]
                if residual <= residual_limit and gap <= gap_limit:
                    status = CONVERGED
                    break
            if count == max_steps:
                break
            wanted = add_violators(g, all_l1, chosen)
            if wanted * n_scores > gram_limit:
                status = TOO_WIDE
                break
            fresh = state[STALE] == 1 or not covers(chosen, slot, state[WIDTH], wanted)
            if fresh:
                number_working_set(chosen, n_scores, wanted, slot, position)
                state[WIDTH] = wanted
                weighted_gram(design, problem, work, softmax, model)
            state[STALE] = 0
            q = state[WIDTH] * n_scores
            if by_decrement and residual <= residual_limit:
                accept(point, trial)
                gap = 0.5 * decrement_of_free(
                    position, q, gram, all_l1, all_l2, new_g, active, step, l2, root
                )
                certify(design, rules, penalty, trial)
                gap += new_facts[GAP]
                if gap <= gap_limit or facts[LOSS] <= loss_limit:
                    gap = facts[LOSS] if facts[LOSS] < gap else gap
                    status = CONVERGED
                    break
            # The model is minimised to 2 % of the residual, or as far as is needed.
            limit = 0.02 * residual
            limit = 0.05 * residual_limit if gap <= gap_limit and limit < 0.05 * residual_limit else limit
            open_model(position, q, gram, old, g, all_l1, all_l2, limit, by_decrement, x, u, l1, l2, tol)
            minimise_quadratic(gram, q, u, x, l1, l2, tol, MAX_CYCLES, active, step, root, n_scores, softmax)
            for a in range(old.shape[0]):
                new[a] = old[a]
            for b in range(q):
                new[position[b]] = x[b]
            shortest = SHORTEST if fresh else 1.0
            length = search_line(design, problem, rules, work, softmax, penalty, point, trial, shortest)
            if length == 0.0:
                state[STALE] = 1
                if fresh:
                    status = STALLED
                    break
                continue
            after, gain = new_facts[RESIDUAL], facts[OBJECTIVE] - new_facts[OBJECTIVE]
            settled = fresh and 0.9 * residual <= after <= 10.0 * residual_limit
            settled = settled and gain <= rounding_of(facts[OBJECTIVE], n)
            if not outlives(length, residual, after, residual_limit, q):
                state[STALE] = 1
            accept(trial, point)
            if settled:  # rounding is all that is left of the residual
                status = STALLED
                break
        facts[GAP] = gap
        if index < 0:
            continue
        if status == TOO_WIDE:
            path.statuses[index] = TOO_WIDE
            break
        if record(rules, path, index, point, work, status):
            break
        previous = strength
