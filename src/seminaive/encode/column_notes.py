"""Sentences about columns that were probably meant otherwise than they were read, each with the remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.column_kinds import ROWS_TO_JUDGE, is_declared, listed_columns
from seminaive.encode.column_types import CategoricalColumn, EmptyColumn, IdentifierColumn, NumericColumn
from seminaive.encode.frames import as_numbers, dictionary
from seminaive.encode.spelling import spelt_alike
from seminaive.encode.written_numbers import FEW_VALUES, are_whole, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.encode.column_types import Category, Column
    from seminaive.encode.frames import Table
    from seminaive.encode.schema import Schema

# Values that are looked at in a column that has more.
MOST_LOOKED_AT = 1000
# A column is number-like, or date-like, where this share of its values is.
MOSTLY = 0.9
# Categories are near-unique where there is more than one for every two rows.
NEAR_UNIQUE = 0.5
# Whole numbers of this many digits are keys of accounts, telephones and parcels; quantities are shorter.
DIGITS_OF_KEYS = 12
# Larger doubles are whole whatever they measure.
LARGEST_WHOLE = 2.0**53
# Whole numbers in sequence may lack this share, of rows that were deleted.
DELETED = 0.01
# Values that a sentence shows.
MOST_SHOWN = 3

_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}.*)?\s*"
)


def probable_mistakes(opened: Table, schema: Schema, categorical_features: Any) -> list[str]:
    """Return a sentence, with the remedy, for each column that was probably meant otherwise.

    Parameters
    ----------
    categorical_features : the parameter of that name
        Whoever lists a column means what the list says.
    """
    listed = listed_columns(opened.names, categorical_features)
    texts_are_meant = isinstance(categorical_features, str) and categorical_features == "all"
    sentences = []
    for position, column in enumerate(schema.columns):
        if position in listed and not isinstance(column, EmptyColumn):
            continue
        sentence = _about(opened, position, column, texts_are_meant=texts_are_meant)
        if sentence:
            sentences.append(f"column {column.name!r} {sentence}")
    return sentences


def _about(opened: Table, position: int, column: Column, *, texts_are_meant: bool) -> str | None:
    """Return what is wrong with a column, None where nothing seems to be."""
    source = opened.columns[position]
    # Columns whose type says category were made so on purpose.
    typed = texts_are_meant or opened.kinds[position] != "categorical" or is_declared(source)
    if isinstance(column, IdentifierColumn):
        return _identifier(column, source, opened.n_rows, typed=typed)
    if isinstance(column, EmptyColumn):
        return "has no value, all cells are missing, and carries no evidence: drop it"
    if isinstance(column, NumericColumn):
        if column.written is None:
            return _numbers(opened, position)
        return _unread_cells(column, source) if opened.kinds[position] == "categorical" else None
    read = f"and is read as {len(column.categories):,} categories"
    sentence = None if typed else _misread_text(column.categories, read)
    return sentence or _near_unique(column, opened.n_rows) or _spellings(column)


# Categories


def _identifier(column: IdentifierColumn, source: Any, n_rows: int, *, typed: bool) -> str:
    values = dictionary(column.name, source[:MOST_LOOKED_AT])[1]
    sentence = None if typed else _misread_text(values, "and says nothing, with a value per row")
    return sentence or (
        f"has {column.n_values:,} values in {n_rows:,} rows, so that it identifies rows and carries no "
        "evidence: drop it, or group its values; listed in categorical_features, it is used as it is"
    )


def _misread_text(categories: Sequence[Category], read: str) -> str | None:
    """Return what is wrong with categories that look like numbers or dates, and were ``read`` otherwise."""
    if len(categories) < FEW_VALUES:
        return None
    values = categories[:: -(-len(categories) // MOST_LOOKED_AT)]
    strange = [value for value in values if not _is_number_like(value)]
    if 0 < len(strange) <= (1 - MOSTLY) * len(values):
        shown = ", ".join(repr(value) for value in strange[:MOST_SHOWN])
        return (
            f"holds numbers as text beside {shown}, {read}: replace what is no number by a missing value, "
            "with pandas.to_numeric(column, errors='coerce') for instance, or list it in categorical_features"
        )
    units = units_of(values)
    if len(units) > 1 and len(_with_units(values)) >= MOSTLY * len(values):
        return (
            f"holds numbers in different units, such as {units[0]!r} and {units[1]!r}, {read}: convert it to "
            "one unit, or list it in categorical_features"
        )
    if _are_dates(values):
        return (
            f"holds dates as text, such as {values[0]!r}, {read}, no row proving what is the day: write "
            "them like 2024-03-01, or convert them with pandas.to_datetime, to have time as a number; or "
            "list it in categorical_features"
        )
    marked = [next((value for value in values if mark in str(value)), None) for mark in ".,"]
    if not strange and None not in marked:
        return (
            f"holds numbers with two decimal marks, such as {marked[0]!r} and {marked[1]!r}, {read}: write "
            "them with one mark, or list it in categorical_features"
        )
    if not strange and are_whole(values):
        return (
            f"holds whole numbers as text, {read}: pandas.to_numeric(column) makes it a number, and "
            "categorical_features says that categories are meant"
        )
    return None


def _with_units(values: Sequence[Category]) -> list[Category]:
    return [value for value in values if units_of([value])]


def _are_dates(values: Sequence[Category]) -> bool:
    dates = sum(isinstance(value, str) and _DATE.fullmatch(value) is not None for value in values)
    return dates >= MOSTLY * len(values)


def _is_number_like(value: Category) -> bool:
    if not isinstance(value, str):
        return not isinstance(value, bool)
    if re.match(r"\s*0\d", value):  # a code, such as 01069
        return False
    try:
        float(value.replace(",", ".", 1) if "." not in value else value)  # 17,5 is a number in half of Europe
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


def _spellings(column: CategoricalColumn) -> str | None:
    """Name categories that differ in capitals or in spaces around them only."""
    alike = spelt_alike(column.categories)
    if not alike or column.merged:
        return None
    shown = "; ".join(
        " and ".join(repr(value) for value in group[:MOST_SHOWN]) for group in alike[:MOST_SHOWN]
    )
    return f"tells {shown} apart, which are probably one value: merge_spellings=True reads them as one"


# Numbers


def _unread_cells(column: NumericColumn, source: Any) -> str | None:
    """Tell how many cells of a column of written numbers are no number, and became missing."""
    assert column.written is not None  # noqa: S101 - narrows the type
    codes, values = dictionary(column.name, source)
    unread = np.array([np.isnan(column.written.read_cell(value)) for value in values] + [False])
    n_unread = int(unread[codes].sum())
    if not n_unread:
        return None
    shown = ", ".join(repr(value) for value, strange in zip(values, unread, strict=False) if strange)
    cells = "1 cell" if n_unread == 1 else f"{n_unread:,} cells"
    what = "dates" if column.has_dates else "numbers"
    return (
        f"holds {what} as text, and {cells} that are none and count as missing: {shown[:80]}. Correct them, "
        "or list the column in categorical_features"
    )


def _numbers(opened: Table, position: int) -> str | None:
    """Name whole numbers that count or number rows rather than measure something."""
    if opened.n_rows < ROWS_TO_JUDGE:
        return None
    values = _whole_numbers(opened, position)
    if values is None:
        return None
    remedy = "drop it if it identifies rows, or list it in categorical_features if it is a code"
    if len(values) >= ROWS_TO_JUDGE and np.abs(values).min() >= 10.0 ** (DIGITS_OF_KEYS - 1):
        return f"holds whole numbers of {DIGITS_OF_KEYS} and more digits, as identifiers have: {remedy}"
    span = values.max() - values.min() + 1
    if len(values) >= ROWS_TO_JUDGE and len(values) == opened.n_rows and len(values) >= (1 - DELETED) * span:
        return f"numbers the rows, from {values.min():.0f} to {values.max():.0f}, as identifiers do: {remedy}"
    return None


def _whole_numbers(opened: Table, position: int) -> Floats | None:
    """Return the different values of a column of whole numbers, None where it has others or repeats most.

    A few rows decide for most columns, so that a wide table costs no second pass.
    """
    source, n_rows = opened.columns[position], opened.n_rows
    first = as_numbers(opened.names[position], source[:MOST_LOOKED_AT])
    present = first[~np.isnan(first)]
    if not len(present) or (present != np.floor(present)).any() or len(np.unique(present)) < len(present):
        return None
    if n_rows > MOST_LOOKED_AT:
        every = as_numbers(opened.names[position], source)
        present = every[~np.isnan(every)]
    if (present != np.floor(present)).any() or np.abs(present).max() > LARGEST_WHOLE:
        return None
    different = np.unique(present)
    return different if len(different) == len(present) else None
