"""Sums of numbers and of their squares per class, in twice the working precision.

A pair (high, low) of doubles holds a sum to 106 bits, so the result depends neither on the order of the
rows nor, for any spread that doubles can express, on how far the numbers lie from zero. The columns of a row
are independent of each other and lie side by side, so that the inner loops become vector loops: a missing
number is a zero of weight zero instead of a branch.

Legend: i row, j column, c class, x number, w weight; the six rows of ``sums[c]`` are the high and low parts
of the sums of w, w x and w x**2.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Veltkamp's constant 2**27 + 1 splits a double into two halves whose products are exact.
SPLITTER = 134217729.0


@njit(cache=True, nogil=True, inline="always")
def accumulate(high, low, j, value, rest):
    """Add the pair (value, rest) to the pair (high[j], low[j]): Knuth's two-sum, then renormalised."""
    a = high[j]
    s = a + value
    b = s - a
    e = (a - (s - b)) + (value - b) + (rest + low[j])
    r = s + e
    high[j] = r
    low[j] = e - (r - s)


@njit(cache=True, nogil=True, inline="always")
def split(a):
    """Return the high and the low half of a double (Veltkamp)."""
    t = SPLITTER * a
    high = t - (t - a)
    return high, a - high


@njit(cache=True, nogil=True)
def add_moments(numbers, labels, sums):
    """Add every row's presence, number and square to its class.

    numbers (n, m) with NaN where missing, labels (n,) int64; sums (C, 6, m) is added to.
    """
    n, m = numbers.shape
    for i in range(n):
        class_sums = sums[labels[i]]
        for j in range(m):
            x = numbers[i, j]
            present = not np.isnan(x)
            x = x if present else 0.0
            class_sums[0, j] += 1.0 if present else 0.0
            accumulate(class_sums[2], class_sums[3], j, x, 0.0)
            x_high, x_low = split(x)
            square = x * x
            lost = ((x_high * x_high - square) + 2.0 * x_high * x_low) + x_low * x_low
            accumulate(class_sums[4], class_sums[5], j, square, lost)


@njit(cache=True, nogil=True)
def add_weighted_moments(numbers, labels, weights, sums):
    """Add every row's weight, weighted number and weighted square to its class.

    numbers (n, m) with NaN where missing, labels (n,) int64, weights (n,); sums (C, 6, m) is added to.
    """
    n, m = numbers.shape
    for i in range(n):
        class_sums = sums[labels[i]]
        for j in range(m):
            x = numbers[i, j]
            present = not np.isnan(x)
            x = x if present else 0.0
            w = weights[i] if present else 0.0
            accumulate(class_sums[0], class_sums[1], j, w, 0.0)
            w_high, w_low = split(w)
            x_high, x_low = split(x)
            total = w * x
            rest = ((w_high * x_high - total) + w_high * x_low + w_low * x_high) + w_low * x_low
            accumulate(class_sums[2], class_sums[3], j, total, rest)
            t_high, t_low = split(total)
            square = total * x
            lost = ((t_high * x_high - square) + t_high * x_low + t_low * x_high) + t_low * x_low
            accumulate(class_sums[4], class_sums[5], j, square, lost + rest * x)
