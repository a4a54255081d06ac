"""What the imputers share: encoding on the way in, drawn cells written back on the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from seminaive.encode import (
    TableEncoder,
    encode_target,
    encode_weights,
    keep_rows,
    open_table,
)
from seminaive.encode.filling import drawn_values, filled, missing_rows
from seminaive.errors import InputError
from seminaive.models.base import TrainingSet

# Seeds drawn from a random state are below this.
LARGEST_SEED = 2**31 - 1


class Imputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer that draws missing cells; a subclass has the parameter ``categorical_features``."""

    categorical_features: Any

    def __sklearn_tags__(self):
        """Tell scikit-learn that text, categories and missing cells are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def _encode_training(self, X, y, sample_weight) -> TrainingSet:
        """Check and encode a training table; sets ``schema_``, and ``classes_`` where there are labels."""
        opened = open_table(X)
        validate_data(self, X, skip_check_array=True)
        target = encode_target(np.zeros(opened.n_rows, int) if y is None else y, type(self).__name__)
        if opened.n_rows != len(target.labels):
            raise InputError(
                f"X has {opened.n_rows} rows and y has {len(target.labels)} labels: inconsistent numbers of "
                "samples. Pass one label per row"
            )
        row_weight = encode_weights(sample_weight, opened.n_rows)
        labels, classes = target.labels, target.classes
        if row_weight is not None and (row_weight == 0).any():
            kept = row_weight > 0
            opened, row_weight = open_table(keep_rows(X, kept)), row_weight[kept]
            classes, labels = np.unique(classes[labels[kept]], return_inverse=True)
        encoder, table = TableEncoder.learn(
            opened, categorical_features=self.categorical_features, missing="neutral"
        )
        self.schema_ = encoder.schema
        if y is None:
            self.__dict__.pop("classes_", None)
        else:
            self.classes_ = classes
        return TrainingSet(table, labels, classes, row_weight)

    def _labels(self, y):
        """Return the position of each label in ``classes_``, or their number where it is not among them."""
        target = encode_target(y, type(self).__name__)
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        moves = np.array([known.get(label, len(known)) for label in target.classes.tolist()])
        return moves[target.labels]

    def _encode(self, X):
        opened = open_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return TableEncoder(self.schema_).encode(opened)

    @staticmethod
    def _as_array(table):
        """Return a list of rows as an array, as transformers do; other tables as they are."""
        if not isinstance(table, list):
            return table
        plain = set(open_table(table).kinds) == {"numeric"}
        return np.array(table, dtype=np.float64 if plain else object)

    def _written(self, X, codes, numbers):
        """Return the table with its missing cells as they were drawn; unseen categories stay."""
        rows = missing_rows(open_table(X), self.schema_)
        return filled(X, rows, drawn_values(rows, self.schema_, codes, numbers))
