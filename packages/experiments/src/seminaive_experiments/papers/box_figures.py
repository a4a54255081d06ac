"""Box plots of the simulations: Figures 1 to 6 of the NBRLR paper, 2.1 to 2.9 of the dissertation.

Each panel has a training size, each group of boxes a number of predictors and a correlation. The numbers of a
box are kept, not the repetitions: median, quartiles, and the farthest values within one and a half
interquartile ranges.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from seminaive_experiments.papers.figures import PaperFigure, panels
from seminaive_experiments.papers.nbrlr import CHAPTER_CELLS, METHODS, PAPER_CELLS, hybrid_records, run_cells

if TYPE_CHECKING:
    from seminaive_experiments.papers.reproduction import RunOptions

__all__ = ["FIGURES", "box_numbers", "draw_boxes", "draw_legend", "simulated_boxes"]

_KEPT = "nbrlr-simulations"
_KEYS = ["setting", "n_train", "p", "r", "method"]
_METRICS = {"MSE": "mean squared error of the coefficients", "L01": "0-1 loss", "RSPE": "RSPE"}
_CHAPTERS_METHODS = ("NBRLR", "LR", "NB", "Lasso")
_COLOURS = ("#0b66b5", "#d1660f", "#4d8b31", "#a13d63", "#6b5ca5", "#8a6d3b", "#555555")


def box_numbers(records: pd.DataFrame, keys: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return the numbers of a box for every combination of the keys and every metric."""
    from matplotlib.cbook import boxplot_stats

    long = records.melt(keys, metrics, "metric", "loss").dropna(subset="loss")
    rows = []
    for key, losses in long.groupby([*keys, "metric"], sort=False)["loss"]:
        found = boxplot_stats(losses.to_numpy())[0]
        numbers = {name: float(found[name]) for name in ("whislo", "q1", "med", "q3", "whishi", "mean")}
        rows.append({**dict(zip([*keys, "metric"], key, strict=True)), "repetitions": len(losses), **numbers})
    return pd.DataFrame(rows)


def simulated_boxes(setting: int, options: RunOptions) -> pd.DataFrame:
    """Run a setting and return the numbers of its boxes; the hybrid is for binary predictors."""
    binary = setting in (1, 2)
    cells = PAPER_CELLS if binary else CHAPTER_CELLS
    records = [run_cells([setting], cells, options)]
    if binary:
        records.append(hybrid_records(setting, cells, options))
    return box_numbers(pd.concat(records, ignore_index=True), _KEYS, list(_METRICS))


def draw_boxes(numbers: pd.DataFrame, group: list[str], ax: Any, methods: list[str]) -> None:
    """Draw one box for each method in every group, side by side, in the colour of the method."""
    wide = 0.8 / len(methods)
    groups = list(dict.fromkeys(numbers[group].itertuples(index=False, name=None)))
    for place, key in enumerate(groups):
        chosen = numbers[(numbers[group] == list(key)).all(axis=1)].set_index("method")
        for position, method in enumerate(methods):
            if method not in chosen.index:
                continue
            at = place - 0.4 + wide * (position + 0.5)
            colour = _COLOURS[position]
            ax.bxp(
                [chosen.loc[method].to_dict()],
                positions=[at],
                widths=0.8 * wide,
                showfliers=False,
                patch_artist=True,
                boxprops={"facecolor": f"{colour}55", "edgecolor": colour},
                medianprops={"color": "#111111"},
                whiskerprops={"color": colour},
                capprops={"color": colour},
            )
    ax.set_xticks(np.arange(len(groups)), [", ".join(map(str, key)) for key in groups])


def draw_legend(figure: Any, methods: list[str]) -> None:
    """Name the colours of the methods below the panels."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=f"{colour}55", edgecolor=colour) for colour in _COLOURS]
    n_columns = max(1, int(figure.get_figwidth() / 1.3))
    handles = handles[: len(methods)]
    figure.legend(handles, methods, loc="outside lower center", ncols=n_columns, frameon=False)


def _draw(setting: int, metrics: list[str], methods: tuple[str, ...], numbers: pd.DataFrame) -> Any:
    """Draw a panel for each metric and training size."""
    shown = numbers[
        (numbers["setting"] == setting) & numbers["metric"].isin(metrics) & numbers["method"].isin(methods)
    ]
    names = [name for name in methods if name in set(shown["method"])]
    sizes = sorted(shown["n_train"].unique()) if methods != _CHAPTERS_METHODS else [100]
    figure, axes = panels(len(metrics) * len(sizes))
    for ax, (metric, size) in zip(axes, [(m, n) for m in metrics for n in sizes], strict=True):
        of_panel = shown[(shown["metric"] == metric) & (shown["n_train"] == size)]
        draw_boxes(of_panel, ["p", "r"], ax, names)
        repetitions = sorted(set(of_panel["repetitions"]))
        ax.set(
            title=f"{size} training rows, {' to '.join(map(str, repetitions))} repetitions",
            xlabel="predictors, correlation",
            ylabel=_METRICS[metric],
            yscale="log" if metric == "MSE" else "linear",
        )
    draw_legend(figure, names)
    return figure


_SEPARABLE = (
    "With 100 rows and 50 predictors the classes are separable: logistic regression has no finite optimum."
)
_MIXED = "The supplement is not here; every other predictor is binary, as the text leaves it open."


def _figure(
    name: str,
    setting: int,
    metrics: list[str],
    methods: tuple[str, ...],
    remarks: tuple[str, ...] = (_SEPARABLE,),
) -> PaperFigure:
    listed = " and ".join(_METRICS[metric] for metric in metrics) if len(metrics) < 3 else "all three losses"
    return PaperFigure(
        name=name,
        title=f"Simulation setting {setting}, {listed}",
        kept=_KEPT,
        draw=partial(_draw, setting, metrics, methods),
        run=partial(simulated_boxes, setting),
        remarks=remarks,
    )


_PAPERS_METHODS = (*METHODS, "HybridLRNB")
FIGURES = (
    *(
        _figure(f"nbrlr-figure{3 * (setting - 1) + place}", setting, [metric], _PAPERS_METHODS)
        for setting in (1, 2)
        for place, metric in enumerate(_METRICS, start=1)
    ),
    _figure("nbrlr-supplement3", 3, list(_METRICS), METHODS),
    _figure("nbrlr-supplement4", 4, list(_METRICS), METHODS, (_SEPARABLE, _MIXED)),
    *(
        _figure(f"dissertation-figure2.{3 * (setting - 1) + place}", setting, [metric], _CHAPTERS_METHODS)
        for setting in (1, 2, 3)
        for place, metric in enumerate(_METRICS, start=1)
    ),
)
