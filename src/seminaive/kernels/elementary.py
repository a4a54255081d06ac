"""Exponential and logarithm without branches or calls, so that loops over them become vector loops.

Both are within 3 units in the last place on the ranges stated.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from seminaive.kernels.compilation import njit

LOG2_E = 1.4426950408889634
# log 2 in two parts: multiples of the first are exact.
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
# Adding and taking off 1.5 * 2**52 rounds to a whole number, which is left in the lowest bits.
ROUNDER = 6755399441055744.0
ROUNDER_BITS = np.uint64(0x4338000000000000)
ROOT_BITS = np.uint64(0x3FE6A09E667F3BCD)  # sqrt(1/2)
FRACTION = np.uint64(0x000FFFFFFFFFFFFF)
FRACTION_WIDTH = np.uint64(52)
LOWEST = -708.0


@intrinsic
def bits_of(typing: Any, number: Any) -> Any:
    """Return the 64 bits of a double as an integer."""
    del typing, number

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def from_bits(typing: Any, bits: Any) -> Any:
    """Return the double that has these 64 bits."""
    del typing, bits

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def exponential(x):
    """Return e**x for x up to 700; below -708 it is e**-708, about 3e-308."""
    x = max(LOWEST, x)
    shifted = x * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    # Taylor's series: |r| <= log(2)/2, so the first term left out is below 2**-56.
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.388888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r * r + r + 1.0
    return from_bits(bits_of(p) + (bits_of(shifted) << FRACTION_WIDTH))


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def logarithm(x):
    """Return log x for x of at least 1."""
    shifted = bits_of(x) - ROOT_BITS
    # x = m 2**k with m between sqrt(1/2) and sqrt(2)
    k = from_bits((shifted >> FRACTION_WIDTH) + ROUNDER_BITS) - ROUNDER
    m = from_bits((shifted & FRACTION) + ROOT_BITS)
    # log m = 2 artanh s with |s| <= 0.172
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = 2.0 / 21.0
    p = p * q + 2.0 / 19.0
    p = p * q + 2.0 / 17.0
    p = p * q + 2.0 / 15.0
    p = p * q + 2.0 / 13.0
    p = p * q + 2.0 / 11.0
    p = p * q + 2.0 / 9.0
    p = p * q + 2.0 / 7.0
    p = p * q + 2.0 / 5.0
    p = p * q + 2.0 / 3.0
    return k * LN2_HIGH + (k * LN2_LOW + (p * q * s + 2.0 * s))


if config.DISABLE_JIT:  # plain Python checks bounds, and has no bit casts

    def exponential(x):  # noqa: D103 - as above
        return np.exp(max(LOWEST, x))

    def logarithm(x):  # noqa: D103 - as above
        return np.log(x)


@njit(cache=True, nogil=True, error_model="numpy")
def take_logarithms(x):
    """Replace numbers by their logarithms; x (m,) float64, at least 1."""
    for i in range(x.shape[0]):
        x[i] = logarithm(x[i])
