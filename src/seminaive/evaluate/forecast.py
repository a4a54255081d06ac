"""Would more rows help? A learning curve of the rows that there are, continued beyond them."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from seminaive.arrays import Floats, Indices
from seminaive.errors import InputError
from seminaive.evaluate.fingerprints import set_random_states
from seminaive.evaluate.labels import classes_of
from seminaive.evaluate.power_law import PowerLaw

# Training rows, as parts of those that a fold leaves.
_PARTS = 2.0 ** np.arange(-3, 0.1, 0.5)
_N_FOLDS = 5
# Rows of the rarest class below which the smallest part could lack it.
_FEWEST_OF_CLASS = 10
_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LearningCurveForecast:
    """Losses at growing numbers of training rows, measured and forecast.

    Attributes
    ----------
    losses : DataFrame
        ``model``, ``n_train``, ``log_loss`` on rows that were held out, and ``error``, its standard error.
    forecast : DataFrame
        ``model``, ``n_train``, ``log_loss`` (the median), ``low`` and ``high``: for all rows of the table,
        and for twice and four times as many.
    coverage : float
        Of the band from ``low`` to ``high``.
    """

    losses: pd.DataFrame
    forecast: pd.DataFrame
    coverage: float


def learning_curve_forecast(
    models: Any,
    X: Any,
    y: Any,
    *,
    factors: tuple[float, ...] = (1.0, 2.0, 4.0),
    n_repeats: int = 2,
    coverage: float = 0.8,
    random_state: int = 0,
) -> LearningCurveForecast:
    """Forecast the log loss that a model would have with more rows of the same kind.

    In each of five folds, nested samples of an eighth to all of the other rows are fitted, and judged on the
    fold. A power law with an asymptote continues the curve; its band holds what is not known about both, the
    noise of the samples, and that of the rows that judge.

    Parameters
    ----------
    models : classifier or mapping of str to classifier
        Any with ``predict_proba``; they are cloned.
    X : frame or array
    y : array-like of shape (n_rows,)
        At least ten rows of each class.
    factors : tuple of float, default=(1, 2, 4)
        Numbers of rows to forecast, as multiples of those of the table.
    n_repeats : int, default=2
        How often the rows are dealt to folds.
    coverage : float, default=0.8
        Of the band.
    random_state : int, default=0

    Returns
    -------
    LearningCurveForecast

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> found = learning_curve_forecast(GaussianNB(), *load_breast_cancer(return_X_y=True))
    >>> found.forecast["n_train"].tolist()
    [569, 1138, 2276]
    """
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    rows = _Rows(X, *classes_of(y))
    rows.check()
    _check(named, coverage, n_repeats)
    losses, forecasts = [], []
    for name, model in named.items():
        sizes, by_fold, shared = _curve(model, rows, n_repeats, random_state)
        errors = _errors_between_sizes(by_fold)
        mean = by_fold.mean(axis=0)
        whole = np.hypot(errors, shared)
        losses.append(pd.DataFrame({"model": name, "n_train": sizes, "log_loss": mean, "error": whole}))
        ahead = np.round(np.asarray(factors) * len(rows.labels)).astype(int)
        middle, low, high = PowerLaw(sizes.astype(float), mean, errors, shared).forecast(ahead, coverage)
        columns = {"model": name, "n_train": ahead, "log_loss": middle, "low": low, "high": high}
        forecasts.append(pd.DataFrame(columns))
    return LearningCurveForecast(
        pd.concat(losses, ignore_index=True), pd.concat(forecasts, ignore_index=True), coverage
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """A table with the label of each row, the classes, and the position of each label among them."""

    X: Any
    labels: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    truth: Indices

    def check(self) -> None:
        """Refuse rows that no curve can be drawn of."""
        n_rows = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if n_rows != len(self.labels):
            raise InputError(f"expected one label per row, got {n_rows} rows and {len(self.labels)} labels")
        counts = np.bincount(self.truth)
        if len(self.classes) < 2 or counts.min() < _FEWEST_OF_CLASS:
            raise InputError(
                f"class {self.classes[counts.argmin()]!s} has {counts.min()} rows, of which an eighth is to "
                f"be learned from: two classes of {_FEWEST_OF_CLASS} rows or more are needed"
            )


def _check(named: dict[str, Any], coverage: float, n_repeats: int) -> None:
    """Refuse models without probabilities, and parameters out of range."""
    if not named:
        raise InputError("name at least one model")
    for name, model in named.items():
        if not hasattr(model, "predict_proba"):
            raise InputError(f"{name} gives no probabilities: pass classifiers with predict_proba")
    if not 0 < coverage < 1:
        raise InputError(f"coverage is above 0 and below 1, got {coverage}")
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise InputError(f"n_repeats is a number of 1 or more, got {n_repeats!r}")


def _curve(model: Any, rows: _Rows, n_repeats: int, random_state: int) -> tuple[Indices, Floats, float]:
    """Return the sizes, the loss of each fold at each size, and the standard error of the judging rows."""
    truth = rows.truth
    n_train = len(truth) * (_N_FOLDS - 1) // _N_FOLDS
    sizes = np.unique(np.round(_PARTS * n_train).astype(int))
    by_fold, last = [], np.zeros(len(truth))
    for repeat in range(n_repeats):
        rule = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=random_state + repeat)
        for number, (train, test) in enumerate(rule.split(truth, truth)):
            order = _evenly(truth[train], np.random.default_rng([random_state, repeat, number]))
            of_sizes = []
            for size in sizes:
                losses = _losses(model, rows, train[order[: min(size, len(train))]], test, random_state)
                of_sizes.append(losses.mean())
            last[test] += losses / n_repeats
            by_fold.append(of_sizes)
    return sizes, np.array(by_fold), float(last.std() / np.sqrt(len(last)))


def _evenly(truth: Indices, rng: np.random.Generator) -> Indices:
    """Return a random order of rows in which every beginning has about the class shares of all."""
    order = rng.permutation(len(truth))
    spread_rank = np.empty(len(truth))
    for label in np.unique(truth):
        rows = order[truth[order] == label]
        spread_rank[rows] = (np.arange(len(rows)) + rng.random()) / len(rows)
    return np.argsort(spread_rank, kind="stable")


def _losses(model: Any, rows: _Rows, train: Indices, test: Indices, random_state: int) -> Floats:
    """Fit a clone to some rows; return the log loss of each of others."""
    fitted = clone(model)
    set_random_states(fitted, random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a part of the rows warns of what all rows would not
        fitted.fit(_safe_indexing(rows.X, train), rows.labels[train])
        said = fitted.predict_proba(_safe_indexing(rows.X, test))
    probability = np.zeros((len(test), len(rows.classes)))
    probability[:, np.searchsorted(rows.classes, fitted.classes_)] = said
    return -np.log(np.maximum(probability[np.arange(len(test)), rows.truth[test]], _LEAST))


def _errors_between_sizes(by_fold: Floats) -> Floats:
    """Return the standard error of the mean loss at each size, less what the judging rows share.

    It is that of a fold's loss less the fold's mean over the sizes. Repetitions judge the same rows again,
    and count as one.
    """
    centred = by_fold - by_fold.mean(axis=1, keepdims=True)
    return np.asarray(np.maximum(centred.std(axis=0, ddof=1) / np.sqrt(_N_FOLDS), 1e-6))
