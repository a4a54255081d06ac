"""The losses of several weightings of the same rows, in one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, softmax

from seminaive.objective.conditional_likelihood import ROWS_AT_ONCE, ConditionalLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class SideBySideLoss(ConditionalLoss):
    """A log loss under several weightings of its rows, each with coefficients of its own.

    The folds of a cross-validation differ in nothing but the weights of the rows, so they share every
    gather, scatter and matrix product. The columns of the coefficients are those of the first weighting,
    then those of the second, and so on.

    Parameters
    ----------
    loss : ConditionalLoss
    row_weights : ndarray of shape (n_weightings, n_rows)
    offset : ndarray of shape (n_rows, n_columns) or None
        Added to the scores.
    """

    def __init__(self, loss: ConditionalLoss, row_weights: Floats, offset: Floats | None = None) -> None:
        super().__init__(
            loss.fused,
            loss.numbers,
            loss.labels,
            row_weights.sum(axis=0),
            loss.n_classes,
            n_threads=loss.n_threads,
            offset=offset,
        )
        self.row_weights = row_weights
        self.width = self.n_columns
        self._allocate(len(row_weights) * self.width)
        # Products of the curvature only steer a search: where numbers are all there is, half the digits take
        # half the time.
        self._rough_numbers = self.numbers if loss.fused.n_parameters else self.numbers.astype(np.float32)
        self._squares = self._rough_numbers**2
        self._last: tuple[Floats, Floats] | None = None
        self.gradient_at_zero = self._gradient_at_zero()

    def _gradient_at_zero(self) -> Floats:
        """Return the gradient where all coefficients are zero."""
        gradient = self.each(np.zeros(self.shape))[1]
        self._last = None
        return gradient

    @cached_property
    def curvature_at_zero(self) -> Floats:
        """The second derivative along each coefficient where all are zero; an offset counts as zero."""
        posterior = 1 / self.n_classes
        by_weighting = np.repeat(self.row_weights.T, self.width, axis=1)
        return self.curvature(posterior * (1 - posterior) * by_weighting)

    def scores(self, coefficients: Floats) -> Floats:
        """Return each row's scores, the columns of all weightings side by side."""
        self._score_all(coefficients)
        return self._scores[:, : self.n_columns].copy()

    def _score_all(self, coefficients: Floats) -> None:
        """Fill in the scores of all rows; where the coefficients are those of last time, from memory."""
        if self._last is not None and np.array_equal(self._last[0], coefficients):
            self._scores[:] = self._last[1]
            return
        self._unpack(coefficients)
        self._in_threads(self._score, self._blocks)
        self._last = coefficients.copy(), self._scores.copy()

    @property
    def n_weightings(self) -> int:
        """Return the number of losses."""
        return len(self.row_weights)

    def each(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the loss of each weighting, and the gradients, shaped like the coefficients."""
        self._score_all(coefficients)
        losses = np.sum(self._in_threads(self._residuals_of_each, self._blocks), axis=0)
        return losses, self._collect(self.numbers)

    def _residuals_of_each(self, start: int) -> Floats:
        """Turn the scores from start on into residuals, and return the loss of each weighting."""
        rows = slice(start, start + ROWS_AT_ONCE)
        losses = np.empty(self.n_weightings)
        for number, weights in enumerate(self.row_weights):
            columns = slice(number * self.width, (number + 1) * self.width)
            own = np.ascontiguousarray(self._scores[rows, columns])
            losses[number] = self._replace_by_residuals(own, self.labels[rows], weights[rows])
            self._scores[rows, columns] = own
        return losses

    def row_curvature(self, coefficients: Floats) -> Floats:
        """Return the second derivative along each score of each row, (n_rows, n_columns)."""
        posterior = self._posteriors(coefficients)
        return self._flat(self.row_weights.T[:, :, None] * posterior * (1 - posterior))

    def curvature(self, row_curvature: Floats) -> Floats:
        """Return the second derivative along each coefficient, shaped like them."""
        squares = np.matmul(row_curvature.T.astype(self._squares.dtype, copy=False), self._squares)
        return np.vstack([row_curvature.sum(axis=0), self.sums_of_cells(row_curvature), squares.T])

    def curvature_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the second derivatives at some coefficients.

        A row of weight w and posterior p turns its scores s along the direction into
        ``w p (s - sum p s)``; two classes, whose score is the log-odds, into ``w p (1 - p) s``.
        """
        posterior = self._posteriors(coefficients)
        weights = self.row_weights.T[:, :, None] * posterior
        if self.width == 1:
            weights *= 1 - posterior
        weighted = np.zeros_like(self._scores)
        weighted[:, : self.n_columns] = self._flat(weights)

        def product(direction: Floats) -> Floats:
            self._unpack(direction)
            self._in_threads(self._add_up_roughly, self._blocks)
            if self.width > 1:
                along = self._scores[:, : self.n_columns].reshape(posterior.shape)
                means = np.einsum("rfc,rfc->rf", posterior, along)
                self._scores[:, : self.n_columns] = self._flat(along - means[:, :, None])
            self._scores *= weighted
            return self._collect(self._rough_numbers)

        return product

    def _add_up_roughly(self, start: int) -> float:
        return self._add_up(start, self._rough_numbers)

    def _posteriors(self, coefficients: Floats) -> Floats:
        """Return the posterior of each row, weighting and class or, of two, of class 1."""
        scores = self.scores(coefficients).reshape(-1, self.n_weightings, self.width)
        posteriors: Floats = expit(scores) if self.width == 1 else softmax(scores, axis=2)
        return posteriors

    def _flat(self, by_weighting: Floats) -> Floats:
        """Return the columns of all weightings side by side."""
        return by_weighting.reshape(len(by_weighting), self.n_columns)


@dataclass(frozen=True)
class SideBySideObjective:
    """``loss(b) + sum strength / 2 (b - target)**2`` of each weighting.

    Vectors are coefficients of the shape (n_coefficients, n_weightings, n_columns of each).

    Parameters
    ----------
    loss : SideBySideLoss
    strength : ndarray of shape (n_coefficients,)
        Penalty of each coefficient, in rows.
    target : ndarray
        The value that each coefficient is pulled to, shaped like the loss's coefficients.
    preconditioner : callable
        Approximate inverse of the second derivatives, for arrays shaped like the loss's coefficients.
    """

    loss: SideBySideLoss
    strength: Floats
    target: Floats
    preconditioner: Callable[[Floats], Floats]

    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the value of each weighting, and the gradients."""
        flat = coefficients.reshape(self.target.shape)
        values, gradient = self.loss.each(flat)
        away = flat - self.target
        pull = self.strength[:, None] * away
        penalties = 0.5 * np.einsum("rk,rk->k", pull, away)
        values += penalties.reshape(self.loss.n_weightings, -1).sum(axis=1)
        gradient += pull
        return values, gradient.reshape(coefficients.shape)

    def curvature_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the second derivatives at some coefficients."""
        of_loss = self.loss.curvature_product(coefficients.reshape(self.target.shape))

        def product(direction: Floats) -> Floats:
            flat = direction.reshape(self.target.shape)
            curved = of_loss(flat)
            curved += self.strength[:, None] * flat
            return curved.reshape(direction.shape)

        return product

    def precondition(self, gradient: Floats) -> Floats:
        """Return the approximate Newton step against a gradient."""
        return self.preconditioner(gradient.reshape(self.target.shape)).reshape(gradient.shape)
