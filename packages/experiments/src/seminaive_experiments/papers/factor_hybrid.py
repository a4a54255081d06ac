"""The hybrid of logistic regression and naive Bayes as chapter 1 of Tan's dissertation ran it in R."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

from seminaive.structure import bias_variance_partition, bias_variance_path, mean_dependence
from seminaive_experiments.papers.factors import FactorRows
from seminaive_experiments.papers.multinom import multinom

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.structure import Partition


__all__ = ["FactorHybrid", "FactorModel"]

N_FOLDS = 10
LAPLACE = 1.0
# A rate is above that of a change by rounding alone.
ROUNDING = 1 + 1e-12


class FactorModel:
    """The sum of the logistic regression of some features and the log likelihoods of others.

    Parameters
    ----------
    rows : FactorRows
        Training rows. Incomplete ones are left out of the logistic regression; a missing cell tells naive
        Bayes nothing.
    partition : Partition
        The features of both parts.
    smoothing : float
        Added to every count of the generative part, above 0.
    """

    def __init__(self, rows: FactorRows, partition: Partition, smoothing: float = LAPLACE) -> None:
        self.logistic = partition.logistic
        self.coefficients = None
        self.prior = rows.log_priors()
        if self.logistic:
            known = rows.take(rows.complete)
            self.coefficients = multinom(known.model_matrix(self.logistic), known.labels, rows.n_classes)
        self.tables = {j: rows.log_likelihoods(j, smoothing) for j in partition.generative}

    def log_priors(self, rows: FactorRows) -> Floats:
        """Return what the generative part starts with: the logistic part's log posterior, or class shares."""
        if self.coefficients is None:
            return np.tile(self.prior, (len(rows.codes), 1))
        prior: Floats = log_softmax(rows.model_matrix(self.logistic) @ self.coefficients, axis=1)
        return prior

    def posterior(self, rows: FactorRows) -> Floats:
        """Return the probability of each class in each row."""
        scores = self.log_priors(rows)
        for feature, table in self.tables.items():
            scores += table[rows.codes[:, feature]]
        posterior: Floats = np.exp(log_softmax(scores, axis=1))
        return posterior


class _RateFold:
    """The partitions that some rate gives in one fold, and their errors on the held-out rows."""

    def __init__(self, train: FactorRows, held_out: FactorRows) -> None:
        self.train, self.held_out = train, held_out
        self.path = bias_variance_path(mean_dependence(train.dependence()))
        self._errors: dict[int, float] = {}

    @property
    def changes(self) -> Floats:
        """The rates at which the partition changes."""
        return np.array([start for start, _ in self.path]) / len(self.train.codes)

    def error_at(self, rate: float) -> float:
        """Return the RMSE of the partition that a rate gives; each partition is fitted once."""
        step = int(np.flatnonzero(self.changes <= rate * ROUNDING)[-1])
        if step not in self._errors:
            self._errors[step] = _rmse(FactorModel(self.train, self.path[step][1]), self.held_out)
        return self._errors[step]


def _rmse(model: FactorModel, rows: FactorRows) -> float:
    error = model.posterior(rows)
    error[np.arange(len(error)), rows.labels] -= 1.0
    return float(np.sqrt(np.mean(error**2)))


class FactorHybrid(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression on the factors that depend on others, naive Bayes on the rest.

    A feature is in the logistic part where its mean dependence on the others is at least ``exp(-rate N)``.
    The rate is the one at which the mean of the ten folds' RMSEs is least, the first of equally good ones, as
    R's `which.min` finds it in a grid that begins with 0.

    Parameters
    ----------
    rate : "cv" or float, default="cv"
        With 0 all features are in naive Bayes, with infinity none.
    step : float or None, default=0.0005
        Distance of the grid of rates, which begins with 0 and ends with infinity; None tries every rate at
        which the partition of a fold changes. The chapter does not print its grid. In 24 splits of 13 of its
        tables this one gave 10 sizes of Table A.1, as steps of 0.001 and every rate did, and came nearest to
        the others; steps of 0.005 and 0.01 and logarithmic grids gave 2 to 6. Folds are drawn without regard
        to the classes: stratified ones gave 8 and 9.
    random_state : int, default=0
        Decides the folds.
    """

    def __init__(self, rate: float | str = "cv", step: float | None = 0.0005, random_state: int = 0) -> None:
        self.rate = rate
        self.step = step
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> FactorHybrid:
        """Choose the rate, then fit both parts.

        Parameters
        ----------
        X : DataFrame
            Columns are categorical, with the levels of the whole table; see `factors_of`.
        y : ndarray
        """
        self.classes_, labels = np.unique(y, return_inverse=True)
        rows = FactorRows.of(X, labels, len(self.classes_))
        self.rate_ = self._choose_rate(rows) if self.rate == "cv" else float(self.rate)
        product = 0.0 if self.rate_ == 0 else self.rate_ * len(labels)
        partition = bias_variance_partition(mean_dependence(rows.dependence()), product)
        self.logistic_features_ = [str(X.columns[j]) for j in partition.logistic]
        self.model_ = FactorModel(rows, partition)
        return self

    def _choose_rate(self, rows: FactorRows) -> float:
        splits = KFold(N_FOLDS, shuffle=True, random_state=self.random_state)
        folds = [
            _RateFold(rows.take(train), rows.take(held_out)) for train, held_out in splits.split(rows.codes)
        ]
        rates = self._rates(folds)
        errors = [np.mean([fold.error_at(rate) for fold in folds]) for rate in rates]
        return float(rates[int(np.argmin(errors))])

    def _rates(self, folds: list[_RateFold]) -> Floats:
        """Return the rates to try, increasing."""
        changes = np.unique(np.concatenate([[0.0, np.inf], *(fold.changes for fold in folds)]))
        if self.step is None:
            return changes
        last = changes[np.isfinite(changes)].max()
        return np.array([*np.arange(0.0, last + self.step, self.step), np.inf])

    def predict_proba(self, X: pd.DataFrame) -> Floats:
        """Return the probability of each class in each row."""
        unknown = np.zeros(len(X), dtype=np.int64)
        return self.model_.posterior(FactorRows.of(X, unknown, len(self.classes_)))
