"""How wrong, or how right, a classifier's answers are: each measure defined once, with its formula.

Throughout, row i has class ``y_i``, the model gives it probability ``p_ic`` for class c, and
``d_ic`` is 1 where ``c = y_i`` and 0 elsewhere. Classes are positions 0 ... C - 1. Smaller is better, but
for accuracy, AUC and F1.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.metrics import brier_score_loss, f1_score, roc_auc_score
from sklearn.metrics import log_loss as _sklearn_log_loss
from sklearn.metrics import zero_one_loss as _sklearn_zero_one_loss

from seminaive.arrays import Floats, Integers
from seminaive.errors import InputError

_ROW_SUM_TOLERANCE = 1e-6  # single-precision probabilities of a few hundred classes sum to 1 this well


@dataclass(frozen=True)
class Predictions:
    """What a model said about some rows, beside the truth.

    Attributes
    ----------
    truth : ndarray of shape (n_rows,)
        Position of each row's class.
    predicted : ndarray of shape (n_rows,)
        Position of the class that the model chose.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        The model's posterior, None where it gives none.
    weight : ndarray of shape (n_rows,) or None, default=None
        How much each row counts; None counts all the same.
    """

    truth: Integers
    predicted: Integers
    probabilities: Floats | None
    weight: Floats | None = None


def _checked(truth: npt.ArrayLike, probabilities: npt.ArrayLike) -> tuple[npt.NDArray[np.integer], Floats]:
    truth = np.asarray(truth)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if probabilities.ndim != 2 or truth.shape != probabilities.shape[:1]:
        raise InputError(
            "expected one class per row and one probability per row and class, got shapes "
            f"{truth.shape} and {probabilities.shape}. Pass predict_proba's answer for the same rows."
        )
    if truth.size == 0:
        raise InputError("a loss of no rows is not defined: pass at least one row.")
    if not np.issubdtype(truth.dtype, np.integer):
        raise InputError(
            f"expected class positions (integers), got {truth.dtype}. "
            "Use numpy.searchsorted(model.classes_, y)."
        )
    if truth.min() < 0 or truth.max() >= probabilities.shape[1]:
        raise InputError(
            f"class positions must lie in 0 ... {probabilities.shape[1] - 1}, "
            f"got {truth.min()} ... {truth.max()}."
        )
    sums = probabilities.sum(axis=1)
    if not np.all(np.abs(sums - 1) <= _ROW_SUM_TOLERANCE):
        worst = int(np.argmax(np.where(np.isnan(sums), np.inf, np.abs(sums - 1))))
        raise InputError(f"probabilities of row {worst} sum to {sums[worst]:.6g}, not to 1.")
    return truth, probabilities


def zero_one_loss(
    truth: npt.ArrayLike, predicted: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """Share of rows whose predicted class is wrong: mean of ``1[chosen_i != y_i]``."""
    return float(_sklearn_zero_one_loss(truth, predicted, sample_weight=weight))


def accuracy(truth: npt.ArrayLike, predicted: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> float:
    """Share of rows whose predicted class is right: one minus the 0-1 loss."""
    return 1.0 - zero_one_loss(truth, predicted, weight)


def macro_f1(truth: npt.ArrayLike, predicted: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> float:
    """Mean over the classes of ``F1_c = 2 hits_c / (rows of c + predictions of c)``.

    Every class counts the same, the rare ones too; a class without a hit has 0.
    """
    return float(f1_score(truth, predicted, average="macro", zero_division=0.0, sample_weight=weight))


def area_under_curve(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """Mean over the classes of the area under the ROC curve of ``p_ic`` for ``y_i = c`` against the others.

    The area of a class is the chance that a random row of it has a higher ``p_ic`` than a random other row,
    ties counting one half. Classes that no row has, or that all rows have, are left out; NaN where none is
    left. With two classes both areas are the usual AUC.
    """
    truth, probabilities = _checked(truth, probabilities)
    present = np.unique(truth)
    if len(present) < 2:
        return float("nan")
    areas = [
        roc_auc_score(truth == label, probabilities[:, label], sample_weight=weight) for label in present
    ]
    return float(np.mean(areas))


def squared_error(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """Half the squared distance of posterior from truth: mean over i of ``sum_c (p_ic - d_ic)^2 / 2``.

    With two classes this is the Brier score ``(p_i1 - y_i)^2``.
    """
    truth, probabilities = _checked(truth, probabilities)
    classes = np.arange(probabilities.shape[1])
    return float(
        brier_score_loss(
            truth, np.clip(probabilities, 0, 1), labels=classes, scale_by_half=True, sample_weight=weight
        )
        if probabilities.shape[1] > 1
        else 0.0
    )


def root_squared_probability_error(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """RSPE of the NBRLR paper: the root of ``squared_error``.

    >>> root_squared_probability_error([0, 1], [[1.0, 0.0], [0.6, 0.4]]).__round__(4)
    0.4243
    """
    return float(np.sqrt(squared_error(truth, probabilities, weight)))


def root_mean_squared_error(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """RMSE of the hybrid and ALR papers: root of the mean over rows and classes of ``(p_ic - d_ic)^2``.

    It is RSPE times ``sqrt(2 / C)``: the two agree for two classes and RMSE is the smaller for more.
    """
    n_classes = np.shape(probabilities)[1]
    return float(np.sqrt(squared_error(truth, probabilities, weight) * 2 / n_classes))


def log_loss(
    truth: npt.ArrayLike, probabilities: npt.ArrayLike, weight: npt.ArrayLike | None = None
) -> float:
    """Mean of ``-log p_i,y_i``, in nats.

    A probability of exactly 0 counts as the smallest step of double precision, as in scikit-learn, so
    that one impossible row costs 36 nats and not infinity.
    """
    truth, probabilities = _checked(truth, probabilities)
    if probabilities.shape[1] == 1:
        return 0.0
    normalised = probabilities / probabilities.sum(axis=1, keepdims=True)
    labels = np.arange(probabilities.shape[1])
    return float(_sklearn_log_loss(truth, normalised, labels=labels, sample_weight=weight))


@dataclass(frozen=True)
class CalibrationCurve:
    """Said and seen frequencies per bin of the probability axis; empty bins are left out.

    ``count`` is the weight of the points in each bin: their number where all rows count the same.
    """

    probability: Floats
    frequency: Floats
    count: Floats


def calibration_curve(
    truth: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
    *,
    n_bins: int = 10,
) -> CalibrationCurve:
    """Mean probability against observed frequency, in bins of equal width.

    Every row gives one point per class, ``(p_ic, d_ic)``; with two classes only class 1 is used, since
    class 0 repeats it in the mirror.
    """
    truth, probabilities = _checked(truth, probabilities)
    if n_bins < 1:
        raise InputError(f"n_bins must be at least 1, got {n_bins}.")
    indicator = truth[:, None] == np.arange(probabilities.shape[1])
    if probabilities.shape[1] == 2:
        probabilities, indicator = probabilities[:, 1:], indicator[:, 1:]
    said, seen = probabilities.ravel(), indicator.ravel().astype(np.float64)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    which = np.searchsorted(edges[1:-1], said)
    by_row = np.ones(len(truth)) if weight is None else np.asarray(weight, dtype=np.float64)
    counted = np.repeat(by_row, probabilities.shape[1])
    count = np.bincount(which, counted, n_bins).astype(np.float64)
    used = count > 0
    return CalibrationCurve(
        probability=np.bincount(which, counted * said, n_bins)[used] / count[used],
        frequency=np.bincount(which, counted * seen, n_bins)[used] / count[used],
        count=count[used],
    )


def calibration_error(
    truth: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    weight: npt.ArrayLike | None = None,
    *,
    n_bins: int = 10,
) -> float:
    """Mean distance of the calibration curve from the diagonal, weighted by the points in each bin."""
    curve = calibration_curve(truth, probabilities, weight, n_bins=n_bins)
    return float(np.average(np.abs(curve.probability - curve.frequency), weights=curve.count))


@dataclass(frozen=True)
class CoefficientError:
    """Error of repeated coefficient estimates, averaged over the coefficients.

    ``mean_squared_error = squared_bias + variance * (R - 1) / R`` for R repetitions.
    """

    mean_squared_error: float
    squared_bias: float
    variance: float


def coefficient_error(estimates: npt.ArrayLike, true_coefficients: npt.ArrayLike) -> CoefficientError:
    """Mean squared error, squared bias and variance of coefficients over repeated samples.

    Parameters
    ----------
    estimates : array of shape (n_repetitions, n_coefficients)
        One fit per row, intercept included where it counts.
    true_coefficients : array of shape (n_coefficients,)
        What the estimates aim at.

    Examples
    --------
    >>> coefficient_error([[1.0, 0.0], [3.0, 0.0]], [1.0, 0.0])
    CoefficientError(mean_squared_error=1.0, squared_bias=0.5, variance=1.0)
    """
    estimates = np.asarray(estimates, dtype=np.float64)
    truth = np.asarray(true_coefficients, dtype=np.float64)
    if estimates.ndim != 2 or truth.shape != estimates.shape[1:]:
        raise InputError(
            "expected estimates of shape (repetitions, coefficients) and as many true coefficients, got "
            f"{estimates.shape} and {truth.shape}."
        )
    if len(estimates) < 2:
        raise InputError("a variance needs at least two repetitions.")
    return CoefficientError(
        mean_squared_error=float(np.mean((estimates - truth) ** 2)),
        squared_bias=float(np.mean((estimates.mean(axis=0) - truth) ** 2)),
        variance=float(np.mean(estimates.var(axis=0, ddof=1))),
    )


@dataclass(frozen=True)
class Metric:
    """A measure with its short name, its title and the function that computes it from predictions.

    Attributes
    ----------
    name, title : str
    of_predictions : callable
    greater_is_better : bool, default=False
        True of accuracy, AUC and F1; losses are better the smaller they are.
    """

    name: str
    title: str
    of_predictions: Callable[[Predictions], float]
    greater_is_better: bool = False

    def __call__(self, predictions: Predictions) -> float:
        """Value of the measure; NaN for one of probabilities where the model gives none."""
        return self.of_predictions(predictions)


def _on_probabilities(loss: Callable[..., float]) -> Callable[[Predictions], float]:
    def of_predictions(predictions: Predictions) -> float:
        if predictions.probabilities is None:
            return float("nan")
        return loss(predictions.truth, predictions.probabilities, predictions.weight)

    return of_predictions


def _on_classes(loss: Callable[..., float]) -> Callable[[Predictions], float]:
    return lambda predictions: loss(predictions.truth, predictions.predicted, predictions.weight)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("zero_one", "0-1 loss", _on_classes(zero_one_loss)),
        Metric("rspe", "RSPE", _on_probabilities(root_squared_probability_error)),
        Metric("rmse", "RMSE", _on_probabilities(root_mean_squared_error)),
        Metric("squared_error", "squared error", _on_probabilities(squared_error)),
        Metric("brier", "Brier", _on_probabilities(squared_error)),
        Metric("log_loss", "log loss", _on_probabilities(log_loss)),
        Metric("calibration_error", "calibration error", _on_probabilities(calibration_error)),
        Metric("accuracy", "accuracy", _on_classes(accuracy), greater_is_better=True),
        Metric("auc", "AUC", _on_probabilities(area_under_curve), greater_is_better=True),
        Metric("f1", "F1", _on_classes(macro_f1), greater_is_better=True),
    )
}
"""The measures that an experiment can compute, by name."""


def greater_is_better(metric: str) -> bool:
    """Whether more of a measure is better; one that is not known here is a loss."""
    return metric in METRICS and METRICS[metric].greater_is_better
