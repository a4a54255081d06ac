"""What every loss offers that is summed over rows, in memory, in blocks or on disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices

    LossName = Literal["log-likelihood", "squared-error"]


class SummedLoss(ABC):
    """A pointwise loss of the scores X B, summed over weighted rows, as a function of the coefficients B.

    ``shape`` is that of the coefficients; ``n_weightings`` counts the weightings of the rows whose columns of
    coefficients lie side by side; ``loss`` is ``-log p_y``, whose second derivatives are meant throughout, or
    half the squared distance between posterior and label.
    """

    shape: tuple[int, int]
    n_classes: int
    n_weightings: int = 1
    loss: LossName = "log-likelihood"

    @abstractmethod
    def __call__(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the loss of each weighting, and the gradient, shaped like the coefficients."""

    @abstractmethod
    def hessian_product(self, coefficients: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies a direction by the Hessian at some coefficients."""

    @abstractmethod
    def gram(self, columns: Indices) -> Floats:
        """Return the weighted Gram matrix of some columns of X, of a single weighting."""

    @abstractmethod
    def squared_columns(self) -> Floats:
        """Return the weighted sum of the squares of each column of X, (n_coefficients, 1): one weighting."""

    def hessian(self, coefficients: Floats) -> Floats:
        """Return the Hessian of a single weighting, its coefficients flattened by rows.

        It is found by its products with unit vectors; a loss whose rows are in memory may have a faster way.
        """
        product = self.hessian_product(coefficients)
        units = np.eye(self.shape[0] * self.shape[1])
        return np.stack([product(unit.reshape(self.shape)).ravel() for unit in units], axis=1)

    @cached_property
    def at_equal(self) -> Floats:
        """Return the loss of equal odds of each weighting; the first column of X is that of the intercept."""
        return np.asarray(self.squared_columns()[0] * np.log(self.n_classes))

    @cached_property
    def variance_at_zero(self) -> float:
        """Return p (1 - p) where all scores are 0."""
        return (1 - 1 / self.n_classes) / self.n_classes

    @cached_property
    def gradient_at_zero(self) -> Floats:
        """Return the gradient where all coefficients are 0."""
        return self(np.zeros(self.shape))[1]
