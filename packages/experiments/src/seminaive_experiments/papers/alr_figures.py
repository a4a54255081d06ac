"""Figures of the ALR^n paper: learning curves, scatters of losses and passes, geometric means of losses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from seminaive_experiments.papers.figures import PaperFigure, panels

__all__ = ["FIGURES"]

_INK, _SOFT = "#0b66b5", "#9aa5b1"
_LOSSES = {"L01": "0-1 loss", "RMSE": "RMSE"}
_LEAST_LOSS = 1e-4  # a loss of zero has no logarithm: half of a row in 5,000


def _draw_learning_curves(numbers: pd.DataFrame) -> Any:
    figure, axes = panels(2)
    for ax, (column, title) in zip(axes, (("rmse", "RMSE"), ("error", "0-1 loss")), strict=True):
        for order, of_order in numbers.groupby("order"):
            smooth = of_order[column].rolling(5, min_periods=1).mean()
            ax.plot(of_order["rows_seen"], smooth, label=f"order {order}")
        ax.set(xscale="log", xlabel="rows seen", ylabel=f"{title} of the next 1,000 rows")
    axes[0].legend(frameon=False)
    return figure


def _diagonal(ax: Any, x: Any, y: Any, names: tuple[str, str], *, logarithmic: bool = False) -> None:
    """Draw points over a diagonal, with the counts on both sides of it."""
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    ax.axline((low, low), (high, high), color=_SOFT, linewidth=1)
    ax.scatter(x, y, s=18, color=_INK, alpha=0.8, linewidths=0)
    below, above = int((y < x).sum()), int((y > x).sum())
    ax.set(xlabel=names[0], ylabel=names[1], title=f"{names[1]} lower on {below}, higher on {above}")
    if logarithmic:
        ax.set(xscale="log", yscale="log")


def _draw_scatter(pairs: list[tuple[str, str]], metric: str, numbers: pd.DataFrame) -> Any:
    """Draw the losses of two methods against each other, one point for each data set that both finished."""
    wide = numbers.pivot_table(index="dataset", columns="method", values=metric)
    figure, axes = panels(len(pairs), 4.4, 4.2)
    for ax, (first, second) in zip(axes, pairs, strict=True):
        both = wide[[first, second]].dropna()
        _diagonal(ax, both[first], both[second], (first, second))
    figure.suptitle(f"{_LOSSES.get(metric, metric)}, one point per data set")
    return figure


def _draw_means(methods: list[str], numbers: pd.DataFrame) -> Any:
    """Draw geometric means of losses in multiples of the first method's, over data sets that all finished."""
    figure, axes = panels(2)
    for ax, (metric, title) in zip(axes, _LOSSES.items(), strict=True):
        wide = numbers.pivot_table(index=["dataset", "big"], columns="method", values=metric)[
            methods
        ].dropna()
        logs = pd.DataFrame(np.log(wide.clip(lower=_LEAST_LOSS)))
        for shift, (big, of_kind) in enumerate(logs.groupby(level="big")):
            relative = np.exp((of_kind.T - of_kind[methods[0]]).T.mean())
            places = np.arange(len(methods)) + 0.4 * (shift - 0.5)
            label = f"{len(of_kind)} {'big' if big else 'little'} data sets"
            ax.bar(places, relative, 0.38, color=_SOFT if big else _INK, label=label)
        ax.set_xticks(np.arange(len(methods)), methods)
        ax.set(ylabel=f"{title}, {methods[0]} = 1", yscale="log")
        ax.legend(frameon=False)
    return figure


def _draw_passes(column: str, pair: tuple[str, str], titles: tuple[str, str], numbers: pd.DataFrame) -> Any:
    """Draw passes to one per cent of the first gap, one point for each data set, without a penalty."""
    chosen = numbers[(numbers["ridge"] == 0) & (numbers["solver"] == "lbfgs")]
    orders = sorted(chosen["order"].unique())
    figure, axes = panels(len(orders), 4.4, 4.2, columns=3)
    for ax, order in zip(axes, orders, strict=True):
        of_order = chosen[chosen["order"] == order]
        wide = of_order.pivot_table(index="dataset", columns=column, values="passes")[list(pair)].dropna()
        names = (f"{titles[0]}, order {order}", titles[1])
        _diagonal(ax, wide[pair[0]], wide[pair[1]], names, logarithmic=True)
    figure.suptitle("passes over the rows until all but 1 % of the gap is closed")
    return figure


_HERE = "Over the data sets of the paper that are here (67 of 77 at order 2)."
_STREAM = "Localization, the paper's stream, is not here: 150,000 poker hands take its place."
_TEN = "Ten data sets, 10,000 rows at most; L-BFGS without a penalty."
_SAME = "LR^n and ALR^n fit the same model; LR^1 was not run, so that orders 2 and 3 are drawn."

FIGURES = (
    PaperFigure(
        "alr-figure2",
        "Learning curves of three orders",
        "alr-learning-curves",
        _draw_learning_curves,
        remarks=(_STREAM,),
    ),
    PaperFigure(
        "alr-figure3",
        "Bias of two orders",
        "alr-losses",
        partial(_draw_scatter, [("ALR2", "ALR3")], "bias"),
        remarks=(_HERE, _SAME),
    ),
    *(
        PaperFigure(
            f"alr-figure{number}",
            f"Losses of {', '.join(methods)}",
            "alr-losses",
            partial(_draw_means, methods),
            remarks=(_HERE,),
        )
        for number, methods in (
            (6, ["ALR2", "A2JE", "ALR3", "A3JE"]),
            (8, ["ALR2", "A1DE", "ALR3", "A2DE"]),
            (21, ["ALR2", "ALR3", "RF"]),
        )
    ),
    PaperFigure(
        "alr-figure14",
        "Passes of LR^n and ALR^n",
        "alr-passes",
        partial(_draw_passes, "scaling", ("none", "generative"), ("LR^n", "ALR^n")),
        remarks=(_TEN,),
    ),
    PaperFigure(
        "alr-figure27",
        "Passes of ALR^n and ALR^n (J)",
        "alr-starts",
        partial(_draw_passes, "variant", ("ALR", "ALR (J)"), ("ALR", "ALR (J)")),
        remarks=(_TEN,),
    ),
    PaperFigure(
        "alr-figure29",
        "Passes of ALR^n and ALR^n (init)",
        "alr-starts",
        partial(_draw_passes, "variant", ("ALR", "ALR (init)"), ("ALR", "ALR (init)")),
        remarks=(_TEN,),
    ),
)
