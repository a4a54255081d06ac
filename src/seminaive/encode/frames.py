"""Tables of every library seen as columns: the only place, with `frame_parts`, that knows data frames."""

from __future__ import annotations

import datetime as dt
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seminaive.encode.written_dates import days_of, holds_dates
from seminaive.errors import InputError, TableTypeError, check_unicode, refused_as
from seminaive.memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode.column_types import Category

# What pandas calls the cells of a column of objects that are numbers.
NUMBERS_OF_PANDAS = ("integer", "floating", "mixed-integer-float", "decimal")

Kind = Literal["categorical", "numeric", "empty", "identifier"]


@dataclass(frozen=True)
class Table:
    """A table as a list of columns, whatever library it came from.

    Parameters
    ----------
    names : tuple of str
        Column names; ``x0``, ``x1``, ... where the table has none.
    columns : tuple
        pandas series, arrow arrays, or one-dimensional views of an array.
    kinds : tuple of {"categorical", "numeric"}
        What each column's type says about it.
    array : ndarray or None
        The whole table, where it came as an array of one plain type.
    """

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    n_rows: int
    array: NDArray[Any] | None = None


def open_table(X: Any) -> Table:
    """Look at a pandas, polars or pyarrow frame, an array, a sparse matrix of indicators or a list of rows.

    A table that is open already is returned as it is.
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ma.MaskedArray):
        raise TableTypeError("a masked array is not understood: pass X.filled(numpy.nan)")
    if isinstance(X, np.ndarray):
        # NumPy's text of any length is read as objects.
        return _open_array(X.astype(object) if X.dtype.kind == "T" else np.asarray(X))
    if isinstance(X, (list, tuple)):
        return _open_rows(X)
    if is_sparse(X):
        return _open_sparse(X)
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"two columns have the same name{_repeated(X)}: rename one") from error
    if isinstance(frame, nw.LazyFrame):
        raise TableTypeError("a lazy frame has no rows yet: call .collect() first")
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    kind = type(X).__name__
    with refused_as(lambda _: TableTypeError(f"a {kind} is no table: pass a frame, an array or rows")):
        return _open_array(np.asarray(X))


def _repeated(X: Any) -> str:
    """Return the column names that occur twice, where a frame lists them."""
    names = list(map(str, getattr(X, "columns", ())))
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return f", {', '.join(map(repr, repeated[:5]))}" if repeated else ""


def is_sparse(X: Any) -> bool:
    """Tell whether a table is a sparse matrix."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def _open_sparse(X: Any) -> Table:
    """Open a sparse matrix of indicators as columns of the categories 0 and 1, a byte per cell."""
    rows = X.tocsr(copy=True)
    rows.sum_duplicates()
    if rows.ndim != 2 or not ((rows.data == 0) | (rows.data == 1)).all():
        raise TableTypeError(
            "sparse input is read as indicators, and this one has cells other than 0 and 1: pass X.toarray() "
            "where they are numbers, or the columns before they were one-hot encoded"
        )
    n_rows, n_columns = rows.shape
    _check_shape(n_rows, n_columns)
    refuse_beyond_memory(
        {f"{n_rows:,} rows by {n_columns:,} indicators": n_rows * n_columns},
        "pass the columns before they were one-hot encoded, each a column of categories",
    )
    cells = rows.astype(np.uint8).toarray()
    return Table(
        names=tuple(f"x{position}" for position in range(n_columns)),
        columns=tuple(cells[:, position] for position in range(n_columns)),
        kinds=("categorical",) * n_columns,
        n_rows=n_rows,
        array=cells,
    )


def _check_shape(n_rows: int, n_columns: int) -> None:
    if n_columns == 0:
        raise InputError(
            f"0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required: pass at least one column"
        )
    if n_rows == 0:
        raise InputError(
            f"0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required: pass at least one row"
        )


