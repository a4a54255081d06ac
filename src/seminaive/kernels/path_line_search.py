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
def search_line(design, problem, rules, work, softmax, penalty, point, trial, shortest):
    """Halve the step from point to trial until the objective falls enough; the last trial is certified.

    Enough is `ARMIJO` times the decrease that the tangent of the loss and the penalty predict (an objective
    that is not a number never is). Returns the length of the step, 0 where none down to ``shortest`` does:
    then the trial is back at the point, evaluated there.
    """
    x, new, g, l1, l2 = point.x, trial.x, point.g, penalty.l1, penalty.l2
    predicted = 0.0
    for a in range(x.shape[0]):
        predicted -= g[a] * (new[a] - x[a])
        predicted += l1[a] * (abs(new[a]) - abs(x[a]))
        predicted += 0.5 * l2[a] * (new[a] * new[a] - x[a] * x[a])
    before = point.facts[OBJECTIVE]
    noise = rounding_of(before, problem.label.shape[0])
    length = 1.0
    while True:
        evaluate(design, problem, work, softmax, trial)
        certify(design, rules, penalty, trial)
        if length == 0.0 or trial.facts[OBJECTIVE] <= before + ARMIJO * length * predicted + noise:
            break
        length = 0.5 * length if length > shortest else 0.0
        kept = 0.5 if length > 0.0 else 0.0
        for a in range(x.shape[0]):
            new[a] = x[a] + kept * (new[a] - x[a]) if kept > 0.0 else x[a]
    return length
