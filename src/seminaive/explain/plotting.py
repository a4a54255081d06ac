"""What several pictures draw: nodes and arrows, labels that keep apart, sums step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats


def write_node(ax: Any, name: str, at: tuple[float, float], side: str, colour: str) -> Any:
    """Write a node of a graph in a rounded box, and return the text."""
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": ax.get_facecolor(),
        "edgecolor": colour,
        "linewidth": 1.3,
    }
    return ax.text(*at, name, ha=side, va="center", fontsize="small", bbox=box, zorder=3)


def draw_arrow(ax: Any, start: Any, end: Any, style: dict[str, Any]) -> None:
    """Draw an arrow from one text to another."""
    shape = {"arrowstyle": "-|>", "lw": 1.0, **style}
    ax.annotate("", xy=end.get_position(), xytext=start.get_position(), arrowprops=shape, zorder=1)


def spread_apart(positions: Floats, gap: float) -> Floats:
    """Return increasing positions moved to be at least ``gap`` apart, between 0 and 1 where there is room.

    Each stays as near to where it was as that allows: neighbours that are too close form a cluster, which is
    spaced evenly around its mean and merged with any cluster that it then touches. Where the interval is too
    short for all of them, the gap shrinks.

    >>> spread_apart(np.array([0.5, 0.5, 1.0, 1.0]), 0.2).round(6).tolist()
    [0.4, 0.6, 0.8, 1.0]
    """
    last = len(positions) - 1
    gap = min(gap, 1.0 / max(last, 1))
    clusters: list[list[float]] = []
    for position in positions:
        clusters.append([float(position)])
        while len(clusters) > 1 and _reach(clusters[-2], gap)[1] + gap > _reach(clusters[-1], gap)[0]:
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    placed = [
        low + gap * k
        for cluster in clusters
        for low in [_reach(cluster, gap)[0]]
        for k in range(len(cluster))
    ]
    rank = np.arange(len(positions))
    inside: Floats = np.clip(placed, gap * rank, 1.0 - gap * (last - rank))
    return inside


def _reach(cluster: list[float], gap: float) -> tuple[float, float]:
    """Return the lowest and the highest place of a cluster that is spaced evenly around its mean."""
    middle, half = float(np.mean(cluster)), gap * (len(cluster) - 1) / 2
    return middle - half, middle + half


def draw_steps(ax: Any, start: float, values: Floats, names: Sequence[str]) -> None:
    """Draw a sum from its start to its end, one bar per part from top to bottom (a waterfall).

    ``names`` are those of the start, of each part and of the end.
    """
    ends = start + np.append(0.0, np.cumsum(values))
    rows = np.arange(len(ends) + 1)
    colours = np.where(values >= 0, "C3", "C0")
    ax.barh(rows[1:-1], values, left=ends[:-1], color=colours, height=0.7)
    ax.vlines(ends, rows[:-1], rows[1:], color="0.6", lw=0.7)
    ax.plot([ends[0]], [0], "o", color="0.5")
    ax.plot([ends[-1]], [rows[-1]], "D", color="0.4")
    texts = [f"{number:+.2f}" for number in (ends[0], *values, ends[-1])]
    labels = [f"{name}  {text}" for name, text in zip(names, texts, strict=True)]
    ax.set_yticks(rows, labels, fontsize="small")
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.05)
