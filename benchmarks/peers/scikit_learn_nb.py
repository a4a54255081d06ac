"""scikit-learn's way to naive Bayes on categories: encode to ordinals, then count."""

from sklearn.compose import ColumnTransformer
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder


def encoded_nb():
    """Return OrdinalEncoder and CategoricalNB in one pipeline."""
    return make_pipeline(OrdinalEncoder(), CategoricalNB())


def mixed_nb(names):
    """Return CategoricalNB behind a ColumnTransformer that encodes the named columns.

    An unknown or missing value gets an ordinal of its own, as a table with missing cells needs.
    """
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    shift = ColumnTransformer([("encode", encoder, names)])
    return make_pipeline(shift, _Shifted(), CategoricalNB())


class _Shifted:
    """Adds one, so that the ordinals of missing cells are not negative."""

    def fit(self, X, y=None):  # noqa: ARG002 - as in any transformer
        return self

    def transform(self, X):
        return X + 1

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)
