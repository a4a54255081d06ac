"""Line searches of the group-regularised naive Bayes: where a feature's likelihood stops paying the penalty.

Along the line from pooled (a = 0) to class-wise parameters (a = 1) the log likelihood of one feature rises at
the rate g(a), which is 0 at a = 1. At penalty b the search from 0 stops at the first a with g(a) <= b.

Legend: v cell, c class, s strength, a alpha, g slope of the log likelihood, h its derivative, n counts.
"""

import numpy as np

from seminaive.kernels.compilation import njit

# Newton steps, safeguarded by bisection, that reach the last bit of alpha from any bracket.
MOST_STEPS = 80
RESOLUTION = 1e-14
# Intervals in which the first crossing of a slope that need not be monotone is looked for.
COARSE = 128


@njit(cache=True, nogil=True)
def table_slope(counts, lift, a):
    """Return slope and derivative at a of sum n log((1 - a) + a lift); counts and lift (cells, C)."""
    g = 0.0
    h = 0.0
    for v in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            if counts[v, c] > 0:
                r = (lift[v, c] - 1.0) / ((1.0 - a) + a * lift[v, c])
                g += counts[v, c] * r
                h -= counts[v, c] * r * r
    return g, h


@njit(cache=True, nogil=True)
def table_path(counts, lift, penalties, alphas):
    """Line searches of one coded feature: alphas (S,) at decreasing penalties (S,).

    The slope falls with a, so that its root is unique and moves towards 1 as the penalty falls.
    """
    low = 0.0
    slope, _ = table_slope(counts, lift, 0.0)
    for s in range(penalties.shape[0]):
        b = penalties[s]
        if slope <= b:
            alphas[s] = 0.0
            continue
        left, right, a = low, 1.0, low
        for _ in range(MOST_STEPS):
            g, h = table_slope(counts, lift, a)
            if abs(g - b) <= RESOLUTION * slope or right - left < RESOLUTION:
                break
            if g > b:
                left = a
            else:
                right = a
            a = a - (g - b) / h if h < 0 else right
            if not left < a < right:
                a = 0.5 * (left + right)
        alphas[s] = max(a, low)
        low = alphas[s]


@njit(cache=True, nogil=True)
def number_slope(weight, shift, deviation, overall, a):
    """Return the slope at a of the normal log likelihood along means a shift and mixed deviations.

    weight, shift, deviation (C,): of each class; overall: the deviation at a = 0.
    """
    g = 0.0
    for c in range(weight.shape[0]):
        d = deviation[c] - overall
        s = overall + a * d
        rest = (1.0 - a) * shift[c]
        square = deviation[c] ** 2 + rest**2
        g += weight[c] * (rest * shift[c] / s**2 + d * (square - s**2) / s**3)
    return g


@njit(cache=True, nogil=True)
def number_path(weight, shift, deviation, overall, penalties, alphas):
    """Line searches of one number: the first a at which the slope falls to the penalty, (S,) of them.

    The slope may rise before it falls (where a class is far narrower than the rest), so the first crossing is
    bracketed on a coarse grid and then bisected.
    """
    k = 0
    slope = number_slope(weight, shift, deviation, overall, 0.0)
    for s in range(penalties.shape[0]):
        b = penalties[s]
        while k < COARSE and slope > b:
            k += 1
            slope = number_slope(weight, shift, deviation, overall, k / COARSE)
        if k == 0 or slope > b:
            alphas[s] = k / COARSE
            continue
        left, right = (k - 1) / COARSE, k / COARSE
        if s > 0:
            left = max(left, alphas[s - 1])
        for _ in range(MOST_STEPS):
            a = 0.5 * (left + right)
            if number_slope(weight, shift, deviation, overall, a) > b:
                left = a
            else:
                right = a
            if right - left < RESOLUTION:
                break
        alphas[s] = right


@njit(cache=True, nogil=True)
def group_paths(offsets, counts, lift, weight, shift, deviation, overall, penalties, alphas):
    """Line searches of all features; penalties and alphas (p + m, S), coded features first.

    offsets (p + 1,) int64; counts and lift (cells, C); weight, shift, deviation (m, C); overall (m,).
    """
    p = offsets.shape[0] - 1
    for j in range(p):
        cells = slice(offsets[j], offsets[j + 1])
        table_path(counts[cells], lift[cells], penalties[j], alphas[j])
    for j in range(overall.shape[0]):
        number_path(weight[j], shift[j], deviation[j], overall[j], penalties[p + j], alphas[p + j])


@njit(cache=True, nogil=True)
def slopes_at_zero(offsets, counts, lift, weight, shift, deviation, overall):
    """Return the slope of every feature's log likelihood at alpha = 0, (p + m,)."""
    p = offsets.shape[0] - 1
    slopes = np.empty(p + overall.shape[0])
    for j in range(p):
        cells = slice(offsets[j], offsets[j + 1])
        slopes[j] = table_slope(counts[cells], lift[cells], 0.0)[0]
    for j in range(overall.shape[0]):
        slopes[p + j] = number_slope(weight[j], shift[j], deviation[j], overall[j], 0.0)
    return slopes
