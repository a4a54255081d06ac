"""The tables of a report's page, as cells for its template."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from seminaive_experiments.summary import LossSummary, failures, fit_seconds, pairs_on_one_table
from seminaive_experiments.terminal import plain, title_of

_SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Cell:
    """A cell: a text with CSS classes, a paler standard error and note after it, and a hint for a pointer.

    A cell that names the model of some number has that number and the model's colour before the text.
    """

    text: str
    kind: str = ""
    error: str = ""
    note: str = ""
    hint: str = ""
    model: int | None = None


@dataclass(frozen=True)
class PageTable:
    """A table of a page; the first cell of each row names the row."""

    head: list[Cell]
    rows: list[list[Cell]] = field(default_factory=list)


def _heads(*texts: str) -> list[Cell]:
    return [Cell(text) for text in texts]


def failed_folds(folds: pd.DataFrame) -> PageTable:
    """List models and tables with folds that failed."""
    rows = [
        [
            *_heads(str(row.dataset), str(row.model), f"{row.failed} of {row.folds}"),
            Cell(str(row.message), "message"),
        ]
        for row in failures(folds).itertuples()
    ]
    return PageTable(_heads("table", "model", "folds", "first message"), rows)


def warned_folds(folds: pd.DataFrame) -> PageTable:
    """List models that warned, with their first warning."""
    table = PageTable(_heads("model", "folds", "first warning"))
    if "warning" in folds:
        for model, group in folds[folds["warning"] != ""].groupby("model", sort=False):
            warning = Cell(str(group["warning"].iloc[0]), "message")
            table.rows.append([*_heads(str(model), str(len(group))), warning])
    return table


def mean_measures(summaries: list[LossSummary], folds: pd.DataFrame) -> PageTable:
    """Make the main table: one row per model, best first, as the summaries have them.

    Means are over the tables that every model finished. On a narrow screen only the leading measure, the
    rank and the time are shown.
    """
    first, *others = summaries
    several = len(first.mean) > 1
    means = [(summary.complete if several else summary.mean).mean() for summary in summaries]
    ranks = [first.ranks()] if several else []
    seconds = [found for found in [fit_seconds(folds)] if found is not None]
    head = [
        *_heads("model", title_of(first.metric), *["mean rank"] * len(ranks)),
        *(Cell(title_of(summary.metric), "extra") for summary in others),
        *_heads(*["seconds to fit"] * len(seconds)),
    ]
    table = PageTable(head)
    for number, model in enumerate(first.models):
        error = np.nan if several else first.error.iloc[0][model]
        cells = [Cell(str(model), model=number), _value(means[0][model], first.best(means[0]), 4, error)]
        cells += [Cell(plain(values[model], 2)) for values in ranks]
        cells += [
            _value(mean[model], summary.best(mean), 3, kind="extra")
            for summary, mean in zip(others, means[1:], strict=True)
        ]
        cells += [Cell(plain(values[model], 3)) for values in seconds]
        table.rows.append(cells)
    return table


def _value(
    value: float, best: float, digits: int, error: float = np.nan, *, kind: str = "", note: str = ""
) -> Cell:
    """Make a cell, bold where it is the best."""
    spread = "" if np.isnan(value) or np.isnan(error) else f"±{error:.4f}"
    kinds = f"{kind} best".strip() if value == best else kind
    return Cell(plain(value, digits), kinds, spread, note)


def table_by_table(summary: LossSummary) -> PageTable:
    """Make a table of means and standard errors: tables by models, the fewer of them as columns."""
    most = summary.count.to_numpy().max()
    tables, models = list(summary.mean.index), summary.models

    def cell(table: Any, model: Any) -> Cell:
        count = summary.count.loc[table, model]
        note = f"{count} folds" if count < most else ""
        best = summary.best(summary.mean.loc[table])
        return _value(summary.mean.loc[table, model], best, 4, summary.error.loc[table, model], note=note)

    of_tables = _heads(*map(str, tables))
    of_models = _heads(*(f"{number + 1} {model}" for number, model in enumerate(models)))
    cells = [[cell(table, model) for model in models] for table in tables]
    if len(models) <= len(tables):
        rows = [[name, *row] for name, row in zip(of_tables, cells, strict=True)]
        return PageTable([Cell("table"), *of_models], rows)
    rows = [[name, *row] for name, row in zip(of_models, zip(*cells, strict=True), strict=True)]
    return PageTable([Cell("model"), *of_tables], rows)


def pairs_by_folds(summary: LossSummary, folds: pd.DataFrame) -> PageTable | None:
    """Compare pairs of models within one table; None where there are several or folds are not known."""
    if len(summary.models) < 2:
        return PageTable([])
    if len(summary.mean) > 1 or not {"repetition", "fold", "n_train", "n_test"} <= set(folds.columns):
        return None
    table = PageTable(_heads("pair", "difference", "p", "p adjusted (Holm)"))
    for row in pairs_on_one_table(folds, summary.metric).to_dict("records"):
        names = (row["first"], row["second"]) if row["difference"] <= 0 else (row["second"], row["first"])
        tests = [Cell(p_text(row["p_value"])), _adjusted(row["holm"])]
        table.rows.append([_pair(*names), Cell(f"{abs(row['difference']):.4f}"), *tests])
    return table


def pairs_by_ranks(summary: LossSummary) -> PageTable:
    """Compare all pairs of models by their average ranks; nothing with fewer than two tables."""
    tests = summary.pairs()
    if tests is None:
        return PageTable([])
    adjusted = "bergmann_hommel" if "bergmann_hommel" in tests.pairs else "holm"
    name = {"bergmann_hommel": "Bergmann-Hommel", "holm": "Holm"}[adjusted]
    table = PageTable(_heads("pair", "p", f"p adjusted ({name})"))
    for row in tests.pairs.sort_values("p_value", kind="stable").to_dict("records"):
        names = sorted((row["first"], row["second"]), key=lambda model: float(tests.ranks[model]))
        table.rows.append([_pair(*names), Cell(p_text(row["p_value"])), _adjusted(row[adjusted])])
    return table


def _pair(better: str, worse: str) -> Cell:
    return Cell(f"{better} before {worse}", "pair")


def _adjusted(p_value: float) -> Cell:
    return Cell(p_text(p_value), "best" if p_value <= _SIGNIFICANT else "")


def p_text(p_value: float) -> str:
    """Write a p-value."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def wins(summary: LossSummary) -> PageTable:
    """Count on how many tables each model beats each other one."""
    table = PageTable(_heads("", *(str(number + 1) for number in range(len(summary.models)))))
    for number, first in enumerate(summary.models):
        row = [Cell(f"{number + 1} {first}")]
        for second in summary.models:
            outcome = None if first == second else summary.against(first, second)
            if outcome is None:
                row.append(Cell("", "self"))
                continue
            counts, p_value = outcome
            coloured = "win" if counts.win > counts.loss else "lose"
            kind = coloured if p_value <= _SIGNIFICANT else ""
            row.append(Cell(str(counts), kind, hint=f"sign test p = {p_value:.3g}"))
        table.rows.append(row)
    return table
