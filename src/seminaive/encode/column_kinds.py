"""What each column of a table holds: numbers or dates, perhaps as text, categories, or the names of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seminaive.encode.column_types import KINDS, CategoricalColumn, IdentifierColumn, NumericColumn
from seminaive.encode.frames import as_numbers, dictionary
from seminaive.encode.written_dates import DateFormat, find_dates, holds_dates, may_write_dates
from seminaive.encode.written_numbers import FEW_VALUES, find_format, may_write_numbers
from seminaive.errors import ColumnsWarning, InputError, TableTypeError, warn_caller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats
    from seminaive.encode.column_types import Format
    from seminaive.encode.frames import Kind, Table
    from seminaive.encode.schema import Schema

    CategoricalFeatures = Literal["from_dtype", "all"] | Sequence[str] | Sequence[int] | Sequence[bool]

# Categories name rows where there are more than this many per row that has one. Then at least 80 % of the
# rows have a category that no other row has (of n rows in more than .9 n categories, fewer than .2 n share
# theirs), and what a category says of its only row says nothing of others.
NEARLY_ALL = 0.9
# Rows from which that can be judged.
ROWS_TO_JUDGE = 50
# Rows whose text is looked at first.
FIRST_ROWS = 200


@dataclass(frozen=True)
class ColumnKinds:
    """How the columns of a table are to be read.

    Parameters
    ----------
    kinds : tuple of {"categorical", "numeric", "empty", "identifier"}
    formats : mapping of int to NumberFormat or DateFormat
        How columns of text, by their positions, write numbers or dates, and which columns have dates.
    listed : frozenset of int
        Columns that the user calls categories; they are taken at that word.
    """

    kinds: tuple[Kind, ...]
    formats: Mapping[int, Format]
    listed: frozenset[int]

    @classmethod
    def find(
        cls, table: Table, categorical_features: Any, formats: Mapping[int, Format] | None
    ) -> ColumnKinds:
        """Decide by the type of each column, by what text says, and by what the user lists.

        ``formats`` are those that are known already; None looks for them.
        """
        if isinstance(categorical_features, str) and categorical_features == "all":
            every: list[Kind] = ["categorical"] * len(table.names)
            return cls(tuple(every), {}, frozenset())
        listed = listed_columns(table.names, categorical_features)
        if formats is None:
            found = {k: _format_of(table, k) for k in _texts(table) if k not in listed}
            formats = {k: written for k, written in found.items() if written is not None}
        formats = {**formats, **{k: DateFormat() for k in _dates(table) if k not in listed}}
        kinds: list[Kind] = [
            "categorical" if k in listed else "numeric" if k in formats else kind
            for k, kind in enumerate(table.kinds)
        ]
        return cls(tuple(kinds), formats, listed)

    @classmethod
    def known(cls, table: Table, schema: Schema) -> ColumnKinds:
        """Take the kinds of a schema that was learned; refuse a table of other columns."""
        if len(table.names) != len(schema.columns):
            raise InputError(
                f"fitted on {len(schema.columns)} columns, got {len(table.names)}: pass the training columns "
                "or refit"
            )
        written = {
            position: column.written
            for position, column in enumerate(schema.columns)
            if isinstance(column, NumericColumn) and column.written is not None
        }
        return cls(tuple(KINDS[type(column)] for column in schema.columns), written, frozenset())

    def positions(self, kind: Kind) -> list[int]:
        """Return the columns of a kind."""
        return [position for position, kind_of_column in enumerate(self.kinds) if kind_of_column == kind]


def listed_columns(names: Sequence[str], categorical_features: Any) -> frozenset[int]:
    """Return the positions of the columns that a user lists as categories; none for the words.

    Examples
    --------
    >>> sorted(listed_columns(["age", "zip", "sex"], ["zip"]))
    [1]
    """
    if isinstance(categorical_features, str) and categorical_features in ("from_dtype", "all"):
        return frozenset()
    if not _is_flat(categorical_features):
        raise InputError(
            "categorical_features is 'from_dtype', 'all', or a list of names, positions or booleans, "
            f"got {categorical_features!r}"
        )
    chosen = np.asarray(categorical_features)
    if chosen.dtype.kind != "b":
        return frozenset(_position(names, entry) for entry in chosen.tolist())
    if chosen.shape != (len(names),):
        raise InputError(
            f"the mask categorical_features has {chosen.size} entries for {len(names)} columns: "
            "give it one entry per column"
        )
    return frozenset(np.flatnonzero(chosen).tolist())


def _is_flat(values: Any) -> bool:
    """Tell whether values are a list of single ones."""
    try:
        return values is not None and np.ndim(values) == 1
    except ValueError:  # lists of different lengths
        return False


def _position(names: Sequence[str], entry: Any) -> int:
    if isinstance(entry, str):
        if entry not in names:
            raise InputError(f"categorical_features names {entry!r}, which is not a column: {list(names)}")
        return names.index(entry)
    if not isinstance(entry, int) or not -len(names) <= entry < len(names):
        raise InputError(f"categorical_features lists position {entry!r} of a table of {len(names)} columns")
    return entry % len(names)


# Dates, and numbers written as text


def _dates(table: Table) -> list[int]:
    """Return the columns whose type, or whose cells, are dates."""
    if table.array is not None:
        return []
    return [
        position
        for position, (kind, source) in enumerate(zip(table.kinds, table.columns, strict=True))
        if kind == "numeric" and holds_dates(source)
    ]


def is_declared(source: Any) -> bool:
    """Tell whether a column's type says that it holds categories, as the categorical type of pandas does."""
    return "categor" in str(getattr(source, "dtype", "")) or "dictionary" in str(getattr(source, "type", ""))


