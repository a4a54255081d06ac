"""Calibration: the line that recalibrates log odds, and a smooth curve of what was seen given what was said.

Recalibration is logistic regression of the class on the model's log probabilities,
``softmax(a_c + b log p_c)``: a calibrated model has intercepts ``a = 0`` and slope ``b = 1``; an overfitted
one, too sure of itself, has a slope below 1. With two classes this is the usual ``a + b logit(p)`` (Cox
1958).

Cox, Two further applications of a model for binary regression, Biometrika 45, 1958.
Cleveland, Robust locally weighted regression and smoothing scatterplots, JASA 74, 1979.
"""

from dataclasses import dataclass

import numpy as np

from seminaive.arrays import Floats, Indices
from seminaive.objective.log_loss import log_losses
from seminaive.selection.recalibration import recalibrate, shifted

# The smallest probability that counts, as in `log_loss`.
_LEAST = float(np.finfo(np.float64).eps)
# A recalibration whose fitted log loss is below this separates the classes: its slope has no end.
_SEPARATED = 1e-5
# Log odds whose range is below this are all the same, and any slope fits.
_CONSTANT = 1e-9
# Points that a smooth curve is computed from: more are averaged in as many groups of neighbours first.
_MOST_POINTS = 1000


@dataclass(frozen=True)
class CalibrationLine:
    """Intercepts, of which the first is 0, and slope of recalibrated log probabilities."""

    intercepts: Floats
    slope: float


def calibration_line(
    truth: Indices, probabilities: Floats, weight: Floats, *, slope: float | None = None
) -> CalibrationLine:
    """Fit ``softmax(a_c + b log p_c)`` to the classes of some rows by Newton's method.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        Position of each row's class.
    probabilities : ndarray of shape (n_rows, n_classes)
    weight : ndarray of shape (n_rows,)
    slope : float or None, default=None
        Fixed at this value; None fits it.

    Returns
    -------
    CalibrationLine
        Of NaN where the classes are separated, so that the slope grows without end, where every row has the
        same probabilities, or where a class is absent.
    """
    n_classes = probabilities.shape[1]
    undefined = CalibrationLine(np.full(n_classes, np.nan), np.nan)
    present = np.bincount(truth, weight, minlength=n_classes)
    if (present == 0).any():
        return undefined
    logs = np.log(np.maximum(probabilities, _LEAST))
    scores = logs[:, 1:] - logs[:, :1] if n_classes == 2 else logs - logs.mean(axis=1, keepdims=True)
    if slope is None and np.ptp(scores, axis=0).max() <= _CONSTANT:
        return undefined
    # Newton's method counts in rows.
    weight = weight * (len(weight) / weight.sum())
    fit = recalibrate if slope is None else shifted
    found = fit(scores if slope is None else slope * scores, truth, weight, n_classes)
    fitted = found.scores(scores if slope is None else slope * scores)
    if float(weight @ log_losses(fitted, truth)) < _SEPARATED * len(weight):
        return undefined
    intercepts = np.append(0.0, found.intercept) if n_classes == 2 else found.intercept - found.intercept[0]
    return CalibrationLine(intercepts, found.slope if slope is None else slope)


def smooth_frequency(
    said: Floats, seen: Floats, weight: Floats, at: Floats, *, span: float = 2 / 3
) -> Floats:
    """Return the local-linear mean of what was seen at some probabilities that were said (lowess, one pass).

    Parameters
    ----------
    said : ndarray of shape (n_rows,)
        Probabilities.
    seen : ndarray of shape (n_rows,)
        1 where the row has the class, 0 elsewhere.
    weight : ndarray of shape (n_rows,)
    at : ndarray of shape (n_points,)
    span : float, default=2/3
        Share of the weight that each point is computed from, the nearest rows; they count by the tricube of
        their distance.

    Returns
    -------
    ndarray of shape (n_points,)
        NaN outside of the range of what was said.
    """
    said, seen, weight = _grouped(said, seen, weight)
    distance = np.abs(said - at[:, None])
    order = np.argsort(distance, axis=1, kind="stable")
    reached = np.cumsum(weight[order], axis=1) >= span * weight.sum() * (1 - 1e-12)
    farthest = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
    reach = np.take_along_axis(distance, farthest, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(reach > 0, distance / reach, (distance > 0).astype(float))
    near = weight * np.clip(1 - np.minimum(relative, 1.0) ** 3, 0, 1) ** 3
    total = near.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_said, mean_seen = (near @ said) / total, (near @ seen) / total
        centred = said - mean_said[:, None]
        spread = (near * centred**2).sum(axis=1)
        slope = np.where(spread > 1e-12 * total, (near * centred) @ seen / spread, 0.0)
    fitted = mean_seen + slope * (at - mean_said)
    inside = (at >= said.min() - 1e-12) & (at <= said.max() + 1e-12) & (total > 0)
    return np.where(inside, fitted, np.nan)


def _grouped(said: Floats, seen: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Average neighbours where there are more rows than points of a curve."""
    if len(said) <= _MOST_POINTS:
        return said, seen, weight
    order = np.argsort(said, kind="stable")
    rank = np.cumsum(weight[order]) / weight.sum() * _MOST_POINTS
    group = np.minimum(rank.astype(int), _MOST_POINTS - 1)
    total: Floats = np.bincount(group, weight[order]).astype(np.float64)
    used = total > 0
    means = [np.bincount(group, (weight * values)[order])[used] / total[used] for values in (said, seen)]
    return means[0], means[1], total[used]
