"""Backtracking line search on the penalised objective.

Letters
-------
n, x, g : as in ``path_problem``
"""

import math

from seminaive.kernels.compile_options import inlined, part
from seminaive.kernels.path_certificate import certify
from seminaive.kernels.path_pass import evaluate
from seminaive.kernels.path_problem import OBJECTIVE

NOISE = 4e-16  # relative rounding of an objective, times the square root of its number of terms
SHORTEST = 1e-8  # step length at which a line search gives up
ARMIJO = 1e-4  # share of the predicted decrease that is asked for


@part
def accept(trial, point):
    """Move the point to the trial."""
    x, g, facts = point.x, point.g, point.facts
    new_x, new_g, new_facts = trial.x, trial.g, trial.facts
    for a in range(x.shape[0]):
        x[a] = new_x[a]
        g[a] = new_g[a]
    for t in range(facts.shape[0]):
        facts[t] = new_facts[t]


@inlined
def rounding_of(objective, n):
    """How much of an objective of n rows is rounding."""
    return NOISE * math.sqrt(n + 100.0) * (abs(objective) + 1.0)


@inlined
def predicted_change(penalty, point, trial):
    """By how much the tangent of the loss and the penalty change from point to trial."""
    x, new, g, l1, l2 = point.x, trial.x, point.g, penalty.l1, penalty.l2
    predicted = 0.0
    for a in range(x.shape[0]):
        predicted -= g[a] * (new[a] - x[a])
        predicted += l1[a] * (abs(new[a]) - abs(x[a]))
        predicted += 0.5 * l2[a] * (new[a] * new[a] - x[a] * x[a])
    return predicted


@inlined
def falls_enough(before, after, length, predicted, n):
    """Whether an objective of n rows falls by `ARMIJO` times what is predicted; not if it is no number."""
    return after <= before + ARMIJO * length * predicted + rounding_of(before, n)


@inlined
def shorten(point, trial, length, shortest):
    """Halve the step from point to trial, or take it back where it is no longer than ``shortest``.

    Returns its length, 0 where it is taken back.
    """
    x, new = point.x, trial.x
    length = 0.5 * length if length > shortest else 0.0
    for a in range(x.shape[0]):
        new[a] = x[a] + 0.5 * (new[a] - x[a]) if length > 0.0 else x[a]
    return length


@inlined
def search_line(design, problem, rules, work, softmax, penalty, point, trial, shortest):
    """Halve the step from point to trial until the objective falls enough; the last trial is certified.

    Returns the length of the step, 0 where none down to ``shortest`` does: then the trial is back at the
    point, evaluated there.
    """
    predicted = predicted_change(penalty, point, trial)
    before, n = point.facts[OBJECTIVE], problem.label.shape[0]
    length = 1.0
    while True:
        evaluate(design, problem, work, softmax, trial)
        certify(design, rules, penalty, trial)
        if length == 0.0 or falls_enough(before, trial.facts[OBJECTIVE], length, predicted, n):
            break
        length = shorten(point, trial, length, shortest)
    return length
