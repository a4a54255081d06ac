"""How long a fit is going to take, measured on a few of its rows, and said where it is more than a minute."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from seminaive.encode import keep_rows, open_table
from seminaive.errors import LongFitWarning, SeminaiveError, warn_caller

if TYPE_CHECKING:
    from seminaive.arrays import Integers
    from seminaive.encode import Schema
    from seminaive.models.training_set import TrainingSet

# Rows times columns times classes from which on that is possible: a fit of half a minute, of which measuring
# takes a twentieth.
CELLS_TO_MEASURE = 10_000_000
# Rows of the two fits from which the time of all rows is extrapolated; the difference leaves out what
# starting takes.
FEW_ROWS, MORE_ROWS = 1000, 3000
# Categories from which on a column is worth dropping for the sake of time, and how many of them are named.
MANY_LEVELS, MOST_NAMED = 100, 3


def announce_long_fit(
    model: Any, X: Any, sample_weight: Any, training: TrainingSet, most_searched: int | None
) -> None:
    """Warn of a fit that is going to take more than a minute, with an estimate and with what to drop.

    Parameters
    ----------
    model : TableClassifier
    X, sample_weight
        As in ``fit``.
    training : TrainingSet
        The same rows, encoded; rows of weight zero are gone.
    most_searched : int or None
        The rows that the model's search sees at most; None where it sees all.
    """
    n_rows, n_columns = len(training.labels), len(training.table.schema.features)
    if n_rows * n_columns * training.n_classes < CELLS_TO_MEASURE or n_rows < 2 * MORE_ROWS:
        return
    seconds = expected_seconds(model, X, sample_weight, training, most_searched)
    if seconds is None or seconds <= 60:
        return
    minutes = round(seconds / 60)
    warn_caller(
        f"{type(model).__name__}: this fit is going to take about {minutes} minute{'s' * (minutes > 1)}, as "
        f"{MORE_ROWS:,} of the {n_rows:,} rows tell. {_what_to_drop(training.table.schema)}; verbose=True "
        "shows how far it is",
        LongFitWarning,
    )


def expected_seconds(
    model: Any, X: Any, sample_weight: Any, training: TrainingSet, most_searched: int | None
) -> float | None:
    """Return the time of a fit to all rows if it grows with the rows; None where it cannot be told.

    Where a model searches on some rows at most, all others take what one fit of them takes: that of a search
    that is ended at a few rows.
    """
    kept = np.arange(len(training.labels))
    if sample_weight is not None and np.ndim(sample_weight):
        kept = np.flatnonzero(np.asarray(sample_weight, dtype=np.float64) > 0)
    n_rows = len(training.labels)
    n_searched = n_rows if most_searched is None else min(n_rows, most_searched)
    try:
        few, more = (_seconds(model, X, training, kept, size) for size in (FEW_ROWS, MORE_ROWS))
        unsearched = _seconds(model, X, training, kept, MORE_ROWS, FEW_ROWS) if n_searched < n_rows else 0.0
    except SeminaiveError:  # a sample without one of two classes, or folds that need groups
        return None
    searched_row, row = (max(seconds - few, 0.0) / (MORE_ROWS - FEW_ROWS) for seconds in (more, unsearched))
    return more + searched_row * (n_searched - MORE_ROWS) + row * (n_rows - n_searched)


def _seconds(
    model: Any,
    X: Any,
    training: TrainingSet,
    kept: Integers,
    n_rows: int,
    most_searched: int | None = None,
) -> float:
    """Return the time of a fit to some rows, evenly spread over the table, that searches on some of them."""
    rows = np.linspace(0, len(kept) - 1, n_rows).astype(np.int64)
    mask = np.zeros(open_table(X).n_rows, dtype=bool)
    mask[kept[rows]] = True
    few = keep_rows(X, mask)
    labels = training.classes[training.labels[rows]]
    weight = None if training.row_weight is None else training.row_weight[rows]
    made = clone(model).set_params(class_weight=None, verbose=False)
    if most_searched is not None:
        vars(made).update(_most_searched=lambda: most_searched)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.fit(few, labels, sample_weight=weight)
    return time.perf_counter() - started


def _what_to_drop(schema: Schema) -> str:
    """Return what makes the fit faster: fewer columns of many categories, else fewer rows."""
    levels = {column.name: column.n_present for column in map(schema.columns.__getitem__, schema.coded)}
    largest = sorted((name for name in levels if levels[name] >= MANY_LEVELS), key=lambda name: -levels[name])
    if not largest:
        return "Fewer rows or columns take less"
    named = ", ".join(f"{name!r} with {levels[name]:,} categories" for name in largest[:MOST_NAMED])
    return f"Drop, or group the rare values of, {named}; fewer rows take less, too"
