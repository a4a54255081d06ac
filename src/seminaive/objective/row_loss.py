"""The weighted log loss of given scores, row by row, and what Newton's method needs of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.objective.log_loss import curved, expected_log_losses_and_posterior

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices


class RowLoss:
    """The weighted log loss of scores: one column of log odds for two classes, else one per class.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    offset : ndarray of shape (n_rows, n_columns), optional
        Added to the scores.
    """

    def __init__(
        self, labels: Indices, row_weight: Floats, n_classes: int, offset: Floats | None = None
    ) -> None:
        self.row_weight = row_weight[:, None]
        self.n_columns = 1 if n_classes == 2 else n_classes
        classes = np.arange(n_classes)[-self.n_columns :]
        self.targets = (labels[:, None] == classes).astype(np.float64)
        self.offset = offset
        self.at_equal = float(row_weight.sum() * np.log(n_classes))
        self.at_zero = self.at_equal
        if offset is not None:
            self.at_zero = self.evaluate(np.zeros_like(offset))[0]

    def evaluate(self, scores: Floats) -> tuple[float, Floats]:
        """Return the sum of the weighted losses, and the posterior: of class 1 of two, else of each class."""
        if self.offset is not None:
            scores = scores + self.offset
        losses, posterior = expected_log_losses_and_posterior(scores, self.targets)
        return float(self.row_weight[:, 0] @ losses), posterior

    def residuals(self, posterior: Floats) -> Floats:
        """Return minus the derivative by each score."""
        return np.asarray(self.row_weight * (self.targets - posterior))

    def curvature(self, posterior: Floats) -> Floats:
        """Return the second derivative along each score of each row."""
        return np.asarray(self.row_weight * posterior * (1 - posterior))

    def curved(self, posterior: Floats, scores: Floats) -> Floats:
        """Return W times scores, W the second derivatives of the loss of each row."""
        return curved(posterior, self.row_weight, scores)
