"""Results for people: a terminal table, a tidy CSV, and one page that opens anywhere.

The page says first which model is best and what ties with it, then shows one table and the curves of the
best models; tests and everything else are folded below. It needs no network and no script, is legible on a
phone, and follows the reader's light or dark setting. The same results give the same page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Group
from rich.text import Text

from seminaive.encode import without_formulas
from seminaive.errors import InputError
from seminaive.files import whole_file, write_text
from seminaive.pages import page_text
from seminaive_experiments import report_pictures, report_tables
from seminaive_experiments.inline_svg import COLOURS, N_MODEL_COLOURS, inline_svg
from seminaive_experiments.results_file import ExperimentResults
from seminaive_experiments.summary import LossSummary, is_learning_curve, same_models, summarise
from seminaive_experiments.terminal import explanation, terminal_tables, title_of
from seminaive_experiments.verdict import verdict


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
        write_text(path, self.html())

    def terminal(self) -> Group:
        """Give tables for ``rich.print``: which model is best, all of them, the first measure by table."""
        parts: list[Any] = []
        for section in self._sections():
            parts += [Text(section.verdict)] if section.verdict else []
            parts.append(terminal_tables(section.summaries, section.folds))
        return Group(*parts)

    def html(self) -> str:
        """Compose the page; without matplotlib it has no pictures, and says so."""
        content = page_text(
            "seminaive_experiments",
            "report_page",
            {"inline": inline_svg, "title_of": title_of},
            title=self.title,
            colours=COLOURS,
            n_model_colours=N_MODEL_COLOURS,
            sections=self._sections(),
            notes=self.notes,
            histograms=self.results.histograms,
            tables=report_tables,
            pictures=report_pictures if find_spec("matplotlib") else None,
        )
        return f"{content}\n"

    def _sections(self) -> "list[ReportSection]":
        """Part the results by the models that met, and summarise every measure of each part."""
        sections = []
        for folds in same_models(self.results.folds):
            found = [summarise(folds, metric) for metric in self.results.metrics]
            order = found[0].order()
            split = self.results.bias_variance
            split = split[split["dataset"].isin(found[0].mean.index) & split["model"].isin(order)]
            sections.append(ReportSection(folds, [summary.in_order(order) for summary in found], split))
        return sections


@dataclass(frozen=True, eq=False)
class ReportSection:
    """The part of a report about tables on which the same models met.

    Parameters
    ----------
    folds : DataFrame
    summaries : list of LossSummary
        One per measure; models have the numbers and colours of their position in the first.
    bias_variance : DataFrame
    """

    folds: pd.DataFrame
    summaries: list[LossSummary]
    bias_variance: pd.DataFrame

    @property
    def tables(self) -> list[str]:
        """The names of the tables."""
        return [str(name) for name in self.summaries[0].mean.index]

    @property
    def is_learning_curve(self) -> bool:
        """Whether the folds are steps of growing training sets."""
        return is_learning_curve(self.folds)

    @property
    def verdict(self) -> str:
        """Which model is best, and what ties with it."""
        return verdict(self.summaries[0], self.folds)

    @property
    def extent(self) -> str:
        """How many models, tables and results there are, and how to read the measures."""
        n_models, n_tables = len(self.summaries[0].models), len(self.tables)
        tables = f"{n_tables} tables" if n_tables > 1 else "one table"
        return (
            f"{n_models} models on {tables}, {len(self.folds):,} results; all models saw the same splits. "
            f"{explanation(self.summaries)}"
        )
