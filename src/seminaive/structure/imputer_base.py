"""What the imputers share: encoding on the way in, drawn cells written back on the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from seminaive.encode import EmptyColumn, TableEncoder, encode_target, open_table
from seminaive.encode.table_tags import check_columns
from seminaive.encode.written_dates import holds_dates
from seminaive.errors import ColumnsWarning, InputError, refused_as, warn_caller
from seminaive.models.table_estimator import TableEstimator
from seminaive.models.training_set import TrainingSet, labelled_rows
from seminaive.structure.filling import drawn_values, filled, missing_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.encode import EncodedTable
    from seminaive.encode.frames import Table


def open_dense(X: Any) -> Table:
    """Open a table; refuse a sparse matrix, whose absent cells are zeros and not missing."""
    if issparse(X):
        raise InputError("sparse input has no missing cells to impute, absent ones are 0: pass X.toarray()")
    return open_table(X)


class Imputer(OneToOneFeatureMixin, TransformerMixin, TableEstimator):
    """A transformer that draws missing cells.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Where ``fit`` was given labels.
    """

    def _encode_training(self, X: Any, y: Any, sample_weight: Any) -> TrainingSet:
        """Check and encode a training table; sets ``schema_``, and ``classes_`` where there are labels."""
        opened = open_dense(X)
        check_columns(self, X, reset=True)
        labels = np.zeros(opened.n_rows, int) if y is None else y
        opened, target, row_weight = labelled_rows(type(self).__name__, X, labels, sample_weight, opened)
        encoder, table = TableEncoder.learn(
            opened, categorical_features=self.categorical_features, missing="neutral", as_typed=True
        )
        self.schema_ = encoder.schema
        self._warn_of_empty_columns()
        if y is None:
            self.__dict__.pop("classes_", None)
        else:
            self.classes_ = target.classes
        return TrainingSet(table, target.labels, target.classes, row_weight)

    def _warn_of_empty_columns(self) -> None:
        empty = [column.name for column in self.schema_.columns if isinstance(column, EmptyColumn)]
        if empty:
            warn_caller(
                f"{type(self).__name__}: columns without a value stay missing, as there is nothing to draw: "
                f"{', '.join(map(repr, empty))}. Drop them",
                ColumnsWarning,
            )

    def _labels(self, y: Any) -> Indices:
        """Return the position of each label in ``classes_``, or their number where it is not among them."""
        target = encode_target(y, type(self).__name__)
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        moves = np.array([known.get(label, len(known)) for label in target.classes.tolist()])
        return moves[target.labels]

    def _encode(self, X: Any) -> EncodedTable:
        opened = open_dense(X)
        check_columns(self, X, reset=False)
        return TableEncoder(self.schema_).encode(opened)

    @staticmethod
    def _as_array(table: Any) -> Any:
        """Return a list of rows as an array, as transformers do; other tables as they are."""
        if not isinstance(table, list):
            return table
        opened = open_table(table)
        plain = set(opened.kinds) == {"numeric"} and not any(map(holds_dates, opened.columns))
        return np.array(table, dtype=np.float64 if plain else object)

    def _written(self, X: Any, codes: NDArray[Any], numbers: Floats) -> Any:
        """Return the table with its missing cells as they were drawn; unseen categories stay."""
        rows = missing_rows(open_table(X), self.schema_)
        with refused_as(lambda error: InputError(f"drawn cells do not fit into their column: {error}")):
            return filled(X, rows, drawn_values(rows, self.schema_, codes, numbers))
