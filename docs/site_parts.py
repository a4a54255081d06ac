"""Parts of the site that are made at build time: navigation, reproduction tables, an example of a report."""

import os
import re
import shutil
from pathlib import Path

import pandas as pd

from seminaive.models import NaiveBayes
from seminaive_experiments import Experiment, RepeatedKFold, Report
from seminaive_experiments.papers.reproduction import NotReproduced, catalogue
from seminaive_experiments.rivals import RIVALS

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
EXPERIMENTS = ROOT / "packages" / "experiments"
KEPT = EXPERIMENTS / "results" / "reproduction"
# Sphinx reads one folder: pages and files of the other package are copied into it when the site is built.
COPIED = {EXPERIMENTS / "docs": "experiments", KEPT: "experiments/reproduction"}
LINKS = (r"(?<=\]\()([^)#\s:]+)", r"(?<=<)([^<>\s:]+\.csv)(?=>)")
OWN_PAGES = ("index", "benchmarks", "security")
GUIDES = ("imputation", "scale")
FIRST_FAMILIES = ("semi-naive", "naive-bayes", "nbrlr", "alr", "fsnb", "hybrid")
FIRST_REFERENCES = tuple(
    f"reference/{name}"
    for name in ("public", "seminaive", "evaluate", "explain", "export", "edits", "command-line")
)


def copy_pages() -> None:
    """Put the pages and kept results of the experiments into the folder that Sphinx reads."""
    shutil.rmtree(FOLDER / "experiments", ignore_errors=True)
    for source, place in COPIED.items():
        shutil.copytree(source, FOLDER / place)


def with_links_of_the_site(text: str, docname: str) -> str:
    """Return a page whose links to files of the repository lead to their places on the site."""
    page = FOLDER / f"{docname}.md"
    for source, place in COPIED.items():
        if docname.startswith(f"{place}/"):
            page = source / f"{docname.removeprefix(f'{place}/')}.md"
    here = (FOLDER / docname).parent

    def moved(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / match[1]))
        for source, place in COPIED.items():
            if target.is_relative_to(source):
                return os.path.relpath(FOLDER / place / target.relative_to(source), here)
        return os.path.relpath(target, here) if target.is_relative_to(FOLDER) else match[1]

    for pattern in LINKS:
        text = re.sub(pattern, moved, text)
    return text


def navigation() -> dict[str, list[str]]:
    """Return the pages of each group of the navigation that grows with the package, in their order.

    A page beside the index that is neither a guide nor one of the site's own is about a family of models.
    """
    beside = {path.stem for path in FOLDER.glob("*.md")}
    reference = {f"reference/{path.stem}" for path in (FOLDER / "reference").glob("*.md")}
    return {
        "guides": [name for name in GUIDES if name in beside],
        "families": _in_order(beside - {*OWN_PAGES, *GUIDES}, FIRST_FAMILIES),
        "references": _in_order(reference, FIRST_REFERENCES),
    }


def _in_order(names: set[str], first: tuple[str, ...]) -> list[str]:
    """Return the names that are listed, then the others by alphabet."""
    return [*(name for name in first if name in names), *sorted(names - {*first})]


def example_report(folder: Path) -> None:
    """Write the page that `seminaive compare` writes, on bundled tables."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("sklearn-naive-bayes", "sklearn-logistic-regression", "class-shares")
    models = {"naive-bayes": NaiveBayes(), **{name: RIVALS[name]() for name in names}}
    results = Experiment(models, ["iris", "wine", "breast-cancer"], RepeatedKFold(5, 2)).run(progress=False)
    Report(results, "Example: bundled tables").write_html(folder / "example-report.html")


def reproduction_tables() -> str:
    """Markdown of all published tables: the kept results of full runs, or why there are none."""
    kept, waiting, reasons = [], [], {}
    for name, entry in catalogue().items():
        if isinstance(entry, NotReproduced):
            reasons.setdefault(entry.reason, []).append(f"`{name}` ({entry.title})")
        elif (KEPT / f"{name}.csv").exists():
            kept.append(_section(name, entry))
        else:
            waiting.append(f"| `{name}` | {entry.title} | {entry.needs} | {entry.minutes:g} |")
    parts = ["\n\n".join(kept)]
    if waiting:
        heading = (
            "## Can be run, not kept yet\n\n| table | shows | needs | minutes |\n| --- | --- | --- | --- |\n"
        )
        parts.append(heading + "\n".join(waiting))
    if reasons:
        listed = "\n\n".join(
            f"**Because {reason}:** {'; '.join(tables)}." for reason, tables in reasons.items()
        )
        parts.append(f"## Not run\n\n{listed}")
    return "\n\n".join(parts)


def _section(name, entry):
    path = KEPT / f"{name}.csv"
    head = [
        line.removeprefix("# ") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] == "#"
    ]
    cells = pd.read_csv(path, comment="#", keep_default_na=False, na_values=["", "nan"])
    parts = [f"## {name}: {entry.title}", f"`{head[0]}`  \n{head[1]}", f"**{head[2]}.**"]
    parts.append("\n".join(f"- {remark}" for remark in (*entry.remarks, *head[3:])))
    differ = cells[~cells["agrees"].astype(bool)]
    if len(differ):
        parts.append(f"Cells that do not agree:\n\n{_markdown(differ)}")
    parts.append(f"All cells: {{download}}`{name}.csv <../results/reproduction/{name}.csv>`.")
    return "\n\n".join(parts)


def _markdown(cells):
    if cells["cell"].nunique() == 1:
        cells = cells.drop(columns="cell")
    cells = cells.drop(columns="agrees").dropna(axis=1, how="all")
    rows = [
        "| " + " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row) + " |"
        for row in cells.itertuples(index=False)
    ]
    head = "| " + " | ".join(name.replace("_", " ") for name in cells) + " |"
    return "\n".join([head, "|" + " --- |" * cells.shape[1], *rows])
