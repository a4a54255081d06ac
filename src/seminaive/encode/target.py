"""Class labels and row weights: checked once, then plain arrays."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from seminaive.encode.column_kinds import ROWS_TO_JUDGE
from seminaive.encode.frames import arrow_dictionary
from seminaive.encode.integer_table import WIDEST_RANGE
from seminaive.errors import InputError, check_unicode, refused_as

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Booleans, Floats, Integers

# Sums of weighted squares of the largest numbers allowed must stay finite, and products with the smallest
# weights must not become 0.
LARGEST_WEIGHT = 1e15
SMALLEST_WEIGHT = 1e-100
# Rows that a sentence lists.
MOST_ROWS = 5


@dataclass(frozen=True)
class EncodedTarget:
    """The classes of a training table, sorted, and each row's position among them.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    labels : ndarray of shape (n_rows,) of int64
    """

    classes: NDArray[Any]
    labels: Integers


class UnlabelledError(InputError):
    """Rows without a label, which a sentence lists, with the column's name where it has one."""

    def __init__(self, rows: Booleans, what: str = "NaN or None", name: Any = None) -> None:
        found = np.flatnonzero(rows)
        shown = ", ".join(map(str, found[:MOST_ROWS].tolist())) + (", ..." if len(found) > MOST_ROWS else "")
        column = f" in column {name!r}" if isinstance(name, str) and name else ""
        super().__init__(
            f"Input y contains {what}: {len(found):,} of {len(rows):,} rows have no label{column}, counted "
            f"from 0 rows {shown}. Every training row needs one: drop the others"
        )
        self.rows, self.what = rows, what


def encode_target(y: Any, model: str) -> EncodedTarget:
    """Find the classes of ``y``; numbers with fractions, and missing labels, are refused."""
    try:
        with refused_as(lambda error: InputError(f"y holds something besides one label per row: {error}")):
            return _encode(y, model)
    except UnlabelledError as error:
        raise UnlabelledError(error.rows, error.what, getattr(y, "name", None)) from None


def _encode(y: Any, model: str) -> EncodedTarget:
    if y is None:
        raise InputError(
            f"This {model} estimator requires y to be passed, but the target y is None: pass one "
            "label per row"
        )
    if hasattr(y, "null_count") and hasattr(y, "type"):
        return _encode_arrow(y, model)
    array = _as_array(y)
    if not array.ndim:
        raise InputError(
            f"y should be a 1d array of one label per row, got a {type(y).__name__}: pass a list, an array "
            "or a column"
        )
    if array.ndim != 1 or array.dtype.kind == "c":  # refused, or warned of
        array = column_or_1d(array, warn=True)
    if not len(array):
        raise InputError("0 labels (y is empty) while a minimum of 1 is required: pass one label per row")
    if array.dtype.kind in "iub" and len(array):
        return _encode_integers(array)
    if array.dtype.kind == "f":
        _check_whole(array)
    elif array.dtype.kind not in "OUT":
        raise InputError(f"Unknown label type: {array.dtype}. Labels are text, whole numbers or booleans")
    return _encode_values(array)


def _as_array(y: Any) -> NDArray[Any]:
    """Return labels of any container as an array in native byte order; text of any library as objects."""
    if str(getattr(y, "dtype", "")).endswith("Int128"):  # polars' integers that NumPy does not have
        y = np.array(y.to_list())
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif isinstance(y, (list, tuple)):
        _check_one_type(y)
    array = np.asarray(y)
    if array.dtype.kind == "T":  # NumPy's text of any length
        return array.astype(object)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _encode_arrow(y: Any, model: str) -> EncodedTarget:
    """Find the classes of an arrow column; Python objects are made of distinct labels only."""
    import pyarrow as pa

    if y.null_count:
        raise UnlabelledError(np.asarray(y.is_null()))
    if pa.types.is_integer(y.type) or pa.types.is_floating(y.type) or pa.types.is_boolean(y.type):
        return encode_target(y.to_numpy(), model)
    codes, values = arrow_dictionary(y)
    seen = np.bincount(codes, minlength=len(values)) > 0
    occurring = np.empty(int(seen.sum()), dtype=object)
    occurring[:] = [value for value, occurs in zip(values, seen, strict=True) if occurs]
    # Two codes of a dictionary may stand for equal labels.
    target = encode_target(occurring, model)
    label_of = np.zeros(len(values), dtype=np.int64)
    label_of[seen] = target.labels
    return EncodedTarget(target.classes, label_of[codes])


def _check_one_type(labels: Sequence[Any]) -> None:
    """Refuse text beside numbers in a list, all of which NumPy would make text."""
    kinds = {type(label) for label in labels}
    if any(issubclass(kind, str) for kind in kinds) and any(
        issubclass(kind, (numbers.Real, np.bool_)) for kind in kinds
    ):
        names = sorted(kind.__name__ for kind in kinds)
        raise InputError(f"Unknown label type: labels mix {names}; use one type for all")


def _check_whole(array: NDArray[Any]) -> None:
    if not np.isfinite(array).all():
        raise UnlabelledError(~np.isfinite(array), "NaN, infinity or a value too large")
    if (array != np.floor(array)).any():
        raise InputError(
            "Unknown label type: continuous. Labels are text, whole numbers or booleans; to classify a "
            "quantity, cut it into classes first"
        )


def _encode_integers(array: NDArray[Any]) -> EncodedTarget:
    low, high = array.min(), array.max()
    if int(high) - int(low) >= WIDEST_RANGE:
        return _encode_values(array)
    shifted = array.astype(np.int64) - int(low)
    seen = np.bincount(shifted) > 0
    position = np.cumsum(seen) - 1
    classes = (np.flatnonzero(seen) + int(low)).astype(array.dtype)
    labels = shifted if seen.all() else position[shifted]
    return EncodedTarget(classes, labels)


