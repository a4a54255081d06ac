"""Fits of smooth columns whose curves have shapes, in their coefficients."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.objective.factor import inverse_of
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.degrees_of_freedom import factor_with_ridge
from seminaive.solvers.constrained_newton import ConstrainedSteps
from seminaive.solvers.minimize import minimize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.objective.penalised_loss import PenalisedLoss
    from seminaive.selection.coefficient_fit import CoefficientFit, Curvature, PreparedRelevances
    from seminaive.selection.split_rows import SplitRows
    from seminaive.solvers.result import SolverResult


@dataclass(frozen=True)
class ShapedPreconditioner:
    """An approximate inverse C of penalised Hessians, and ``A C A'`` of inequalities ``A b >= 0``.

    Parameters
    ----------
    inverse : callable
        Multiplies gradients by C.
    covariances : callable
        Returns A C A' of each system.
    """

    inverse: Callable[[Floats], Floats]
    covariances: Callable[[], list[Floats]]

    def __call__(self, gradient: Floats) -> Floats:
        """Return gradients times C."""
        return self.inverse(gradient)


class ShapedCoefficientSolver(CoefficientSolver):
    """Fits of all folds side by side, each under the shapes of its columns.

    Its parameters are those of `CoefficientSolver`.
    """

    def __init__(self, columns: SmoothColumns, rows: SplitRows, n_threads: int = 1) -> None:
        self.constraints = ShapeConstraints.of(columns, rows.n_classes)
        super().__init__(columns, rows, n_threads)
        # Last, so that the last block of a Cholesky factor is that of coefficients that have a shape.
        shaped = self.constraints.positions
        others = ~np.isin(self._leading, shaped)
        order = np.append(np.flatnonzero(others), np.searchsorted(self._leading, shaped))
        self._leading_features = np.ascontiguousarray(self._leading_features[:, order])
        self._leading = self._leading[order]

    def _largest_of_first(self, listed: Indices, n_coefficients: int) -> tuple[Floats, Indices]:
        """Return the features of largest squares, pairs aside, and all of columns with shapes."""
        _, largest = super()._largest_of_first(listed, n_coefficients)
        chosen = np.union1d(largest, self.constraints.positions)
        return np.ascontiguousarray(self._dense[:, np.searchsorted(listed, chosen)]), chosen

    @property
    def _has_class_hessians(self) -> bool:
        """Tell that there is one Hessian for all classes: inequalities need its inverse."""
        return False

    def _covariance(self, factor: Floats, strength: Floats) -> Floats:
        """Return the inverse of a penalised Hessian between coefficients that have a shape, by its factor."""
        shaped = self.constraints.positions
        free = np.isfinite(strength[shaped])
        inverse = inverse_of(np.asfortranarray(factor[-len(shaped) :, -len(shaped) :]))
        return np.asarray(inverse * (free & free[:, None]))

    def _shared_inverse(self, curvature: Curvature, strength: list[Floats]) -> ShapedPreconditioner:
        """Return about the inverse of the penalised Hessian, and what it says of the inequalities."""
        factors = self._factors(curvature, strength)

        def covariances() -> list[Floats]:
            systems = zip(factors, strength, strict=True)
            return [self.constraints.covariance(self._covariance(*system)) for system in systems]

        return ShapedPreconditioner(self._inverse_by(factors, curvature, strength), covariances)

    def _minimize(
        self, objective: PenalisedLoss, start: Floats, preconditioner: Any, tol: float, max_iter: int
    ) -> SolverResult:
        """Minimise an objective under the shapes."""
        if not len(self.constraints):
            return super()._minimize(objective, start, preconditioner, tol, max_iter)
        steps = ConstrainedSteps(self.constraints)
        start = steps.nearest(preconditioner, start)
        return minimize(objective, start, preconditioner, tol=tol, max_iter=max_iter, step_from=steps)

    def without_shape(self, column: int) -> ShapedCoefficientSolver:
        """Return the same solver in which one column is free."""
        made = copy(self)
        vars(made).update(constraints=self.constraints.without(column), _curvatures={})
        return made

    def evidence(
        self,
        prepared: list[PreparedRelevances],
        which: Sequence[int],
        strengths: Sequence[float],
        fits: list[CoefficientFit],
    ) -> tuple[Floats, Floats]:
        """Return penalties and degrees of freedom, the latter without what shapes hold fixed."""
        penalties, degrees = super().evidence(prepared, which, strengths, fits)
        if not len(self.constraints):
            return penalties, degrees
        shaped = self.constraints.positions
        for number, (k, fit) in enumerate(zip(which, fits, strict=True)):
            strength = self._strength(prepared[k].relevances, strengths)
            gram = self._gram(self._leading_features, self._mean_curvature(k, fit.scores))
            covariance = self._covariance(factor_with_ridge(gram, strength[self._leading]), strength)
            removed = self.constraints.removed_degrees(covariance, strength[shaped], fit.coefficients[shaped])
            lost = np.bincount(self._term_of[shaped - 1], removed, minlength=len(degrees[number]))
            degrees[number] = np.maximum(degrees[number] - lost, 0.0)
        return penalties, degrees
