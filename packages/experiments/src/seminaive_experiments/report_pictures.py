"""The pictures of a report's page: what of the results each of them shows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from seminaive_experiments.probability_histogram import ProbabilityHistogram
from seminaive_experiments.result_plots import box_plot, curves, rank_diagram, scatter, unit_square
from seminaive_experiments.summary import LossSummary, final_folds, fit_seconds, learning_curves
from seminaive_experiments.terminal import title_of

# Lines that can be told apart in one picture.
_MOST_LINES = 5


def probability_curves(
    summary: LossSummary, histograms: dict[tuple[str, str], ProbabilityHistogram]
) -> tuple[list[int], list[tuple[str, str]]]:
    """Draw the best models over the test rows of all tables; return their numbers, titles and pictures."""
    pooled: dict[str, ProbabilityHistogram] = {}
    for (dataset, model), histogram in histograms.items():
        if dataset in summary.mean.index and model in summary.models:
            pooled[model] = pooled[model] + histogram if model in pooled else histogram
    shown = [model for model in summary.order() if model in pooled][:_MOST_LINES]
    numbers = [summary.models.index(model) for model in shown]
    if not shown:
        return [], []
    numbered = list(zip(numbers, (pooled[model] for model in shown), strict=True))
    calibration = [(number, *histogram.calibration()) for number, histogram in numbered]
    roc = [(number, *histogram.roc()) for number, histogram in numbered]
    return numbers, [
        ("Calibration", unit_square(calibration, "probability", "share of hits")),
        ("ROC", unit_square(roc, "false positives", "true positives")),
    ]


def average_ranks(summary: LossSummary) -> str:
    """Draw average ranks with the critical difference."""
    ranks = summary.ranks()
    numbers = [summary.models.index(model) for model in ranks.index]
    names = [f"{number + 1} {summary.models[number]}" for number in numbers]
    return rank_diagram(names, numbers, ranks.tolist(), summary.groups(), summary.critical_difference())


def fold_spreads(summary: LossSummary, folds: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Draw the spread of a measure over the folds of each table; yield tables and pictures."""
    names = [f"{number + 1} {model}" for number, model in enumerate(summary.models)]
    samples = {
        key: group.to_numpy(dtype=float)
        for key, group in final_folds(folds).groupby(["dataset", "model"], sort=False)[summary.metric]
    }
    for dataset in summary.mean.index:
        drawn = [samples.get((dataset, model), np.empty(0)) for model in summary.models]
        yield (
            str(dataset),
            box_plot(names, range(len(names)), drawn, f"{title_of(summary.metric)} on {dataset}"),
        )


def bias_variance(split: pd.DataFrame, models: list[str]) -> str:
    """Draw bias against variance: means over the tables large, and each of several tables small."""

    def points(frame: pd.DataFrame) -> list[tuple[int, float, float]]:
        found = frame[["model", "variance", "bias"]].itertuples(index=False)
        return [(models.index(model), variance, bias) for model, variance, bias in found]

    means = split.groupby("model", sort=False)[["variance", "bias"]].mean().reset_index()
    faint = points(split) if split["dataset"].nunique() > 1 else []
    return scatter(points(means), faint, "variance", "bias", equal_sums=True)


def times(folds: pd.DataFrame, summary: LossSummary) -> str:
    """Draw the time to fit against the measure; an empty text where no fold has a time."""
    seconds = fit_seconds(folds)
    if seconds is None:
        return ""
    loss = (summary.complete if len(summary.complete) else summary.mean).mean()
    points = [
        (number, seconds[model], loss[model])
        for number, model in enumerate(summary.models)
        if seconds[model] > 0 and np.isfinite(loss[model])
    ]
    return (
        scatter(points, [], "seconds to fit", title_of(summary.metric), logarithmic_x=True) if points else ""
    )


def learning(folds: pd.DataFrame, summary: LossSummary) -> Iterator[tuple[str, str]]:
    """Draw loss against training rows; yield tables and pictures."""
    numbers: dict[Any, int] = {model: number for number, model in enumerate(summary.models)}
    for dataset, group in learning_curves(folds, summary.metric).groupby("dataset", sort=False):
        lines = [
            (numbers[model], line["n_train"].tolist(), line[summary.metric].tolist())
            for model, line in group.sort_values("n_train").groupby("model", sort=False)
        ]
        yield str(dataset), curves(lines, "training rows", title_of(summary.metric))
