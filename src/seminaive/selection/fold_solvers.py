"""Which solver fits smooth columns: with inequalities where columns have shapes, without them elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.shaped_coefficient_solver import ShapedCoefficientSolver
from seminaive.selection.shaped_row_space_solver import ShapedRowSpaceSolver

if TYPE_CHECKING:
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.selection.split_rows import SplitRows


def row_space_solver(columns: SmoothColumns, rows: SplitRows) -> RowSpaceSolver:
    """Return what fits columns in the row space; its parameters are those of `RowSpaceSolver`."""
    kind = ShapedRowSpaceSolver if has_inequalities(columns) else RowSpaceSolver
    return kind(columns, rows)


def coefficient_solver(columns: SmoothColumns, rows: SplitRows, n_threads: int = 1) -> CoefficientSolver:
    """Return what fits columns in their coefficients; its parameters are those of `CoefficientSolver`."""
    kind = ShapedCoefficientSolver if has_inequalities(columns) else CoefficientSolver
    return kind(columns, rows, n_threads)


def has_inequalities(columns: SmoothColumns) -> bool:
    """Tell whether any column has a shape that is more than a line."""
    return len(ShapeConstraints.of(columns, 2)) > 0
