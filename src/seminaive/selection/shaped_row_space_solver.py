"""Fits of smooth columns whose curves have shapes, in the row space."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.blas import dsymm

from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.selection.row_space_solver import RowFit, RowSpaceSolver
from seminaive.solvers.constrained_kernel import RowInequalities, combined, minimize_constrained_kernel
from seminaive.solvers.row_space_system import reml_projection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.selection.row_space_solver import Prepared
    from seminaive.selection.split_rows import SplitRows


class ShapedRowSpaceSolver(RowSpaceSolver):
    """Fits of all folds through kernel matrices between rows, each under the shapes of its columns.

    Its parameters are those of `RowSpaceSolver`.
    """

    def __init__(self, columns: SmoothColumns, rows: SplitRows) -> None:
        super().__init__(columns, rows)
        self.constrain(ShapeConstraints.of(columns, rows.n_classes))

    def constrain(self, constraints: ShapeConstraints) -> None:
        """Take other inequalities."""
        self.constraints = constraints
        shaped = constraints.positions - 1
        self._shaped_features = self.kernels.first[:, shaped]
        self._shaped_terms = np.repeat(np.arange(self.columns.n_terms), self.columns.sizes)[shaped]

    def without_shape(self, column: int) -> ShapedRowSpaceSolver:
        """Return the same solver in which one column is free."""
        made = copy(self)
        made.constrain(self.constraints.without(column))
        return made

    def _variances(self, prepared: Prepared, strengths: Sequence[float]) -> Floats:
        """Return the prior variance of each coefficient that has a shape; 0 without any relevance."""
        of_terms = prepared.relevances / np.asarray(strengths)[self.columns.groups]
        return np.asarray(of_terms[self._shaped_terms])

    # Fits

    def _fit(
        self,
        which: int,
        prepared: Prepared,
        strengths: Sequence[float],
        start: Floats | None,
        tol: float,
        max_iter: int,
    ) -> RowFit:
        if not len(self.constraints):
            return super()._fit(which, prepared, strengths, start, tol, max_iter)
        kernel = prepared.kernel(strengths)
        train, n = prepared.order[: prepared.n_train], prepared.n_train
        out = prepared.order[n:]
        loss = self._loss(which, train)
        variances = self._variances(prepared, strengths)
        functions = self.constraints.functions(self._shaped_features, variances)
        covariance = self.constraints.covariance(np.diag(variances))
        inequalities = RowInequalities(np.ascontiguousarray(functions[:, train]), covariance)
        first = np.zeros((n, loss.n_columns)) if start is None else start[train]
        fit = minimize_constrained_kernel(kernel[:n], loss, inequalities, first, tol=tol, max_iter=max_iter)
        scores = np.empty((self.rows.n_rows, loss.n_columns))
        scores[train] = fit.scores
        scores[out] = kernel[n:] @ fit.weights + fit.intercept
        scores[out] += combined(fit.multipliers, functions[:, out])
        return RowFit(fit, scores, scores if self._offsets is None else scores + self._offsets[which])

    def _shaped(self, prepared: Prepared, strengths: Sequence[float], fit: Any) -> tuple[Floats, Floats]:
        """Return the coefficients that have a shape, ``V (F'a + A'm)``, and the forces A'm."""
        train = prepared.order[: prepared.n_train]
        forces = self.constraints.forces(fit.fit.multipliers)
        variances = self._variances(prepared, strengths)[:, None]
        pulled = self._shaped_features[train].T @ fit.fit.weights
        return np.asarray(variances * (pulled + forces)), forces

    # Relevances

    def evidence(
        self, prepared: list[Prepared], which: Sequence[int], strengths: Sequence[float], fits: list[RowFit]
    ) -> tuple[Floats, Floats]:
        """Return penalties and degrees of freedom, the latter without what shapes hold fixed."""
        penalties, degrees = super().evidence(prepared, which, strengths, fits)
        if not len(self.constraints):
            return penalties, degrees
        n_terms = self.columns.n_terms
        for number, (k, fit) in enumerate(zip(which, fits, strict=True)):
            training = prepared[k]
            variances = self._variances(training, strengths)
            with np.errstate(divide="ignore"):
                ridge = 1 / variances
            fitted, forces = self._shaped(training, strengths, fit)
            # What the forces of the inequalities add to the squares of V F'a, which the row space knows.
            more = (2 * fitted - variances[:, None] * forces) * forces
            penalties[number] += np.bincount(self._shaped_terms, more.mean(axis=1), minlength=n_terms)
            covariance = self._covariance(k, training, strengths, fit)
            removed = self.constraints.removed_degrees(covariance, ridge, fitted)
            degrees[number] -= np.bincount(self._shaped_terms, removed, minlength=n_terms)
        return np.maximum(penalties, 0.0), np.maximum(degrees, 0.0)

    def _covariance(self, which: int, prepared: Prepared, strengths: Sequence[float], fit: RowFit) -> Floats:
        """Return ``V - V F'Q F V``, the covariance of coefficients that have a shape, were they free."""
        train = prepared.order[: prepared.n_train]
        loss = self._loss(which, train)
        curvature = loss.curvature(loss.evaluate(fit.fit.scores)[1]).mean(axis=1)
        lower, root = reml_projection(prepared.kernel(strengths)[: prepared.n_train], curvature)
        variances = self._variances(prepared, strengths)
        scaled = root[:, None] * self._shaped_features[train] * variances
        return np.asarray(np.diag(variances) - scaled.T @ dsymm(1.0, lower, scaled, lower=True))

    # Coefficients

    def coefficients(self, parts: list[tuple[float, list[Prepared], Sequence[float], RowFit]]) -> Floats:
        """Return the weighted sum of fits of all rows as coefficients, intercept and terms in order."""
        found = super().coefficients(parts)
        found[self.constraints.positions] = sum(
            share * self._shaped(prepared[-1], strengths, fit)[0] for share, prepared, strengths, fit in parts
        )
        return found
