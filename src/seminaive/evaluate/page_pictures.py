"""The pictures of a report's page, each with its caption."""

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from seminaive.evaluate.page_tables import p_value
from seminaive.evaluate.probability_histogram import ProbabilityHistogram
from seminaive.evaluate.report_page import legend
from seminaive.evaluate.summary import (
    LossSummary,
    final_folds,
    fit_seconds,
    is_learning_curve,
    learning_curves,
)
from seminaive.evaluate.svg import Point, box_plot, curves, rank_diagram, scatter, unit_square
from seminaive.evaluate.terminal import title_of

__all__ = [
    "bias_variance_figure",
    "boxes",
    "learning_curve_figures",
    "probability_figures",
    "rank_figure",
    "time_figure",
]

# Lines that can be told apart in one picture.
_MOST_LINES = 5


def probability_figures(summary: LossSummary, histograms: dict[tuple[str, str], ProbabilityHistogram]) -> str:
    """Draw calibration and ROC curves of the best models, over the test rows of all tables together."""
    pooled: dict[str, ProbabilityHistogram] = {}
    for (dataset, model), histogram in histograms.items():
        if dataset in summary.mean.index and model in summary.models:
            pooled[model] = pooled[model] + histogram if model in pooled else histogram
    shown = [model for model in summary.order() if model in pooled][:_MOST_LINES]
    if not shown:
        return ""
    number = {model: summary.models.index(model) for model in shown}
    calibration = unit_square(
        [(number[model], *pooled[model].calibration()) for model in shown], "probability", "share of hits"
    )
    roc = unit_square(
        [(number[model], *pooled[model].roc()) for model in shown], "false positives", "true positives"
    )
    which = "the models" if len(shown) == len(summary.models) else f"the best {len(shown)} models"
    keys = "".join(
        f'<li><span class=key style="background:var(--m{number[model]})"></span>{number[model] + 1} '
        f"{escape(str(model))}</li>"
        for model in shown
    )
    return (
        f"<h3>Calibration and ROC curves of {which}</h3><ul class=legend>{keys}</ul><div class=panels>"
        f"<figure><figcaption>Calibration</figcaption>{calibration}</figure>"
        f"<figure><figcaption>ROC</figcaption>{roc}</figure></div>"
        "<p class=note>Over all test rows. On the dashed line of the calibration picture, of all rows with a "
        "probability of 0.7 seven in ten have the class; the farther an ROC curve is above the dashed line, "
        "the better the model tells rows of a class from others. With more than two classes every row gives "
        "one point per class.</p>"
    )


def rank_figure(summary: LossSummary) -> str:
    """Draw average ranks with the critical difference."""
    ranks, difference = summary.ranks(), summary.critical_difference()
    numbers = [summary.models.index(model) for model in ranks.index]
    picture = rank_diagram(
        [str(m) for m in ranks.index], numbers, ranks.tolist(), summary.groups(), difference
    )
    equality = summary.equality()
    told = (
        f" Are all models equal? Iman and Davenport's F = {equality[0]:.2f}, p {p_value(equality[1])}."
        if equality is not None
        else ""
    )
    return (
        f"<h3>Average ranks</h3><figure>{picture}<figcaption>Over {len(summary.complete)} tables. Bars join "
        f"models that Nemenyi's test cannot tell apart at 0.05; shaded: within the critical difference of "
        f"{difference:.2f} ranks from the best.{told}</figcaption></figure>"
    )


def boxes(summary: LossSummary, folds: pd.DataFrame) -> str:
    """Draw the spread of a measure over the folds of each table."""
    models = summary.models
    samples = {
        key: group.to_numpy(dtype=float)
        for key, group in final_folds(folds).groupby(["dataset", "model"], sort=False)[summary.metric]
    }
    panels = []
    for dataset in summary.mean.index:
        drawn = [samples.get((dataset, model), np.empty(0)) for model in models]
        picture = box_plot([str(m) for m in models], range(len(models)), drawn, "")
        panels.append(f"<figure><figcaption>{escape(str(dataset))}</figcaption>{picture}</figure>")
    return f"<div class=panels>{''.join(panels)}</div>"


def bias_variance_figure(split: pd.DataFrame, models: list[str]) -> str:
    """Draw bias against variance."""
    split = split[split["model"].isin(models)]
    if split.empty:
        return ""
    means = split.groupby("model", sort=False)[["variance", "bias"]].mean()
    points = [
        Point(variance, bias, models.index(model), str(model)) for model, variance, bias in means.itertuples()
    ]
    several = split["dataset"].nunique() > 1
    faint = [
        Point(row["variance"], row["bias"], models.index(row["model"]), f"{row['model']}, {row['dataset']}")
        for row in split.to_dict("records")
        if several
    ]
    picture = scatter(points, faint, "variance", "bias", equal_sums=True)
    told = "Large: mean over the tables; small: one table each. " if several else ""
    return (
        f"<figure>{picture}{legend(models)}<figcaption>{told}Kohavi "
        "and Wolpert's split of the 0-1 loss, estimated over repetitions of cross-validation. Along a dashed "
        "line the loss, bias plus variance, is the same.</figcaption></figure>"
    )


def time_figure(folds: pd.DataFrame, summary: LossSummary) -> str:
    """Draw the time to fit against the leading measure."""
    seconds = fit_seconds(folds)
    if seconds is None:
        return ""
    loss = (summary.complete if len(summary.complete) else summary.mean).mean()
    points = [
        Point(seconds[model], loss[model], number, str(model))
        for number, model in enumerate(summary.models)
        if seconds[model] > 0 and np.isfinite(loss[model])
    ]
    if not points:
        return ""
    name = title_of(summary.metric)
    picture = scatter(points, [], "seconds to fit", name, logarithmic_x=True)
    return (
        f"<figure>{picture}{legend(summary.models)}<figcaption>Mean "
        f"{escape(name)} over the tables. Times depend on the machine and on what else it did.</figcaption>"
        "</figure>"
    )


def learning_curve_figures(folds: pd.DataFrame, summary: LossSummary) -> str:
    """Draw loss against training rows, table by table."""
    if not is_learning_curve(folds):
        return ""
    numbers: dict[Any, int] = {model: number for number, model in enumerate(summary.models)}
    panels = []
    for dataset, group in learning_curves(folds, summary.metric).groupby("dataset", sort=False):
        lines = [
            (numbers[model], line["n_train"].tolist(), line[summary.metric].tolist())
            for model, line in group.sort_values("n_train").groupby("model", sort=False)
        ]
        picture = curves(lines, "training rows", title_of(summary.metric))
        panels.append(f"<figure><figcaption>{escape(str(dataset))}</figcaption>{picture}</figure>")
    return (
        "<section><h2>Learning curves</h2><p>Trained on the rows so far, tested on the next ones; the tables "
        f"above show the last step.</p>{legend(summary.models)}"
        f"<div class=panels>{''.join(panels)}</div></section>"
    )
