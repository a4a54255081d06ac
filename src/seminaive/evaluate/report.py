"""Results for people: a terminal table, a tidy CSV, and one page that opens anywhere.

The page says first which model is best and what ties with it, then shows one table and the curves of the
best models; tests and everything else are folded below. It needs no network and no script, is legible on a
phone, and follows the reader's light or dark setting. The same results give the same page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group
from rich.text import Text

from seminaive.encode import without_formulas
from seminaive.errors import InputError
from seminaive.evaluate.page_pictures import (
    bias_variance_figure,
    boxes,
    learning_curve_figures,
    probability_figures,
    rank_figure,
    time_figure,
)
from seminaive.evaluate.page_tables import (
    failures_section,
    one_table_pairs,
    overview,
    pairs_by_rank,
    table_by_table,
    wins,
)
from seminaive.evaluate.report_page import folded, reading_section, whole_page
from seminaive.evaluate.results_file import ExperimentResults
from seminaive.evaluate.summary import LossSummary, same_models, summarise
from seminaive.evaluate.terminal import explanation, terminal_tables, title_of
from seminaive.evaluate.verdict import verdict
from seminaive.files import whole_file

__all__ = ["Report"]


@dataclass(frozen=True, eq=False)
class Report:
    """The results of an experiment, ready to be shown.

    Parameters
    ----------
    results : ExperimentResults
        What ``Experiment.run`` or ``load_results`` gave.
    title : str, default="Comparison of classifiers"
        Headline of the page.
    notes : mapping of str to str, optional
        Sentences to show with the results of a table, by its name.
    """

    results: ExperimentResults
    title: str = "Comparison of classifiers"
    notes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_frame(
        cls, folds: pd.DataFrame, metrics: tuple[str, ...], title: str = "Comparison of classifiers"
    ) -> "Report":
        """Report on results from elsewhere.

        Parameters
        ----------
        folds : DataFrame
            Columns ``dataset``, ``model`` and the metrics (smaller is better); optionally ``repetition``,
            ``fold``, ``n_train``, ``n_test``, ``fit_seconds``, ``status`` and ``message``; ``step`` where
            the folds are steps of growing training sets, as a learning curve has.
        metrics : tuple of str
            The columns that are losses.
        title : str
            Headline of the page.
        """
        if not metrics:
            raise InputError("name the columns that are losses.")
        if folds.empty:
            raise InputError("the results have no row: there is nothing to report on.")
        for metric in metrics:
            summarise(folds, metric)
        empty = pd.DataFrame(columns=["dataset", "model", "bias", "variance"])
        return cls(ExperimentResults(folds, empty, tuple(metrics)), title)

    def summary(self, metric: str | None = None) -> LossSummary:
        """Losses per table and model of one metric; of the first one by default."""
        return summarise(self.results.folds, metric or self.results.metrics[0])

    def write_csv(self, path: str | Path) -> None:
        """Write one row per table, model and fold, without text that a spreadsheet would run."""
        with whole_file(Path(path)) as part:
            without_formulas(self.results.folds).to_csv(part, index=False)

    def write_html(self, path: str | Path) -> None:
        """Write the page."""
        with whole_file(Path(path)) as part:
            part.write_text(self.html(), encoding="utf-8")

    def terminal(self) -> Group:
        """Give tables for ``rich.print``: which model is best, all of them, the first measure by table."""
        parts: list[Any] = []
        for folds in same_models(self.results.folds):
            summaries = self._summaries(folds)
            parts += [Text(part) for part in (verdict(summaries[0], folds),) if part]
            parts.append(terminal_tables(summaries, folds))
        return Group(*parts)

    def html(self) -> str:
        """Compose the page."""
        parts = same_models(self.results.folds)
        sections = [self._section(folds, titled=len(parts) > 1) for folds in parts]
        n_models = max(folds["model"].nunique() for folds in parts)
        body = f"<h1>{escape(self.title)}</h1>{''.join(sections)}{reading_section()}"
        return whole_page(self.title, n_models, body)

    def _summaries(self, folds: pd.DataFrame) -> list[LossSummary]:
        """Summarise every measure; models have the numbers and colours of their place in the first."""
        found = [summarise(folds, metric) for metric in self.results.metrics]
        order = found[0].order()
        return [summary.in_order(order) for summary in found]

    def _section(self, folds: pd.DataFrame, *, titled: bool) -> str:
        """Compose the part of the page about tables on which the same models met."""
        summaries = self._summaries(folds)
        first = summaries[0]
        names = [str(name) for name in first.mean.index]
        notes = "".join(f"<p>{escape(self.notes[name])}</p>" for name in names if name in self.notes)
        heading = f"<h2>{escape(', '.join(names))}</h2>" if titled else ""
        name = escape(title_of(first.metric))
        split = self.results.bias_variance
        split = split[split["dataset"].isin(first.mean.index)]
        others = [
            folded(f"The same in {escape(title_of(summary.metric))}", _details(summary, folds))
            for summary in summaries[1:]
        ]
        return (
            f"<section>{heading}<p class=verdict>{escape(verdict(first, folds))}</p>{notes}"
            f"{overview(summaries, folds)}<p class=note>{escape(_extent(folds, summaries))}</p>"
            f"{failures_section(folds)}{learning_curve_figures(folds, first)}"
            f"{probability_figures(first, self.results.histograms)}"
            f"{folded(f'{name} in detail: tables, tests, folds', _details(first, folds))}"
            f"{''.join(others)}"
            f"{folded('Bias against variance', bias_variance_figure(split, first.models))}"
            f"{folded('Time against loss', time_figure(folds, first))}</section>"
        )


def _extent(folds: pd.DataFrame, summaries: list[LossSummary]) -> str:
    """Say how many models, tables and results there are, and how to read the measures."""
    n_models, n_tables = len(summaries[0].models), len(summaries[0].mean)
    tables = f"{n_tables} tables" if n_tables > 1 else "one table"
    return (
        f"{n_models} models on {tables}, {len(folds):,} results; all models saw the same splits. "
        f"{explanation(summaries)}"
    )


def _details(summary: LossSummary, folds: pd.DataFrame) -> str:
    """Compose everything about one measure: table by table, tests of differences, spread over folds."""
    several = min(summary.complete.shape) >= 2
    tests = (
        f"{rank_figure(summary)}{pairs_by_rank(summary)}{wins(summary)}"
        if several
        else one_table_pairs(summary, folds)
    )
    return f"{table_by_table(summary)}{tests}<h3>Spread over the folds</h3>{boxes(summary, folds)}"
