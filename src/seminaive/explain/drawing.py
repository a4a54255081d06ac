"""What every picture needs of matplotlib: axes to draw on, and labels that do not cover each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def axes_of(ax: Any) -> Any:
    """Return the axes, or those of a new figure for None; say what to install where matplotlib is missing."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'seminaive[plot]'") from error
    return plt.subplots(layout="constrained")[1]


def spread_apart(positions: Floats, gap: float) -> Floats:
    """Return positions in the same order, at least ``gap`` apart, each as near to its own as that allows.

    Neighbours that are too close form a cluster, which is spaced evenly around its mean and merged with any
    cluster that it then touches.

    >>> spread_apart(np.array([0.0, 0.0, 1.0]), 0.2).tolist()
    [-0.1, 0.1, 1.0]
    """
    order = np.argsort(positions, kind="stable")
    clusters: list[list[float]] = []
    for position in positions[order]:
        clusters.append([float(position)])
        while len(clusters) > 1 and _reach(clusters[-2], gap)[1] + gap > _reach(clusters[-1], gap)[0]:
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    placed = [low + gap * k for own in clusters for low in [_reach(own, gap)[0]] for k in range(len(own))]
    spread = np.empty(len(positions))
    spread[order] = placed
    return spread


def _reach(cluster: list[float], gap: float) -> tuple[float, float]:
    """Return the lowest and the highest place of a cluster that is spaced evenly around its mean."""
    middle, half = float(np.mean(cluster)), gap * (len(cluster) - 1) / 2
    return middle - half, middle + half
