"""A design whose features are kept as a matrix, for small tables."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.protocol import Design
from seminaive.design.weighted_gram import weighted_gram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices


class DenseDesign(Design):
    """The columns X of a linear model as a matrix.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_coefficients)
        The intercept, a column of ones, first.
    """

    def __init__(self, features: NDArray[Any]) -> None:
        self.features = features

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.features)

    @property
    def n_coefficients(self) -> int:
        """Return the number of columns of X."""
        return int(self.features.shape[1])

    @property
    def operations(self) -> float:
        """Return what a pass takes for each score of each row: one multiplication for each coefficient."""
        return float(self.n_coefficients)

    @cached_property
    def rough(self) -> DenseDesign:
        """Return the same design in single precision, at half the time of a product."""
        return DenseDesign(self.features.astype(np.float32))

    def scores(self, coefficients: Floats) -> Floats:
        """Return X B."""
        return np.asarray(self.features @ coefficients.astype(self.features.dtype, copy=False), np.float64)

    def adjoint(self, residuals: Floats) -> Floats:
        """Return X'R."""
        return np.asarray(self.features.T @ residuals.astype(self.features.dtype, copy=False), np.float64)

    def squared_adjoint(self, residuals: Floats) -> Floats:
        """Return (X * X)'R."""
        return np.asarray((self.features**2).T @ residuals, np.float64)

    def gram(self, row_weight: Floats, columns: Indices | None = None) -> Floats:
        """Return X' diag(w) X for some columns, by default for all."""
        features = self.features if columns is None else self.features[:, columns]
        return weighted_gram(features, row_weight)
