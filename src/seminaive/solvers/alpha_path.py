"""A path of models between the class prior and naive Bayes: one alpha per feature at every step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from seminaive.encode.shapes import check_shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats

    Degrees = Literal["count", "sum"]


@dataclass(frozen=True)
class AlphaPath:
    """Models in the order in which they were found, the first one being the start.

    Parameters
    ----------
    alphas : ndarray of shape (n_steps, n_features)
        0 leaves a feature out, 1 takes it as naive Bayes does.
    training_error : ndarray of shape (n_steps,)
        Share of the rows' weight that is misclassified.
    deviance : ndarray of shape (n_steps,)
        Weighted mean over rows of ``-2 log P(y | x)``.
    total_weight : float
        The number of rows, or the sum of their weights.
    n_evaluations : int
        Candidates whose training error was computed.
    degrees : {"count", "sum"}
        How AIC counts degrees of freedom: features with alpha above 0 (Eq. 14), or the sum of the alphas.
    """

    alphas: Floats
    training_error: Floats
    deviance: Floats
    total_weight: float
    n_evaluations: int
    degrees: Degrees = "count"

    def __len__(self) -> int:
        return len(self.alphas)

    def check_consistent(self) -> None:
        """Refuse a path, read from a file, whose parts do not belong together."""
        n_steps, n_features = self.alphas.shape
        check_shapes("the path", [(part, (n_steps,)) for part in (self.training_error, self.deviance)])
        if not n_steps or not n_features or not self.total_weight > 0:
            raise ValueError("the path has no step, no feature or no rows")

    @property
    def degrees_of_freedom(self) -> Floats:
        """Return the degrees of freedom d of each step."""
        counted = self.alphas > 0 if self.degrees == "count" else self.alphas
        degrees: Floats = counted.sum(axis=1).astype(np.float64)
        return degrees

    @property
    def penalty(self) -> Floats:
        """Return what AIC adds to the deviance, ``2 d / N``."""
        return 2.0 * self.degrees_of_freedom / self.total_weight

    @property
    def aic(self) -> Floats:
        """Return Akaike's criterion per row: deviance plus ``2 d / N``."""
        return self.deviance + self.penalty

    def least_aic(self) -> int:
        """Return the step of least AIC, the first one among equals."""
        return int(np.argmin(self.aic))

    def laid_out(self, by_column: Callable[[Floats], Floats]) -> AlphaPath:
        """Return the path with its features in another order: a function orders the last axis of an array."""
        return replace(self, alphas=by_column(self.alphas))


@dataclass(frozen=True)
class GroupPath(AlphaPath):
    """A path along which a penalty falls.

    Parameters
    ----------
    strengths : ndarray of shape (n_steps,)
        Decreasing; at the first one all alphas are 0.
    entry_strengths : ndarray of shape (n_features,)
        The strength at which each feature leaves 0.
    """

    strengths: Floats = field(default_factory=lambda: np.empty(0))
    entry_strengths: Floats = field(default_factory=lambda: np.empty(0))

    def check_consistent(self) -> None:
        """Refuse a path, read from a file, whose parts do not belong together."""
        super().check_consistent()
        n_steps, n_features = self.alphas.shape
        check_shapes("the path", [(self.strengths, (n_steps,)), (self.entry_strengths, (n_features,))])

    def laid_out(self, by_column: Callable[[Floats], Floats]) -> GroupPath:
        """Return the path with its features in another order."""
        return replace(self, alphas=by_column(self.alphas), entry_strengths=by_column(self.entry_strengths))
