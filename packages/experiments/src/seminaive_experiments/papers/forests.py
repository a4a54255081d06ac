"""Random forests as R's and WEKA's programs answer: each tree has one vote."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OrdinalEncoder

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from seminaive.arrays import Floats


__all__ = ["VotingForest"]

N_TREES = 100


class VotingForest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A forest over whole attributes, whose probabilities are the shares of the trees' votes.

    scikit-learn averages the class shares of leaves, which are nearer to one another than votes are. A
    category is one attribute, coded by the order of its levels, and not several indicators: scikit-learn has
    no split into sets of levels.

    Parameters
    ----------
    attributes : {"sqrt", "log2"}, default="sqrt"
        How many attributes a split may choose from: the square root of their number, as in R, or its binary
        logarithm plus one, as in WEKA.
    """

    def __init__(self, attributes: str = "sqrt", random_state: int = 0) -> None:
        self.attributes = attributes
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> VotingForest:
        """Grow the trees."""
        whole = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
        median = SimpleImputer(strategy="median", keep_empty_features=True)
        self.columns_ = make_column_transformer(
            (median, make_column_selector(dtype_include=np.number)),
            (whole, make_column_selector(dtype_exclude=np.number)),
        )
        n_features = X.shape[1]
        tried = int(n_features**0.5) if self.attributes == "sqrt" else int(log2(n_features) + 1)
        self.forest_ = RandomForestClassifier(N_TREES, max_features=tried, random_state=self.random_state)
        self.forest_.fit(self.columns_.fit_transform(X), y)
        self.classes_ = self.forest_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Floats:
        """Return the share of the trees that vote for each class."""
        numbers = self.columns_.transform(X).astype(np.float32)
        votes = np.stack([tree.predict(numbers) for tree in self.forest_.estimators_]).astype(np.int64)
        return np.stack([(votes == c).mean(axis=0) for c in range(len(self.classes_))], axis=1)

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the class with the most votes."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
