"""Intervals of probabilities, given the covariance of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def deviate(coverage: float) -> float:
    """Return how many standard errors long one half of an interval of a normal variable is.

    >>> round(deviate(0.95), 2)
    1.96
    """
    return float(-ndtri((1.0 - coverage) / 2.0))


def probability_bounds(log_posterior: Floats, covariance: Floats, coverage: float) -> tuple[Floats, Floats]:
    """Return the lower and the upper bound of the probability of each class.

    On the scale of the logit of each probability, whose derivative in the scores is 1 for its class and minus
    the probabilities of the others, given that it is one of them.

    Parameters
    ----------
    log_posterior : ndarray of shape (n_rows, n_classes)
    covariance : ndarray of shape (n_rows, n_columns, n_columns)
        Of the log odds of two classes, or of the scores of all.
    coverage : float

    Examples
    --------
    >>> even = np.log([[0.5, 0.5]])
    >>> [bound.round(3).tolist() for bound in probability_bounds(even, np.array([[[0.25]]]), 0.95)]
    [[[0.273, 0.273]], [[0.727, 0.727]]]
    """
    others = np.stack(
        [
            np.logaddexp.reduce(np.delete(log_posterior, k, axis=1), axis=1)
            for k in range(log_posterior.shape[1])
        ],
        axis=1,
    )
    logits = log_posterior - others
    if covariance.shape[1] == 1:
        variance = covariance[:, 0]
    else:
        slopes = -np.exp(log_posterior[:, None, :] - others[:, :, None])
        np.einsum("nkk->nk", slopes)[:] = 1.0
        variance = ((slopes @ covariance) * slopes).sum(axis=2)
    half = deviate(coverage) * np.sqrt(np.maximum(variance, 0.0))
    return expit(logits - half), expit(logits + half)
