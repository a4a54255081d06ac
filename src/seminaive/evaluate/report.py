"""Results for people: a terminal table, a tidy CSV, and one page that opens anywhere.

The page needs no network and no script, is legible on a phone, and follows the reader's light or dark
setting. The same results give the same page.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Group

from seminaive.encode import without_formulas
from seminaive.errors import InputError
from seminaive.evaluate.drawing import Point, box_plot, curves, rank_diagram, scatter
from seminaive.evaluate.results_file import ExperimentResults
from seminaive.evaluate.summary import (
    LossSummary,
    failures,
    final_folds,
    is_learning_curve,
    learning_curves,
    pairs_on_one_table,
    summarise,
)
from seminaive.evaluate.terminal import NO_RESULT, terminal_tables, title_of
from seminaive.files import whole_file

__all__ = ["Report"]

_SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class Report:
    """The results of an experiment, ready to be shown.

    Parameters
    ----------
    results : ExperimentResults
        What ``Experiment.run`` or ``load_results`` gave.
    title : str, default="Comparison of classifiers"
        Headline of the page.
    """

    results: ExperimentResults
    title: str = "Comparison of classifiers"

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
        """Give tables for ``rich.print``: the models over all tables, then the first measure by table."""
        return terminal_tables([self.summary(metric) for metric in self.results.metrics], self.results.folds)

    def html(self) -> str:
        """Compose the page."""
        folds = self.results.folds
        summaries = [self.summary(metric) for metric in self.results.metrics]
        models = summaries[0].models
        sections = [_overview(folds, models, self.title), _failures_section(folds)]
        for position, summary in enumerate(summaries):
            section = _metric_section(summary, folds)
            if position:
                name = escape(title_of(summary.metric))
                section = f"<details><summary>The same in {name}</summary>{section}</details>"
            sections.append(section)
        sections.append(_bias_variance_section(self.results.bias_variance, models))
        sections.append(_time_section(folds, summaries[0]))
        sections.append(_learning_curve_section(folds, summaries[0]))
        sections.append(_reading_section())
        return _page(self.title, len(models), "".join(sections))


# Pieces of the page.


def _table(head: str, rows: str) -> str:
    """Make a table that scrolls sideways in its own frame, so that the page never does."""
    return (
        f"<div class=wide tabindex=0><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _overview(folds: pd.DataFrame, models: list[str], title: str) -> str:
    n_tables, n_folds = folds["dataset"].nunique(), len(folds)
    tables = f"{n_tables} table{'s' if n_tables > 1 else ''}"
    return (
        f"<h1>{escape(title)}</h1><p>{len(models)} models on {tables}, {n_folds:,} results. All models saw "
        f"the same splits. Losses: smaller is better.</p>{_legend(models)}"
    )


def _legend(models: list[str]) -> str:
    keys = "".join(
        f'<li><span class=key style="background:var(--m{i})"></span>{i + 1} {escape(str(model))}</li>'
        for i, model in enumerate(models)
    )
    return f"<ul class=legend>{keys}</ul>"


def _failures_section(folds: pd.DataFrame) -> str:
    parts = []
    failed = failures(folds)
    if len(failed):
        rows = "".join(
            f"<tr><th scope=row>{escape(str(row.dataset))}</th><td>{escape(str(row.model))}</td>"
            f"<td>{row.failed} of {row.folds}</td><td class=message>{escape(str(row.message))}</td></tr>"
            for row in failed.itertuples()
        )
        table = _table("<th>table</th><th>model</th><th>folds</th><th>first message</th>", rows)
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
        table = _table("<th>model</th><th>folds</th><th>first warning</th>", rows)
        parts.append(f"<details><summary>Warnings of the models</summary>{table}</details>")
    return "".join(parts)


def _metric_section(summary: LossSummary, folds: pd.DataFrame) -> str:
    name = escape(title_of(summary.metric))
    several = min(summary.complete.shape) >= 2
    return (
        f"<section><h2>{name}</h2>{_loss_table(summary)}"
        f"{_rank_section(summary) if several else _one_table_section(summary, folds)}"
        f"{_wins(summary) if several else ''}<h3>Spread over the folds</h3>{_boxes(summary, folds)}</section>"
    )


def _one_table_section(summary: LossSummary, folds: pd.DataFrame) -> str:
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
            f"<td>{abs(row['difference']):.4f}</td><td>{_p_value(row['p_value']).lstrip('= ')}</td>"
            f"<td{kind}>{_p_value(row['holm']).lstrip('= ')}</td></tr>"
        )
    if not rows:
        return ""
    table = _table("<th>pair</th><th>difference</th><th>p</th><th>p adjusted (Holm)</th>", "".join(rows))
    return (
        "<h3>Pairs of models</h3><p>Corrected resampled t test on the folds that both finished. It speaks of "
        f"this table only.</p>{table}"
    )


def _loss_table(summary: LossSummary) -> str:
    head = "".join(f"<th>{i + 1} {escape(str(m))}</th>" for i, m in enumerate(summary.models))
    most = summary.count.to_numpy().max()
    means, errors, counts = (f.to_numpy() for f in (summary.mean, summary.error, summary.count))
    rows = []
    for row, dataset in enumerate(summary.mean.index):
        best = summary.best(summary.mean.iloc[row])
        cells = []
        for value, error, count in zip(means[row], errors[row], counts[row], strict=True):
            short = (
                f' <span class=short title="folds that finished">{count} folds</span>' if count < most else ""
            )
            if np.isnan(value):
                cells.append(f"<td>{NO_RESULT}{short}</td>")
                continue
            spread = "" if np.isnan(error) else f"<span class=error> ±{error:.4f}</span>"
            kind = " class=best" if value == best else ""
            cells.append(f"<td{kind}>{value:.4f}{spread}{short}</td>")
        rows.append(f"<tr><th scope=row>{escape(str(dataset))}</th>{''.join(cells)}</tr>")
    if len(summary.complete) > 1:
        mean = "".join(f"<td>{value:.4f}</td>" for value in summary.complete.mean())
        name = "mean" if len(summary.complete) == len(means) else f"mean ({len(summary.complete)} tables)"
        rows.append(f"<tr class=total><th scope=row>{name}</th>{mean}</tr>")
    return _table(f"<th>table</th>{head}", "".join(rows))


def _rank_section(summary: LossSummary) -> str:
    ranks, difference = summary.ranks(), summary.critical_difference()
    numbers = [summary.models.index(model) for model in ranks.index]
    picture = rank_diagram(
        [str(m) for m in ranks.index], numbers, ranks.tolist(), summary.groups(), difference
    )
    equality = summary.equality()
    told = (
        f" Are all models equal? Iman and Davenport's F = {equality[0]:.2f}, p {_p_value(equality[1])}."
        if equality is not None
        else ""
    )
    return (
        f"<h3>Average ranks</h3><figure>{picture}<figcaption>Over {len(summary.complete)} tables. Bars join "
        f"models that Nemenyi's test cannot tell apart at 0.05; shaded: within the critical difference of "
        f"{difference:.2f} ranks from the best.{told}</figcaption></figure>{_pairs_table(summary)}"
    )


def _pairs_table(summary: LossSummary) -> str:
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
            f"<td>{_p_value(row['p_value']).lstrip('= ')}</td>"
            f"<td{kind}>{_p_value(row[adjusted]).lstrip('= ')}</td></tr>"
        )
    table = _table(f"<th>pair</th><th>p</th><th>p adjusted ({name})</th>", "".join(rows))
    return f"<details><summary>All pairs, by average ranks</summary>{table}</details>"


def _p_value(value: float) -> str:
    return "&lt; 0.001" if value < 0.001 else f"= {value:.3f}"


def _wins(summary: LossSummary) -> str:
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
        + _table(f"<th></th>{head}", "".join(rows))
    )


def _boxes(summary: LossSummary, folds: pd.DataFrame) -> str:
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


def _bias_variance_section(split: pd.DataFrame, models: list[str]) -> str:
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
        f"<section><h2>Bias against variance</h2><figure>{picture}{_legend(models)}<figcaption>{told}Kohavi "
        "and Wolpert's split of the 0-1 loss, estimated over repetitions of cross-validation. Along a dashed "
        "line the loss, bias plus variance, is the same.</figcaption></figure></section>"
    )


def _time_section(folds: pd.DataFrame, summary: LossSummary) -> str:
    if "fit_seconds" not in folds or not folds["fit_seconds"].gt(0).any():
        return ""
    seconds = final_folds(folds).query("fit_seconds > 0")
    typical = np.exp(np.log(seconds["fit_seconds"]).groupby(seconds["model"]).mean())
    loss = (summary.complete if len(summary.complete) else summary.mean).mean()
    points = [
        Point(typical[model], loss[model], number, str(model))
        for number, model in enumerate(summary.models)
        if model in typical and np.isfinite(loss[model])
    ]
    if not points:
        return ""
    name = title_of(summary.metric)
    picture = scatter(points, [], "seconds to fit (geometric mean)", name, logarithmic_x=True)
    return (
        f"<section><h2>Time against loss</h2><figure>{picture}{_legend(summary.models)}<figcaption>Mean "
        f"{escape(name)} over the tables. Times depend on the machine and on what else it did.</figcaption>"
        "</figure></section>"
    )


def _learning_curve_section(folds: pd.DataFrame, summary: LossSummary) -> str:
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
        f"above show the last step.</p>{_legend(summary.models)}"
        f"<div class=panels>{''.join(panels)}</div></section>"
    )


def _reading_section() -> str:
    return (
        "<section class=reading><h2>How to read this</h2><p>± is the standard error of a mean over folds, "
        "widened for the training rows that folds share (Nadeau and Bengio). Boxes show quartiles, whiskers "
        "reach to the farthest value within 1.5 interquartile ranges. Ranks compare models over tables "
        "without comparing losses of different tables. A difference on one table says little about "
        "others.</p></section>"
    )


_LIGHT = ("#0b66b5", "#c8500a", "#0c8a63", "#a8408f", "#8a6d00", "#5b5bd6", "#c2274b", "#4f7d12", "#007f91")
_DARK = ("#5aa9f0", "#f2935a", "#48c79c", "#e08acb", "#d9b841", "#a3a3ff", "#ff7d97", "#a4d05c", "#4fd0e0")

_STYLE = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1rem;max-width:72rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);
background:var(--paper)}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .6rem}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}p{max-width:44rem;margin:.4rem 0 .8rem}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;padding:0;margin:.6rem 0}
.key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}
.wide{overflow-x:auto;margin:.5rem 0;border:1px solid var(--rule);border-radius:6px;width:fit-content;
max-width:100%}
table{border-collapse:separate;border-spacing:0;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
tr:last-child>*{border-bottom:0}thead th{border-bottom:1px solid var(--rule)!important;font-weight:600}
th:first-child{text-align:left;position:sticky;left:0;background:var(--paper);max-width:11rem;
overflow:hidden;text-overflow:ellipsis}
th[scope=row]{font-weight:500}td.message{white-space:normal;text-align:left;min-width:16rem}
th.pair{white-space:normal;min-width:10rem}.best{font-weight:700}.error,.short{color:var(--soft);font-weight:400}.short{font-size:.8em}
.total>*{border-top:2px solid var(--rule)}
.win{background:var(--good)}.lose{background:var(--bad)}.self{background:var(--rule)}
.failed h2{color:var(--alarm)}
figure{margin:.4rem 0}figcaption{font-size:.9rem;max-width:44rem;color:var(--soft)}
svg{display:block;width:100%;max-width:30rem;height:auto}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg .tick{fill:var(--soft);font-size:11px}svg .title{fill:var(--soft)}
.grid{stroke:var(--rule)}.stem{stroke:var(--soft);stroke-width:1}.group{stroke:var(--ink);stroke-width:4;
stroke-linecap:round}
.reach{fill:var(--rule);opacity:.6}.whisker{stroke:var(--c);stroke-width:1.5}
.box{fill:var(--c);fill-opacity:.3;stroke:var(--c)}.median{stroke:var(--ink);stroke-width:2}
svg .inside{fill:var(--paper);font-weight:700;font-size:11px}
.beyond{fill:none;stroke:var(--c)}.point{fill:var(--c);stroke:var(--paper);stroke-width:1.5}
.faint{fill:var(--c);opacity:.35}.level{stroke:var(--soft);stroke-dasharray:3 4;opacity:.7}
.curve{fill:none;stroke:var(--c);stroke-width:2}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr));gap:1rem 1.6rem}
.panels figure{content-visibility:auto;contain-intrinsic-size:auto 12rem}
.panels figcaption{font-weight:600;color:var(--ink)}
details{margin:1rem 0;border-top:1px solid var(--rule);padding-top:.6rem}
summary{cursor:pointer;font-weight:600}
.reading{margin-top:3rem;border-top:1px solid var(--rule);color:var(--soft)}
"""


def _colours(colours: tuple[str, ...], n_models: int) -> str:
    return "".join(f"--m{i}:{colours[i % len(colours)]};" for i in range(n_models))


def _page(title: str, n_models: int, body: str) -> str:
    light = (
        "--paper:#fff;--ink:#1b1f24;--soft:#57606a;--rule:#dfe3e8;--good:#d3f0dc;--bad:#fbdcd7;--alarm:#b42318;"
        + _colours(_LIGHT, n_models)
    )
    dark = (
        "--paper:#14171c;--ink:#e6e8eb;--soft:#a0a8b2;--rule:#343a43;--good:#1d4a2d;--bad:#5a2620;--alarm:#ff8a7a;"
        + _colours(_DARK, n_models)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>:root{{color-scheme:light dark;{light}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{_STYLE}</style></head><body>{body}</body></html>\n"
    )
