"""Whole tables of small integers: learned and encoded in a few passes, without any per-column work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.column_types import CategoricalColumn
from seminaive.encode.schema import Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Positions
    from seminaive.encode.column_types import Category
    from seminaive.encode.schema import MissingPolicy

    Integers = NDArray[np.integer]

# A range of integers up to this wide is looked up in a table instead of being sorted.
WIDEST_RANGE = 1 << 16


@dataclass(frozen=True)
class IntegerCodes:
    """The code of every integer in each column's range, all ranges laid end to end.

    Parameters
    ----------
    low, high, base : ndarray of shape (n_columns,)
        Smallest and largest known value, and where the value 0 would lie in ``codes``.
    codes : ndarray
        The code of each integer of each range.
    unseen : ndarray of shape (n_columns,)
        The code of anything outside.
    text_columns : tuple of int
        Columns whose categories are text; integers there are refused.
    """

    low: Positions
    high: Positions
    base: Positions
    codes: Codes
    unseen: Codes
    text_columns: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema) -> IntegerCodes | None:
        """Return the codes of a schema's categories, or None where some range is too wide for a table."""
        columns = [column for column in schema.columns if isinstance(column, CategoricalColumn)]
        whole = [[int(value) for value in column.categories if _is_int64(value)] for column in columns]
        low = np.array([min(values, default=0) for values in whole], dtype=np.int64)
        high = np.array([max(values, default=-1) for values in whole], dtype=np.int64)
        if _too_wide(low, high):
            return None
        widths = high - low + 1
        starts = np.cumsum(widths) - widths
        codes = np.repeat(np.array(schema.cardinalities, dtype=schema.code_type), widths)
        for start, first, values, column in zip(starts, low, whole, columns, strict=True):
            codes[start + np.array(values, dtype=np.int64) - first] = column.codes_of(values, unseen=-1)
        text = [j for j, column in enumerate(columns) if column.categories and not whole[j]]
        return cls(
            low, high, starts - low, codes, np.array(schema.cardinalities, schema.code_type), tuple(text)
        )

    def translate(self, values: Integers, schema: Schema) -> tuple[Codes, bool]:
        """Return the codes of a row-major table of integers, and whether some value was never seen."""
        from seminaive.kernels.encoding import translate_table

        for j in self.text_columns:
            column = schema.columns[j]
            assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
            column.codes_of([int(values[0, j])], unseen=0)  # refuses numbers where training had text
        codes = np.empty(values.shape, dtype=self.codes.dtype)
        any_unseen = translate_table(values, self.low, self.high, self.base, self.codes, self.unseen, codes)
        return codes, bool(any_unseen)


def learn_integers(
    values: Integers, names: tuple[str, ...], missing: MissingPolicy
) -> tuple[Schema, Codes] | None:
    """Return the schema and the codes of a row-major table of integers, or None where a range is too wide.

    A table whose integers are codes already, 0 up to the number of values, is not copied.
    """
    from seminaive.kernels.encoding import column_ranges, mark_seen_table

    if values.dtype.itemsize == 1:  # one table over all values is as quick as finding their range
        limits = np.iinfo(values.dtype)
        low, high = (np.full(len(names), limit, dtype=np.int64) for limit in (limits.min, limits.max))
    else:
        low, high = column_ranges(values)
    if _too_wide(low, high):
        return None
    widths = high - low + 1
    starts = np.cumsum(widths) - widths
    seen = np.zeros(int(widths.sum()), dtype=bool)
    mark_seen_table(values, starts - low, seen)
    columns = []
    for name, start, width, first in zip(names, starts, widths, low, strict=True):
        occurring = np.flatnonzero(seen[start : start + width]) + first
        columns.append(CategoricalColumn(name, tuple(occurring.tolist()), missing_seen=False))
    schema = Schema(tuple(columns), missing)
    if values.dtype == schema.code_type and all(_is_a_coding(column) for column in columns):
        already_codes: Any = values
        return schema, already_codes
    codes = schema.integer_codes
    return None if codes is None else (schema, codes.translate(values, schema)[0])


def _is_a_coding(column: CategoricalColumn) -> bool:
    """Tell whether the categories are 0, 1, 2 and so on, so that they are codes."""
    return column.categories == tuple(range(len(column.categories)))


def _is_int64(value: Category) -> bool:
    """Tell whether a category is a whole number that an integer table can hold."""
    return not isinstance(value, str) and -(2.0**63) <= value < 2.0**63 and value == int(value)


def _too_wide(low: Positions, high: Positions) -> bool:
    """Tell whether some column's range is too wide to look up; as doubles, since the width may overflow."""
    return bool((high.astype(np.float64) - low.astype(np.float64) >= WIDEST_RANGE).any())
