"""A handful of rows to predict, encoded cell by cell: no column is built, so one row takes microseconds.

Only what needs no thought is read here: plain text, numbers and booleans in the columns of training. Anything
else is left to `TableEncoder.encode`, which reads every table, refuses what it must, and agrees with this.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.spelling import fold
from seminaive.encode.written_dates import DateFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode.column_types import Format
    from seminaive.encode.schema import Schema

# Up to here reading cells one by one is quicker than building the columns of a frame.
FEW_ROWS = 16
# Weighted squares of anything larger could overflow when rows are summed up.
LARGEST_NUMBER = 1e140

_NUMBERS = {float, int, bool, np.bool_, *(np.dtype(code).type for code in "bhilqBHILQefd")}
_NUMBERS_OR_TEXT = {*_NUMBERS, str, np.str_}
_TEXT = {str, np.str_}
_MISSING = type(None)


def cells_of(X: Any, names: tuple[str, ...]) -> tuple[list[Sequence[Any]], tuple[str, ...] | None] | None:
    """Return a few rows as lists of cells, and their column names; None where X is something else.

    Mappings of column to cell are read by ``names``, where they have these and no others.
    """
    if isinstance(X, dict):
        X = [X]
    if isinstance(X, list) and 0 < len(X) <= FEW_ROWS and all(isinstance(row, dict) for row in X):
        if any(len(row) != len(names) or not all(map(row.__contains__, names)) for row in X):
            return None
        return [[row[name] for name in names] for row in X], names
    if isinstance(X, (list, tuple)):
        if not 0 < len(X) <= FEW_ROWS or not all(isinstance(row, (list, tuple)) for row in X):
            return None
        return list(X), None
    if type(X) is np.ndarray:
        if X.ndim != 2 or not 0 < len(X) <= FEW_ROWS or X.dtype.kind not in "biufOU":
            return None
        return X.tolist(), None
    from narwhals.dependencies import is_pandas_dataframe, is_polars_dataframe

    if is_pandas_dataframe(X):
        n_rows, n_columns = X.shape
        if not 0 < n_rows <= FEW_ROWS:
            return None
        read = X.iat
        rows: list[Sequence[Any]] = [
            [read[row, column] for column in range(n_columns)] for row in range(n_rows)
        ]
        return rows, tuple(X.columns.tolist())
    if is_polars_dataframe(X) and 0 < len(X) <= FEW_ROWS:
        return list(X.rows()), tuple(X.columns)
    return None


def encode_cells(
    rows: Sequence[Sequence[Any]], schema: Schema
) -> tuple[NDArray[np.unsignedinteger], Floats] | None:
    """Return codes and numbers of a few rows, or None where a cell needs the whole encoder."""
    readers = schema.cell_readers
    codes: list[list[int]] = []
    numbers: list[list[float]] = []
    for row in rows:
        if len(row) != len(readers):
            return None
        row_codes: list[int] = []
        row_numbers: list[float] = []
        for cell, reader in zip(row, readers, strict=True):
            if reader is None:
                continue
            kind = type(cell)
            if reader.code_of is None:
                if kind in _NUMBERS:
                    try:
                        number = float(cell)
                    except OverflowError:
                        return None
                    if abs(number) > LARGEST_NUMBER:
                        return None
                elif kind is _MISSING:
                    number = np.nan
                elif reader.written is not None and (kind in _TEXT or reader.may_be_date(cell)):
                    number = reader.written.read_cell(cell)
                    if abs(number) > LARGEST_NUMBER:
                        return None
                else:
                    return None
                row_numbers.append(number)
                if reader.cuts is not None:
                    row_codes.append(bisect_left(reader.cuts, number) if number == number else reader.missing)
            elif kind is _MISSING or (kind in _NUMBERS and cell != cell):
                row_codes.append(reader.missing)
            elif kind in reader.types:
                row_codes.append(reader.code_of.get(fold(cell) if reader.merged else cell, reader.unseen))
            else:
                return None
        codes.append(row_codes)
        numbers.append(row_numbers)
    return np.array(codes, dtype=schema.code_type), np.array(numbers, dtype=np.float64)


class CellReader:
    """How the cells of one column become codes or numbers.

    Parameters
    ----------
    code_of : dict or None
        The code of each category; None in a column of numbers.
    text : bool or None
        Whether all categories are text, or none is; None where a cell may be either.
    unseen, missing : int
        The codes of a value that training never had, and of a missing cell.
    cuts : tuple of float or None
        Cut points of numbers that have codes, too.
    written : NumberFormat, DateFormat or None
        How text writes the numbers of the column, or that cells are dates.
    merged : bool
        Whether capitals and spaces around a category do not matter.
    """

    __slots__ = ("code_of", "cuts", "merged", "missing", "types", "unseen", "written")

    def __init__(
        self,
        code_of: dict[Any, int] | None,
        text: bool | None,
        unseen: int,
        missing: int,
        cuts: tuple[float, ...] | None,
        written: Format | None = None,
        *,
        merged: bool = False,
    ) -> None:
        self.code_of = code_of
        self.types = _NUMBERS_OR_TEXT if text is None else _TEXT if text else _NUMBERS
        self.unseen = unseen
        self.missing = missing
        self.cuts = cuts
        self.written = written
        self.merged = merged

    def may_be_date(self, cell: Any) -> bool:
        """Tell whether a cell is a date in a column of dates."""
        return isinstance(cell, dt.date) and isinstance(self.written, DateFormat)
