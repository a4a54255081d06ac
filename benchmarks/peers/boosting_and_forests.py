"""Boosting, random forests and cross-validated logistic regression at their defaults, on mixed tables."""

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


def _indicators():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore")
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (categories, make_column_selector(dtype_exclude=np.number)),
    )


def make_rivals(n_jobs=1):
    """Return name -> classifier; tables have numbers and pandas categories, missing cells among both."""
    return {
        "LightGBM": LGBMClassifier(verbose=-1, n_jobs=n_jobs, random_state=0),
        "HistGradientBoosting": HistGradientBoostingClassifier(
            categorical_features="from_dtype", random_state=0
        ),
        "RandomForest": make_pipeline(_indicators(), RandomForestClassifier(n_jobs=n_jobs, random_state=0)),
        "LogisticRegressionCV": make_pipeline(
            _indicators(),
            LogisticRegressionCV(max_iter=1000),  # the default of 100 often stops short
        ),
    }
