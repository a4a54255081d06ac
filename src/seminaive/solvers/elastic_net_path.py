"""Logistic and softmax regression shrunk toward a target, along a whole path of strengths.

Minimises ``loss(B) + strength * sum_j factor_j * (l1_share |B_j - T_j| + (1 - l1_share) (B_j - T_j)^2 / 2)``
over the coefficients B, where the loss is the weighted negative log-likelihood (a sum, not a mean) and T
is the target. At strength 0 that is maximum likelihood; from ``strength_max`` on it is the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.reference import compiled_layout
from seminaive.errors import InputError
from seminaive.kernels.path_problem import (
    CONVERGED,
    GAP,
    LOSS,
    NOT_REACHED,
    OBJECTIVE,
    RESIDUAL,
    TOO_WIDE,
    PathDesign,
    Problem,
    Rules,
    new_model,
    new_path,
    new_penalty,
    new_point,
    new_run,
    new_softmax,
    new_work,
)
from seminaive.objective.penalties import ElasticNet, filled, scaled_factors
from seminaive.solvers.path_columns import Columns, flat
from seminaive.solvers.result import MAX_ITER, TOL
from seminaive.solvers.shrinkage_path import ShrinkagePath

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats, Integers
    from seminaive.design.reference import ReferenceDesign
    from seminaive.kernels.path_problem import Path


# Largest number of coefficients, all classes together, for which second derivatives are kept, 18 MB; a solver
# that sweeps over the coefficients takes over beyond, with more steps for one Newton step. Twice as many are
# kept of several classes, which meet in their second derivatives, where rows are no more than that.
WIDEST, PATIENCE = 1500, 5
# Coefficients up to which the working set is all of them: fewer are worth no choice.
ALWAYS_WHOLE = 400
# A path that may stop early does so at this share of the deviance explained, as is customary, and, once the
# classes are separated, below this part of the largest strength.
EXPLAINED, SEPARATED = 0.999, 1e-2
# Strengths that are laid unless the caller says otherwise, and the least of them over the largest.
N_STRENGTHS, RATIO = 25, 1e-4


@dataclass(frozen=True)
class PathOptions:
    """When to stop.

    Parameters
    ----------
    gap_tol : float, default=1e-6
        Duality gap at which to stop, relative to the objective; with an L2 part, where the bound is sharper,
        a thousandth of it.
    residual_tol : float, default=1e-6
        Optimality residual at which to stop, relative to the largest derivative at the target. Both
        tolerances must be met.
    max_steps : int, default=1000
        Newton steps per strength.
    stop_early : bool, default=True
        Whether a path ends at 99.9 % of the deviance explained, and, below a part of ``strength_max``, as
        soon as the classes are separated.
    separated : float, default=1e-2
        That part of ``strength_max``; with 0 separation ends no path.
    """

    gap_tol: float = TOL**2
    residual_tol: float = TOL**2
    max_steps: int = MAX_ITER
    stop_early: bool = True
    separated: float = SEPARATED

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        for name in ("gap_tol", "residual_tol"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is a positive share, got {getattr(self, name)!r}")
        if self.max_steps < 1:
            raise InputError(f"max_steps is a whole number, 1 or more, got {self.max_steps!r}")


def logistic_path(
    design: ReferenceDesign,
    labels: Integers,
    penalty: ElasticNet | None = None,
    *,
    strengths: ArrayLike | None = None,
    n_strengths: int = N_STRENGTHS,
    ratio: float = RATIO,
    row_weight: Floats | None = None,
    offset: ArrayLike | None = None,
    options: PathOptions | None = None,
) -> ShrinkagePath:
    """Solve the two-class model; the scores are the log odds of label 1.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        0 or 1.
    penalty : ElasticNet, default=None
        None is the lasso toward zero, intercept included.
    strengths : array-like, default=None
        The strengths to solve for, largest first in the result; None lays them.
    n_strengths : int, default=25
        How many strengths to lay, logarithmically, from ``strength_max`` down to ``ratio`` times it.
    ratio : float, default=1e-4
        The least strength laid, as a part of ``strength_max``; more than 0, at most 1.
    row_weight : ndarray of shape (n_rows,), default=None
        How often each row counts.
    offset : array-like of shape (n_rows,), default=None
        Added to every score.
    options : PathOptions, default=None
    """
    return _path(
        design, labels, 1, penalty or ElasticNet(), strengths, n_strengths, ratio, row_weight, offset,
        options or PathOptions(),
    )  # fmt: skip


def softmax_path(
    design: ReferenceDesign,
    labels: Integers,
    n_classes: int,
    penalty: ElasticNet | None = None,
    *,
    strengths: ArrayLike | None = None,
    n_strengths: int = N_STRENGTHS,
    ratio: float = RATIO,
    row_weight: Floats | None = None,
    offset: ArrayLike | None = None,
    options: PathOptions | None = None,
) -> ShrinkagePath:
    """Solve the model of any number of classes, each with coefficients and a target.

    Parameters are those of `logistic_path`, with one column per class: target (n_coefficients,
    n_classes), offset (n_rows, n_classes). Shifting a coefficient of all classes together changes no
    probability. Under an L1 penalty, where a coefficient has the same factor in all classes, and where it is
    free, the shift returned makes the midpoint median of coefficient minus target zero, which no other beats.
    """
    penalty = penalty or ElasticNet()
    path = _path(
        design, labels, n_classes, penalty, strengths, n_strengths, ratio, row_weight, offset,
        options or PathOptions(),
    )  # fmt: skip
    shift_to_medians(path, penalty)
    return path


def shift_to_medians(path: ShrinkagePath, penalty: ElasticNet) -> None:
    """Shift coefficients of all classes together, in place, where that costs no penalty."""
    factor = penalty.factors_of(path.target.shape)
    alike = (factor == factor[:, :1]).all(axis=1)
    if penalty.l1_share < 1.0:  # the L2 part fixes the shift of what is not free
        alike &= (factor == 0.0).all(axis=1)
    deviations = path.coefficients[:, alike] - path.target[alike]
    path.coefficients[:, alike] -= np.median(deviations, axis=2, keepdims=True)


def _path(
    design: ReferenceDesign,
    labels: Integers,
    n_scores: int,
    penalty: ElasticNet,
    strengths: ArrayLike | None,
    n_strengths: int,
    ratio: float,
    row_weight: Floats | None,
    offset: ArrayLike | None,
    options: PathOptions,
) -> ShrinkagePath:
    shape = (design.n_coefficients, n_scores)
    labels = compiled_layout(labels, np.int64)
    row_weight = np.ones(design.n_rows) if row_weight is None else compiled_layout(row_weight, np.float64)
    class_weight = _checked_classes(design, labels, row_weight, max(2, n_scores))
    given = checked_strengths(strengths, n_strengths, ratio)
    target, factor, free_intercept = penalty_over(penalty, given, shape)
    moments = None
    if penalty.standardize or free_intercept:
        moments = design.means_and_deviations(row_weight)
        if len(given) and not given.any():
            # Any centre gives the same unpenalised fit. About the mean, which one number may decide, all
            # others can be nearly equal, and their Gram matrix with the intercept nearly singular.
            moments[0][1 : 1 + design.n_numbers] = design.medians(row_weight)
    columns = Columns.of(
        moments,
        design.n_coefficients,
        design.n_numbers,
        standardize=penalty.standardize,
        centred=free_intercept,
    )
    compiled = _compiled(columns, design)
    fixed = filled(offset, (design.n_rows, n_scores), 0.0, "offset")
    fixed += design.scores(target)
    l1_factor, l2_factor = scaled_factors(factor, columns.spread)
    problem = Problem(
        fixed.T.ravel(), labels, row_weight, flat(l1_factor), flat(l2_factor), float(penalty.l1_share)
    )
    null_loss = null_loss_of(class_weight)
    rules = rules_of(
        options, null_loss, _widest(n_scores, design.n_rows), 0.0 if len(given) else ratio, compiled.centre
    )
    solved = _solve(compiled, problem, rules, given if len(given) else np.zeros(int(n_strengths)))
    return read_path(solved, columns, target, null_loss)


def penalty_over(penalty: ElasticNet, given: Floats, shape: tuple[int, int]) -> tuple[Floats, Floats, bool]:
    """Return target and factors of all coefficients, and whether the intercept is free.

    Without any penalty the intercept is free in any case, and centring costs nothing.
    """
    target, factor = penalty.target_of(shape), penalty.factors_of(shape)
    free_intercept = not penalty.penalize_intercept or bool(len(given) and not given.any())
    if free_intercept:
        factor[0] = 0.0
    return target, factor, free_intercept


def null_loss_of(class_weight: Floats) -> float:
    """Return the loss of the class shares alone."""
    shares = class_weight[class_weight > 0] / class_weight.sum()
    return -float(class_weight.sum() * (shares @ np.log(shares)))


def rules_of(options: PathOptions, null_loss: float, gram_limit: int, ratio: float, centre: Floats) -> Rules:
    """Return when to stop, as the kernels take it."""
    return Rules(
        float(options.gap_tol),
        float(options.residual_tol),
        int(options.max_steps),
        (1.0 - EXPLAINED) * null_loss if options.stop_early else -1.0,
        float(options.separated) if options.stop_early else -1.0,
        gram_limit,
        ALWAYS_WHOLE,
        float(ratio),
        float(np.abs(centre).max()),
    )


def _compiled(columns: Columns, design: ReferenceDesign) -> PathDesign:
    """Return what the kernels take; they centre as they go what was not centred by copying."""
    numbers, centre = columns.numbers_of(design.numbers), columns.on_the_fly
    return PathDesign(numbers, design.places, design.first_place, centre)


def read_path(solved: Path, columns: Columns, target: Floats, null_loss: float) -> ShrinkagePath:
    """Return the strengths that were reached, on the scale of the design, relative to its scales."""
    kept = solved.statuses != NOT_REACHED
    d, n_scores = target.shape
    deviations = solved.deviations[kept].reshape(-1, n_scores, d + 1)[:, :, :-1].transpose(0, 2, 1)
    tiny = np.finfo(float).tiny
    strength_max, steepest, _ = solved.scales
    facts = solved.facts[kept]
    # No objective is below zero, so that it bounds the gap, and one that is rounding beside the loss of the
    # class shares is a minimum: where the target separates the classes, the loss there is no scale.
    zero = facts[:, OBJECTIVE] <= np.finfo(float).eps * null_loss
    return ShrinkagePath(
        strengths=solved.strengths[kept],
        coefficients=columns.coefficients(deviations) + target,
        target=target,
        deviance=2.0 * facts[:, LOSS],
        gap=np.minimum(facts[:, GAP] / np.maximum(facts[:, OBJECTIVE], tiny), 1.0),
        residual=facts[:, RESIDUAL] / max(steepest, tiny),
        passes=solved.passes[kept],
        converged=(solved.statuses[kept] == CONVERGED) | zero,
        strength_max=float(strength_max),
        null_deviance=2.0 * null_loss,
    )


def _widest(n_scores: int, n_rows: int) -> int:
    """Return the number of coefficients up to which second derivatives are kept."""
    return 2 * WIDEST if n_scores > 1 and n_rows <= 2 * WIDEST else WIDEST


def _solve(design: PathDesign, problem: Problem, rules: Rules, strengths: Floats) -> Path:
    """Solve by Newton steps, and from where the working set is too wide for them by sweeps."""
    from seminaive.kernels.path_newton import newton_path

    n_scores = len(problem.offset) // len(problem.label)
    size = len(problem.l1_factor)
    path: Path = new_path(strengths, size)
    penalty, point, trial = new_penalty(size), new_point(size), new_point(size)
    work, softmax = new_work(len(problem.label), n_scores), new_softmax(n_scores)
    model = new_model(design, n_scores, rules.gram_limit)
    n_rows = len(problem.label)
    newton_path(design, problem, rules, path, work, softmax, penalty, model, point, trial, new_run(), n_rows)
    wide = np.flatnonzero(path.statuses == TOO_WIDE)
    if len(wide):
        from seminaive.kernels.path_sweeps import new_sweep, sweep_path

        patient = rules._replace(max_steps=PATIENCE * rules.max_steps)
        sweep = new_sweep(design, n_scores)
        sweep_path(design, problem, patient, path, wide[0], work, softmax, penalty, point, trial, sweep)
    return path


def _checked_classes(design: ReferenceDesign, labels: Integers, row_weight: Floats, n_classes: int) -> Floats:
    """Return the weight of each class, after checking labels and weights against the design."""
    if labels.shape != (design.n_rows,) or row_weight.shape != (design.n_rows,):
        raise InputError(
            f"a design of {design.n_rows} rows needs as many labels and weights, got {labels.shape} and "
            f"{row_weight.shape}"
        )
    if design.n_rows == 0:
        raise InputError("a path needs at least one row, got none")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise InputError(f"labels must lie in 0 to {n_classes - 1}, got {labels.min()} to {labels.max()}")
    if not np.isfinite(row_weight).all() or (row_weight < 0).any() or not row_weight.any():
        raise InputError("row weights must be finite, not negative and not all zero")
    return np.bincount(labels, row_weight, minlength=n_classes).astype(np.float64)


def checked_strengths(strengths: ArrayLike | None, n_strengths: int, ratio: float) -> Floats:
    """Return the strengths, largest first; empty where they are to be laid."""
    if strengths is None:
        if n_strengths < 1:
            raise InputError(f"n_strengths is a whole number, 1 or more, got {n_strengths!r}")
        if not 0.0 < ratio <= 1.0:
            raise InputError(f"ratio is the least strength over the largest, in (0, 1], got {ratio!r}")
        return np.empty(0)
    try:
        given = np.sort(np.atleast_1d(np.asarray(strengths, dtype=np.float64)))[::-1].copy()
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"strengths are numbers of 0 or more, got {strengths!r} ({error})") from error
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or (given < 0).any():
        raise InputError(f"strengths must be finite and not negative, at least one, got {strengths!r}")
    return given
