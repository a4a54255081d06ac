"""What the shapes of columns cost: held-out rows scored with all of them, and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.shaped_columns import LINEAR
from seminaive.selection.decision import SEARCH
from seminaive.selection.relevance_trials import PLAN, updated_relevances
from seminaive.selection.screening import kept_terms
from seminaive.selection.shaped_coefficient_solver import ShapedCoefficientSolver
from seminaive.selection.shaped_row_space_solver import ShapedRowSpaceSolver

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.selection.relevance_search import RelevanceSearch
    from seminaive.selection.relevance_trials import FoldSolver, RelevanceTrial


SHAPED = (ShapedRowSpaceSolver, ShapedCoefficientSolver)


def costs_of_shapes(
    search: RelevanceSearch, trial: RelevanceTrial, solver_of: Callable[[SmoothColumns], FoldSolver]
) -> dict[int, tuple[float, float]]:
    """Return what each shape adds to the held-out log loss, and its standard error.

    The folds of a trial are fitted again without the shape of one column, under the same strengths. The
    column's relevances are found anew: under the shape, a flat curve has lost them. A
    trial's score of one row was learned from the others, so that n rows vary like n / 2 independent ones
    (docs/decisions/0015-decide-by-the-rows.md).

    Parameters
    ----------
    solver_of : callable
        From columns to what fits them to the rows of the search.

    Returns
    -------
    dict
        By the positions of shaped columns among the columns of numbers.
    """
    held_out = search.held_out
    losses = held_out.expected_losses(trial.scores)
    found = {}
    for position, column in enumerate(search.solver.columns.columns):
        if column.shape is None or column.number is None:
            continue
        found[column.number] = 0.0, 0.0
        if _binds(search.solver, position):
            differences = losses - _losses_without(search, trial, position, solver_of)
            error = np.sqrt(2.0) * held_out.standard_error(differences)
            found[column.number] = float(held_out.mean(differences)), float(error)
    return found


def _binds(solver: Any, position: int) -> bool:
    """Tell whether the shape of a column leaves out any curve: a column of two values has lines only."""
    column = solver.columns.columns[position]
    if column.number not in solver.columns.slopes:
        return False
    if column.shape.kind == LINEAR:
        return True
    return isinstance(solver, SHAPED) and position in solver.constraints.owners


def _losses_without(
    search: RelevanceSearch,
    trial: RelevanceTrial,
    position: int,
    solver_of: Callable[[SmoothColumns], FoldSolver],
) -> Floats:
    """Return the losses of held-out rows without the shape of a column.

    The better of two fits: with the column's terms as free as at the start of a search, and after an update
    of all relevances.
    """
    solver, relevances = _without_shape(search, trial, position, solver_of)
    held_out, folds = search.held_out, range(len(solver.rows.splits))

    def fitted(starts: Any) -> tuple[Any, Any, Floats]:
        prepared = solver.prepare(relevances)
        fits = solver.fit_folds(prepared, trial.strengths, starts, SEARCH.precision, search.max_iter)
        return prepared, fits, held_out.expected_losses(held_out.gathered([fit.scores for fit in fits]))

    # A linear column that gets a curve has other coefficients than those to start from.
    same = solver.columns is search.solver.columns
    prepared, fits, first = fitted([fit.warm_start for fit in trial.fits] if same else None)
    penalties, degrees = solver.evidence(prepared, folds, trial.strengths, fits)
    for k in folds:
        update = (penalties[k] / solver.columns.smoothness, degrees[k], solver.columns.groups)
        relevances[k] = updated_relevances(relevances[k], *update)
    *_, second = fitted([fit.warm_start for fit in fits])
    return first if held_out.mean(first) < held_out.mean(second) else second


def _without_shape(
    search: RelevanceSearch,
    trial: RelevanceTrial,
    position: int,
    solver_of: Callable[[SmoothColumns], FoldSolver],
) -> tuple[Any, Floats]:
    """Return what fits the columns without the shape of one, and relevances.

    Those of the column's terms give them the prior variance of the start of a search, or more.
    """
    solver: Any = search.solver
    columns = solver.columns
    relevances = np.stack([prepared.relevances for prepared in trial.prepared])
    if columns.columns[position].shape.kind == LINEAR:
        curved = columns.with_curve(position)
        if position in curved.mains and position not in columns.mains:
            term = len(curved.slopes) + curved.mains.index(position)
            relevances = np.insert(relevances, term, 1.0, axis=1)
        solver = solver_of(curved)
    else:
        solver = solver.without_shape(position)
    this = np.arange(len(columns.columns)) == position
    terms = kept_terms(solver.columns, this[None])[0]
    held_back = (np.asarray(trial.strengths) / PLAN.starts)[solver.columns.groups]
    relevances[:, terms] = np.clip(held_back, 1.0, PLAN.relevances[1])[terms]
    return solver, relevances
