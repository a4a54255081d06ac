"""A curve of one number in few bands of constant value: the weighted least-squares segmentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import FeatureEffect


def best_bands(effect: FeatureEffect, values: Floats, bands: int) -> tuple[list[float], Floats]:
    """Return the edges of at most ``bands`` bands, and the mean of the values in each.

    The bands minimise the squared distance of their means from the values, weighted by the training rows: by
    dynamic programming over all ways to cut. Edges belong to the band below; each is a jump of the curve
    where one lies between the same two numbers of training, else the number with the fewest digits there.

    Parameters
    ----------
    effect : FeatureEffect
        Of a number.
    values : ndarray
        One for each of ``effect.seen``.
    """
    x, weight, y = _present(effect, values)
    if not len(x):
        return [], np.zeros(1)
    starts, _ = _cut(weight, y, min(bands, len(x)))
    ends = [*starts[1:], len(x)]
    means = [float(np.average(y[a:b], weights=weight[a:b])) for a, b in zip(starts, ends, strict=True)]
    jumps = np.empty(0) if effect.curve is None else effect.curve.edges
    return [_edge(float(x[a - 1]), float(x[a]), jumps) for a in starts[1:]], np.array(means)


def share_bands(curves: list[tuple[FeatureEffect, Floats]], bands: int) -> list[int]:
    """Return how many bands each of some curves gets, ``bands`` in the mean and at most twice as many.

    The numbers of bands minimise the squared distances of all curves together: by dynamic programming over
    the curves and the bands that are given away so far.

    Parameters
    ----------
    curves : list of (FeatureEffect, ndarray)
        Of numbers, each with a value for each of its ``seen``.
    """
    total = bands * len(curves)
    best, choices = np.zeros(total + 1), []
    for effect, values in curves:
        _, weight, y = _present(effect, values)
        _, lost = _cut(weight, y, min(2 * bands, total, len(y))) if len(y) else ([0], [0.0])
        # Row k gives this curve k + 1 bands; columns are the bands of all curves up to it.
        ways = np.full((len(lost), total + 1), np.inf)
        for k, loss in enumerate(lost):
            ways[k, k + 1 :] = best[: total - k] + loss
        choices.append(ways.argmin(axis=0) + 1)
        best = ways.min(axis=0)
    shares, left = [], total
    for choice in reversed(choices):
        shares.append(int(choice[left]))
        left -= shares[-1]
    return shares[::-1]


def _present(effect: FeatureEffect, values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the numbers of training, their weights and their values."""
    present = ~np.isnan(effect.seen) & (effect.weight > 0)
    return effect.seen[present], effect.weight[present], values[present]


def _cut(weight: Floats, y: Floats, bands: int) -> tuple[list[int], list[float]]:
    """Return where the bands begin, and the squared distance with 1, 2, ... of them."""
    sums = [np.append(0.0, np.cumsum(weight * y**power)) for power in range(3)]
    total, first, second = (sums_to[None, :] - sums_to[:, None] for sums_to in sums)  # from row's to column's
    n = len(y)
    before = np.arange(n + 1)[:, None] < np.arange(n + 1)[None, :]
    cost = np.where(
        before, second - np.divide(first**2, total, out=np.zeros_like(first), where=total > 0), np.inf
    )
    best, origins, lost = cost[0], [], [float(cost[0, n])]
    for _ in range(bands - 1):
        longer = best[:, None] + cost
        origin = longer.argmin(axis=0)
        following = longer[origin, np.arange(n + 1)]
        if not following[n] < best[n] - 1e-12 * max(second[0, n], 1e-300):
            break  # no further cut helps
        origins.append(origin)
        best = following
        lost.append(float(best[n]))
    starts, end = [], n
    for origin in reversed(origins):
        end = int(origin[end])
        starts.append(end)
    return [0, *reversed(starts)], lost


def _edge(low: float, high: float, jumps: Floats) -> float:
    """Return where to cut between two neighbouring numbers: the lower one's band ends there."""
    between = jumps[(jumps >= low) & (jumps < high)]
    if len(between):
        return float(between[0])
    middle = low + (high - low) / 2
    for digits in range(1, 18):
        edge = float(f"{middle:.{digits}g}")
        if low <= edge < high:
            return edge
    return low
