"""Test losses of cross-validation along a path of strengths, and the strength that they advise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.shapes import check_shapes

if TYPE_CHECKING:
    from seminaive.arrays import Floats


@dataclass(frozen=True)
class FoldLosses:
    """Test losses along the path.

    Parameters
    ----------
    strengths : ndarray of shape (n_strengths,)
    losses : ndarray of shape (n_folds, n_strengths)
        Weighted mean loss of each fold's test rows.
    fold_weights : ndarray of shape (n_folds,)
        The weight of each fold's test rows.
    tol : float, default=0.0
        How exactly the folds were solved, relative to their loss: mean losses that differ by less are a tie.
    """

    strengths: Floats
    losses: Floats
    fold_weights: Floats
    tol: float = 0.0

    def check_consistent(self) -> None:
        """Refuse losses, read from a file, whose parts do not belong together."""
        n_folds, n_strengths = self.losses.shape
        check_shapes("the losses", [(self.strengths, (n_strengths,)), (self.fold_weights, (n_folds,))])
        if not n_strengths or not (self.fold_weights >= 0).all():
            raise ValueError("there is no loss, or a negative weight of a fold")

    @property
    def _shares(self) -> Floats:
        """Return the share of each fold in all test rows, 0 where no row could be held out."""
        return self.fold_weights / (self.fold_weights.sum() or 1.0)

    @property
    def mean(self) -> Floats:
        """Return the mean loss over all test rows."""
        return self._shares @ self.losses

    @property
    def standard_error(self) -> Floats:
        """Return the standard error of that mean, from the spread between folds."""
        n_folds = len(self.losses)
        if n_folds == 1:
            return np.zeros(self.losses.shape[1])
        spread = np.abs(self.losses - self.mean)
        unit = np.maximum(spread.max(axis=0), np.finfo(float).tiny)  # squares of immense losses overflow
        error: Floats = unit * np.sqrt(self._shares @ np.square(spread / unit) / (n_folds - 1))
        return error

    def choose(self, selection: str) -> int:
        """Return the position of the chosen strength: the largest within ``tol`` of the least mean loss.

        "one-standard-error" takes the largest within one standard error of it.
        """
        mean = self.mean
        least = mean.min() * (1 + self.tol)
        if selection == "one-standard-error":
            least = max(least, mean.min() + self.standard_error[int(np.argmin(mean))])
        return int(np.argmax(mean <= least))

    def is_tie(self, position: int) -> bool:
        """Tell whether the loss at a strength is within ``tol`` of the least."""
        return bool(self.mean[position] <= self.mean.min() * (1 + self.tol))

    def first(self, n_strengths: int) -> FoldLosses:
        """Return the losses at the largest strengths alone."""
        kept = slice(n_strengths)
        return replace(self, strengths=self.strengths[kept], losses=self.losses[:, kept])

    def then(self, further: FoldLosses) -> FoldLosses:
        """Return these losses and those at further strengths of the same folds."""
        return replace(
            self,
            strengths=np.concatenate([self.strengths, further.strengths]),
            losses=np.concatenate([self.losses, further.losses], axis=1),
        )
