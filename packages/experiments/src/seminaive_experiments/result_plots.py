"""Results as pictures: ranks, spreads, curves and points, a model in the same colour everywhere."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from seminaive.arrays import Floats
from seminaive_experiments.inline_svg import COLOURS, WIDTH, model_colour, page_axes, page_picture

Line = tuple[int, Sequence[float], Sequence[float]]
Numbered = tuple[int, float, float]

_ROW = 24
_NAME_WIDTH = 140
_MOST_CHARACTERS = 19  # of a name, in that width
_INK, _SOFT, _RULE, _PAPER = (COLOURS[name][0] for name in ("ink", "soft", "rule", "paper"))


def _axes_of_models(description: str, names: Sequence[str], *, bottom: float, right: float = 10) -> Any:
    """Return axes with one row per model, named at the left from top to bottom."""
    height = 6 + _ROW * len(names) + bottom
    ax = page_axes(description, height, (_NAME_WIDTH, right, bottom, 6))
    short = [name if len(name) <= _MOST_CHARACTERS else f"{name[: _MOST_CHARACTERS - 1]}…" for name in names]
    beside = -_NAME_WIDTH / (WIDTH - _NAME_WIDTH - right)
    for row, name in enumerate(short):
        ax.text(beside, row, name, va="center", transform=ax.get_yaxis_transform())
    ax.set(ylim=(len(names) - 0.5, -0.5), yticks=[])
    return ax


@page_picture
def rank_diagram(
    names: Sequence[str],
    numbers: Sequence[int],
    ranks: Sequence[float],
    groups: Sequence[tuple[int, int]],
    difference: float | None,
) -> Any:
    """Critical-difference diagram, one row per model from best to worst.

    Parameters
    ----------
    names, numbers, ranks : sequences
        Models in the order of their average ranks, and the numbers that decide their colours.
    groups : sequence of (first, last)
        Runs of rows that cannot be told apart, drawn as bars at the right.
    difference : float or None
        The critical difference, drawn as a shaded reach from the best model.
    """
    description = "Average ranks of the models with groups that do not differ"
    worst = max(len(names), 2)
    right = 18 + 10 * len(groups)
    ax = _axes_of_models(description, names, bottom=38, right=right)
    if difference is not None:
        ax.axvspan(ranks[0], min(ranks[0] + difference, worst), color=_RULE, alpha=0.6, linewidth=0)
    rows, colours = np.arange(len(names)), [model_colour(number) for number in numbers]
    ax.hlines(rows, 1, ranks, colors=_SOFT, linewidth=1)
    ax.scatter(ranks, rows, s=80, c=colours, linewidths=0, zorder=3, clip_on=False)
    for column, (first, last) in enumerate(groups):
        beside = 1 + (16 + 10 * column) / (WIDTH - _NAME_WIDTH - right)
        bar = {"color": _INK, "linewidth": 4, "transform": ax.get_yaxis_transform(), "clip_on": False}
        ax.plot([beside, beside], [first - 0.3, last + 0.3], **bar)
    ax.set_xticks(np.arange(1, len(names) + 1, max(1, len(names) // 8)))
    ax.set(xlim=(1, worst), xlabel="average rank (1 is best)")
    return ax


@page_picture
def box_plot(names: Sequence[str], numbers: Sequence[int], samples: Sequence[Floats], title: str) -> Any:
    """Quartiles, whiskers to the farthest value within 1.5 interquartile ranges, and values beyond."""
    from matplotlib.cbook import boxplot_stats

    ax = _axes_of_models(f"Box plots of {title}", names, bottom=22)
    finite = [sample[np.isfinite(sample)] for sample in samples]
    rows = np.array([row for row, sample in enumerate(finite) if sample.size], dtype=int)
    for row in np.setdiff1d(np.arange(len(names)), rows):
        ax.text(0, row, "no finished fold", transform=ax.get_yaxis_transform(), color=_SOFT, va="center")
    if not rows.size:
        return ax
    found = pd.DataFrame(boxplot_stats([finite[row] for row in rows]))
    colours = [model_colour(numbers[row]) for row in rows]
    ax.hlines(rows, found["whislo"], found["whishi"], colors=colours)
    pale = [f"{colour}4d" for colour in colours]
    ax.barh(rows, found["iqr"], 0.6, found["q1"], color=pale, edgecolor=colours)
    ax.vlines(found["med"], rows - 0.3, rows + 0.3, colors=_INK, linewidth=2)
    beyond = found["fliers"].map(len)
    circles = np.concatenate(found["fliers"].tolist()), np.repeat(rows, beyond)
    ax.scatter(*circles, s=16, c="none", edgecolors=np.repeat(colours, beyond).tolist())
    return ax


@page_picture
def scatter(
    points: Sequence[Numbered],
    faint: Sequence[Numbered],
    x_title: str,
    y_title: str,
    *,
    logarithmic_x: bool = False,
    equal_sums: bool = False,
) -> Any:
    """Points, each with the number of its model, over faint ones.

    ``equal_sums`` adds lines along which x + y is the same.
    """
    ax = page_axes(f"{y_title} against {x_title}", 276)
    for shown, size, opacity, edge in ((faint, 20, 0.35, 0), (points, 300, 1, 1.5)):
        colours, x, y = [model_colour(point[0]) for point in shown], *np.reshape(shown, (-1, 3)).T[1:]
        ax.scatter(x, y, size, colours, alpha=opacity, edgecolors=_PAPER, linewidths=edge, zorder=3)
    inside = {"ha": "center", "va": "center_baseline", "color": _PAPER, "weight": "bold", "size": 11}
    for number, x, y in points:
        ax.text(x, y, str(number + 1), zorder=4, **inside)
    if logarithmic_x:
        _make_logarithmic(ax)
    ax.margins(0.08)
    ax.set(xlabel=x_title, title=y_title)
    if equal_sums:
        _draw_equal_sums(ax)
    return ax


def _make_logarithmic(ax: Any) -> None:
    """Make the horizontal axis logarithmic, with plain numbers at 1, 2 and 5 or at powers of ten alone."""
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1000 else (1,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:,.6g}")


def _draw_equal_sums(ax: Any) -> None:
    """Draw lines along which the sum of both coordinates is the same."""
    from matplotlib.ticker import MaxNLocator

    x, y = ax.get_xlim(), ax.get_ylim()
    low, high = x[0] + y[0], x[1] + y[1]
    for total in MaxNLocator(6).tick_values(low, high):
        if low < total < high:
            ax.axline(
                (total - y[0], y[0]), slope=-1, color=_SOFT, linestyle=(0, (3, 4)), linewidth=1, alpha=0.7
            )
    ax.set(xlim=x, ylim=y)


@page_picture
def curves(lines: Sequence[Line], x_title: str, y_title: str) -> Any:
    """One line per model: its number, the numbers of training rows and the losses."""
    ax = page_axes(f"{y_title} against {x_title}", 228)
    for number, xs, ys in lines:
        ax.plot(xs, ys, color=model_colour(number), linewidth=2, marker="o", markersize=5)
    _make_logarithmic(ax)
    ax.set(xlabel=x_title, title=y_title)
    return ax


@page_picture
def unit_square(lines: Sequence[Line], x_title: str, y_title: str) -> Any:
    """One line per model between 0 and 1 on both axes, over a dashed diagonal."""
    ax = page_axes(f"{y_title} against {x_title}", 338)
    ax.plot([0, 1], [0, 1], color=_SOFT, linestyle=(0, (3, 4)), linewidth=1)
    for number, xs, ys in lines:
        ax.plot(xs, ys, color=model_colour(number), linewidth=2)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=x_title, title=y_title)
    return ax
