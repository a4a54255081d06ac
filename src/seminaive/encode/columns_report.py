"""How each column of a training table was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.column_types import (
    KINDS,
    CategoricalColumn,
    EmptyColumn,
    IdentifierColumn,
    NumericColumn,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.encode.column_types import Column
    from seminaive.encode.encoded_table import EncodedTable
    from seminaive.encode.frames import Table
    from seminaive.encode.schema import Schema


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
    coded, numbers = schema.coded_index, schema.numeric_index
    readings = []
    names = _type_names(opened)
    for position, (column, name) in enumerate(zip(schema.columns, names, strict=True)):
        n_missing = 0
        if isinstance(column, IdentifierColumn):
            n_missing = column.n_missing
        elif isinstance(column, EmptyColumn):
            n_missing = opened.n_rows
        elif column.missing_seen and position in numbers:
            n_missing = int(np.isnan(table.numbers[:, numbers[position]]).sum())
        elif column.missing_seen:
            n_missing = int((table.codes[:, coded[position]] == column.n_present).sum())
        readings.append(ColumnReading(name, n_missing))
    return tuple(readings)


def _type_names(opened: Table) -> list[str]:
    """Return the name of each column's type; that of an array is read once."""
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
        what = "numbers" if column.written is None else column.written.described
        bins = "1 bin" if column.n_present == 1 else f"{column.n_present} bins"
        return what if column.cuts is None else f"{what}, in {bins}"
    if isinstance(column, IdentifierColumn):
        return f"nothing: {column.n_values:,} values identify rows"
    if isinstance(column, EmptyColumn):
        return "nothing: all cells are missing"
    what = (
        "levels of a cycle"
        if column.is_cyclic
        else "categories"
        if column.order is None
        else "ordered levels"
    )
    return f"{what}, spellings merged" if column.merged else what
