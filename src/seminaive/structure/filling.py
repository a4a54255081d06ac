"""Missing cells of a table found, and filled in, in whatever library the table came from."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.column_kinds import column_numbers
from seminaive.encode.column_types import CategoricalColumn, NumericColumn
from seminaive.encode.frames import dictionary
from seminaive.encode.written_dates import holds_dates, moments_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.encode.frames import Table
    from seminaive.encode.schema import Schema


def missing_rows(table: Table, schema: Schema) -> dict[int, Integers]:
    """Return the rows in which each column is missing; columns that are never missing are left out.

    A column without any value in training is not listed: nothing is known that could fill it.

    Examples
    --------
    >>> from seminaive.encode import TableEncoder, open_table
    >>> X = [["wet", 3.0], [None, None], ["dry", 1.0]]
    >>> missing_rows(open_table(X), TableEncoder.learn(X)[0].schema)
    {0: array([1]), 1: array([1])}
    """
    found = {}
    for position, (column, values) in enumerate(zip(schema.columns, table.columns, strict=True)):
        if isinstance(column, NumericColumn):
            rows = np.flatnonzero(np.isnan(column_numbers(table, position, column.written)))
        elif isinstance(column, CategoricalColumn):
            rows = np.flatnonzero(dictionary(column.name, values)[0] == -1)
        else:
            continue
        if len(rows):
            found[position] = rows
    return found


def drawn_values(
    rows: Mapping[int, Integers], schema: Schema, codes: NDArray[np.integer], numbers: Floats
) -> dict[int, NDArray[Any]]:
    """Return what stands in some rows of a completed table: categories by their names, or numbers.

    Parameters
    ----------
    rows : mapping
        Rows of each column.
    codes : ndarray of shape (n_rows, n_coded)
    numbers : ndarray of shape (n_rows, n_numbers)
    """
    coded, numeric = schema.coded_index, schema.numeric_index
    values: dict[int, NDArray[Any]] = {}
    for position, column_rows in rows.items():
        column = schema.columns[position]
        if isinstance(column, CategoricalColumn):
            names = np.empty(len(column.categories), dtype=object)
            names[:] = column.categories
            values[position] = names[codes[column_rows, coded[position]]]
        else:
            values[position] = numbers[column_rows, numeric[position]]
    return values


def filled(X: Any, rows: Mapping[int, Integers], values: Mapping[int, NDArray[Any]]) -> Any:
    """Return a table with some cells written anew: a frame of its library, an array, or a list of rows.

    Columns of whole numbers in which a number is drawn become columns of floating-point numbers.

    Parameters
    ----------
    X : frame, array or list of rows
    rows : mapping
        Which rows of each column (by position) are written.
    values : mapping
        What is written there.

    Examples
    --------
    >>> filled([["wet", 3.0], [None, None]], {0: [1], 1: [1]}, {0: ["dry"], 1: [2.0]})
    [['wet', 3.0], ['dry', 2.0]]
    """
    if isinstance(X, (list, tuple)):
        return _filled_rows(X, rows, values)
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return _filled_array(X, rows, values)
    if frame.implementation.is_pandas():
        made = X.copy()
        for position, column_rows in rows.items():
            made.isetitem(position, _filled_pandas(X.iloc[:, position], column_rows, values[position]))
        return made
    names = frame.columns
    return frame.with_columns(
        [
            _filled_series(frame[names[position]], column_rows, values[position]).alias(names[position])
            for position, column_rows in rows.items()
        ]
    ).to_native()


def _filled_array(X: Any, rows: Mapping[int, Integers], values: Mapping[int, NDArray[Any]]) -> NDArray[Any]:
    array = np.array(X)
    for position, column_rows in rows.items():
        array[column_rows, position] = values[position]
    return array


def _filled_rows(X: Any, rows: Mapping[int, Integers], values: Mapping[int, NDArray[Any]]) -> list[list[Any]]:
    made = [list(row) for row in X]
    for position, column_rows in rows.items():
        for row, value in zip(column_rows, np.asarray(values[position]).tolist(), strict=True):
            made[row][position] = value
    return made


def _filled_pandas(column: Any, rows: Integers, values: NDArray[Any]) -> Any:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        # Intervals are known by their text.
        native = {
            str(level) if isinstance(level, pd.Interval) else level: level for level in column.cat.categories
        }
        new = [value for value in dict.fromkeys(values.tolist()) if value not in native]
        made = column.cat.add_categories(new) if new else column.copy()
        made.iloc[rows] = [native.get(value, value) for value in values.tolist()]
        return made
    if holds_dates(column):
        made = column.copy()
        made.iloc[rows] = _dates_like(column, values)
        return made
    fractional = values.dtype.kind == "f" and pd.api.types.is_integer_dtype(column.dtype)
    made = column.astype("Float64") if fractional else column.copy()
    made.iloc[rows] = values
    return made


def _dates_like(column: Any, days: NDArray[Any]) -> Any:
    """Return days since 1970 as cells of a pandas column of dates."""
    import pandas as pd

    moments = pd.Series(moments_of(days))
    if column.dtype == object:
        whole = not any(isinstance(cell, dt.datetime) for cell in column.dropna())
        return [moment.date() if whole else moment.to_pydatetime() for moment in moments]
    if getattr(column.dtype, "tz", None) is not None:
        moments = moments.dt.tz_localize("UTC").dt.tz_convert(column.dtype.tz)
    return moments.astype(column.dtype).array


def _filled_series(series: Any, rows: Integers, values: NDArray[Any]) -> Any:
    """Fill a column of polars or arrow; categories pass through text."""
    import narwhals as nw

    dtype = series.dtype
    if dtype in (nw.Date, nw.Datetime):
        zone = getattr(dtype, "time_zone", None)
        moments = [moment.replace(tzinfo=zone and dt.UTC) for moment in moments_of(values).tolist()]
        values = np.array([moment.date() if dtype == nw.Date else moment for moment in moments], dtype=object)
    if values.dtype.kind == "f" and (dtype.is_integer() or dtype == nw.Decimal):
        series = series.cast(nw.Float64)
    if series.implementation.is_pyarrow():
        return nw.from_native(_filled_arrow(series.to_native(), rows, values), series_only=True)
    if dtype in (nw.Categorical, nw.Enum):
        return series.cast(nw.String).scatter(rows.tolist(), values.tolist()).cast(dtype)
    return series.scatter(rows.tolist(), values.tolist())


def _filled_arrow(array: Any, rows: Integers, values: NDArray[Any]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = pa.types.is_dictionary(array.type)
    plain = (array.cast(array.type.value_type) if coded else array).combine_chunks()
    mask = np.zeros(len(plain), dtype=bool)
    mask[rows] = True
    made = pc.replace_with_mask(plain, pa.array(mask), pa.array(values.tolist(), type=plain.type))
    return pa.chunked_array([made.dictionary_encode() if coded else made])