def _encode_values(array: NDArray[Any]) -> EncodedTarget:
    import pandas as pd

    try:
        codes, values = pd.factorize(array, use_na_sentinel=True)
    except TypeError as error:
        raise InputError(
            f"Unknown label type ({error}). Labels are text, whole numbers or booleans"
        ) from error
    if (codes < 0).any():
        raise UnlabelledError(codes < 0)
    values = np.asarray(values)
    if array.dtype.kind == "O":
        values = _plain_labels(values)
    try:
        order = np.argsort(values, kind="stable")
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values})
        raise InputError(f"Unknown label type: labels mix {kinds}; use one type for all") from error
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return EncodedTarget(values[order], rank[codes])


def _plain_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Return distinct labels given as objects: as they are if text or booleans, checked if numbers."""
    check_unicode("the label", values)
    kinds = {type(value).__name__ for value in values if not isinstance(value, (str, bool, numbers.Real))}
    if kinds:
        raise InputError(f"Unknown label type: {sorted(kinds)}. Labels are text, whole numbers or booleans")
    if all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in values):
        try:
            _check_whole(values.astype(np.float64))
        except (OverflowError, UnlabelledError) as error:  # its rows are those of different labels
            raise InputError("a label of y is too large: number the classes, or name them") from error
    return values


def check_shared_classes(n_classes: int, n_rows: int) -> None:
    """Refuse a target that has another class in each row, which names rows: no row says anything of others.

    From as many rows on as are needed to tell that a column names rows.
    """
    if n_classes == n_rows >= ROWS_TO_JUDGE:
        raise InputError(
            f"each of the {n_rows:,} rows has a class of its own, so that nothing can be learned: the target "
            "names rows, or is a quantity, which wants regression, or a cut into a few classes"
        )


def encode_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return row weights as doubles, or None where all rows count once."""
    if sample_weight is None:
        return None
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind in "cmM":  # complex numbers and dates, which NumPy would turn into numbers
            raise TypeError(f"{given.dtype} cannot say how often a row counts")  # noqa: TRY301 - one sentence
        weight = given.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"sample_weight holds something besides numbers ({error})") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise InputError(f"sample_weight has shape {weight.shape} for {n_rows} rows: give one weight per row")
    if not np.isfinite(weight).all():
        raise InputError("sample_weight contains NaN or infinity: weights are finite numbers")
    if (weight < 0).any():
        raise InputError(
            f"Negative values in sample_weight: {int((weight < 0).sum())} of {n_rows}. A weight is how often "
            "a row counts; use 0 to leave it out"
        )
    _check_magnitude(weight, "sample_weight")
    return weight


def _check_magnitude(weight: Floats, name: str) -> None:
    """Refuse weights whose products with numbers would overflow or vanish."""
    if weight.max(initial=0.0) > LARGEST_WEIGHT:
        raise InputError(
            f"{name} goes up to {weight.max():g}, {LARGEST_WEIGHT:g} is the most: divide all of them "
            "by one number, and a penalty's strength, which weighs against their sum, by the same"
        )
    if not weight.any():
        raise InputError("all sample weights are zero: no row is left to learn from")
    smallest = weight[weight > 0].min()
    if smallest < SMALLEST_WEIGHT:
        raise InputError(
            f"{name} goes down to {smallest:g}, {SMALLEST_WEIGHT:g} is the least above 0: multiply all of "
            "them by one number, or use 0 to leave a row out"
        )


def weigh_classes(
    class_weight: Any, target: EncodedTarget, row_weight: Floats | None, *, whole: bool
) -> Floats | None:
    """Return row weights times the weights of the rows' classes.

    Parameters
    ----------
    class_weight : None, "balanced" or mapping of class to weight
        "balanced" gives every class the same total weight, and leaves the sum over all rows as it is.
        Classes that a mapping leaves out weigh 1.
    row_weight : ndarray of shape (n_rows,) or None
    whole : bool
        Whether these are all rows; a chunk of a stream cannot be balanced, and need not have every class.
    """
    if class_weight is None:
        return row_weight
    classes: list[Any] = target.classes.tolist()
    if isinstance(class_weight, str) and class_weight == "balanced":
        if not whole:
            raise InputError(
                "class_weight='balanced' needs all rows at once: pass partial_fit a mapping of classes to "
                "weights"
            )
        totals = np.bincount(target.labels, row_weight, minlength=len(classes))
        weights = totals.sum() / (len(classes) * totals)
    elif isinstance(class_weight, Mapping):
        _check_class_weights(class_weight, classes, whole=whole)
        weights = np.array([class_weight.get(label, 1.0) for label in classes], dtype=np.float64)
    else:
        raise InputError(
            f"class_weight is None, 'balanced' or a mapping of classes to weights, got {class_weight!r}"
        )
    weighed: Floats = weights[target.labels] if row_weight is None else row_weight * weights[target.labels]
    _check_magnitude(weighed, "the product of sample_weight and class_weight")
    return weighed


def _check_class_weights(class_weight: Mapping[Any, Any], classes: list[Any], *, whole: bool) -> None:
    for label, weight in class_weight.items():
        if not isinstance(weight, numbers.Real) or not 0 < float(weight) < float("inf"):
            raise InputError(
                f"class_weight gives class {label!r} the weight {weight!r}: weights of classes are positive "
                "numbers; to leave a class out, drop its rows"
            )
    foreign = [label for label in class_weight if label not in classes]
    if whole and foreign:
        raise InputError(
            f"class_weight names {foreign}, not among the classes {classes} of y: name the classes as y does"
        )
