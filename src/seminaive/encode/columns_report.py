"""How each column of a training table was read, and which readings are probably mistakes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.schema import KINDS, CategoricalColumn, EmptyColumn, NumericColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.encode.frames import Table
    from seminaive.encode.schema import Category, Column, Schema
    from seminaive.encode.table import EncodedTable

# Text columns with fewer values than this are categories whatever the values look like.
FEW_LEVELS = 20
# Values that are looked at in a column that has more.
MOST_LOOKED_AT = 1000
# A column is number-like, or date-like, where this share of its values is.
MOSTLY = 0.9
# Categories are near-unique where there is more than one for every two rows, from so many rows on.
NEAR_UNIQUE, ROWS_TO_JUDGE = 0.5, 50

_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?\s*"
)
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")


@dataclass(frozen=True)
class ColumnReading:
    """How one column was read.

    Parameters
    ----------
    dtype : str
        The type that the column came with.
    n_missing : int
        Missing cells, in all rows of positive weight so far.
    """

    dtype: str
    n_missing: int


def read_columns(opened: Table, table: EncodedTable) -> tuple[ColumnReading, ...]:
    """Return how the columns of an open table were read."""
    schema = table.schema
    coded = {position: k for k, position in enumerate(schema.coded)}
    numbers = {position: k for k, position in enumerate(schema.numeric)}
    readings = []
    names = _type_names(opened)
    for position, (column, name) in enumerate(zip(schema.columns, names, strict=True)):
        n_missing = 0
        if isinstance(column, EmptyColumn):
            n_missing = opened.n_rows
        elif column.missing_seen and position in numbers:
            n_missing = int(np.isnan(table.numbers[:, numbers[position]]).sum())
        elif column.missing_seen:
            n_missing = int((table.codes[:, coded[position]] == column.n_present).sum())
        readings.append(ColumnReading(name, n_missing))
    return tuple(readings)


def _type_names(opened: Table) -> list[str]:
    """Return the name of each column's type; that of an array is asked for once."""
    if opened.array is not None:
        return [str(opened.array.dtype)] * len(opened.columns)
    return [str(getattr(source, "dtype", getattr(source, "type", ""))) for source in opened.columns]


def merge_readings(old: Sequence[ColumnReading], new: Sequence[ColumnReading]) -> tuple[ColumnReading, ...]:
    """Return the readings of the rows of both; types are those of the first."""
    return tuple(
        replace(a, n_missing=a.n_missing + b.n_missing) if b.n_missing else a
        for a, b in zip(old, new, strict=True)
    )


def report_columns(readings: Sequence[ColumnReading], schema: Schema) -> dict[str, list[Any]]:
    """Return the columns of a frame: column, kind, levels, missing cells and how each column was read."""
    return {
        "column": list(schema.names),
        "kind": [KINDS[type(column)] for column in schema.columns],
        "levels": [_levels(schema, column) for column in schema.columns],
        "missing": [reading.n_missing for reading in readings],
        "read_as": [
            f"{reading.dtype} as {_read_as(column)}"
            for reading, column in zip(readings, schema.columns, strict=True)
        ],
    }


def _levels(schema: Schema, column: Column) -> int:
    """Return the number of codes of a column, 0 where it has none."""
    has_codes = isinstance(column, CategoricalColumn) or getattr(column, "cuts", None) is not None
    return schema.n_values(column) if has_codes else 0


def _read_as(column: Column) -> str:
    if isinstance(column, NumericColumn):
        bins = "1 bin" if column.n_present == 1 else f"{column.n_present} bins"
        return "numbers" if column.cuts is None else f"numbers, in {bins}"
    return "categories" if isinstance(column, CategoricalColumn) else "nothing: all cells are missing"


def probable_mistakes(opened: Table, schema: Schema, chosen: Any) -> list[str]:
    """Return a sentence, with the remedy, for each column that was probably meant otherwise.

    Parameters
    ----------
    opened : Table
    schema : Schema
    chosen : the parameter ``categorical_features``
        Whoever lists the categorical columns means what the list says.
    """
    told = not isinstance(chosen, str)
    sentences = []
    for column, source, kind in zip(schema.columns, opened.columns, opened.kinds, strict=True):
        sentence = None
        if isinstance(column, EmptyColumn):
            sentence = "has no value, all cells are missing, and carries no evidence: drop it"
        elif isinstance(column, CategoricalColumn) and not told:
            # Columns whose type says category were made so on purpose.
            untyped = kind == "categorical" and not _is_declared(source)
            if untyped and chosen != "all":
                sentence = _misread_text(column)
            sentence = sentence or _near_unique(column, opened.n_rows)
        if sentence:
            sentences.append(f"column {column.name!r} {sentence}")
    return sentences


def _is_declared(source: Any) -> bool:
    """Tell whether a column's type says that it holds categories."""
    return "categor" in str(getattr(source, "dtype", "")) or "dictionary" in str(getattr(source, "type", ""))


def _misread_text(column: CategoricalColumn) -> str | None:
    """Return what is wrong with a column of text or objects that looks like numbers or dates."""
    if len(column.categories) < FEW_LEVELS:
        return None
    step = -(-len(column.categories) // MOST_LOOKED_AT)
    values = column.categories[::step]
    strange = [value for value in values if not _is_number_like(value)]
    if not strange:
        what = "text" if any(isinstance(value, str) for value in values) else "objects"
        return (
            f"holds numbers that came as {what} and is read as {len(column.categories):,} categories: "
            "convert it to numbers, X.astype(float) for instance, or list it in categorical_features"
        )
    commas = sum(isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value) is not None for value in strange)
    if commas and len(strange) - commas <= (1 - MOSTLY) * len(values):
        return (
            f"holds numbers with a decimal comma as text, such as {next(filter(_has_comma, strange))!r}, "
            f"and is read as {len(column.categories):,} categories: read the file with decimal=',', convert "
            "the column, or list it in categorical_features"
        )
    if len(strange) <= (1 - MOSTLY) * len(values):
        shown = ", ".join(repr(value) for value in strange[:3])
        return (
            f"holds numbers as text beside {shown}, and is read as {len(column.categories):,} categories: "
            "replace what is no number by a missing value and convert the column, with "
            "pandas.to_numeric(column, errors='coerce') for instance, or list it in categorical_features"
        )
    dates = sum(isinstance(value, str) and _DATE.fullmatch(value) is not None for value in values)
    if dates >= MOSTLY * len(values):
        return (
            f"holds dates as text, such as {next(v for v in values if isinstance(v, str))!r}, and is read as "
            f"{len(column.categories):,} categories: turn it into numbers that mean something here, such as "
            "days since an event, or into month or weekday; or list it in categorical_features"
        )
    return None


def _has_comma(value: Category) -> bool:
    return isinstance(value, str) and "," in value


def _is_number_like(value: Category) -> bool:
    if not isinstance(value, str):
        return not isinstance(value, bool)
    try:
        float(value)
    except ValueError:
        return False
    return "_" not in value  # Python reads "1_000", nobody else does


def _near_unique(column: CategoricalColumn, n_rows: int) -> str | None:
    if n_rows < ROWS_TO_JUDGE or len(column.categories) <= NEAR_UNIQUE * n_rows:
        return None
    return (
        f"has {len(column.categories):,} categories in {n_rows:,} rows, so that most of them occur once: "
        "drop it if it identifies rows, group rare values, or list it in categorical_features"
    )
