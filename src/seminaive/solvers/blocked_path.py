"""Logistic and softmax regression shrunk toward a target, over rows that lie in blocks.

The problem, the strengths, the certificates and the proximal Newton steps are those of `elastic_net_path`:
there `newton_path` goes through the rows whenever a step needs them, here it returns, and every pass is a sum
over blocks, wherever they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from seminaive.errors import TooLargeError
from seminaive.kernels.path_problem import (
    DONE,
    EVALUATE,
    STRENGTH,
    TOO_WIDE,
    WIDTH,
    PathDesign,
    Problem,
    new_model,
    new_path,
    new_penalty,
    new_point,
    new_run,
    new_softmax,
    new_work,
)
from seminaive.objective.penalties import scaled_factors
from seminaive.solvers import elastic_net_path
from seminaive.solvers.elastic_net_path import (
    N_STRENGTHS,
    RATIO,
    PathOptions,
    checked_strengths,
    null_loss_of,
    penalty_over,
    read_path,
    rules_of,
    shift_to_medians,
)
from seminaive.solvers.path_columns import Columns, flat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats, Indices
    from seminaive.design.reference import ReferenceDesign
    from seminaive.kernels.path_problem import Path, Rules
    from seminaive.objective.penalties import ElasticNet
    from seminaive.solvers.shrinkage_path import ShrinkagePath

# Coefficients, all classes together, that may leave their targets: their second derivatives take 72 MB in
# every block that is being visited.
WIDEST = 2 * elastic_net_path.WIDEST


class RowsInBlocks(Protocol):
    """Rows in blocks, as the solver needs them.

    ``design`` is the design without any row; ``moments`` are mean and standard deviation of every column, 0
    and 1 for the intercept; ``n_rows`` counts all rows, and ``class_weight`` is the weight of each class.
    """

    design: ReferenceDesign
    moments: tuple[Floats, Floats]
    class_weight: Floats
    n_rows: int

    def derivatives(self, columns: Columns, x: Floats) -> tuple[Floats, Floats]:
        """Return minus the derivatives by deviations x, and loss, odds and least margin; sums over blocks."""

    def curvature(self, columns: Columns, x: Floats, slot: Indices, width: int) -> Floats:
        """Return the second derivatives over the working set, before `finish_curvature`."""


def blocked_path(
    rows: RowsInBlocks,
    penalty: ElasticNet,
    *,
    strengths: ArrayLike | None = None,
    n_strengths: int = N_STRENGTHS,
    ratio: float = RATIO,
    options: PathOptions | None = None,
) -> ShrinkagePath:
    """Solve for a path of strengths.

    Parameters
    ----------
    rows : RowsInBlocks
        The scores at the target are part of their offsets.
    penalty : ElasticNet
        Its target has one column for two classes, else one per class.
    strengths, n_strengths, ratio, options
        As in `logistic_path`.
    """
    options = options or PathOptions()
    n_classes = len(rows.class_weight)
    shape = (rows.design.n_coefficients, 1 if n_classes == 2 else n_classes)
    given = checked_strengths(strengths, n_strengths, ratio)
    target, factor, free_intercept = penalty_over(penalty, given, shape)
    columns = Columns.of(
        rows.moments,
        rows.design.n_coefficients,
        rows.design.n_numbers,
        standardize=penalty.standardize,
        centred=free_intercept,
    )
    null_loss = null_loss_of(rows.class_weight)
    rules = rules_of(options, null_loss, WIDEST, 0.0 if len(given) else ratio, columns.on_the_fly)
    l1_factor, l2_factor = scaled_factors(factor, columns.spread)
    none = np.empty(0)
    problem = Problem(
        none, none.astype(np.int64), none, flat(l1_factor), flat(l2_factor), float(penalty.l1_share)
    )
    solved: Path = new_path(given if len(given) else np.zeros(int(n_strengths)), len(problem.l1_factor))
    _solve(rows, columns, problem, rules, solved)
    path = read_path(solved, columns, target, null_loss)
    if shape[1] > 1:
        shift_to_medians(path, penalty)
    return path


def _solve(rows: RowsInBlocks, columns: Columns, problem: Problem, rules: Rules, path: Path) -> None:
    """Solve for decreasing strengths, each from the one before, by passes over all blocks."""
    from seminaive.kernels.path_blocks import finish_curvature
    from seminaive.kernels.path_newton import newton_path

    laid = rows.design
    design = PathDesign(laid.numbers, laid.places, laid.first_place, columns.on_the_fly)
    size, n_scores = len(problem.l1_factor), len(problem.l1_factor) // len(columns.on_the_fly)
    penalty, point, trial, run = new_penalty(size), new_point(size), new_point(size), new_run()
    work, softmax = new_work(0, n_scores), new_softmax(n_scores)
    model = new_model(design, n_scores, rules.gram_limit)
    state = (design, problem, rules, path, work, softmax, penalty, model, point, trial, run, rows.n_rows)
    evaluated, request = point, EVALUATE
    while request != DONE:
        if request == EVALUATE:
            evaluated.g[:], evaluated.facts[:3] = rows.derivatives(columns, evaluated.x)
            evaluated = trial
        else:
            found = rows.curvature(columns, point.x, model.slot, int(model.state[WIDTH]))
            model.gram[: found.shape[0], : found.shape[1]] = found
            finish_curvature(design, model, n_scores)
        work.passes[0] += 1
        request = newton_path(*state)
    if (path.statuses == TOO_WIDE).any():
        raise TooLargeError(
            f"more than {WIDEST:,} coefficients leave their targets at a strength of "
            f"{run.facts[STRENGTH]:.4g}, too many to keep second derivatives of them: raise strength, lower "
            "max_categories, or take HigherOrderLogisticRegression(1), which needs none"
        )
