"""The loss of each row, given its scores: in NumPy what `seminaive.kernels.compiled_log_loss` sums over rows.

Scores have one column per class, or one column of log odds for two classes, along their last axis; the first
axis has the rows. Further axes in between (strengths, draws) are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logsumexp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Labels

    PointwiseLoss = Callable[[Floats, Labels], Floats]


def log_losses(scores: Floats, labels: Labels) -> Floats:
    """Return minus the log posterior of the class of each row."""
    if scores.shape[-1] == 1:
        margin = _margins(scores, labels)
        return np.asarray(np.log1p(np.exp(-np.abs(margin))) + np.maximum(-margin, 0.0))
    # The score of the label is taken off first, so that large scores cost no digits.
    return np.asarray(logsumexp(scores - _of_labels(scores, labels)[..., None], axis=-1))


def posterior_of(scores: Floats) -> Floats:
    """Return the posterior of class 1 from a column of log odds, else that of each class."""
    return np.asarray(expit(scores) if scores.shape[-1] == 1 else _softmax(scores))


def expected_log_losses(scores: Floats, probabilities: Floats) -> Floats:
    """Return the log loss of each row, its label being drawn from probabilities.

    ``probabilities`` (rows, columns) has one column per class, or that of class 1 for a column of log odds.
    """
    if scores.shape[-1] == 1:
        log_odds, of_one = scores[..., 0], _spread(probabilities, scores.ndim)[..., 0]
        return np.asarray(np.log1p(np.exp(-np.abs(log_odds))) + np.maximum(log_odds, 0.0) - of_one * log_odds)
    behind, _, total = _exponentials(scores)
    return np.asarray(np.log(total) - (behind * _spread(probabilities, scores.ndim)).sum(axis=-1))


def expected_log_losses_and_posterior(scores: Floats, probabilities: Floats) -> tuple[Floats, Floats]:
    """Return `expected_log_losses` and `posterior_of`, which share their exponentials."""
    if scores.shape[-1] == 1:
        return expected_log_losses(scores, probabilities), posterior_of(scores)
    behind, exponentials, total = _exponentials(scores)
    losses = np.log(total) - (behind * _spread(probabilities, scores.ndim)).sum(axis=-1)
    exponentials /= total[..., None]
    return losses, exponentials


def expected_residuals(scores: Floats, probabilities: Floats) -> Floats:
    """Return the derivative of `expected_log_losses` by the scores: posterior less probabilities."""
    return np.asarray(posterior_of(scores) - _spread(probabilities, scores.ndim))


def curved(posterior: Floats, row_weight: Floats, scores: Floats) -> Floats:
    """Return W times scores, W the second derivatives of the log loss of each row, (columns, columns).

    ``posterior`` (rows, columns) is that of the rows, ``row_weight`` (rows,) their weights.
    """
    p = _spread(posterior, scores.ndim)
    weighted = _aligned(row_weight, scores.ndim) * p
    if p.shape[-1] == 1:
        return np.asarray(weighted * (1 - p) * scores)
    means = np.einsum("...j,...j->...", p, scores)[..., None]
    return np.asarray(weighted * (scores - means))


def squared_losses(scores: Floats, labels: Labels) -> Floats:
    """Return half the squared distance between posterior and class: of two, the square of either's error."""
    if scores.shape[-1] == 1:
        return np.asarray(np.square(expit(-_margins(scores, labels))))
    error = posterior_of(scores) - (_aligned(labels, scores.ndim) == np.arange(scores.shape[-1]))
    return np.asarray(0.5 * np.square(error).sum(axis=-1))


def zero_one_losses(scores: Floats, labels: Labels) -> Floats:
    """Return 1 where another class has the largest score; of equal scores the first counts."""
    labels = _aligned(labels, scores.ndim - 1)
    found = scores[..., 0] > 0 if scores.shape[-1] == 1 else scores.argmax(axis=-1)
    return np.asarray(found != labels, dtype=np.float64)


def _softmax(scores: Floats) -> Floats:
    """Return the softmax along the last axis."""
    _, exponentials, total = _exponentials(scores)
    exponentials /= total[..., None]
    return exponentials


def _exponentials(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Return scores less their largest along the last axis, exponentials of these, and their sums.

    Column by column: reductions of few elements are slow.
    """
    highest = scores[..., 0].copy()
    for c in range(1, scores.shape[-1]):
        np.maximum(highest, scores[..., c], out=highest)
    behind = scores - highest[..., None]
    exponentials: Floats = np.exp(behind)
    total = exponentials[..., 0].copy()
    for c in range(1, scores.shape[-1]):
        total += exponentials[..., c]
    return behind, exponentials, total


def _margins(scores: Floats, labels: Labels) -> Floats:
    """Return the log odds of the class of each row."""
    log_odds = scores[..., 0]
    return np.asarray(np.where(_aligned(labels, log_odds.ndim) == 1, log_odds, -log_odds))


def _of_labels(scores: Floats, labels: Labels) -> Floats:
    index = np.broadcast_to(_aligned(labels, scores.ndim), (*scores.shape[:-1], 1))
    return np.asarray(np.take_along_axis(scores, index, axis=-1)[..., 0])


def _spread(by_column: Floats, n_axes: int) -> Floats:
    """Return (rows, columns) with axes in between."""
    return by_column.reshape(len(by_column), *(1,) * (n_axes - 2), by_column.shape[-1])


def _aligned(of_rows: NDArray[Any], n_axes: int) -> NDArray[Any]:
    """Return labels or weights of rows along the first of some axes."""
    return of_rows.reshape(-1, *(1,) * (n_axes - 1))


POINTWISE: dict[str, PointwiseLoss] = {
    "log-loss": log_losses,
    "brier": squared_losses,
    "zero-one": zero_one_losses,
}
