"""Reproductions for people: the list of tables, cells beside the paper's, and files to keep."""

from datetime import UTC, datetime
from importlib.metadata import version
from math import isnan
from pathlib import Path
from platform import python_version

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from seminaive.files import whole_file
from seminaive_experiments.papers.acceptance import Acceptance
from seminaive_experiments.papers.agreement import agreement_share, kept_agreement
from seminaive_experiments.papers.figures import figures
from seminaive_experiments.papers.miss_reasons import NOT_COUNTED
from seminaive_experiments.papers.reproduction import Comparison, NotReproduced, Reproduction, catalogue

__all__ = [
    "agreement_table",
    "catalogue_table",
    "comparison_table",
    "figures_table",
    "keep_comparison",
    "keep_misses",
    "versions",
]

_COMPARED = ("ours", "se", "paper", "paper_se", "difference", "standard_errors", "agrees")


def catalogue_table() -> Table:
    """List every published table: what it needs and how long it takes, or why it is not run."""
    table = Table(title="Published tables", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("table", no_wrap=True)
    for heading in ("shows", "needs", "minutes"):
        table.add_column(heading)
    for name, entry in catalogue().items():
        if isinstance(entry, NotReproduced):
            cells = (name, entry.title, f"cannot be run: {entry.reason}", "")
        else:
            cells = (name, entry.title, entry.needs, f"{entry.minutes:g}")
        table.add_row(*map(Text, cells))
    return table


def agreement_table() -> Table:
    """Show for every kept table how many cells agree, how many nothing could agree with, and the reasons."""
    found = kept_agreement()
    totals = {name: int(found[name].sum()) for name in ("cells", "agree", "explained")}
    table = Table(
        title="Kept results beside the print",
        caption=f"{totals['agree']} of {totals['cells']} cells agree: {agreement_share(totals):.1%} of those "
        "that neither another data version nor an inconsistent text explains",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column("table", no_wrap=True)
    for heading in ("cells", "agree", "explained"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("misses, by reason")
    for row in found.to_dict("records"):
        table.add_row(*(Text(str(row[name])) for name in ("table", "cells", "agree", "explained", "reasons")))
    for name, reason in NOT_COUNTED.items():
        table.add_row(name, "", "", "", Text(f"not counted: {reason}"))
    return table


def figures_table() -> Table:
    """List the figures that can be drawn."""
    table = Table(title="Figures", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("figure", no_wrap=True)
    for heading in ("shows", "drawn from"):
        table.add_column(heading)
    for name, figure in figures().items():
        source = "kept results" if figure.kept else "what is computed"
        more = ", or a run with --repetitions" if figure.run else ""
        table.add_row(*map(Text, (name, figure.title, source + more)))
    return table


def comparison_table(reproduction: Reproduction, comparison: Comparison) -> Table:
    """Show ours, the paper's and the difference in standard errors, cell by cell."""
    cells = comparison.cells
    constant = ("cell",) if cells["cell"].nunique() == 1 else ()
    keys = [name for name in cells if name not in (*_COMPARED, *constant)]
    table = Table(
        title=escape(f"{reproduction.name}: {reproduction.title}"),
        caption=str(comparison),
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for key in keys:
        table.add_column(escape(str(key)))
    for heading in ("ours", "paper", "difference", "in s.e.", "agrees"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in cells.to_dict("records"):
        errors = row["standard_errors"]
        table.add_row(
            *(Text(str(row[key])) for key in keys),
            f"{round(row['ours'], 6):.4g}",
            f"{row['paper']:.4g}",
            f"{round(row['difference'], 6):+.4g}",
            "" if isnan(errors) else f"{errors:+.1f}",
            "yes" if row["agrees"] else "no",
        )
    return table


def keep_comparison(comparison: Comparison, path: Path, command: str) -> list[Path]:
    """Write the cells as CSV, under comment lines that say how they came about.

    Losses on single data sets go to a second file beside it. The paths of what was written are returned.
    """
    head = [command, versions()]
    _keep(comparison.cells, path, [*head, str(comparison), *comparison.notes])
    if comparison.data_sets.empty:
        return [path]
    beside = path.with_name(f"{path.stem}-data-sets.csv")
    _keep(comparison.data_sets, beside, [*head, *comparison.notes])
    return [path, beside]


def versions() -> str:
    """Return the date and the versions that a kept result names."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("seminaive", "numpy", "scipy", "scikit-learn")
    )
    return f"{datetime.now(tz=UTC):%Y-%m-%d}, Python {python_version()}, {packages}"


def keep_misses(acceptance: Acceptance, path: Path, command: str) -> None:
    """Write the cells that miss a bar as CSV, under comment lines that say what was judged."""
    lines = [command, str(acceptance), *acceptance.bar.words, *acceptance.sources]
    _keep(acceptance.misses.drop(columns=["cell", "agrees"]), path, lines)


def _keep(cells: pd.DataFrame, path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"# {line}\n" for line in lines)
    with whole_file(path) as part:
        part.write_text(head + cells.round(6).to_csv(index=False), encoding="utf-8")
