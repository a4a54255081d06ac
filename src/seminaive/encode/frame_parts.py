"""Rows and columns of any table, and frames of the library that a table came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.frames import is_sparse
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seminaive.arrays import Booleans, Integers
    from seminaive.encode.frames import Table


def keep_rows(X: Any, mask: Booleans) -> Any:
    """Return the rows of any table where ``mask`` is true."""
    if isinstance(X, (list, tuple)):
        return [row for row, keep in zip(X, mask, strict=True) if keep]
    if is_sparse(X):
        return X.tocsr()[np.flatnonzero(mask)]
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        return frame.filter(mask.tolist()).to_native()
    return np.asarray(X)[mask]


def repeat_rows(X: Any, times: Integers) -> Any:
    """Return a frame in which each row occurs as often as its count says."""
    import narwhals as nw

    rows = np.repeat(np.arange(len(times)), times)
    return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()


def keep_columns(X: Any, mask: Booleans) -> Any:
    """Return the columns of any table where ``mask`` is true: a frame of its library, sparse, or an array."""
    if is_sparse(X):
        return X.tocsc()[:, np.flatnonzero(mask)]
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame) and frame.implementation.is_pandas():
        return X.iloc[:, np.flatnonzero(mask)]  # also where a name is NaN, which equals no name
    if isinstance(frame, nw.DataFrame):
        return frame.select(nw.nth(np.flatnonzero(mask).tolist())).to_native()
    if isinstance(X, (list, tuple)):
        X = np.array([list(row) for row in X], dtype=object if _has_text(X) else None)
    return np.asarray(X)[:, mask]


def _has_text(rows: Sequence[Any]) -> bool:
    """Tell whether some cell is text, beside which numpy would make numbers text."""
    return any(isinstance(cell, str) for row in rows for cell in row)


def frame_like(X: Any, columns: Mapping[str, Any]) -> Any:
    """Return columns as a frame of the library that ``X`` came from, pandas for an array or None."""
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        made = nw.from_dict(dict(columns), backend=frame.implementation).to_native()
        if frame.implementation.is_pandas() and len(made) == len(frame):
            made.index = X.index
        return made
    import pandas as pd

    return pd.DataFrame(dict(columns))


def native_columns(X: Any, table: Table) -> tuple[Any, ...]:
    """Return the columns of a frame as its library has them, those of another table as they were opened."""
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return table.columns
    return tuple(column.to_native() for column in frame.iter_columns())


def ordered_column(X: Any, codes: Integers, missing: Booleans, levels: tuple[str, ...]) -> Any:
    """Return ordered levels as a column of the library that ``X`` came from, pandas for an array."""
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame) and not frame.implementation.is_pandas():
        import pyarrow as pa

        coded = pa.array(codes, mask=missing, type=pa.int32())
        column = pa.chunked_array([pa.DictionaryArray.from_arrays(coded, pa.array(levels), ordered=True)])
        if frame.implementation.is_pyarrow():
            return column
        values = column.to_pylist()
        return nw.new_series("", values, nw.Enum(levels), backend=frame.implementation).to_native()
    import pandas as pd

    typed = pd.CategoricalDtype(list(levels), ordered=True)
    return pd.Categorical.from_codes(np.where(missing, -1, codes), dtype=typed)


def take_column(X: Any, name: str) -> tuple[Any, Any]:
    """Return a frame without one of its columns, and that column."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if name not in frame.columns:
        raise InputError(f"there is no column {name!r}: the table has {list(frame.columns)}")
    return frame.drop(name).to_native(), frame.get_column(name).to_native()


def take_columns(X: Any, names: Sequence[str]) -> Any:
    """Return the named columns of a frame, in that order."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise InputError(
            f"fitted on {len(names)} columns, of which the table lacks {absent}: pass the training columns "
            "or refit"
        )
    return frame.select(names).to_native()
