"""A classifier fitted to every completion of a table, pooled by Rubin's rules."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from seminaive.encode import frame_like
from seminaive.encode.table_tags import by_name, check_columns, of_tables
from seminaive.errors import InputError
from seminaive.models.base import unchanged_on_failure
from seminaive.models.parameters import check_choice
from seminaive.scores import log_posterior
from seminaive.structure import pool_estimates
from seminaive.structure.imputer_base import open_dense
from seminaive.structure.multiple_imputer import MultipleImputer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.structure import PooledEstimate


@dataclass(eq=False, repr=False)
class PooledClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Multiple imputation around any classifier: completions, one fit for each, one pooled answer.

    Training rows are completed given their labels; rows to be predicted are completed without, and each of
    the fits predicts another completion of them. The pooled probability is the mean. Where the fits have
    coefficients (the NBRLR models), Rubin's rules give their mean and how much of its variance is due to
    missing cells.

    Parameters
    ----------
    estimator : classifier
        Cloned for every completion: one of ours, or any classifier of scikit-learn that can read the columns.
    imputer : MultipleImputer or None, default=None
        Makes the completions; None is ``MultipleImputer()``.
    average : {"probabilities", "scores"}, default="probabilities"
        What the mean is taken of. The mean of additive scores is the model with Rubin's mean coefficients.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of classifiers
        One for each completion.
    imputer_ : MultipleImputer
    coefficients_ : PooledEstimate
        Mean, variance between completions and, for unpenalised fits of two classes, variance within them.
    coefficients_report_ : frame
        The same by name, with standard errors and the share of missing information.

    Examples
    --------
    >>> from seminaive import MultipleImputer, NaiveBayes
    >>> X = [["a", 1.0], ["b", None], [None, 2.0], ["b", 3.0]] * 20
    >>> y = [0, 1, 0, 1] * 20
    >>> model = PooledClassifier(NaiveBayes(), imputer=MultipleImputer(3, random_state=0)).fit(X, y)
    >>> len(model.estimators_), model.predict([["b", 3.0], ["a", None]]).tolist()
    (3, [1, 0])
    """

    classes_: NDArray[Any] = field(init=False)
    imputer_: MultipleImputer = field(init=False)
    estimators_: list[Any] = field(init=False)
    variances_: list[Floats] | None = field(init=False)

    estimator: Any
    _: KW_ONLY
    imputer: Any = None
    average: str = "probabilities"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that text, categories and missing cells are welcome."""
        return of_tables(super().__sklearn_tags__())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Complete the table several times, and fit a clone of the classifier to each completion.

        Parameters
        ----------
        X : frame, array or list of rows
        y : array-like of shape (n_rows,)
            Class labels: text, whole numbers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        check_choice("average", self.average, ("probabilities", "scores"))
        if self.average == "scores" and not hasattr(self.estimator, "_joint_log_scores"):
            raise InputError(
                f"{type(self.estimator).__name__} has no additive scores: take average='probabilities'"
            )
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        with unchanged_on_failure(self):
            open_dense(X)
            check_columns(self, X, reset=True)
            self.imputer_ = MultipleImputer() if self.imputer is None else clone(self.imputer)
            self.imputer_.fit(X, y, **weighted)
            self.estimators_, variances = [], []
            for table in self.imputer_.completions(X, y if self.imputer_.knows_labels else None):
                fitted = clone(self.estimator).fit(table, y, **weighted)
                self.estimators_.append(fitted)
                variances.append(_variances(fitted, table, sample_weight))
            known = [variance for variance in variances if variance is not None]
            self.variances_ = known if len(known) == len(variances) else None
            self.classes_ = self.estimators_[0].classes_
        return self

    def _members(self, X: Any) -> Iterable[tuple[Any, Any]]:
        """Give each fit with one completion of a table."""
        check_is_fitted(self)
        X = by_name(self, X)
        open_dense(X)
        check_columns(self, X, reset=False)
        return zip(self.estimators_, self.imputer_.completions(X), strict=True)

    def _probabilities(self, X: Any) -> Floats:
        """Return the probabilities of each fit, (n_imputations, n_rows, n_classes)."""
        return np.stack([fitted.predict_proba(table) for fitted, table in self._members(X)])

    def predict_proba(self, X: Any) -> Floats:
        """Return the pooled probabilities; each row sums to 1.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        if self.average == "probabilities":
            return pool_estimates(self._probabilities(X)).mean
        scores = [fitted.predict_log_proba(table) for fitted, table in self._members(X)]
        return np.exp(log_posterior(np.mean(scores, axis=0)))

    def between_variance(self, X: Any) -> Floats:
        """Return the variance of each probability over the completions; 0 where no cell of a row matters.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        return pool_estimates(self._probabilities(X)).between

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of largest pooled probability.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns: by name, or in the training order where there are no names.
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    @property
    def coefficients_(self) -> PooledEstimate:
        """The coefficients pooled by Rubin's rules, in the order of ``coefficient_names_``."""
        check_is_fitted(self)
        if any(not hasattr(fitted, "coefficients_") for fitted in self.estimators_):
            raise AttributeError(
                f"{type(self.estimator).__name__} has no coefficients that could be pooled; "
                "NaiveBayesLogisticRegression has"
            )
        if any(fitted.coefficient_names_ != self.coefficient_names_ for fitted in self.estimators_):
            raise AttributeError(
                "the completions differ in their categories or in the most frequent ones, so that their "
                "coefficients are not the same quantities"
            )
        return pool_estimates([fitted.coefficients_ for fitted in self.estimators_], self.variances_)

    @property
    def coefficient_names_(self) -> list[str]:
        """Names of the coefficients, those of every fit."""
        names: list[str] = self.estimators_[0].coefficient_names_
        return names

    @property
    def coefficients_report_(self) -> Any:
        """A frame of the pooled coefficients of two classes.

        Columns: ``coefficient``, ``mean``, ``between`` and, where the fits have standard errors, ``within``,
        ``standard_error``, ``missing_information`` and ``degrees_of_freedom``.
        """
        pooled = self.coefficients_
        if pooled.mean.ndim > 1:
            raise AttributeError("there is no report of more than two classes: see coefficients_")
        columns = {
            "coefficient": self.coefficient_names_,
            "mean": pooled.mean,
            "between": pooled.between,
        }
        if pooled.within is not None and pooled.total is not None:
            columns |= {
                "within": pooled.within,
                "standard_error": np.sqrt(pooled.total),
                "missing_information": pooled.missing_information,
                "degrees_of_freedom": pooled.degrees_of_freedom,
            }
        return frame_like(None, columns)


def _variances(fitted: Any, table: Any, sample_weight: Any) -> Floats | None:
    """Return squared standard errors of the coefficients, or None where the fit has none."""
    if getattr(fitted, "strength_", None) != 0 or len(fitted.classes_) != 2:
        return None
    return np.diag(fitted.coefficient_covariance(table, sample_weight))
