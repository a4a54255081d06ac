"""Logistic and softmax regression shrunk toward a target, over rows that lie in blocks.

The problem, the strengths and the certificates are those of `elastic_net_path`. There a compiled loop solves
a whole path; here every pass over the rows is a sum over blocks, wherever they lie, and the proximal Newton
steps between passes are taken by the same kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seminaive.errors import TooLargeError
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
    STEEPEST,
    STRENGTH_MAX,
    WIDTH,
    Design,
    Problem,
    new_model,
    new_path,
    new_penalty,
    new_point,
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
from seminaive.solvers.line_search import FORCING
from seminaive.solvers.path_columns import Columns, flat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from seminaive.design.reference import ReferenceDesign
    from seminaive.kernels.path_problem import Path, Point, Rules
    from seminaive.objective.penalties import ElasticNet
    from seminaive.solvers.elastic_net_path import ShrinkagePath

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

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
    solver = _PathSolver(rows, columns, problem, rules, shape[1])
    solved = solver.solve(given if len(given) else np.zeros(int(n_strengths)))
    path = read_path(solved, columns, target, null_loss)
    if shape[1] > 1:
        shift_to_medians(path, penalty)
    return path


class _PathSolver:
    """The state of a path: a point, a trial, and a quadratic model of the loss at some earlier point.

    Parameters
    ----------
    rows : RowsInBlocks
    columns : Columns
    problem : Problem
        Without any row.
    rules : Rules
    n_scores : int
    """

    def __init__(
        self, rows: RowsInBlocks, columns: Columns, problem: Problem, rules: Rules, n_scores: int
    ) -> None:
        from seminaive.kernels.path_newton import ALWAYS_WHOLE

        own = rows.design
        self._design = Design(own.numbers, own.places, own.first_place, columns.on_the_fly)
        self._rows, self._columns, self._problem, self._rules = rows, columns, problem, rules
        self._n_scores = n_scores
        size = len(problem.l1_factor)
        self._penalty, self._point, self._trial = new_penalty(size), new_point(size), new_point(size)
        self._work, self._softmax = new_work(0, n_scores), new_softmax(n_scores)
        self._model = new_model(self._design, n_scores, rules.gram_limit)
        self._any_free = bool((problem.l1_factor == 0.0).any())
        # With an L2 part everything leaves its target; few coefficients are worth no choice.
        self._whole = problem.l1_share == 0.0 or size - n_scores <= ALWAYS_WHOLE

    def solve(self, strengths: Floats) -> Path:
        """Solve for decreasing strengths, each from the one before."""
        from seminaive.kernels import path_blocks as steps
        from seminaive.kernels.path_elastic_net import NULL_FIT

        path: Path = new_path(strengths, len(self._point.x))
        self._evaluate(self._point)
        path.scales[START_LOSS] = self._point.facts[LOSS]
        if self._any_free:
            # What is free is fitted first, with everything else at its target.
            steps.begin_path(self._problem, self._rules._replace(ratio=0.0), self._point, path)
            self._solve_strength(path, NULL_FIT, np.inf)
        steps.begin_path(self._problem, self._rules, self._point, path)
        previous = max(float(path.scales[STRENGTH_MAX]), float(strengths[0]))
        for index, strength in enumerate(strengths.tolist()):
            status = self._solve_strength(path, strength, previous)
            if steps.end_strength(self._rules, path, index, self._point, self._work, status):
                break
            previous = strength
        return path

    def _solve_strength(self, path: Path, strength: float, previous: float) -> int:
        """Take proximal Newton steps until the certificate of a strength is met; return how it ended."""
        from seminaive.kernels import path_blocks as steps

        point, rules = self._point, self._rules
        steps.begin_strength(self._design, self._problem, rules, self._penalty, point, strength)
        steps.choose_whole_or_strong(self._problem, point, self._model, self._whole, strength, previous)
        goal = _Goal(
            residual=rules.residual_tol * float(path.scales[STEEPEST]),
            gap=float(steps.gap_limit(rules, path, strength, self._problem.l1_share)),
            # No loss is below zero, so that without a penalty the loss itself is a gap.
            loss=1e-3 * rules.gap_tol * float(path.scales[START_LOSS]) if strength == 0.0 else -1.0,
            # Where a coefficient is free there is no dual bound; the gap is that of a Newton decrement.
            by_decrement=self._any_free or strength == 0.0,
        )
        status, gap = OUT_OF_STEPS, np.inf
        for count in range(rules.max_steps + 1):
            if not goal.by_decrement:
                gap = float(point.facts[GAP])
                if point.facts[RESIDUAL] <= goal.residual and gap <= goal.gap:
                    status = CONVERGED
                    break
            if count == rules.max_steps:
                break
            fresh = self._refresh_curvature(strength)
            if goal.by_decrement and point.facts[RESIDUAL] <= goal.residual:
                gap = self._gap_by_decrement()
                if gap <= goal.gap or point.facts[LOSS] <= goal.loss:
                    gap, status = min(gap, float(point.facts[LOSS])), CONVERGED
                    break
            if not self._step(goal, gap, fresh=fresh):
                status = STALLED
                break
        point.facts[GAP] = gap
        return status

    def _gap_by_decrement(self) -> float:
        from seminaive.kernels.path_blocks import gap_by_decrement

        return float(
            gap_by_decrement(
                self._design,
                self._rules,
                self._penalty,
                self._model,
                self._point,
                self._trial,
                self._n_scores,
            )
        )

    def _refresh_curvature(self, strength: float) -> bool:
        """Sum up second derivatives where there are none for the working set, or old ones; say whether."""
        from seminaive.kernels.path_blocks import finish_curvature, lay_working_set

        model = self._model
        needed = lay_working_set(self._penalty, self._point, model, self._rules.gram_limit)
        if needed < 0:
            raise TooLargeError(
                f"more than {WIDEST:,} coefficients leave their targets at a strength of {strength:.4g}, too "
                "many to keep second derivatives of them: raise strength, lower max_categories, or take "
                "HigherOrderLogisticRegression(1), which needs none"
            )
        if needed:
            width = int(model.state[WIDTH])
            found = self._rows.curvature(self._columns, self._point.x, model.slot, width)
            model.gram[: found.shape[0], : found.shape[1]] = found
            finish_curvature(self._design, model, self._n_scores)
            self._work.passes[0] += 1
        model.state[STALE] = 0
        return bool(needed)

    def _step(self, goal: _Goal, gap: float, *, fresh: bool) -> bool:
        """Take a proximal Newton step; return whether it made sense to go on."""
        from seminaive.kernels import path_blocks as steps
        from seminaive.kernels.path_line_search import SHORTEST

        point, trial, model = self._point, self._trial, self._model
        residual = float(point.facts[RESIDUAL])
        # The model is minimised to some per cent of the residual, or as far as is needed.
        limit = max(FORCING**2 * residual, FORCING**2 * goal.residual if gap <= goal.gap else 0.0)
        steps.propose(
            model, self._penalty, point, trial, limit, goal.by_decrement, self._n_scores, self._softmax
        )
        length = self._search_line(SHORTEST if fresh else 1.0)
        if length == 0.0:
            model.state[STALE] = 1
            return not fresh
        after = float(trial.facts[RESIDUAL])
        gain = float(point.facts[OBJECTIVE] - trial.facts[OBJECTIVE])
        rounding = float(steps.rounding(float(point.facts[OBJECTIVE]), self._rows.n_rows))
        # Rounding is all that is left of the residual.
        settled = fresh and after >= 0.5 * residual and gain <= rounding
        width = int(model.state[WIDTH]) * self._n_scores
        if not steps.worth_keeping(length, residual, after, goal.residual, width):
            model.state[STALE] = 1
        steps.move(trial, point)
        return not settled

    def _search_line(self, shortest: float) -> float:
        """Halve the step to the trial until the objective falls enough; return its length, 0 if it does not.

        Enough is as in `kernels.path_line_search`.
        """
        from seminaive.kernels import path_blocks as steps
        from seminaive.kernels.path_line_search import ARMIJO

        point, trial, penalty = self._point, self._trial, self._penalty
        x, new = point.x, trial.x
        predicted = float(
            penalty.l1 @ (np.abs(new) - np.abs(x))
            + 0.5 * (penalty.l2 @ (np.square(new) - np.square(x)))
            - point.g @ (new - x)
        )
        before = float(point.facts[OBJECTIVE])
        noise = float(steps.rounding(before, self._rows.n_rows))
        length = 1.0
        while True:
            self._evaluate(trial)
            steps.judge(self._design, self._rules, penalty, trial)
            if trial.facts[OBJECTIVE] <= before + ARMIJO * length * predicted + noise:
                return length
            if length <= shortest:
                return 0.0
            length *= 0.5
            new[:] = x + 0.5 * (new - x)

    def _evaluate(self, point: Point) -> None:
        """Fill derivatives, loss, odds and margin of a point by a pass over the rows."""
        point.g[:], point.facts[:3] = self._rows.derivatives(self._columns, point.x)
        self._work.passes[0] += 1


@dataclass(frozen=True)
class _Goal:
    """What ends the steps of a strength: a residual and a gap or, without a penalty, a loss as small."""

    residual: float
    gap: float
    loss: float
    by_decrement: bool
