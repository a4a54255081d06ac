"""A ridge problem with one weight per row in place of its coefficients (Kimeldorf and Wahba, 1971)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats
    from seminaive.objective.row_loss import RowLoss


class RowSpaceObjective:
    """``loss(K a + b) + a'K a / 2`` of the weights a of the rows, with ``1'a = 0`` for the free intercept b.

    Coefficients of prior variances V over features F are ``V F'a``, and ``K = F V F'``. A vector is
    ``[a; K a + b]`` and a gradient ``[0; a - residuals]``, both of shape (2 n_rows, 1, n_columns): their
    plain scalar product is the derivative along the vector, so that a solver need not know the space.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
        K, without the intercept.
    loss : RowLoss
    """

    def __init__(self, kernel: Floats, loss: RowLoss) -> None:
        self.kernel = kernel
        self.loss = loss
        self.at_equal = np.array([loss.at_equal])

    def __call__(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the value and the gradient."""
        weights, scores = parts(z)
        value, posterior = self.loss.evaluate(scores)
        # The intercept has no part in a'K a, since the weights add up to 0.
        value += 0.5 * float(np.vdot(weights, scores))
        return np.array([value]), gradient_of(weights - self.loss.residuals(posterior))

    def hessian_product(self, z: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction ``[a; s]`` by the Hessian: ``[0; a + W s]``."""
        posterior = self.posterior(z)

        def product(direction: Floats) -> Floats:
            weights, scores = parts(direction)
            return gradient_of(weights + self.loss.curved(posterior, scores))

        return product

    def posterior(self, z: Floats) -> Floats:
        """Return the posterior of the rows: of class 1 of two, else of each class."""
        return self.loss.evaluate(parts(z)[1])[1]


def parts(z: Floats) -> tuple[Floats, Floats]:
    """Return the weights and the scores of a vector, each (n_rows, n_columns)."""
    n_rows = len(z) // 2
    return z[:n_rows, 0], z[n_rows:, 0]


def vector_of(weights: Floats, scores: Floats) -> Floats:
    """Return the vector of weights and the scores ``K a + b`` that they give."""
    return np.concatenate([weights, scores])[:, None]


def gradient_of(by_score: Floats) -> Floats:
    """Return the gradient whose scalar product with a vector is that of its scores."""
    return np.concatenate([np.zeros_like(by_score), by_score])[:, None]
