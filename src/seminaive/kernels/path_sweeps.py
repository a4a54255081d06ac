"""Paths of models too wide for a Gram matrix: coordinate-descent sweeps that update residuals.

A coded feature is one block: its indicators are disjoint, so one pass over the rows gathers the gradient
of all its categories, each is minimised exactly, and a second pass updates the residuals. Memory beyond
the design is a few values per row and score.

Letters
-------
n, m, k, d, K, x, g : as in ``path_problem``
v : curvature of each row's loss in its score, w p (1 - p); twice that for the softmax, whose classes move
    together: diag(p) - p p' is at most 2 diag(p (1 - p))
e : residuals of the quadratic model, w (y - p) - v A (x - x0)
h : curvature of each coefficient
"""

import math
from typing import NamedTuple

import numpy as np

from seminaive.kernels.compile_options import inlined, kernel, part
from seminaive.kernels.path_certificate import certify, gap_limit_of, gap_share_of, record, residual_limit_of
from seminaive.kernels.path_elastic_net import set_penalty, soft_threshold, violation
from seminaive.kernels.path_line_search import SHORTEST, accept, search_line
from seminaive.kernels.path_pass import evaluate
from seminaive.kernels.path_problem import CONVERGED, GAP, OBJECTIVE, OUT_OF_STEPS, RESIDUAL, STALLED

SWEEPS = 8  # at most, inside one quadratic model


class Sweep(NamedTuple):
    """The numbers column by column, (m, n), and what sweeps overwrite.

    v, e (n,); h, sums (D,), sums all zero between calls; live (1 + m + k,) marks the features swept:
    intercept (always), numbers, coded features; minimum and last (K D,) are the minima of this
    quadratic model and of the one before.
    """

    columns: np.ndarray
    v: np.ndarray
    e: np.ndarray
    h: np.ndarray
    sums: np.ndarray
    live: np.ndarray
    minimum: np.ndarray
    last: np.ndarray


def new_sweep(design, n_scores):
    """Return room for sweeps over a design."""
    n, k = design.places.shape
    columns = np.ascontiguousarray(design.numbers.T)
    size = len(design.centre)
    return Sweep(
        columns,
        np.empty(n),
        np.empty(n),
        np.empty(size),
        np.zeros(size),
        np.empty(1 + len(columns) + k, dtype=np.bool_),
        np.empty(n_scores * size),
        np.empty(n_scores * size),
    )


@inlined
def open_model(design, problem, work, c, sweep):
    """Set the rows' curvatures v and residuals e of score column c, and the columns' curvatures h."""
    places, label, row_weight, probability = (
        design.places,
        problem.label,
        problem.row_weight,
        work.probability,
    )
    v, e, h, columns = sweep.v, sweep.e, sweep.h, sweep.columns
    n, k = places.shape
    label_of_score = 1 if probability.shape[0] == n else c
    bound = 1.0 if probability.shape[0] == n else 2.0
    h[:] = 0.0
    for i in range(n):
        p, weight = probability[c * n + i], row_weight[i]
        v[i] = bound * weight * max(p * (1.0 - p), 1e-10)
        e[i] = weight * ((1.0 if label[i] == label_of_score else 0.0) - p)
        h[0] += v[i]
        for f in range(k):
            h[places[i, f]] += v[i]
    for j in range(columns.shape[0]):
        middle, part = design.centre[1 + j], 0.0
        for i in range(n):
            part += v[i] * (columns[j, i] - middle) ** 2
        h[1 + j] = part


@inlined
def sweep_intercept(sweep, x, first, l1, l2):
    """One exact minimisation of the intercept of the score whose coefficients start at ``first``.

    Returns the residual met; x, l1, l2 (K D,).
    """
    v, e, h = sweep.v, sweep.e, sweep.h[0]
    u = 0.0
    for i in range(e.shape[0]):
        u += e[i]
    met = violation(x[first], u, l1[first], l2[first])
    new = soft_threshold(u + h * x[first], l1[first], max(h + l2[first], 1e-300))
    step = new - x[first]
    x[first] = new
    for i in range(e.shape[0]):
        e[i] -= v[i] * step
    return met


