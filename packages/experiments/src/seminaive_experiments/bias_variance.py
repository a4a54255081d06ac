"""Kohavi and Wolpert's bias and variance of a classifier, estimated as in Webb (2000).

A row that is tested in R repetitions of cross-validation is predicted by R different training sets. With
``q_c`` the share of them that choose class c and y the row's class,

    bias     = sum_c (1[c = y] - q_c)^2 / 2
    variance = (1 - sum_c q_c^2) / 2
    loss     = 1 - q_y = bias + variance

With one label per row the noise of the labels cannot be separated, and counts as bias.

Kohavi and Wolpert, Bias plus variance decomposition for zero-one loss functions, ICML 1996.
Webb, MultiBoosting, Machine Learning 40, 2000.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from seminaive.errors import InputError


@dataclass(frozen=True)
class BiasVariance:
    """Mean bias and variance over rows; their sum is the mean 0-1 loss."""

    bias: float
    variance: float

    @property
    def loss(self) -> float:
        """0-1 loss, averaged over rows and repetitions."""
        return self.bias + self.variance


def bias_variance(truth: npt.ArrayLike, predicted: npt.ArrayLike) -> BiasVariance:
    """Split the 0-1 loss of repeated predictions.

    Parameters
    ----------
    truth : array of shape (n_rows,)
        The labels.
    predicted : array of shape (n_rows, n_repetitions)
        For each row, the label chosen in each repetition.

    Examples
    --------
    A model that is always wrong in the same way is all bias; one that wavers has variance too:

    >>> bias_variance(["a"], [["b", "b"]])
    BiasVariance(bias=1.0, variance=0.0)
    >>> bias_variance(["a"], [["a", "b"]])
    BiasVariance(bias=0.25, variance=0.25)
    """
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.ndim != 1 or predicted.ndim != 2 or len(truth) != len(predicted) or predicted.size == 0:
        raise InputError(
            f"expected labels (rows,) and predictions (rows, repetitions), got shapes {truth.shape} and "
            f"{predicted.shape}."
        )
    values = np.unique(np.concatenate([truth, predicted.ravel()]))
    bias = variance = 0.0
    squared_shares = np.zeros(len(truth))
    for value in values:
        share = np.mean(predicted == value, axis=1)
        bias += float(np.mean(((truth == value) - share) ** 2)) / 2
        squared_shares += share**2
    variance = float(np.mean(1 - squared_shares)) / 2
    return BiasVariance(bias, variance)


def bias_variance_by_cross_validation(
    classifier: Any,
    X: Any,
    y: npt.ArrayLike,
    *,
    n_repetitions: int = 5,
    n_splits: int = 2,
    random_state: int = 0,
) -> BiasVariance:
    """Bias and variance of a classifier on a table, by repeated stratified cross-validation.

    Parameters
    ----------
    classifier : scikit-learn classifier
        It is cloned for every fold.
    X, y : table and labels
        All rows are tested once in every repetition.
    n_repetitions : int, default=5
        Predictions per row; variance is underestimated by the factor ``1 - 1 / n_repetitions``.
    n_splits : int, default=2
        2 trains on half of the rows, so that two repetitions share half of their training rows.
    random_state : int, default=0
        Seed of the folds.
    """
    y = np.asarray(y)
    predicted = np.empty((len(y), n_repetitions), dtype=y.dtype)
    for repetition in range(n_repetitions):
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=random_state + repetition)
        for train, test in folds.split(np.zeros(len(y)), y):
            model = clone(classifier).fit(_safe_indexing(X, train), y[train])
            predicted[test, repetition] = model.predict(_safe_indexing(X, test))
    return bias_variance(y, predicted)
