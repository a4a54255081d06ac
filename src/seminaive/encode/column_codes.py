"""Columns as codes: numbers by their bins, categories by their position among those of training."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.column_kinds import ColumnKinds, column_numbers
from seminaive.encode.column_types import CategoricalColumn, NumericColumn
from seminaive.encode.few_rows import LARGEST_NUMBER
from seminaive.encode.frames import declared_order, dictionary
from seminaive.encode.integer_table import WIDEST_RANGE
from seminaive.encode.schema import Schema, smallest_unsigned
from seminaive.encode.spelling import usual_spelling
from seminaive.errors import InputError, check_unicode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Booleans, Codes, Floats, Integers
    from seminaive.encode.encoded_table import CutRule
    from seminaive.encode.frames import Table

# Rows from which a compiled pass pays for importing the compiler; below, numpy is as fast.
COMPILED_ROWS = 20_000
# From this number of numbers and up to this number of cut points, comparing all numbers with one cut point
# after the other is faster than a binary search for each number.
MANY_VALUES, FEW_CUTS = 1000, 32
# Rows whose codes are interleaved together: with dozens of columns they stay in the second-level cache.
ROWS_AT_ONCE = 8192


def number_block(table: Table, kinds: ColumnKinds) -> Floats:
    """Return the numeric columns as one row-major block of doubles."""
    positions = kinds.positions("numeric")
    if table.array is not None and len(positions) == len(kinds.kinds):
        numbers = np.ascontiguousarray(table.array, dtype=np.float64)
    else:
        numbers = np.empty((table.n_rows, len(positions)))
        for k, position in enumerate(positions):
            column = column_numbers(table, position, kinds.formats.get(position))
            # A contiguous column is read faster than one that lies among others.
            _refuse_immense(table.names[position], _largest(column))
            numbers[:, k] = column
        return numbers
    if numbers.size:
        largest = np.fmax(np.fmax.reduce(numbers, axis=0), -np.fmin.reduce(numbers, axis=0))
        for k in np.flatnonzero(largest > LARGEST_NUMBER).tolist():
            _refuse_immense(table.names[positions[k]], float(largest[k]))
    return numbers


def _largest(column: Floats) -> float:
    """Return the largest absolute value of the numbers that are present, NaN where there is none."""
    largest = max(float(column.max()), -float(column.min()))
    if np.isnan(largest):  # some number is missing
        largest = max(float(np.fmax.reduce(column)), -float(np.fmin.reduce(column)))
    return largest


def _refuse_immense(name: str, largest: float) -> None:
    if largest > LARGEST_NUMBER:
        kind = "Infinite numbers (infinity)" if np.isinf(largest) else f"Numbers above {LARGEST_NUMBER:g}"
        raise InputError(f"{kind} in column {name!r}: replace them by a finite number, or by a missing value")


def cuts_of(
    values: Floats, cut_rule: CutRule, labels: Integers, row_weight: Floats | None
) -> tuple[float, ...]:
    """Return the cut points of the numbers that are present."""
    present = ~np.isnan(values)
    weight = None if row_weight is None else row_weight[present]
    return tuple(cut_rule(values[present], labels[present], weight).tolist())


def bins_of(column: NumericColumn, values: Floats) -> Codes:
    """Return the bin of each number; a missing one's is the number of bins."""
    cuts, code_type = column.cuts or (), smallest_unsigned(column.n_present)
    if len(values) < MANY_VALUES or len(cuts) > FEW_CUTS:
        bins = np.searchsorted(np.asarray(cuts), values, side="left").astype(code_type)
    else:
        values, bins = np.ascontiguousarray(values), np.zeros(len(values), dtype=code_type)
        for cut in cuts:
            bins += values > cut
    bins[np.isnan(values)] = column.n_present
    return bins


def learn_categories(name: str, values: Any, *, merge: bool = False) -> tuple[CategoricalColumn, Codes]:
    """Return the categories that occur in a column, sorted, and the column's codes."""
    codes, candidates = _dictionary(name, values)
    seen = _seen(codes, len(candidates))
    occurring = [value for value, occurs in zip(candidates, seen, strict=False) if occurs]
    check_unicode(f"column {name!r}: the cell", occurring)
    order = declared_order(name, values)
    column = CategoricalColumn.of(name, occurring, missing_seen=bool(seen[-1]), order=order)
    if merge and any(isinstance(value, str) for value in occurring):
        counts = np.bincount(codes[codes >= 0], minlength=len(candidates))
        spelling = usual_spelling(dict(zip(candidates, counts.tolist(), strict=True)))
        values_ = {spelling[value] for value in occurring}
        if order is not None:
            order = tuple(dict.fromkeys(spelling.get(level, level) for level in order))
        merged = CategoricalColumn.of(name, values_, missing_seen=column.missing_seen, order=order)
        column = replace(merged, merged=True)
    table = np.full(len(candidates) + 1, column.n_present, dtype=smallest_unsigned(column.n_present + 1))
    table[:-1][seen[:-1]] = column.codes_of(occurring, unseen=-1)
    return column, _translate(codes, table)


def encode_categories(column: CategoricalColumn, values: Any, unseen: int) -> Codes:
    """Return the codes of a column by the categories of training; ``unseen`` is that of others."""
    codes, candidates = _dictionary(column.name, values)
    table = np.empty(len(candidates) + 1, dtype=smallest_unsigned(unseen))
    table[:-1] = column.codes_of(candidates, unseen)
    table[-1] = column.n_present
    return _translate(codes, table)


def _dictionary(name: str, values: Any) -> tuple[NDArray[np.integer], list[Any]]:
    """Return codes (-1 for missing) and the value of each; small integers are codes already."""
    plain = values.to_numpy() if _is_numpy_series(values) else values
    if isinstance(plain, np.ndarray) and plain.dtype.kind in "iu":
        low, high = int(plain.min()), int(plain.max())
        if high - low < WIDEST_RANGE:
            wide = plain if plain.dtype.kind == "u" else plain.astype(np.int64, copy=False)
            return plain if low == 0 else wide - low, list(range(low, high + 1))
    return dictionary(name, values)


def _is_numpy_series(values: Any) -> bool:
    return hasattr(values, "to_numpy") and isinstance(getattr(values, "dtype", None), np.dtype)


def _seen(codes: NDArray[np.integer], n_values: int) -> Booleans:
    """Return which codes occur and, last, whether a missing cell does."""
    seen = np.zeros(n_values + 1, dtype=bool)
    if len(codes) < COMPILED_ROWS:
        seen[codes] = True
    else:
        from seminaive.kernels.encoding import mark_seen

        mark_seen(np.ascontiguousarray(codes), seen)
    return seen


def _translate(codes: NDArray[np.integer], table: Codes) -> Codes:
    """Return ``table[codes]``; code -1 takes the last entry. Codes that already are right are not copied."""
    identical = np.array_equal(table[:-1], np.arange(len(table) - 1))
    if identical and codes.dtype.itemsize == table.dtype.itemsize and (len(codes) == 0 or codes.min() >= 0):
        return codes.view(table.dtype)
    translated: Codes = table[codes]
    return translated


def interleave(columns: Sequence[Codes], schema: Schema, n_rows: int) -> Codes:
    """Lay columns of codes side by side, row-major, a cache-full of rows at a time."""
    codes = np.empty((n_rows, len(columns)), dtype=schema.code_type)
    for start in range(0, n_rows, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        for k, column in enumerate(columns):
            codes[rows, k] = column[rows]
    return codes