@inlined
def sweep_numbers(design, sweep, x, first, l1, l2):
    """One exact minimisation of every live number of one score; returns the worst residual met."""
    v, e, h, columns = sweep.v, sweep.e, sweep.h, sweep.columns
    n = v.shape[0]
    worst = 0.0
    for j in range(1, 1 + columns.shape[0]):
        if not sweep.live[j] or h[j] <= 0.0:
            continue
        a, middle = first + j, design.centre[j]
        u = 0.0
        for i in range(n):
            u += e[i] * (columns[j - 1, i] - middle)
        worst = max(worst, violation(x[a], u, l1[a], l2[a]))
        new = soft_threshold(u + h[j] * x[a], l1[a], h[j] + l2[a])
        step = new - x[a]
        x[a] = new
        for i in range(n if step != 0.0 else 0):
            e[i] -= v[i] * step * (columns[j - 1, i] - middle)
    return worst


@inlined
def sweep_codes(design, sweep, x, first, l1, l2):
    """One exact minimisation of every live coded feature of one score; returns the worst residual met.

    Centred indicators of one feature are not orthogonal: what the steps of earlier categories change in the
    derivative of a later one is kept in two running sums, of step times centre and of step times curvature.
    """
    v, e, h, sums, places, first_place = (
        sweep.v,
        sweep.e,
        sweep.h,
        sweep.sums,
        design.places,
        design.first_place,
    )
    n, k = places.shape
    m, total, worst = sweep.columns.shape[0], h[0], 0.0
    for f in range(k):
        if not sweep.live[1 + m + f]:
            continue
        everything = 0.0
        for i in range(n):
            sums[places[i, f]] += e[i]
            everything += e[i]
        moved, moved_curvature = 0.0, 0.0
        for j in range(first_place[f], first_place[f + 1]):
            a, middle, curved = first + j, design.centre[j], h[j]
            curvature = curved * (1.0 - 2.0 * middle) + middle * middle * total
            u = sums[j] - middle * everything
            u += curved * moved + middle * moved_curvature - middle * total * moved
            sums[j] = 0.0
            if curvature <= 0.0:
                continue
            worst = max(worst, violation(x[a], u, l1[a], l2[a]))
            new = soft_threshold(u + curvature * x[a], l1[a], curvature + l2[a])
            sums[j] = new - x[a]
            x[a] = new
            moved += middle * sums[j]
            moved_curvature += curved * sums[j]
        sums[sums.shape[0] - 1] = 0.0
        for i in range(n):
            e[i] -= v[i] * (sums[places[i, f]] - moved)
        for j in range(first_place[f], first_place[f + 1]):
            sums[j] = 0.0
    return worst


@inlined
def mark_live(design, point, first, l1, live):
    """Mark the features of one score that hold a deviation or violate optimality."""
    x, g, first_place = point.x, point.g, design.first_place
    m, k = design.numbers.shape[1], design.places.shape[1]
    for j in range(1 + m):
        live[j] = x[first + j] != 0.0 or abs(g[first + j]) > l1[first + j]
    for f in range(k):
        live[1 + m + f] = False
        for a in range(first + first_place[f], first + first_place[f + 1]):
            if x[a] != 0.0 or abs(g[a]) > l1[a]:
                live[1 + m + f] = True


