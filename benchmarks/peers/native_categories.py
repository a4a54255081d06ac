"""EBM, CatBoost, LightGBM and HistGradientBoosting at their defaults, with their own treatment of categories.

A table has columns of numbers and columns of strings; missing cells are NaN and None. Each library is told
which columns are categories and how it wants them; all run on one thread. EBM, CatBoost and LightGBM are
imported when they are asked for: ``pip install interpret-core catboost lightgbm``.
"""

import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier

MOST_CATEGORIES = 255
"""As many values of a column as HistGradientBoosting takes; rarer ones count as missing there."""


class _Peer(ClassifierMixin, BaseEstimator):
    """A classifier made for the columns of the training table, which `_prepare` writes its way."""

    def fit(self, X, y):
        # A column without a value is dropped: HistGradientBoosting refuses it.
        self.names_ = list(X.columns[X.notna().any()])
        self.text_ = [name for name in self.names_ if not pd.api.types.is_numeric_dtype(X[name])]
        self.values_ = {name: list(X[name].value_counts().index) for name in self.text_}
        self.model_ = self._make().fit(self._prepare(X[self.names_]), y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(self._prepare(X[self.names_]))

    def _prepare(self, X):
        """Return the table with text columns as categories; a value not seen in training is missing."""
        kept = {
            name: pd.Categorical(X[name], categories=self.values_[name][:MOST_CATEGORIES])
            for name in self.text_
        }
        return X.assign(**kept)


class EBM(_Peer):
    """interpret's explainable boosting machine: 14 outer bags, pairs, no limit on categories."""

    outer_bags = 14

    def _make(self):
        from interpret.glassbox import ExplainableBoostingClassifier

        kinds = ["nominal" if name in self.text_ else "continuous" for name in self.names_]
        return ExplainableBoostingClassifier(feature_types=kinds, outer_bags=self.outer_bags, n_jobs=1)

    def _prepare(self, X):
        return X


class EBMOfFourBags(EBM):
    """The same with 4 outer bags, which is about a quarter of the work."""

    outer_bags = 4


class CatBoost(_Peer):
    """CatBoost, which orders rows to encode categories; a missing category is a value."""

    def _make(self):
        from catboost import CatBoostClassifier

        return CatBoostClassifier(
            cat_features=self.text_, thread_count=1, verbose=False, allow_writing_files=False
        )

    def _prepare(self, X):
        return X.assign(**{name: X[name].astype(object).fillna("missing") for name in self.text_})


class LightGBM(_Peer):
    """LightGBM with pandas categories."""

    def _make(self):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbose=-1)


class HistGradientBoosting(_Peer):
    """scikit-learn's gradient boosting with pandas categories."""

    def _make(self):
        return HistGradientBoostingClassifier()
