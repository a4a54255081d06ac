"""Rows and columns of any table, and frames of the library that a table came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.frames import Table, is_sparse
from seminaive.errors import ColumnsWarning, InputError, warn_caller

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from seminaive.arrays import Booleans, Integers

# Columns that a sentence names.
MOST_NAMED = 10


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
    if isinstance(frame, nw.DataFrame):
        return _select(X, frame, np.flatnonzero(mask).tolist())
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


def training_columns(X: Any, names: Sequence[str], *, noted: bool = True) -> Any:
    """Return rows with the columns of training, in their order, matched by name where the rows have names.

    Parameters
    ----------
    X : frame, array, list of rows, or mappings of column to cell
        A mapping, or a pandas series with the names of columns, is one row.
    names : sequence of str
        The columns of training; ``x0``, ``x1``, ... where it had no names, which any others may stand for.
    noted : bool
        Whether to warn of columns that training did not have, and that are left out.
    """
    if isinstance(X, (Table, np.ndarray)) or is_sparse(X):
        return X
    rows = _mappings(X)
    if rows is not None:
        return _frame_of_mappings(rows, names, noted=noted)
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True, eager_only=True)
    given = [str(name) for name in frame.columns] if isinstance(frame, nw.DataFrame) else list(names)
    nameless = tuple(names) == tuple(f"x{position}" for position in range(len(names)))
    if given == list(names) or (nameless and not set(names) <= set(given)):
        return X
    _check_present(names, given, "the table")
    _note_ignored(given, names, noted=noted)
    positions = [given.index(name) for name in names]
    return _select(X, frame, positions)


def _select(X: Any, frame: Any, positions: list[int]) -> Any:
    """Return columns of a frame, which narwhals has as ``frame``, by their positions."""
    import narwhals as nw

    if frame.implementation.is_pandas():
        return X.iloc[:, positions]  # also where a name is NaN, which equals no name
    return frame.select(nw.nth(positions)).to_native()


def _mappings(X: Any) -> list[Mapping[str, Any]] | None:
    """Return rows that are mappings, or a series with the names of columns; None for other tables."""
    from narwhals.dependencies import is_pandas_series

    if is_pandas_series(X) and any(isinstance(label, str) for label in X.index):
        X = dict(X.items())
    if isinstance(X, Mapping):
        X = [X]
    if not isinstance(X, (list, tuple)) or not any(isinstance(row, Mapping) for row in X):
        return None
    if not all(isinstance(row, Mapping) for row in X):
        raise InputError("some rows are mappings of column to cell, and some are not: pass one kind of rows")
    return [{str(name): cell for name, cell in row.items()} for row in X]


def _frame_of_mappings(rows: Sequence[Mapping[str, Any]], names: Sequence[str], *, noted: bool) -> Any:
    import pandas as pd

    for number, row in enumerate(rows):
        _check_present(names, row, "the row" if len(rows) == 1 else f"row {number}")
    _note_ignored(dict.fromkeys(name for row in rows for name in row), names, noted=noted)
    cells = {name: np.empty(len(rows), dtype=object) for name in names}
    for name, column in cells.items():
        column[:] = [row[name] for row in rows]
    return pd.DataFrame(cells).infer_objects()


def _check_present(names: Sequence[str], given: Collection[str], what: str) -> None:
    absent = [name for name in names if name not in given]
    if absent:
        raise InputError(
            f"fitted on {len(names)} columns, of which {what} lacks {_listed(absent)}: pass the training "
            "columns, in any order, with None or NaN in cells that are not known, or refit"
        )


def _note_ignored(given: Iterable[str], names: Sequence[str], *, noted: bool) -> None:
    known = set(names)
    foreign = [name for name in given if name not in known]
    if foreign and noted:
        warn_caller(f"columns that training did not have are ignored: {_listed(foreign)}", ColumnsWarning)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(repr, names[:MOST_NAMED])) + more
