"""What a validation measures: losses, ranking and calibration, and what each would be without information.

Losses and AUC are those of `seminaive.evaluate.metrics`, without its checks of the input: a validation
computes each of them several hundred times.
"""

from dataclasses import dataclass

import numpy as np

from seminaive.arrays import Booleans, Floats, Indices
from seminaive.evaluate.calibration import calibration_line
from seminaive.evaluate.optimism import Statistic

# The smallest probability that counts, as in `log_loss`.
_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Measure:
    """One line of a validation.

    Attributes
    ----------
    name : str
    title : str
        For people.
    statistic : Statistic
    no_information : Statistic or None
        Its value where answers do not depend on the class; None takes the weight that the .632+ rule gives to
        left-out rows from the log loss.
    ideal : float or None
        The value of a calibrated model, for measures of calibration.
    """

    name: str
    title: str
    statistic: Statistic
    no_information: Statistic | None = None
    ideal: float | None = None


def _log_loss(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    of_truth = probabilities[np.arange(len(truth)), truth]
    return float(weight @ -np.log(np.maximum(of_truth, _LEAST)) / weight.sum())


def _squared_error(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    of_truth = probabilities[np.arange(len(truth)), truth]
    return float(weight @ ((probabilities**2).sum(axis=1) - 2 * of_truth + 1) / weight.sum()) / 2


def _area_under_curve(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    """Mean over the classes of the chance that a row of it has a higher probability of it than another."""
    n_classes = probabilities.shape[1]
    shown = range(1, 2) if n_classes == 2 else range(n_classes)
    areas = [_area(truth == k, probabilities[:, k], weight) for k in shown]
    defined = [area for area in areas if np.isfinite(area)]
    return float(np.mean(defined)) if defined else np.nan


def _area(has_class: Booleans, probability: Floats, weight: Floats) -> float:
    values, inverse = np.unique(probability, return_inverse=True)
    hits = np.bincount(inverse, weight * has_class, len(values))
    others = np.bincount(inverse, weight * ~has_class, len(values))
    pairs = hits.sum() * others.sum()
    return float(hits @ (np.cumsum(others) - others / 2) / pairs) if pairs > 0 else np.nan


def _expected_log_loss(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    """Mean log loss when every row's answer meets every row's class."""
    share = weight / weight.sum()
    of_classes = np.bincount(truth, share, probabilities.shape[1])
    return float(share @ -np.log(np.maximum(probabilities, _LEAST)) @ of_classes)


def _expected_squared_error(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    """Mean half squared distance when every row's answer meets every row's class."""
    share = weight / weight.sum()
    of_classes = np.bincount(truth, share, probabilities.shape[1])
    # sum_k (p_k - d_k)^2 = sum_k p_k^2 - 2 p_c + 1 for a row of class c.
    return float(share @ ((probabilities**2).sum(axis=1) - 2 * probabilities @ of_classes + 1)) / 2


def _slope(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    return calibration_line(truth, probabilities, weight).slope


def _intercept(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    return float(calibration_line(truth, probabilities, weight).intercepts[1])


def _in_the_large(truth: Indices, probabilities: Floats, weight: Floats) -> float:
    return float(calibration_line(truth, probabilities, weight, slope=1.0).intercepts[1])


LOG_LOSS = Measure("log_loss", "log loss", _log_loss, _expected_log_loss)
_ALWAYS = (
    LOG_LOSS,
    Measure("brier", "Brier score", _squared_error, _expected_squared_error),
    Measure("auc", "AUC", _area_under_curve, lambda *_: 0.5),
    Measure("calibration_slope", "calibration slope", _slope, lambda *_: 0.0, ideal=1.0),
)
_OF_TWO_CLASSES = (
    Measure("calibration_intercept", "calibration intercept, beside the slope", _intercept, ideal=0.0),
    Measure("calibration_in_the_large", "calibration in the large, slope 1", _in_the_large, ideal=0.0),
)


def measures_for(n_classes: int) -> tuple[Measure, ...]:
    """Return the measures: with more than two classes, one slope for all and no intercepts.

    The intercepts of several classes are as many numbers that mean something only together; the curves of the
    classes show what they would.
    """
    return _ALWAYS + _OF_TWO_CLASSES if n_classes == 2 else _ALWAYS
