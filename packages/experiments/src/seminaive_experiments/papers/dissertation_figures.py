"""Figures of the dissertation: training times (1.4 to 1.6), losses (2.10 to 2.13), prevalence (3.4)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive_experiments.papers.box_figures import box_numbers, draw_boxes, draw_legend
from seminaive_experiments.papers.figures import PaperFigure, panels
from seminaive_experiments.papers.nbrlr_real import split_losses
from seminaive_experiments.papers.reproduction import published_table
from seminaive_experiments.papers.veterans import prevalence

if TYPE_CHECKING:
    import pandas as pd

    from seminaive_experiments.papers.reproduction import RunOptions

__all__ = ["FIGURES"]

_METRICS = {"L01": "0-1 loss", "RSPE": "RSPE"}
_MANY_FEATURES = 10
_INK, _PALE = "#0b66b5", "#9aa5b1"


def _draw_times(methods: list[str], numbers: pd.DataFrame) -> Any:
    """Draw mean times of training in multiples of the hybrid's, ours beside the printed ones."""
    printed = published_table("dissertation-tableA4").pivot_table(
        index="dataset", columns="method", values="value", aggfunc=lambda cell: float(cell.iloc[0])
    )
    ours = numbers.pivot_table(index="dataset", columns="method", values="seconds")
    sizes = published_table("dissertation-table1.1").set_index("dataset")["n_features"].astype(int)
    shown = ["HybridLRNB", *methods]
    subsets: dict[str, list[str]] = {
        "data sets": list(ours.index),
        "of ten features or more": [name for name in ours.index if sizes[name] >= _MANY_FEATURES],
    }
    figure, axes = panels(2)
    for ax, (title, names) in zip(axes, subsets.items(), strict=True):
        for shift, (seconds, label, colour) in enumerate(((ours, "here", _INK), (printed, "printed", _PALE))):
            means = seconds.reindex(names)[shown].mean()
            places = np.arange(len(shown)) + 0.4 * (shift - 0.5)
            ax.bar(places, means / means["HybridLRNB"], 0.38, color=colour, label=label)
        ax.set_xticks(np.arange(len(shown)), shown)
        ax.set(title=f"{len(names)} {title}", ylabel="training time, hybrid = 1", yscale="log")
    axes[0].legend(frameon=False)
    return figure


def _run_boxes(published: str, options: RunOptions) -> pd.DataFrame:
    records = split_losses(published, options)
    return box_numbers(records, ["dataset", "method"], list(_METRICS))


def _draw_real(published: str, metric: str, numbers: pd.DataFrame) -> Any:
    """Draw the losses of the splits of every data set of a table."""
    names = list(published_table(published)["dataset"].unique())
    shown = numbers[(numbers["metric"] == metric) & numbers["dataset"].isin(names)]
    methods = [str(name) for name in published_table(published)["method"].unique()]
    figure, axes = panels(len(names), 3.6, 3.0, columns=3)
    for ax, name in zip(axes, names, strict=True):
        of_table = shown[shown["dataset"] == name]
        draw_boxes(of_table, ["dataset"], ax, methods)
        repetitions = of_table["repetitions"].max() if len(of_table) else 0
        ax.set(title=name, ylabel=_METRICS[metric])
        ax.set_xticks([0], [f"{repetitions} splits"])
    draw_legend(figure, methods)
    return figure


def _draw_prevalence(numbers: pd.DataFrame) -> Any:
    """Draw the share of veterans with the disorder in every category of every other variable."""
    names = list(numbers["variable"].unique())
    figure, axes = panels(len(names), 2.6, 2.2, columns=5)
    for ax, name in zip(axes, names, strict=True):
        of_variable = numbers[numbers["variable"] == name]
        ax.bar(of_variable["category"].astype(str), of_variable["prevalence"], color=_INK)
        ax.set(title=name, ylim=(0, 1))
        ax.tick_params(axis="x", rotation=30)
    return figure


_TIMES = (
    "Processor seconds of another machine and language, medians over ten splits of ten of the 25 data sets.",
    "Our times of the hybrid include the cross-validation of its rate; the printed ones are of one fit.",
)
_GENERATED = (
    "The chapter's records are confidential: these are the shares of the generator that stands for them."
)
_REAL = {"dissertation-table2.7": "six categorical", "dissertation-table2.8": "six continuous"}

FIGURES = (
    *(
        PaperFigure(
            f"dissertation-figure1.{4 + place}",
            f"Training time of the hybrid and {' and '.join(methods)}",
            "dissertation-times",
            partial(_draw_times, methods),
            remarks=_TIMES,
        )
        for place, methods in enumerate((["LR", "NB"], ["RF"], ["Lasso"]))
    ),
    *(
        PaperFigure(
            f"dissertation-figure2.{10 + 2 * table + place}",
            f"{_METRICS[metric]} of {kind} data sets",
            "dissertation-splits",
            partial(_draw_real, published, metric),
            run=partial(_run_boxes, published),
        )
        for table, (published, kind) in enumerate(_REAL.items())
        for place, metric in enumerate(_METRICS)
    ),
    PaperFigure(
        "dissertation-figure3.4",
        "Prevalence of the disorder by the categories of other variables",
        None,
        _draw_prevalence,
        compute=prevalence,
        remarks=(_GENERATED,),
    ),
)