def _texts(table: Table) -> list[int]:
    """Return the columns of text and objects that no type calls categories."""
    return [
        position
        for position, (kind, source) in enumerate(zip(table.kinds, table.columns, strict=True))
        if kind == "categorical" and not is_declared(source) and _may_be_text(source)
    ]


def _may_be_text(source: Any) -> bool:
    """Tell whether cells may be text; those of booleans and of indicators are not."""
    kind = getattr(getattr(source, "dtype", None), "kind", "O")
    return kind in "OUT" and not str(getattr(source, "type", "")).startswith("bool")


def _format_of(table: Table, position: int) -> Format | None:
    """Return how a column of text writes numbers or dates, None where it does not."""
    name, source = table.names[position], table.columns[position]
    # A column of words is known by its first rows, without going through all of it.
    first = dictionary(name, source[:FIRST_ROWS])[1]
    if not may_write_numbers(first) and not may_write_dates(first):
        return None
    codes, values = dictionary(name, source)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    occurring = {value: int(n) for value, n in zip(values, counts, strict=True) if n}
    return find_format(occurring) or find_dates(occurring)


def column_numbers(table: Table, position: int, written: Format | None) -> Floats:
    """Return a column as doubles, NaN where a cell is missing or is text that says no number."""
    name, source = table.names[position], table.columns[position]
    if table.array is None and not isinstance(written, DateFormat) and holds_dates(source):
        raise TableTypeError(
            f"column {name!r} held numbers at training and holds dates now: convert it to the training type, "
            "or refit"
        )
    if written is None or table.kinds[position] != "categorical":
        return as_numbers(name, source)
    codes, values = dictionary(name, source)
    numbers = np.array([*(written.read_cell(value) for value in values), np.nan])
    read: Floats = numbers[codes]
    present = np.unique(codes[codes >= 0])
    if len(present) >= FEW_VALUES and np.isnan(numbers[present]).all():
        warn_caller(
            f"column {name!r} held {written.described} at training, such as {written.example!r}, and no cell "
            f"is one now, such as {values[present[0]]!r}: all count as missing",
            ColumnsWarning,
        )
    return read


# Identifiers


def identifier_of(
    column: CategoricalColumn, codes: NDArray[np.integer], row_weight: Floats | None
) -> IdentifierColumn | None:
    """Return the column as one that names rows, None where its categories are shared by rows.

    A row that counts several times is several rows.
    """
    if len(column.categories) <= NEARLY_ALL * ROWS_TO_JUDGE:
        return None
    present = codes < column.n_present
    n_present = int(present.sum())
    weight = n_present if row_weight is None else float(row_weight[present].sum())
    if not names_rows(len(column.categories), n_present, weight):
        return None
    return IdentifierColumn(column.name, len(column.categories), len(codes) - n_present)


def names_rows(n_categories: int, n_rows: int, weight: float) -> bool:
    """Tell whether categories name the rows that have one, which have a weight together."""
    n_counted = max(n_rows, weight)
    return n_counted >= ROWS_TO_JUDGE and n_categories > NEARLY_ALL * n_counted
