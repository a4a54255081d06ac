"""Results on a terminal: the models from best to worst, then the leading measure table by table."""

from typing import Any

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from seminaive.evaluate.metrics import METRICS
from seminaive.evaluate.summary import LossSummary, failure_lines, fit_seconds

__all__ = ["NO_RESULT", "explanation", "plain", "terminal_tables", "title_of"]

NO_RESULT = "none"
# Long names go on in the next line, so that 80 columns hold all measures and names stay distinct.
_NAME_WIDTH = 24


def title_of(metric: str) -> str:
    """Return the name of a measure for people."""
    return METRICS[metric].title if metric in METRICS else metric


def plain(value: float, digits: int) -> str:
    """Write a number, or that there is none."""
    return NO_RESULT if np.isnan(value) else f"{value:.{digits}f}"


def terminal_tables(summaries: list[LossSummary], folds: pd.DataFrame) -> Group:
    """Give tables for ``rich.print``; the first summary leads."""
    parts: list[Any] = [_overview(summaries, folds), Text(explanation(summaries))]
    if len(summaries[0].mean) > 1:
        parts.append(_by_table(summaries[0]))
    parts += [Text(line) for line in failure_lines(folds)]
    return Group(*parts)


def explanation(summaries: list[LossSummary]) -> str:
    """Say which way each measure is better, and what stands beside the first."""
    larger = [title_of(summary.metric) for summary in summaries if summary.sign < 0]
    smaller = [title_of(summary.metric) for summary in summaries if summary.sign > 0]
    better = [
        f"{', '.join(names)}: {way} is better"
        for names, way in ((smaller, "less"), (larger, "more"))
        if names
    ]
    return "; ".join([*better, _beside_the_first(summaries[0])]) + "."


def _beside_the_first(summary: LossSummary) -> str:
    lead = title_of(summary.metric)
    if len(summary.mean) > 1:
        return f"rank: mean over the tables of the rank in {lead}"
    if summary.error.isna().all(axis=None):
        return "one fold gives no standard error"
    return f"±: standard error of {lead}, allowing for the rows that folds share"


def _overview(summaries: list[LossSummary], folds: pd.DataFrame) -> Table:
    """One row per model, best first: mean measures over the tables that every model finished."""
    several = len(summaries[0].mean) > 1
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    table.add_column("model", overflow="fold", max_width=_NAME_WIDTH)
    for position, summary in enumerate(summaries):
        table.add_column(escape(title_of(summary.metric)), justify="right", no_wrap=True)
        if position == 0:
            table.add_column("rank" if several else "±", justify="right", no_wrap=True)
    seconds = fit_seconds(folds)
    if seconds is not None:
        table.add_column("seconds", justify="right", no_wrap=True)
    means = [(summary.complete if several else summary.mean).mean() for summary in summaries]
    beside = summaries[0].ranks() if several else summaries[0].error.iloc[0]
    for model in summaries[0].order():
        cells = [Text(str(summaries[0].models.index(model) + 1)), Text(str(model))]
        for position, (summary, mean) in enumerate(zip(summaries, means, strict=True)):
            cells.append(_cell(mean[model], summary.best(mean), 4 if position == 0 else 3))
            if position == 0:
                cells.append(Text(plain(beside[model], 2 if several else 4)))
        table.add_row(*cells, *([] if seconds is None else [plain(seconds[model], 3)]))
    return table


def _by_table(summary: LossSummary) -> Table:
    table = Table(
        title=f"{escape(title_of(summary.metric))} by table; models by number",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("table", overflow="fold")
    for number in range(len(summary.models)):
        table.add_column(str(number + 1), justify="right")
    for dataset, losses in summary.mean.iterrows():
        table.add_row(Text(str(dataset)), *(_cell(value, summary.best(losses), 4) for value in losses))
    return table


def _cell(value: float, best: float, digits: int) -> Text:
    return Text(plain(value, digits), style="bold" if value == best else "")
