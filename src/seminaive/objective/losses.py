"""Pointwise losses of scores in NumPy: value, residual and curvature of each row.

kernels/losses.py has value and residual compiled, for passes over many rows. One column of scores is the
log odds of label 1; more columns are one per class. A score that is not finite has a loss of NaN, so that
overflow never counts as a good fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int64]


def probabilities(scores: Floats) -> Floats:
    """Return the probability of label 1, (n, 1), for one column of log odds; else of each class, (n, K)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if scores.shape[1] == 1:
            small = np.exp(-np.abs(scores))
            return np.asarray(np.where(scores >= 0, 1.0, small) / (1.0 + small))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _errors(scores: Floats, labels: Labels) -> Floats:
    """Return p - y, without loss of digits where p is near 1 for its own label."""
    if scores.shape[1] == 1:
        sign = 2.0 * labels[:, None] - 1.0
        return -sign * probabilities(-sign * scores)
    errors = probabilities(scores)
    rows = np.arange(len(labels))
    errors[rows, labels] = 0.0
    errors[rows, labels] = -errors.sum(axis=1)
    return errors


def _not_a_number_unless_finite(values: Floats, scores: Floats) -> Floats:
    return np.where(np.isfinite(scores).all(axis=1), values, np.nan)


@dataclass(frozen=True)
class LogLoss:
    """``-log p_y``: the logistic loss for one column of scores, the softmax cross-entropy for more."""

    def value(self, scores: Floats, labels: Labels) -> Floats:
        """Return the loss of each row, (n,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            if scores.shape[1] == 1:
                margin = (2.0 * labels - 1.0) * scores[:, 0]
                loss = np.maximum(0.0, -margin) + np.log1p(np.exp(-np.abs(margin)))
            else:
                highest = scores.max(axis=1)
                odds = np.exp(scores - highest[:, None])
                loss = np.log(odds.sum(axis=1)) + (highest - scores[np.arange(len(labels)), labels])
        return _not_a_number_unless_finite(loss, scores)

    def residual(self, scores: Floats, labels: Labels) -> Floats:
        """Return the derivative by the scores, p - y, (n, K)."""
        return _errors(scores, labels)

    def curvature(self, scores: Floats, labels: Labels) -> Floats:
        """Return the second derivatives by the scores, diag(p) - p p', (n, K, K)."""
        del labels
        return _covariance(scores)


@dataclass(frozen=True)
class SquaredError:
    """``|p - y|^2 / 2`` over all classes: for one column of log odds both classes count."""

    def value(self, scores: Floats, labels: Labels) -> Floats:
        """Return the loss of each row, (n,)."""
        both = 2.0 if scores.shape[1] == 1 else 1.0
        loss = 0.5 * both * np.square(_errors(scores, labels)).sum(axis=1)
        return _not_a_number_unless_finite(loss, scores)

    def residual(self, scores: Floats, labels: Labels) -> Floats:
        """Return the derivative by the scores, (n, K)."""
        both = 2.0 if scores.shape[1] == 1 else 1.0
        errors = _errors(scores, labels)
        return both * np.asarray(np.einsum("nab,nb->na", _covariance(scores), errors))

    def curvature(self, scores: Floats, labels: Labels) -> Floats:
        """Return the second derivatives by the scores, (n, K, K); they need not be positive."""
        p, errors, covariance = probabilities(scores), _errors(scores, labels), _covariance(scores)
        if scores.shape[1] == 1:
            variance = covariance[:, 0, 0]
            second = 2.0 * (variance**2 + errors[:, 0] * variance * (1.0 - 2.0 * p[:, 0]))
            return np.asarray(second[:, None, None])
        away = np.eye(p.shape[1]) - p[:, None, :]  # of p_k by the scores, divided by p_k
        second = np.einsum("nk,nka,nkb->nab", errors * p, away, away)
        second -= (errors * p).sum(axis=1)[:, None, None] * covariance
        return np.asarray(second + covariance @ covariance)


def _covariance(scores: Floats) -> Floats:
    """Return diag(p) - p p', (n, K, K); p (1 - p) for one column."""
    p = probabilities(scores)
    if scores.shape[1] == 1:
        return np.asarray((p * probabilities(-scores))[:, :, None])
    return np.asarray(p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :]))
