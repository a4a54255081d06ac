"""Distinct rows of a coded table, and the weights of combinations of its columns."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Integers

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
    parts = [np.ascontiguousarray(table).reshape(n_rows, -1) for table in tables]
    row_bytes = np.hstack([part.view(np.uint8).reshape(n_rows, -1) for part in parts])
    keys = np.ascontiguousarray(row_bytes).view(np.dtype((np.void, row_bytes.shape[1]))).ravel()
    position: dict[Any, int] = {}
    of_row = np.array([position.setdefault(key, len(position)) for key in keys.tolist()], dtype=np.int64)
    first = np.empty(len(position), dtype=np.int64)
    first[of_row[::-1]] = np.arange(n_rows)[::-1]
    return first, of_row


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
