"""Results on a terminal: the models from best to worst, then the leading measure table by table."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from seminaive.evaluate.metrics import METRICS
from seminaive_experiments.summary import LossSummary, failure_lines, fit_seconds

NO_RESULT = "none"


def title_of(metric: str) -> str:
    """Return the name of a measure for people."""
    return METRICS[metric].title if metric in METRICS else metric


def plain(value: float, digits: int) -> str:
    """Write a number, or that there is none."""
    return NO_RESULT if np.isnan(value) else f"{value:.{digits}f}"


def terminal_tables(summaries: list[LossSummary], folds: pd.DataFrame) -> Group:
    """Give tables for ``rich.print``; the first summary leads, and has the models from best to worst."""
    parts: list[Any] = [_Overview(summaries, folds), Text(explanation(summaries))]
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


class _Overview:
    """One row per model, best first: mean measures over the tables that every model finished.

    Measures that do not fit beside whole names follow in a second table, and so on.

    Parameters
    ----------
    summaries : list of LossSummary
        With the models from best to worst.
    folds : DataFrame
    """

    def __init__(self, summaries: list[LossSummary], folds: pd.DataFrame) -> None:
        self.models = summaries[0].models
        self.columns = list(_columns(summaries, folds))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        taken = 0
        while taken < len(self.columns):
            end = len(self.columns)
            while end > taken + 1 and self._width(console, taken, end) > options.max_width:
                end -= 1
            yield self._table(taken, end)
            taken = end

    def _width(self, console: Console, start: int, end: int) -> int:
        unlimited = console.options.update(max_width=10_000)
        return Measurement.get(console, unlimited, self._table(start, end)).maximum

    def _table(self, start: int, end: int) -> Table:
        shown = self.columns[start:end]
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        table.add_column("", justify="right", no_wrap=True)
        table.add_column("model", overflow="fold")
        for title, _ in shown:
            table.add_column(escape(title), justify="right", no_wrap=True)
        for rank, model in enumerate(self.models):
            table.add_row(str(rank + 1), Text(str(model)), *(cells[rank] for _, cells in shown))
        return table


def _columns(summaries: list[LossSummary], folds: pd.DataFrame) -> Iterator[tuple[str, list[Text]]]:
    """Yield the title and the cells of each column: the first measure, what is beside it, the others."""
    first, several = summaries[0], len(summaries[0].mean) > 1
    for position, summary in enumerate(summaries):
        mean = (summary.complete if several else summary.mean).mean()
        digits = 3 if position else 4
        yield title_of(summary.metric), [_cell(mean[m], summary.best(mean), digits) for m in first.models]
        if position == 0:
            beside, digits = (first.ranks(), 2) if several else (first.error.iloc[0], 4)
            yield "rank" if several else "±", [Text(plain(beside[m], digits)) for m in first.models]
    seconds = fit_seconds(folds)
    if seconds is not None:
        yield "seconds", [Text(plain(seconds[m], 3)) for m in first.models]


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
