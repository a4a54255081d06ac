"""Which engine fits smooth columns: with inequalities where columns have shapes, without them elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.selection.kernel_engine import KernelEngine
from seminaive.selection.projected_engine import ProjectedEngine
from seminaive.selection.shaped_kernel_engine import ShapedKernelEngine
from seminaive.selection.shaped_projected_engine import ShapedProjectedEngine

if TYPE_CHECKING:
    from seminaive.design.smooth_columns import SmoothColumns


def row_engine(columns: SmoothColumns, *rows: Any) -> KernelEngine:
    """Return what fits columns in the row space; its parameters are those of `KernelEngine`."""
    kind = ShapedKernelEngine if has_inequalities(columns) else KernelEngine
    return kind(columns, *rows)


def coefficient_engine(columns: SmoothColumns, *rows: Any, n_threads: int = 1) -> ProjectedEngine:
    """Return what fits columns in their coefficients; its parameters are those of `ProjectedEngine`."""
    kind: type[Any] = ShapedProjectedEngine if has_inequalities(columns) else ProjectedEngine
    made: ProjectedEngine = kind(columns, *rows, n_threads=n_threads)
    return made


def has_inequalities(columns: SmoothColumns) -> bool:
    """Tell whether any column has a shape that is more than a line."""
    return len(ShapeConstraints.of(columns, 2)) > 0
