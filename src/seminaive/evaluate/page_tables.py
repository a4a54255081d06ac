"""The tables of a report's page."""

from html import escape
from typing import Any

import numpy as np
import pandas as pd

from seminaive.evaluate.report_page import wide_table
from seminaive.evaluate.summary import LossSummary, failures, fit_seconds, pairs_on_one_table
from seminaive.evaluate.terminal import plain, title_of

__all__ = [
    "failures_section",
    "one_table_pairs",
    "overview",
    "p_value",
    "pairs_by_rank",
    "table_by_table",
    "wins",
]

_SIGNIFICANT = 0.05


def failures_section(folds: pd.DataFrame) -> str:
    """List folds that failed, and warnings."""
    parts = []
    failed = failures(folds)
    if len(failed):
        rows = "".join(
            f"<tr><th scope=row>{escape(str(row.dataset))}</th><td>{escape(str(row.model))}</td>"
            f"<td>{row.failed} of {row.folds}</td><td class=message>{escape(str(row.message))}</td></tr>"
            for row in failed.itertuples()
        )
        table = wide_table("<th>table</th><th>model</th><th>folds</th><th>first message</th>", rows)
        parts.append(
            "<section class=failed><h2>Failures</h2><p>These folds raised an error. They are left out of the "
            f"means; everything else was run.</p>{table}</section>"
        )
    if "warning" in folds and (folds["warning"] != "").any():
        warned = folds[folds["warning"] != ""]
        rows = "".join(
            f"<tr><th scope=row>{escape(str(model))}</th><td>{len(group)}</td>"
            f"<td class=message>{escape(str(group['warning'].iloc[0]))}</td></tr>"
            for model, group in warned.groupby("model", sort=False)
        )
        table = wide_table("<th>model</th><th>folds</th><th>first warning</th>", rows)
        parts.append(f"<details><summary>Warnings of the models</summary>{table}</details>")
    return "".join(parts)


def one_table_pairs(summary: LossSummary, folds: pd.DataFrame) -> str:
    """Compare pairs of models within one table, where there are no ranks over several."""
    if summary.mean.shape[1] < 2:
        return ""
    if len(summary.mean) > 1 or not {"repetition", "fold", "n_train", "n_test"} <= set(folds.columns):
        return "<p>Ranks and wins need at least two tables on which every model finished.</p>"
    rows = []
    for row in pairs_on_one_table(folds, summary.metric).to_dict("records"):
        names = (row["first"], row["second"]) if row["difference"] <= 0 else (row["second"], row["first"])
        kind = " class=best" if row["holm"] <= _SIGNIFICANT else ""
        rows.append(
            f"<tr><th scope=row class=pair>{escape(str(names[0]))} before {escape(str(names[1]))}</th>"
            f"<td>{abs(row['difference']):.4f}</td><td>{p_value(row['p_value']).lstrip('= ')}</td>"
            f"<td{kind}>{p_value(row['holm']).lstrip('= ')}</td></tr>"
        )
    if not rows:
        return ""
    table = wide_table("<th>pair</th><th>difference</th><th>p</th><th>p adjusted (Holm)</th>", "".join(rows))
    return (
        "<h3>Pairs of models</h3><p>Corrected resampled t test on the folds that both finished. It speaks of "
        f"this table only.</p>{table}"
    )


def overview(summaries: list[LossSummary], folds: pd.DataFrame) -> str:
    """Make the main table: one row per model, best first, as the summaries have them.

    Means are over the tables that every model finished. On a narrow screen only the leading measure, the
    rank and the time are shown.
    """
    first = summaries[0]
    several = len(first.mean) > 1
    means = [(summary.complete if several else summary.mean).mean() for summary in summaries]
    ranks = first.ranks() if several else None
    seconds = fit_seconds(folds)
    titles = [title_of(summary.metric) for summary in summaries]
    head = f"<th>model</th><th>{escape(titles[0])}</th>"
    head += "<th>mean rank</th>" if several else ""
    head += "".join(f"<th class=extra>{escape(title)}</th>" for title in titles[1:])
    head += "" if seconds is None else "<th>seconds to fit</th>"
    rows = []
    for number, model in enumerate(first.models):
        error = "" if several else _spread(first.error.iloc[0][model])
        key = f'<span class=key style="background:var(--m{number})"></span>'
        cells = [
            f"<th scope=row>{key}{number + 1} {escape(str(model))}</th>",
            _value(means[0][model], first.best(means[0]), 4, error),
        ]
        cells += [] if ranks is None else [f"<td>{plain(ranks[model], 2)}</td>"]
        cells += [
            _value(mean[model], summary.best(mean), 3, kind="extra")
            for summary, mean in zip(summaries[1:], means[1:], strict=True)
        ]
        cells += [] if seconds is None else [f"<td>{plain(seconds[model], 3)}</td>"]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<div class=main>{wide_table(head, ''.join(rows))}</div>"


