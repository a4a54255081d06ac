"""Values and odds in the words of a letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode import CategoricalColumn, DateFormat
from seminaive.explain.reading import MISSING, code_labels, short_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable, Schema
    from seminaive.encode.column_types import Column

# Factors of odds as they are written: 1.00 to 1.09, 1.1 to 9.9, 10 to 999, and more.
_FACTORS = np.array(
    [
        *(f"1.{k:02d}" for k in range(10)),
        *(f"{k / 10:.1f}" for k in range(11, 100)),
        *(str(k) for k in range(10, 1000)),
        "more than 1,000",
    ],
    dtype=object,
)
# From here on whole numbers are written with commas: the years before are not.
COMMAS_FROM = 10_000


def odds_factors(log_odds: Floats) -> NDArray[Any]:
    """Return by what the odds are multiplied, one way or the other, as text of two or three digits.

    >>> odds_factors(np.log([1.0, 1.4, 1 / 25, 3000.0])).tolist()
    ['1.00', '1.4', '25', 'more than 1,000']
    """
    factor = np.exp(np.minimum(np.abs(log_odds), 10.0))
    position = np.select(
        [factor < 1.095, factor < 9.95, factor < 999.5],
        [np.rint(100 * factor) - 100, np.rint(10 * factor) - 1, np.rint(factor) + 89],
        default=len(_FACTORS) - 1,
    )
    texts: NDArray[Any] = _FACTORS[position.astype(np.intp)]
    return texts


def number_texts(numbers: Floats, column: Column | None = None) -> list[str]:
    """Return numbers of a column as a letter writes them, "missing" for NaN.

    >>> number_texts(np.array([21000.0, 1998.0, 0.25, np.nan]))
    ['21,000', '1998', '0.25', 'missing']
    """
    return [MISSING if number != number else _number_text(number, column) for number in numbers.tolist()]


def _number_text(number: float, column: Column | None) -> str:
    dates = getattr(column, "written", None)
    if isinstance(dates, DateFormat):
        return dates.write(number)
    if number == round(number) and COMMAS_FROM <= abs(number) < 1e15:
        return f"{number:,.0f}"
    return short_numbers([number])[0]


def cell_texts(table: EncodedTable, position: int, rows: Integers) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return texts of what a column holds, and which of them each of some rows of an encoded table has."""
    schema: Schema = table.schema
    if isinstance(schema.columns[position], CategoricalColumn):
        labels = np.array(code_labels(schema, position), dtype=object)
        return labels, table.codes[rows, schema.coded_index[position]].astype(np.intp)
    numbers = table.numbers[rows, schema.numeric_index[position]]
    distinct, text_of_row = np.unique(numbers, return_inverse=True)
    return np.array(number_texts(distinct, schema.columns[position]), dtype=object), text_of_row
