"""scikit-learn's classifiers, made ready for tables with strings and missing values.

They are what a reader would try first, and so what a model should be compared with.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

__all__ = ["RIVALS", "for_mixed_tables"]


def for_mixed_tables(classifier: ClassifierMixin) -> Pipeline:
    """Put a classifier that wants complete numbers behind an encoder for mixed tables.

    Numbers get the median where missing and are standardised; other columns become one indicator per
    value, a missing cell being a value and an unseen one none.
    """
    numeric = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    categorical = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(
        make_column_transformer(
            (numeric, make_column_selector(dtype_include=np.number)),
            (categorical, make_column_selector(dtype_exclude=np.number)),
        ),
        classifier,
    )


RIVALS: dict[str, Callable[[], Any]] = {
    "sklearn-naive-bayes": lambda: for_mixed_tables(GaussianNB()),
    "sklearn-logistic-regression": lambda: for_mixed_tables(LogisticRegression(max_iter=1000)),
    "sklearn-random-forest": lambda: for_mixed_tables(RandomForestClassifier()),
    "sklearn-boosting": lambda: for_mixed_tables(HistGradientBoostingClassifier()),
    "class-shares": lambda: DummyClassifier(strategy="prior"),
}
"""Makers of rivals, by the names that the command line knows."""
