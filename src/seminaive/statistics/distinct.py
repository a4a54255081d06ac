"""Distinct rows of a coded table, and the weights of combinations of its columns."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Integers

# An odd number whose bits are irregular: 2^64 over the golden ratio.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Mixed-radix numbers beyond would not fit 64 bits.
MOST_NUMBERS = 1 << 62


def joint_counts(
    codes: Codes, columns: Sequence[int], cardinalities: Sequence[int], row_weight: Floats | None = None
) -> Floats:
    """Return the weight of each combination of the values of some columns, an axis for each."""
    shape = tuple(cardinalities[j] for j in columns)
    cell = np.zeros(len(codes), dtype=np.int64)
    for j in columns:
        cell = cell * cardinalities[j] + codes[:, j]
    counts = np.bincount(cell, row_weight, minlength=prod(shape)).astype(np.float64)
    return counts.reshape(shape)


def distinct_numbers(numbers: Integers) -> Integers:
    """Return the distinct numbers, increasing.

    The same as `numpy.unique`, which hashes integers: where most of a million are distinct, sorting takes a
    twentieth of its time.
    """
    ordered = np.sort(numbers, axis=None)
    is_new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


def first_equal_rows(*tables: NDArray[Any]) -> tuple[Integers, Integers]:
    """Return the first row of each kind, in their order, and which of these each row is equal to.

    Rows are looked up by a number of 64 bits that is made of their cells. A row that shares it with another
    kind of row, which hardly ever happens, is a kind by itself.

    Parameters
    ----------
    *tables : ndarray of shape (n_rows, ...)
        Rows are equal that are so, bit by bit, in each of them.

    Examples
    --------
    >>> first_equal_rows(np.array([[1, 2], [0, 2], [1, 2]]), np.array([0.5, 0.5, 0.5]))
    (array([0, 1]), array([0, 1, 0]))
    """
    n_rows = len(tables[0])
    columns = [column for table in tables for column in _bits(table)]
    of_row = _first_of_kind(_mixed(columns, n_rows))
    alone = np.zeros(n_rows, dtype=bool)
    for column in columns:
        alone |= column != column[of_row]
    of_row[alone] = np.flatnonzero(alone)
    first, kinds = np.unique(of_row, return_inverse=True)
    return first, kinds


def _bits(table: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
    """Return the cells of a table, or of a list, as unsigned numbers of the same bits, column by column."""
    return table.reshape(len(table), -1 if table.size else 0).T.view(f"u{table.itemsize}")


def _mixed(columns: Sequence[NDArray[Any]], n_rows: int) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each row, to which every bit of its cells contributes."""
    mixed = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:
        mixed ^= column
        mixed *= GOLDEN
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _first_of_kind(numbers: NDArray[np.uint64]) -> Integers:
    """Return the first position at which the number of each position stands."""
    order = np.argsort(numbers, kind="stable")
    begins = np.append(True, np.diff(numbers[order]) != 0)[: len(order)]
    found = np.empty(len(order), dtype=np.int64)
    found[order] = order[begins][np.cumsum(begins) - 1]
    return found


def distinct_rows(codes: Codes, n_codes: Sequence[int]) -> tuple[Codes, Integers]:
    """Return the distinct rows of codes, and where among them each row is found.

    ``n_codes`` are the numbers of codes of each column. Rows are joined to mixed-radix numbers, several
    columns at a time where one number of 64 bits cannot hold all.
    """
    number = np.zeros(len(codes), dtype=np.int64)
    n_numbers = 1
    for j, count in enumerate(n_codes):
        if n_numbers * count >= MOST_NUMBERS:
            distinct, number = np.unique(number, return_inverse=True)
            n_numbers = len(distinct)
        number = number * count + codes[:, j]
        n_numbers *= count
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    return codes[first], number
