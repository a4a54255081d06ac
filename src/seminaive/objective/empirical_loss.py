"""The weighted sum over the rows of a pointwise loss of offset + X B, under one or several weightings."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.objective.log_loss import posterior_of
from seminaive.objective.softmax_hessian import softmax_hessian
from seminaive.objective.summed_loss import SummedLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices, Labels
    from seminaive.design.protocol import Design, Workspace
    from seminaive.objective.summed_loss import LossName


class EmpiricalLoss(SummedLoss):
    """The loss of a training table as a function of coefficients B, with gradient and second derivatives.

    Several weightings of the same rows, such as the training rows of the folds of a cross-validation, have
    separate coefficients and share every pass over the rows: the columns of B are those of the first
    weighting, then those of the second, and so on. Within a weighting they are the classes or, for two
    classes, the single log odds of class 1.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    row_weights : ndarray of shape (n_weightings, n_rows) or (n_rows,)
    loss : {"log-likelihood", "squared-error"}
        ``-log p_y``, or half the squared distance between posterior and label.
    offset : ndarray of shape (n_rows, n_weightings * n_columns) or None
        Added to the scores.
    keep_scores : bool
        Whether to remember the scores of the last coefficients, for second derivatives at the same place.
    """

    def __init__(
        self,
        design: Design,
        labels: Labels,
        row_weights: Floats,
        n_classes: int,
        *,
        loss: LossName = "log-likelihood",
        offset: Floats | None = None,
        keep_scores: bool = False,
    ) -> None:
        self.design = design
        self.labels = labels
        self.row_weights = np.atleast_2d(row_weights)
        self.n_classes = n_classes
        self.loss = loss
        self.offset = offset
        self.n_columns = n_columns_of(n_classes)
        self.n_weightings = len(self.row_weights)
        self._n_scores = self.n_weightings * self.n_columns
        self.shape = (design.n_coefficients, design.coefficient_columns(self._n_scores))
        self._space = design.workspace(self._n_scores)
        self._kept: tuple[Floats, Floats] | None = None
        self._keep_scores = keep_scores

    def with_offset(self, offset: Floats | None) -> EmpiricalLoss:
        """Return the same loss with another offset."""
        return EmpiricalLoss(
            self.design,
            self.labels,
            self.row_weights,
            self.n_classes,
            loss=self.loss,
            offset=offset,
            keep_scores=self._keep_scores,
        )

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the loss of each weighting, and the gradient, shaped like the coefficients."""
        if self._keep_scores:
            parts = self._space.load(self.scores(coefficients), self._replace_by_residuals)
        else:
            parts = self._space.score(coefficients, self._residuals_of_sums)
        return np.sum(parts, axis=0), self._space.adjoint()

    def scores(self, coefficients: Floats) -> Floats:
        """Return offset + X B, the columns of all weightings side by side."""
        if self._kept is None or not np.array_equal(self._kept[0], coefficients):
            self._space.score(coefficients, self._add_offset)
            found = self._space.values.copy()
            if not self._keep_scores:
                return found
            self._kept = coefficients.copy(), found
        return self._kept[1]

    def posterior(self, coefficients: Floats) -> Floats:
        """Return the probability of each class or, of two, of class 1: (n_rows, n_weightings, n_columns)."""
        return posterior_of(self.scores(coefficients).reshape(-1, self.n_weightings, self.n_columns))

    @cached_property
    def at_equal(self) -> Floats:
        """Return the loss of equal odds of each weighting."""
        return np.asarray(self.row_weights.sum(axis=1) * np.log(self.n_classes))

    # Second derivatives of the log loss

    def row_curvature(self, coefficients: Floats) -> Floats:
        """Return the second derivative along each score of each row, w p (1 - p), (n_rows, all columns)."""
        posterior = self.posterior(coefficients)
        return self._flat(self.row_weights.T[:, :, None] * posterior * (1 - posterior))

    def curvature(self, row_curvature: Floats) -> Floats:
        """Return the diagonal of the Hessian, shaped like the coefficients."""
        return self.design.rough.squared_adjoint(row_curvature)

    @cached_property
    def gradient_at_zero(self) -> Floats:
        """Return the gradient where all coefficients are 0."""
        gradient = self(np.zeros(self.shape))[1]
        self._kept = None
        return gradient

    @cached_property
    def curvature_at_zero(self) -> Floats:
        """Return the diagonal of the Hessian where all scores are 0, an offset being left out."""
        return self.curvature(self.variance_at_zero * np.repeat(self.row_weights.T, self.n_columns, axis=1))

    def squared_columns(self) -> Floats:
        """Return the weighted sum of the squares of each column of X, (n_coefficients, 1): one weighting."""
        return self.design.squared_adjoint(self.row_weights[0][:, None])

    def gram(self, columns: Indices) -> Floats:
        """Return the weighted Gram matrix of some columns of X, of a single weighting."""
        return self.design.gram(self.row_weights[0], columns)

    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction D by the Hessian at some coefficients.

        A row of weight w and posterior p turns its scores s = X D into ``w p (s - sum p s)``; with two
        classes, whose score is the log odds, into ``w p (1 - p) s``.
        """
        from seminaive.kernels.compiled_log_loss import softmax_curvature

        posterior = self.posterior(coefficients)
        row_weights = self.row_weights.T[:, :, None] * posterior
        if self.n_columns == 1:
            row_weights *= 1 - posterior
        space = self._rough_space
        weights = np.zeros((len(row_weights), space.width))
        weights[:, : self._n_scores] = self._flat(row_weights)

        def weigh(rows: slice, scores: Floats) -> None:
            if self.n_columns > 1:
                softmax_curvature(posterior[rows], weights[rows], scores)
            else:
                scores *= weights[rows]

        def product(direction: Floats) -> Floats:
            space.score(direction, weigh)
            return space.adjoint()

        return product

    @cached_property
    def _rough_space(self) -> Workspace:
        rough = self.design.rough
        return self._space if rough is self.design else rough.workspace(self._n_scores)

    def hessian(self, coefficients: Floats) -> Floats:
        """Return the Hessian of a single weighting, its coefficients flattened by rows.

        Where classes share coefficients, it is found by its products with unit vectors.
        """
        if self.shape[1] != self._n_scores:
            return super().hessian(coefficients)
        return softmax_hessian(self.design.gram, self.posterior(coefficients)[:, 0], self.row_weights[0])

    # Rows

    def _residuals_of_sums(self, rows: slice, scores: Floats) -> Floats:
        self._add_offset(rows, scores)
        return self._replace_by_residuals(rows, scores)

    def _add_offset(self, rows: slice, scores: Floats) -> None:
        if self.offset is not None:
            scores[:, : self._n_scores] += self.offset[rows]

    def _replace_by_residuals(self, rows: slice, scores: Floats) -> Floats:
        """Turn the scores of some rows into residuals, and return the loss of each weighting."""
        labels = self.labels[rows]
        if self.n_weightings == 1:
            loss = self._residuals(scores, labels, self.row_weights[0, rows])
            scores[:, self._n_scores :] = 0.0
            return np.array([loss])
        losses = np.empty(self.n_weightings)
        for number, weights in enumerate(self.row_weights):
            columns = slice(number * self.n_columns, (number + 1) * self.n_columns)
            part = np.ascontiguousarray(scores[:, columns])
            losses[number] = self._residuals(part, labels, weights[rows])
            scores[:, columns] = part
        return losses

    def _residuals(self, scores: Floats, labels: Labels, weights: Floats) -> float:
        return replace_by_residuals(scores, labels, weights, self.n_classes, self.loss)

    def _flat(self, by_weighting: Floats) -> Floats:
        """Return the columns of all weightings side by side."""
        return by_weighting.reshape(len(by_weighting), self._n_scores)


def replace_by_residuals(
    scores: Floats, labels: Labels, weights: Floats, n_classes: int, loss: LossName
) -> float:
    """Turn the scores of rows, perhaps padded, into residuals, and return the rows' loss."""
    from seminaive.kernels import compiled_log_loss as compiled

    likelihood = loss == "log-likelihood"
    if n_columns_of(n_classes) == 1:
        binary = compiled.binary_log_loss_residuals if likelihood else compiled.binary_squared_error_residuals
        return float(binary(scores[:, 0], labels, weights))
    multiclass = compiled.log_loss_residuals if likelihood else compiled.squared_error_residuals
    return float(multiclass(scores, labels, weights, n_classes))
