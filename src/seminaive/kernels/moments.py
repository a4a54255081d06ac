"""Sums of numbers and of their squares per class, in twice the working precision.

A pair (high, low) of doubles holds a sum to 106 bits, so the result depends neither on the order of the
rows nor, for any spread that doubles can express, on how far the numbers lie from zero.

Legend: i row, j column, c class, p power, x number, w weight; s, e a sum and its rounding error.
"""

import numpy as np
from numba import njit

# Veltkamp's constant 2**27 + 1 splits a double into two halves whose products are exact.
SPLITTER = 134217729.0


@njit(cache=True, nogil=True, inline="always")
def exact_product(a, b):
    """Return a * b rounded, and what the rounding lost (Dekker)."""
    p = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, nogil=True, inline="always")
def accumulate(sums, p, j, c, high, low):
    """Add the pair (high, low) to the pair sums[p, :, j, c] (Knuth's two-sum, then renormalised)."""
    a = sums[p, 0, j, c]
    s = a + high
    b = s - a
    e = (a - (s - b)) + (high - b) + (low + sums[p, 1, j, c])
    r = s + e
    sums[p, 0, j, c] = r
    sums[p, 1, j, c] = e - (r - s)


@njit(cache=True, nogil=True)
def add_moments(numbers, labels, weights, sums):
    """Add every row's weight, weighted number and weighted square to its class.

    numbers (n, m) with NaN where missing, labels (n,) int64, weights (n,); sums (3, 2, m, C), power by
    (high, low) by feature by class, is added to.
    """
    n, m = numbers.shape
    for i in range(n):
        c = labels[i]
        w = weights[i]
        for j in range(m):
            x = numbers[i, j]
            if np.isnan(x):
                continue
            accumulate(sums, 0, j, c, w, 0.0)
            high, low = exact_product(w, x)
            accumulate(sums, 1, j, c, high, low)
            square, lost = exact_product(high, x)
            accumulate(sums, 2, j, c, square, lost + low * x)