def _spread(error: float) -> str:
    return "" if np.isnan(error) else f"<span class=error> ±{error:.4f}</span>"


def _value(value: float, best: float, digits: int, beside: str = "", kind: str = "") -> str:
    """Make a cell, bold where it is the best of its column."""
    kinds = " ".join([kind, "best" if value == best else ""]).strip()
    return f'<td class="{kinds}">{plain(value, digits)}{beside if not np.isnan(value) else ""}</td>'


def table_by_table(summary: LossSummary) -> str:
    """Make a table of means and standard errors: tables by models, the fewer of them as columns."""
    most = summary.count.to_numpy().max()
    tables, models = list(summary.mean.index), summary.models

    def cell(table: Any, model: Any) -> str:
        value, count = summary.mean.loc[table, model], summary.count.loc[table, model]
        short = f' <span class=short title="folds that finished">{count} folds</span>' if count < most else ""
        beside = "" if np.isnan(value) else _spread(summary.error.loc[table, model])
        kind = " class=best" if value == summary.best(summary.mean.loc[table]) else ""
        return f"<td{kind}>{plain(value, 4)}{beside}{short}</td>"

    named = {model: f"{number + 1} {escape(str(model))}" for number, model in enumerate(models)}
    if len(models) <= len(tables):
        head = "<th>table</th>" + "".join(f"<th>{named[model]}</th>" for model in models)
        rows = [
            f"<tr><th scope=row>{escape(str(table))}</th>{''.join(cell(table, m) for m in models)}</tr>"
            for table in tables
        ]
    else:
        head = "<th>model</th>" + "".join(f"<th>{escape(str(table))}</th>" for table in tables)
        rows = [
            f"<tr><th scope=row>{named[model]}</th>{''.join(cell(table, model) for table in tables)}</tr>"
            for model in models
        ]
    return wide_table(head, "".join(rows))


def pairs_by_rank(summary: LossSummary) -> str:
    """Compare all pairs of models by their average ranks over tables."""
    tests = summary.pairs()
    if tests is None:
        return ""
    adjusted = "bergmann_hommel" if "bergmann_hommel" in tests.pairs else "holm"
    name = {"bergmann_hommel": "Bergmann-Hommel", "holm": "Holm"}[adjusted]
    rows = []
    for row in tests.pairs.sort_values("p_value", kind="stable").to_dict("records"):
        better, worse = sorted((row["first"], row["second"]), key=lambda model: float(tests.ranks[model]))
        kind = " class=best" if row[adjusted] <= _SIGNIFICANT else ""
        rows.append(
            f"<tr><th scope=row class=pair>{escape(str(better))} before {escape(str(worse))}</th>"
            f"<td>{p_value(row['p_value']).lstrip('= ')}</td>"
            f"<td{kind}>{p_value(row[adjusted]).lstrip('= ')}</td></tr>"
        )
    table = wide_table(f"<th>pair</th><th>p</th><th>p adjusted ({name})</th>", "".join(rows))
    return f"<h3>Pairs of models, by average ranks</h3>{table}"


def p_value(value: float) -> str:
    """Write a p-value with its relation sign."""
    return "&lt; 0.001" if value < 0.001 else f"= {value:.3f}"


def wins(summary: LossSummary) -> str:
    """Count on how many tables each model beats each other one."""
    head = "".join(f"<th>{i + 1}</th>" for i in range(len(summary.models)))
    rows = []
    for i, first in enumerate(summary.models):
        cells = []
        for second in summary.models:
            outcome = None if first == second else summary.against(first, second)
            if outcome is None:
                cells.append("<td class=self></td>")
                continue
            counts, p_value = outcome
            kind = ""
            if p_value <= _SIGNIFICANT:
                kind = " class=win" if counts.win > counts.loss else " class=lose"
            cells.append(f'<td{kind} title="sign test p = {p_value:.3g}">{counts}</td>')
        rows.append(f"<tr><th scope=row>{i + 1} {escape(str(first))}</th>{''.join(cells)}</tr>")
    return (
        "<h3>Win / draw / loss</h3><p>Tables on which the row's model is better, equal and worse than the "
        "column's. Coloured where the sign test gives p ≤ 0.05.</p>"
        + wide_table(f"<th></th>{head}", "".join(rows))
    )
