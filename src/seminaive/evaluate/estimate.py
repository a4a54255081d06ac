"""A fair estimate of how wrong a classifier will be on rows that it has not seen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from seminaive.arrays import Floats, Integers
from seminaive.errors import InputError

# The smallest probability that counts, as in `log_loss`: one impossible row costs 36 nats and not infinity.
_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class LossEstimate:
    """Losses of rows that were left out of training, each once.

    Attributes
    ----------
    log_loss, error : float
        Mean of ``-log p`` of the true class, in nats, and share of wrong predictions.
    log_loss_spread, error_spread : float
        Their standard errors over the rows.
    prior_log_loss, prior_error : float
        The same of a model that knows only the shares of the classes in the training rows.
    n_splits : int
        Folds.
    """

    log_loss: float
    log_loss_spread: float
    error: float
    error_spread: float
    prior_log_loss: float
    prior_error: float
    n_splits: int


def estimate_losses(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    sample_weight: npt.ArrayLike | None = None,
    *,
    n_splits: int = 5,
    random_state: int = 0,
    after_fold: Callable[[], Any] = lambda: None,
) -> LossEstimate:
    """Cross-validate a classifier: every row is judged by a model that was trained without it.

    Everything that ``fit`` chooses (strengths, cut points, features) is chosen anew within each fold, so
    that the estimate pays for it. It speaks of models of ``1 - 1 / n_splits`` of the rows, and is a little
    pessimistic about one of all rows.

    Parameters
    ----------
    model : classifier
        It is cloned, not fitted.
    X : DataFrame
    y : sequence of shape (n_rows,)
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows, in training and in the means.
    n_splits : int, default=5
        Folds, fewer where there are fewer rows.
    random_state : int, default=0
        Seed of the folds.
    after_fold : callable
        Called when a fold is finished.
    """
    y = np.asarray(y)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    classes, codes = np.unique(y.astype(str), return_inverse=True)
    n_splits = min(n_splits, len(y))
    if n_splits < 2:
        raise InputError("cross-validation needs two rows or more.")
    stratified = np.bincount(codes).min() >= n_splits
    rule = (StratifiedKFold if stratified else KFold)(n_splits, shuffle=True, random_state=random_state)
    loss, wrong, prior = np.empty(len(y)), np.empty(len(y)), np.empty((len(y), 2))
    for train, test in rule.split(codes, codes):
        fitted = clone(model)
        inside = {} if sample_weight is None else {"sample_weight": weight[train]}
        fitted.fit(X.iloc[train], y[train], **inside)
        probability = np.zeros((len(test), len(classes)))
        probability[:, np.searchsorted(classes, fitted.classes_.astype(str))] = fitted.predict_proba(
            X.iloc[test]
        )
        shares = np.bincount(codes[train], weight[train], len(classes)) / weight[train].sum()
        loss[test], wrong[test] = _losses(codes[test], probability)
        prior[test] = np.column_stack(_losses(codes[test], np.tile(shares, (len(test), 1))))
        after_fold()
    mean = np.average(np.column_stack([loss, wrong, prior]), axis=0, weights=weight)
    return LossEstimate(
        float(mean[0]),
        _spread(loss, weight),
        float(mean[1]),
        _spread(wrong, weight),
        float(mean[2]),
        float(mean[3]),
        n_splits,
    )


def _losses(truth: Integers, probability: Floats) -> tuple[Floats, Floats]:
    """Return ``-log p`` of the true class and whether another one is more probable, row by row."""
    of_truth = probability[np.arange(len(truth)), truth]
    return -np.log(np.maximum(of_truth, _LEAST)), (probability.argmax(axis=1) != truth).astype(float)


def _spread(values: Floats, weight: Floats) -> float:
    """Return the standard error of a weighted mean of independent rows."""
    share = weight / weight.sum()
    centred = values - share @ values
    return float(np.sqrt(share**2 @ centred**2))
