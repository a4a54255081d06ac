"""Histograms of numbers by the leading bits of their doubles.

Legend: i row, j column, b the bits of a number, n rows, m columns.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Rows that stay in the second-level cache while the columns pass over them.
ROW_BLOCK = 2048
SIGN = np.uint64(1 << 63)
MAGNITUDE = np.uint64((1 << 63) - 1)
INFINITY = np.uint64(0x7FF0000000000000)


@njit(cache=True, nogil=True)
def count_leading_bits(bits, weights, shift, counts):
    """Add the weight of each number to the counter of its leading bits, in the order of the numbers.

    bits (n, m) uint64, those of doubles; weights (n,) float64, or (1,) for all rows; shift uint64, how many
    last bits are left out; counts (m, counters) float64 is added to. A missing number (NaN) counts for
    nothing.
    """
    n, m = bits.shape
    step = 1 if weights.shape[0] == n else 0
    for low in range(0, n, ROW_BLOCK):
        high = min(low + ROW_BLOCK, n)
        for j in range(m):
            column_counts = counts[j]
            for i in range(low, high):
                b = bits[i, j]
                if b & MAGNITUDE > INFINITY:
                    continue
                # Negative zero is zero.
                ordered = b | SIGN if b < SIGN or b == SIGN else ~b
                column_counts[ordered >> shift] += weights[step * i]
