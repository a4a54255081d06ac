"""The rows that a model learns from: a table with labels and weights that belong to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import (
    EncodedTable,
    TableEncoder,
    encode_target,
    encode_weights,
    keep_rows,
    open_table,
    weigh_classes,
)
from seminaive.encode.table_tags import check_columns
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import Schema
    from seminaive.encode.column_types import Format
    from seminaive.encode.encoded_table import CutRule
    from seminaive.encode.frames import Table
    from seminaive.encode.target import EncodedTarget
    from seminaive.models.base import TableClassifier


@dataclass(frozen=True)
class TrainingSet:
    """A training table, encoded.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Each row's class, as a position in ``classes``.
    classes : ndarray of shape (n_classes,)
    row_weight : ndarray of shape (n_rows,) or None
        None where every row counts once. Rows of weight zero are gone.
    """

    table: EncodedTable
    labels: Integers
    classes: NDArray[Any]
    row_weight: Floats | None

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    @property
    def weights(self) -> Floats:
        """Return the weight of each row, 1 where rows are not weighted."""
        return np.ones(len(self.labels)) if self.row_weight is None else self.row_weight

    def of_rows(self, index: Integers) -> TrainingSet:
        """Return some of the rows, with all classes."""
        weight = None if self.row_weight is None else self.row_weight[index]
        table, labels = self.table.rows(index), self.labels[index]
        return replace(self, table=table, labels=labels, row_weight=weight)


def open_training(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any
) -> tuple[Table, EncodedTarget, Floats | None]:
    """Return the table, labels and weights that an estimator learns from; remember the columns' names."""
    opened = open_table(X)
    check_columns(estimator, X, reset=True)
    return labelled_rows(type(estimator).__name__, X, y, sample_weight, opened)


def labelled_rows(
    name: str, X: Any, y: Any, sample_weight: Any, opened: Table
) -> tuple[Table, EncodedTarget, Floats | None]:
    """Return an opened table, labels and weights that belong together; rows of weight zero are gone."""
    target = encode_target(y, name)
    if opened.n_rows != len(target.labels):
        raise InputError(
            f"X has {opened.n_rows} rows and y has {len(target.labels)} labels: inconsistent numbers of "
            "samples. Pass one label per row"
        )
    row_weight = encode_weights(sample_weight, len(target.labels))
    if row_weight is not None and (row_weight == 0).any():
        # A row of weight zero is no row: its categories and its class may exist nowhere else.
        kept = row_weight > 0
        opened, row_weight = open_table(keep_rows(X, kept)), row_weight[kept]
        target = encode_target(target.classes[target.labels[kept]], name)
    return opened, target, row_weight


def encode_rows(
    model: TableClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    opened: Table | None = None,
    cut_rule: CutRule | None = None,
    known: Schema | None = None,
    chunk: bool = False,
    formats: Mapping[int, Format] | None = None,
) -> tuple[Table, TrainingSet]:
    """Encode training rows by a model's parameters, without touching the model; return the open table too.

    Parameters
    ----------
    X, y, sample_weight
        As in ``fit``.
    opened : Table or None
        ``X``, where it was opened already.
    cut_rule : callable or None
    known : Schema or None
        What earlier chunks had.
    chunk : bool
        Whether more rows follow, which may bring further classes, and values of columns that have none here.
    formats : mapping of int to NumberFormat or DateFormat, or None
        How columns of text write numbers or dates; None looks for it.
    """
    opened = open_table(X) if opened is None else opened
    opened, target, row_weight = labelled_rows(type(model).__name__, X, y, sample_weight, opened)
    row_weight = weigh_classes(model.class_weight, target, row_weight, whole=not chunk)
    if row_weight is not None and not chunk and model.chooses_by_folds():
        row_weight = row_weight / row_weight.mean()
    _, table = TableEncoder.learn(
        opened,
        categorical_features=model.categorical_features,
        missing=model.missing,
        cut_rule=cut_rule,
        labels=target.labels,
        row_weight=row_weight,
        known=known,
        allow_empty=chunk,
        merge_spellings=model.merge_spellings,
        formats=formats,
    )
    return opened, TrainingSet(table, target.labels, target.classes, row_weight)
