"""Arithmetic on pairs of doubles: (high, low) stacked along the first axis, worth high + low.

A pair carries about 106 bits, enough to add millions of numbers so that the order leaves no trace in the
rounded result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats

# Veltkamp's constant 2**27 + 1 splits a double into two halves whose products are exact.
SPLITTER = 134217729.0


def _renormalized(high: Floats, low: Floats) -> Floats:
    total = high + low
    pair = np.empty((2, *total.shape))
    pair[0] = total
    np.subtract(low, total - high, out=pair[1])
    return pair


def _halves(a: Floats) -> tuple[Floats, Floats]:
    shifted = SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high


def add(a: Floats, b: Floats) -> Floats:
    """Return a + b (Knuth's two-sum of the high parts, the low parts added to its error)."""
    total = a[0] + b[0]
    part = total - a[0]
    error = (a[0] - (total - part)) + (b[0] - part)
    return _renormalized(total, error + (a[1] + b[1]))


def multiply(a: Floats, b: Floats) -> Floats:
    """Return a * b (Dekker's product of the high parts, then the cross terms)."""
    product = a[0] * b[0]
    (a_high, a_low), (b_high, b_low) = _halves(a[0]), _halves(b[0])
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return _renormalized(product, error + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Floats, b: Floats) -> Floats:
    """Return a / b: one long-division step after the rounded quotient. ``b`` must not be zero."""
    quotient = np.zeros((2, *a[0].shape))
    np.divide(a[0], b[0], out=quotient[0])
    rest = add(a, -multiply(quotient, b))
    return _renormalized(quotient[0], rest[0] / b[0])