def _open_array(array: NDArray[Any]) -> Table:
    if array.ndim != 2:
        raise InputError(
            f"Expected a 2D table, one row per sample, got an array with {array.ndim} dimension(s). Reshape "
            "your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        )
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: pass real and imaginary parts as two columns")
    if array.dtype.kind not in "biufOUM":
        raise TableTypeError(
            f"arrays of {array.dtype} are not understood: pass numbers, booleans, text, dates or objects"
        )
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    n_rows, n_columns = array.shape
    _check_shape(n_rows, n_columns)
    columns = tuple(array[:, position] for position in range(n_columns))
    return Table(
        names=tuple(f"x{position}" for position in range(n_columns)),
        columns=columns,
        kinds=tuple(
            "numeric" if _holds_numbers(column) or holds_dates(column) else "categorical"
            for column in columns
        ),
        n_rows=n_rows,
        array=array if array.dtype.kind in "iuf" else None,
    )


def _open_rows(rows: Sequence[Any]) -> Table:
    """Open a list of rows, whose cells keep their types."""
    try:
        array = np.asarray(rows)
    except ValueError as error:
        raise InputError(
            "the rows of the table have different lengths: give every row all columns"
        ) from error
    if array.ndim != 2 or (array.dtype.kind not in "UO" and not _has_booleans(rows)):
        return _open_array(array)
    cells = np.empty(array.shape, dtype=object)
    for row, values in enumerate(rows):
        cells[row] = values
    return _open_array(cells)


def _has_booleans(rows: Sequence[Any]) -> bool:
    """Tell whether some cell is a boolean, which numpy would make a number beside numbers."""
    return not isinstance(rows[0], np.ndarray) and any(_is_bool(cell) for row in rows for cell in row)


def _holds_numbers(column: Any) -> bool:
    """Tell whether a column is one of numbers, by its type or, where that is object, by its cells."""
    if column.dtype.kind != "O":
        return bool(column.dtype.kind in "iuf")
    import pandas as pd

    return pd.api.types.infer_dtype(column, skipna=True) in NUMBERS_OF_PANDAS


def _is_bool(value: object) -> bool:
    return isinstance(value, (bool, np.bool_))


def _open_frame(frame: Any) -> Table:
    names = tuple(str(name) for name in frame.columns)
    check_unicode("the column name", names)
    _check_shape(len(frame), len(names))
    columns = [_open_column(name, column) for name, column in zip(names, frame.iter_columns(), strict=True)]
    return Table(names, tuple(cells for cells, _ in columns), tuple(kind for _, kind in columns), len(frame))


def _open_column(name: str, series: Any) -> tuple[Any, Kind]:
    """Return a column as a pandas series, an arrow array or an array of objects, and its kind."""
    import narwhals as nw

    if series.implementation.is_pandas():
        native = series.to_native()
        # Of arrow's types, narwhals does not know days in milliseconds.
        dates = series.dtype in (nw.Object, nw.Unknown) and holds_dates(native)
        if dates or (series.dtype == nw.Object and _holds_numbers(native)):
            return native, "numeric"
        return native, _kind(name, series.dtype)
    if series.dtype in (nw.Int128, nw.UInt128):  # arrow has no such integers
        return np.array([*series.to_list(), None], dtype=object)[:-1], "numeric"
    array = _arrow_column(series)
    if not str(array.type).startswith("run_end_encoded"):
        return array, "numeric" if holds_dates(array) else _kind(name, series.dtype)
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    decoded = pa.chunked_array([pc.run_end_decode(chunk) for chunk in chunks])
    return decoded, _kind(name, nw.from_native(decoded, series_only=True).dtype)


def _arrow_column(series: Any) -> Any:
    """Return a column as an arrow array; an arrow column in one chunk is that chunk, and is not copied."""
    if series.implementation.is_pyarrow():
        column = series.to_native()
        if column.num_chunks == 1:
            return column.chunk(0)
    # Names are kept apart: polars cannot export a column whose name has a null character.
    return series.alias("").to_arrow()


def _kind(name: str, dtype: Any) -> Kind:
    """Read a column's kind off its type; refuse types that have no meaning as evidence."""
    import narwhals as nw

    if dtype.is_numeric() or dtype in (nw.Decimal, nw.Date, nw.Datetime):
        return "numeric"
    if dtype.is_temporal():
        raise TableTypeError(
            f"column {name!r} holds durations or times of day ({dtype}): turn it into a number of days, "
            "hours or seconds"
        )
    if dtype.is_nested() or dtype == nw.Binary:
        raise TableTypeError(f"column {name!r} holds {dtype}, not one value per cell: split it or drop it")
    return "categorical"


def as_numbers(name: str, column: Any) -> Floats:
    """Return a column as doubles with NaN where a cell is missing; dates are days since 1970."""
    if holds_dates(column):
        return days_of(column)
    if hasattr(column, "null_count"):  # arrow
        column = column.to_pandas()
    with refused_as(
        lambda error: InputError(
            f"column {name!r} should hold numbers and does not ({error}): convert it, or name it in "
            "categorical_features"
        )
    ):
        if hasattr(column, "to_numpy"):
            numbers_ = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            if column.dtype.kind == "O":
                import pandas as pd

                column = np.where(pd.isna(column), np.nan, column)
            numbers_ = np.asarray(column, dtype=np.float64)
    return np.ascontiguousarray(numbers_)


def dictionary(name: str, column: Any) -> tuple[NDArray[np.integer], list[Category]]:
    """Return a column as codes, -1 where a cell is missing, and the value of each code.

    Columns that are stored as codes are not factorised again; some of their values may then not occur.
    """
    with refused_as(lambda error: _not_a_value(name, error)):
        return _dictionary(name, column)


def _dictionary(name: str, column: Any) -> tuple[NDArray[np.integer], list[Category]]:
    if hasattr(column, "null_count"):
        codes, values = arrow_dictionary(column)
    elif hasattr(column, "cat"):
        codes, values = column.cat.codes.to_numpy(), list(column.cat.categories)
    else:
        codes, values = _factorize(column)
    plain = [np.nan if value is None else _plain(name, value) for value in values]
    # For arrow, missing values and equal ones, 0.0 and -0.0 for instance, may be separate values.
    first: dict[Category, int] = {}
    codes_of_values = [
        first.setdefault(value, code) if value == value else -1 for code, value in enumerate(plain)
    ]
    if codes_of_values != list(range(len(plain))):
        codes = np.array([*codes_of_values, -1], dtype=np.int64)[codes]
    return codes, plain


def declared_order(name: str, column: Any) -> tuple[Category, ...] | None:
    """Return the levels of a column whose type orders them, None for any other column."""
    if hasattr(column, "cat") and column.cat.ordered:
        levels = list(column.cat.categories)
    elif getattr(getattr(column, "type", None), "ordered", False):
        levels = arrow_dictionary(column)[1]
    else:
        return None
    plain = (_plain(name, level) for level in levels if level is not None and level == level)
    return tuple(dict.fromkeys(plain))


def _factorize(column: Any) -> tuple[NDArray[np.integer], list[Any]]:
    import pandas as pd

    column = getattr(column, "array", column)
    if isinstance(column, pd.arrays.NumpyExtensionArray):  # which pandas before 3 does not factorise
        column = column.to_numpy()
    codes, values = pd.factorize(column, use_na_sentinel=True)
    return codes, list(values)


def arrow_dictionary(column: Any) -> tuple[NDArray[np.integer], list[Any]]:
    """Return the codes of an arrow column, -1 where a cell is missing, and the value of each code."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # an empty or a split array stays chunked
        column = pa.concat_arrays(column.chunks)
    indices = column.indices
    signed = indices.cast(pa.int64()) if pa.types.is_unsigned_integer(indices.type) else indices
    codes = signed.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, column.dictionary.to_pylist()


def _plain(name: str, value: Any) -> Category:
    """Return a category as text, number or boolean, the types that survive JSON."""
    if isinstance(value, str):
        return str(value)
    if _is_bool(value):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if type(value).__name__ == "Interval":  # what pandas.cut makes
        return str(value)
    raise _not_a_value(name, f"it holds a {type(value).__name__}")


def _not_a_value(name: str, reason: object) -> TableTypeError:
    return TableTypeError(
        f"column {name!r} cannot be read ({reason}): the argument must be a string, a boolean or a number in "
        "every cell of a categorical column"
    )
