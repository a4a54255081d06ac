"""The steps of the path solver where rows lie in blocks: what a block adds, and what is done with the sum.

`path_newton` runs whole paths over rows in memory. Here a block of rows adds derivatives or second
derivatives, and the solver that collects them (``solvers/blocked_path.py``) calls the rest step by step.

Letters
-------
n, D, K, S, x, g : as in ``path_problem``; s, q, slot: as in ``path_gram``
"""

from seminaive.kernels.compile_options import kernel, reordered_part
from seminaive.kernels.path_certificate import certify, gap_limit_of, measure_scales, record
from seminaive.kernels.path_elastic_net import minimise_quadratic, set_penalty
from seminaive.kernels.path_gram import add_products, finish_gram
from seminaive.kernels.path_line_search import accept, rounding_of
from seminaive.kernels.path_newton import (
    MAX_CYCLES,
    add_violators,
    choose_working_set,
    covers,
    decrement_of_free,
    lay_strengths,
    number_working_set,
    open_model,
    outlives,
)
from seminaive.kernels.path_pass import evaluate
from seminaive.kernels.path_problem import GAP, STALE, STRENGTH_MAX, WIDTH


@kernel
def block_derivatives(design, problem, work, softmax, point):
    """Fill g, loss, odds and margin of the rows of a block at point.x."""
    evaluate(design, problem, work, softmax, point)


@reordered_part
def products_of_block(design, problem, work, softmax, model):
    """Add the second derivatives of a block."""
    add_products(design, problem, work, softmax, model)


@kernel
def block_curvature(design, problem, work, softmax, model, point):
    """Add the second derivatives of the rows of a block at point.x, over the working set, to model.gram."""
    evaluate(design, problem, work, softmax, point)
    products_of_block(design, problem, work, softmax, model)


@kernel
def choose_whole_or_strong(problem, point, model, whole, strength, previous):
    """Mark the working set of a strength: all that may leave its target, or the strong rule's choice."""
    choose_working_set(
        point.x,
        point.g,
        problem.l1_factor,
        whole,
        problem.l1_share,
        strength,
        previous,
        model.chosen,
    )


@kernel
def lay_working_set(penalty, point, model, gram_limit):
    """Add what violates optimality to the working set; return whether new second derivatives are needed.

    Then it is numbered for them. The answer is -1 where it is too wide for second derivatives.
    """
    chosen, state = model.chosen, model.state
    n_scores = point.x.shape[0] // chosen.shape[0]
    wanted = add_violators(point.g, penalty.l1, chosen)
    if wanted * n_scores > gram_limit:
        return -1
    if state[STALE] == 0 and covers(chosen, model.slot, state[WIDTH], wanted):
        return 0
    number_working_set(chosen, n_scores, wanted, model.slot, model.position)
    state[WIDTH] = wanted
    return 1


@kernel
def finish_curvature(design, model, n_scores):
    """Complete second derivatives that are the sum of those of all blocks."""
    finish_gram(model.gram, model.state[WIDTH], n_scores, model.position, design)


@kernel
def begin_path(problem, rules, point, path):
    """Measure the scales of a path at its target, and lay its strengths unless they are given."""
    measure_scales(problem.l1_factor, problem.l1_share, point.g, path.scales)
    lay_strengths(path.strengths, path.scales[STRENGTH_MAX], rules.ratio)


@kernel
def begin_strength(design, problem, rules, penalty, point, strength):
    """Fill the penalty of a strength, or of the null fit, and certify the point under it."""
    set_penalty(problem, strength, penalty)
    certify(design, rules, penalty, point)


@kernel
def judge(design, rules, penalty, point):
    """Fill objective, residual and duality gap of an evaluated point."""
    certify(design, rules, penalty, point)


@kernel
def rounding(objective, n):
    """Return how much of an objective of n rows is rounding."""
    return rounding_of(objective, n)


@kernel
def gap_limit(rules, path, strength, l1_share):
    """Return the duality gap at which to stop."""
    return gap_limit_of(rules.gap_tol, path.scales, strength, l1_share)


@kernel
def gap_by_decrement(design, rules, penalty, model, point, trial, n_scores):
    """Return the gap of an evaluated point some of whose coefficients are free; trial is overwritten."""
    accept(point, trial)
    q = model.state[WIDTH] * n_scores
    gap = 0.5 * decrement_of_free(
        model.position,
        q,
        model.gram,
        penalty.l1,
        penalty.l2,
        trial.g,
        model.active,
        model.step,
        model.l2,
        model.factor,
    )
    certify(design, rules, penalty, trial)
    return gap + trial.facts[GAP]


@kernel
def propose(model, penalty, point, trial, limit, by_decrement, n_scores, softmax):
    """Minimise the quadratic model of the loss with the penalty as it is, to residuals of limit: trial.x."""
    q = model.state[WIDTH] * n_scores
    position, gram, x = model.position, model.gram, model.x
    open_model(
        position,
        q,
        gram,
        point.x,
        point.g,
        penalty.l1,
        penalty.l2,
        limit,
        by_decrement,
        x,
        model.u,
        model.l1,
        model.l2,
        model.tol,
    )
    minimise_quadratic(
        gram,
        q,
        model.u,
        x,
        model.l1,
        model.l2,
        model.tol,
        MAX_CYCLES,
        model.active,
        model.step,
        model.factor,
        n_scores,
        softmax,
    )
    for a in range(point.x.shape[0]):
        trial.x[a] = point.x[a]
    for b in range(q):
        trial.x[position[b]] = x[b]


@kernel
def move(trial, point):
    """Move the point to the trial."""
    accept(trial, point)


@kernel
def worth_keeping(length, before, after, limit, q):
    """Whether second derivatives that took the residual from before to after are worth keeping."""
    return outlives(length, before, after, limit, q)


@kernel
def end_strength(rules, path, index, point, work, status):
    """Write down the solution of a strength; return whether the path ends with it."""
    return record(rules, path, index, point, work, status)
