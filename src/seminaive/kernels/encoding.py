"""Passes over integer tables: which values occur, and their translation to codes.

Legend: i row, j column, n rows, k columns; a table ``base`` of offsets lays the value ranges of all columns
end to end.
"""

import numpy as np

from seminaive.kernels.compilation import njit


@njit(cache=True, nogil=True)
def column_ranges(values):
    """Return the smallest and the largest value of each column of ``values`` (n, k): two (k,) int64."""
    n, k = values.shape
    low = np.empty(k, np.int64)
    high = np.empty(k, np.int64)
    for j in range(k):
        low[j] = values[0, j]
        high[j] = values[0, j]
    for i in range(1, n):
        for j in range(k):
            x = np.int64(values[i, j])
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)
    return low, high


@njit(cache=True, nogil=True)
def mark_seen(codes, seen):
    """Set ``seen[code]`` for each code of (n,); -1, the code of a missing cell, marks the last entry."""
    last = seen.shape[0] - 1
    for i in range(codes.shape[0]):
        code = np.int64(codes[i])
        seen[code if code >= 0 else last] = True


@njit(cache=True, nogil=True)
def mark_seen_table(values, base, seen):
    """Set ``seen[base[j] + values[i, j]]``: values (n, k) integers, base (k,) int64, seen (width,) bool."""
    n, k = values.shape
    for i in range(n):
        for j in range(k):
            seen[base[j] + np.int64(values[i, j])] = True


@njit(cache=True, nogil=True)
def translate_table(values, low, high, base, table, unseen, codes):
    """Write ``table[base[j] + value]``, or ``unseen[j]`` for a value outside [low[j], high[j]].

    values (n, k) integers; low, high, base (k,) int64; table (width,) and unseen (k,) of the type of
    codes (n, k), which is written. Returns whether any cell was unseen.
    """
    n, k = values.shape
    any_unseen = False
    for i in range(n):
        for j in range(k):
            x = np.int64(values[i, j])
            code = table[base[j] + x] if low[j] <= x <= high[j] else unseen[j]
            any_unseen |= code == unseen[j]
            codes[i, j] = code
    return any_unseen
