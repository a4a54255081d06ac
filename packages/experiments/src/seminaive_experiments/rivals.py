"""What a reader would try first on a mixed table: scikit-learn's classifiers, and three boosting libraries.

Each is set up as its users would set it up for tables with strings and missing values, on one thread.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from seminaive.errors import MissingExtraError

__all__ = ["RIVALS", "for_mixed_tables"]

_NUMBERS = make_column_selector(dtype_include=np.number)
_TEXT = make_column_selector(dtype_exclude=np.number)
# The most categories of a column that histogram boosting takes: its bins but one, which is for missing cells.
_MOST_CATEGORIES = 254
# Bins of a number for naive Bayes, of equal frequency.
_BINS = 10


def for_mixed_tables(classifier: ClassifierMixin) -> Pipeline:
    """Put a classifier that wants complete numbers behind an encoder for mixed tables.

    Numbers get the median where missing and are standardised; other columns become one indicator per
    value, a missing cell being a value and an unseen one none.
    """
    numeric = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    categorical = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((numeric, _NUMBERS), (categorical, _TEXT)), classifier)


def _on_codes(classifier: ClassifierMixin) -> Pipeline:
    """Put a classifier of codes behind quantile bins of the numbers and the codes of all other columns."""
    bins = KBinsDiscretizer(_BINS, encode="ordinal", strategy="quantile", subsample=None)
    numeric = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), bins)
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    categorical = make_pipeline(codes, FunctionTransformer(_from_zero))
    return make_pipeline(make_column_transformer((numeric, _NUMBERS), (categorical, _TEXT)), classifier)


def _from_zero(codes: Any) -> Any:
    """Move codes from -2, a missing cell, and -1, an unseen value, to 0 and 1."""
    return codes + 2


class _NativeCategories(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns every column that holds no numbers into pandas categories: the most frequent of training.

    A value that is not among them becomes a missing cell, and a column without any value is left out.

    Parameters
    ----------
    most : int or None, default=None
        Categories kept of each column; None keeps all.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Remember the categories of each column."""
        self.kept_ = list(X.columns[X.notna().any()])
        self.categories_ = {
            name: X[name].value_counts().index[: self.most]
            for name in self.kept_
            if not pd.api.types.is_numeric_dtype(X[name])
        }
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the table with these categories."""
        columns = {
            name: pd.Categorical(X[name].where(X[name].isin(kept)), categories=kept)
            for name, kept in self.categories_.items()
        }
        return X[self.kept_].assign(**columns)


def _installed(package: str, module: str, class_name: str, **parameters: Any) -> Any:
    """Make a classifier of another library, or say what to install."""
    try:
        made = getattr(import_module(module), class_name)
    except ImportError as error:
        raise MissingExtraError(f"this model needs another library: pip install {package}") from error
    return made(**parameters)


class _CatBoost(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """CatBoost, given the names of the columns that are categories; a missing category is a value."""

    def fit(self, X: pd.DataFrame, y: Any, sample_weight: Any = None) -> Self:
        """Fit on one thread, without a word and without files."""
        self.text_ = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
        self.model_ = _installed(
            "catboost", "catboost", "CatBoostClassifier",
            cat_features=self.text_, thread_count=1, verbose=False, allow_writing_files=False,
        )  # fmt: skip
        self.model_.fit(self._filled(X), y, sample_weight=sample_weight)
        self.classes_ = np.asarray(self.model_.classes_)
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        """Return the probability of each class."""
        return self.model_.predict_proba(self._filled(X))

    def predict(self, X: pd.DataFrame) -> Any:
        """Return the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _filled(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.assign(**{name: X[name].astype(object).fillna("missing").astype(str) for name in self.text_})


RIVALS: dict[str, Callable[[], Any]] = {
    "sklearn-naive-bayes": lambda: _on_codes(CategoricalNB()),
    "sklearn-logistic-regression": lambda: for_mixed_tables(LogisticRegression(max_iter=1000)),
    "sklearn-random-forest": lambda: for_mixed_tables(RandomForestClassifier()),
    "sklearn-boosting": lambda: make_pipeline(
        _NativeCategories(_MOST_CATEGORIES),
        HistGradientBoostingClassifier(categorical_features="from_dtype"),
    ),
    "ebm": lambda: _installed(
        "interpret-core", "interpret.glassbox", "ExplainableBoostingClassifier", n_jobs=1
    ),
    "catboost": _CatBoost,
    "lightgbm": lambda: make_pipeline(
        _NativeCategories(), _installed("lightgbm", "lightgbm", "LGBMClassifier", n_jobs=1, verbose=-1)
    ),
    "class-shares": lambda: DummyClassifier(strategy="prior"),
}
"""Makers of rivals, by the names that the command line knows."""