@part
def minimise_models(design, problem, work, penalty, point, sweep, enough):
    """Sweep the quadratic model of every score until no residual is above enough; fill sweep.minimum."""
    x, l1, l2 = sweep.minimum, penalty.l1, penalty.l2
    size = design.centre.shape[0]
    for a in range(x.shape[0]):
        x[a] = point.x[a]
    for c in range(x.shape[0] // size):
        mark_live(design, point, c * size, l1, sweep.live)
        open_model(design, problem, work, c, sweep)
        work.passes[0] += 1
        for _ in range(SWEEPS):
            met = sweep_intercept(sweep, x, c * size, l1, l2)
            met = max(met, sweep_numbers(design, sweep, x, c * size, l1, l2))
            met = max(met, sweep_codes(design, sweep, x, c * size, l1, l2))
            work.passes[0] += 1
            if met <= enough:
                break


@part
def gap_of_free_intercepts(design, problem, work, penalty, point):
    """Half the squared decrement of free intercepts."""
    probability, row_weight, l1, l2 = work.probability, problem.row_weight, penalty.l1, penalty.l2
    n, size = row_weight.shape[0], design.centre.shape[0]
    total = 0.0
    for c in range(l1.shape[0] // size):
        if l1[c * size] == 0.0 and l2[c * size] == 0.0:
            curvature = 0.0
            for i in range(n):
                p = probability[c * n + i]
                curvature += row_weight[i] * p * (1.0 - p)
            total += 0.5 * point.g[c * size] ** 2 / max(curvature, 1e-300)
    return total


@part
def extrapolate(minimum, last, momentum, x):
    """Write minimum + momentum (minimum - last) into x: Nesterov's extrapolation, a copy for momentum 0."""
    for a in range(x.shape[0]):
        x[a] = minimum[a] + momentum * (minimum[a] - last[a])


@inlined
def sweep_strength(
    design, problem, rules, work, softmax, penalty, residual_limit, gap_share, scales, point, trial, sweep
):
    """Sweep from point, at one strength, until residual and gap are below their limits; returns the status.

    The limit of the gap is a share of the objective.

    The minima of the models of a softmax are extrapolated as Nesterov does; the momentum starts again at zero
    whenever the extrapolated point does not lower the objective, and the step is then searched along.
    """
    facts, new, minimum, last = point.facts, trial.x, sweep.minimum, sweep.last
    status = OUT_OF_STEPS
    counter = 1.0  # Nesterov's t, from which the momentum follows
    extrapolate(point.x, point.x, 0.0, last)
    certify(design, rules, penalty, point)
    for step in range(rules.max_steps + 1):
        facts[GAP] += gap_of_free_intercepts(design, problem, work, penalty, point)
        if facts[RESIDUAL] <= residual_limit and facts[GAP] <= gap_limit_of(
            gap_share, facts[OBJECTIVE], scales
        ):
            status = CONVERGED
        if status == CONVERGED or step == rules.max_steps:
            break
        enough = 0.1 * max(facts[RESIDUAL], residual_limit)
        minimise_models(design, problem, work, penalty, point, sweep, enough)
        momentum = 0.0
        if softmax is not None:
            next_counter = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * counter * counter))
            momentum = (counter - 1.0) / next_counter
            counter = next_counter
        lower = False
        if momentum > 0.0:
            extrapolate(minimum, last, momentum, new)
            evaluate(design, problem, work, softmax, trial)
            certify(design, rules, penalty, trial)
            lower = trial.facts[OBJECTIVE] < facts[OBJECTIVE]
        if not lower:
            counter = 1.0 if momentum > 0.0 else counter
            extrapolate(minimum, last, 0.0, new)
            if search_line(design, problem, rules, work, softmax, penalty, point, trial, SHORTEST) == 0.0:
                status = STALLED
                break
        extrapolate(minimum, minimum, 0.0, last)
        accept(trial, point)
    return status


@kernel
def sweep_path(design, problem, rules, path, first, work, softmax, penalty, point, trial, sweep):
    """Solve the strengths from position ``first`` on, from a point that was evaluated last, into path."""
    for index in range(first, path.strengths.shape[0]):
        strength = path.strengths[index]
        set_penalty(problem, strength, penalty)
        residual_limit = residual_limit_of(rules.residual_tol, path.scales)
        gap_share = gap_share_of(rules.gap_tol, strength, problem.l1_share)
        status = sweep_strength(
            design, problem, rules, work, softmax, penalty, residual_limit, gap_share, path.scales,
            point, trial, sweep,
        )  # fmt: skip
        if record(rules, path, index, point, work, status):
            break
