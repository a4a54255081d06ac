"""Intervals of probabilities, given the covariance of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

if TYPE_CHECKING:
    from seminaive.arrays import Floats


def deviate(coverage: float) -> float:
    """Return how many standard errors long one half of an interval of a normal variable is.

    >>> round(deviate(0.95), 2)
    1.96
    """
    return float(-ndtri((1.0 - coverage) / 2.0))


@dataclass(frozen=True)
class Spread:
    """How sure effects are that are shown: where the middle of their posterior lies, and how wide it is.

    Parameters
    ----------
    distance : ndarray
        From what is shown to the middle of the posterior; 0 unless the answer was shrunk.
    error : ndarray, as ``distance``
        The standard error about the middle.
    """

    distance: Floats
    error: Floats

    def reach(self, coverage: float) -> Floats:
        """Return how far an interval reaches below and above what is shown, on a first axis of 2.

        It is that of the posterior; where what is shown is outside, it reaches there.

        >>> Spread(np.array([1.0, 9.0]), np.array([1.0, 1.0])).reach(0.95).round(2).tolist()
        [[0.96, 0.0], [2.96, 10.96]]
        """
        half = deviate(coverage) * self.error
        return np.maximum(np.stack([half - self.distance, half + self.distance]), 0.0)

    @classmethod
    def about_shown(cls, error: Floats) -> Spread:
        """Return that of effects which are the middle of their posterior."""
        return cls(np.zeros_like(error), error)


def probability_bounds(
    log_posterior: Floats, distance: Floats, covariance: Floats, coverage: float
) -> tuple[Floats, Floats]:
    """Return the lower and the upper bound of the probability of each class.

    On the scale of the logit of each probability, whose derivative in the scores is 1 for its class and minus
    the share among the others for each other class. Bounds lie about the middle of the posterior; where the
    answer is outside of them, it is a bound itself.

    Parameters
    ----------
    log_posterior : ndarray of shape (n_rows, n_classes)
        The answer.
    distance : ndarray of shape (n_rows, n_columns)
        From it to the middle of the posterior: of the log odds of two classes, or of the scores of all.
    covariance : ndarray of shape (n_rows, n_columns, n_columns)
        About that.

    Examples
    --------
    >>> even, nothing, variance = np.log([[0.5, 0.5]]), np.zeros((1, 1)), np.array([[[0.25]]])
    >>> [bound.round(3).tolist() for bound in probability_bounds(even, nothing, variance, 0.95)]
    [[[0.273, 0.273]], [[0.727, 0.727]]]
    """
    by_class = distance * np.array([-0.5, 0.5]) if distance.shape[1] == 1 else distance
    middle = log_posterior + by_class
    # The logarithm of the sum of the probabilities of all other classes, without that of the class itself.
    highest = middle.max(axis=1, keepdims=True)
    sums = np.exp(middle - highest) @ (1.0 - np.eye(middle.shape[1]))
    others = np.log(np.maximum(sums, np.finfo(np.float64).tiny)) + highest
    if covariance.shape[1] == 1:
        variance = covariance[:, 0]
    else:
        slopes = -np.exp(middle[:, None, :] - others[:, :, None])
        np.einsum("nkk->nk", slopes)[:] = 1.0
        variance = ((slopes @ covariance) * slopes).sum(axis=2)
    half = deviate(coverage) * np.sqrt(np.maximum(variance, 0.0))
    logits, answer = middle - others, np.exp(log_posterior)
    return np.minimum(expit(logits - half), answer), np.maximum(expit(logits + half), answer)
