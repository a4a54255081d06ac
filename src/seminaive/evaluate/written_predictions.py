"""Predictions that were written as a table, read again beside the truth."""

import numpy as np
import pandas as pd

from seminaive.arrays import Integers
from seminaive.errors import InputError
from seminaive.evaluate.metrics import METRICS, Predictions

PREDICTION, PROBABILITY = "prediction", "probability_"


def predictions_of_frame(frame: pd.DataFrame, truth: str) -> Predictions:
    """Read the columns that ``seminaive predict`` writes, and the column that holds the truth.

    Parameters
    ----------
    frame : DataFrame
        Columns ``prediction``, one ``probability_LABEL`` per class (none at all where there are no
        probabilities), and the truth. Rows without a truth are left out.
    truth : str
        The column that holds the true classes.

    Examples
    --------
    >>> said = pd.DataFrame({"prediction": ["a", "b"], "was": ["a", "a"]})
    >>> predictions_of_frame(said, "was").predicted.tolist()
    [0, 1]
    """
    for name in (truth, PREDICTION):
        if name not in frame:
            raise InputError(f"there is no column {name!r}: the table has {list(map(str, frame.columns))}")
    frame = frame[frame[truth].notna()]
    if not len(frame):
        raise InputError(f"no row has a value in {truth!r}: there is nothing to compare with")
    said = [str(name) for name in frame.columns if str(name).startswith(PROBABILITY)]
    labels = [name.removeprefix(PROBABILITY) for name in said]
    classes = labels or sorted({*map(str, frame[truth]), *map(str, frame[PREDICTION])})
    probabilities = frame[said].to_numpy(dtype=np.float64) if said else None
    return Predictions(
        _positions(frame[truth], classes, truth),
        _positions(frame[PREDICTION], classes, PREDICTION),
        probabilities,
    )


def _positions(labels: pd.Series, classes: list[str], column: str) -> Integers:
    """Find labels among the classes: as they are written, or as equal numbers (``1`` and ``1.0``)."""
    position_of = {label: position for position, label in enumerate(classes)}
    by_number = {
        _number(label): position for label, position in position_of.items() if _number(label) is not None
    }
    codes, distinct = pd.factorize(labels.astype(str))
    found = [position_of.get(label, by_number.get(_number(label))) for label in distinct]
    if None in found:
        foreign = distinct[found.index(None)]
        raise InputError(
            f"column {column!r} has the label {foreign!r}, of which no probability was predicted: the "
            f"classes are {', '.join(map(repr, classes))}"
        )
    return np.array(found, dtype=np.int64)[codes]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def measure(predictions: Predictions) -> pd.DataFrame:
    """Return every measure of some predictions: ``measure``, ``value`` and what is ``better``.

    The squared error is the Brier score under its other name, and of two classes RSPE is RMSE.
    """
    said = predictions.probabilities
    same = {"squared_error", "rspe"} if said is None or said.shape[1] == 2 else {"squared_error"}
    rows = [
        (metric.title, metric(predictions), "larger" if metric.greater_is_better else "smaller")
        for name, metric in METRICS.items()
        if name not in same
    ]
    frame = pd.DataFrame(rows, columns=["measure", "value", "better"])
    return frame[frame["value"].notna()]
