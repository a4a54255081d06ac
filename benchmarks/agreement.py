"""Count what agrees in the kept results, and write the counts into the package and docs/reproduction.md.

python benchmarks/agreement.py
"""

import re
from pathlib import Path

import pandas as pd

from seminaive.papers.agreement import agreement_of, agreement_share
from seminaive.papers.miss_reasons import REASONS_FOR_MISSES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
KEPT = ROOT / "src" / "seminaive" / "papers" / "kept" / "agreement.csv"
# Tables that are kept, by text; descriptions of data and what agrees by construction are not counted.
TEXTS = {
    "Chapter 1": [f"hybrid/dissertation-table{k}" for k in ("1.2", "1.3", "1.4", "A1", "A2", "A3")],
    "Hybrid paper": ["hybrid/hybrid-table2"],
    "fsNB": ["fsnb-table1", "fsnb-table2", "fsnb-table4"],
    "NBRLR, simulations": [f"nbrlr-table{k}" for k in (1, 2, 3, 4)],
    "NBRLR, real tables": ["nbrlr-table6", "hybrid/nbrlr-table7", "nbrlr-table8"],
    "Chapter 2": [f"dissertation-table2.{k}" for k in (1, 2, 3, 4, 5, 7, 8)],
    "Chapter 3": ["dissertation-table3.2"],
    "ALR^n": [f"alr/alr-table{k}" for k in (2, 3, 4)],
}


def kept(name):
    """Read the cells of a kept result; those that benchmarks run in parts are in results."""
    folder = ROOT / "results" if "/" in name else ROOT / "docs" / "reproduction"
    return pd.read_csv(folder / f"{name}.csv", comment="#", keep_default_na=False, na_values=["", "nan"])


def counts():
    """Return one row for each kept table."""
    rows = [
        {"text": text, **agreement_of(name.rpartition("/")[2], kept(name))}
        for text, names in TEXTS.items()
        for name in names
    ]
    return pd.DataFrame(rows)


def agreement_lines(found):
    """Return the table of agreement as lines of Markdown."""
    lines = [
        "| text | table | cells | agree | explained | median absolute difference |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in found.to_dict("records"):
        counted = f"{row['cells']} | {row['agree']} | {row['explained']}"
        lines.append(f"| {row['text']} | `{row['table']}` | {counted} | {row['median_difference']} |")
    totals = found[["cells", "agree", "explained"]].sum().to_dict()
    share = f"{agreement_share(totals):.1%} of those not explained"
    return [*lines, f"| all | | {totals['cells']} | {totals['agree']} | {totals['explained']} | {share} |"]


def reason_lines():
    """Return the table of reasons as lines of Markdown."""
    lines = ["| where | kind of reason | what we know |", "| --- | --- | --- |"]
    return lines + [f"| {reason.where} | {reason.kind} | {reason.words} |" for reason in REASONS_FOR_MISSES]


def written(page, mark, lines):
    """Return the page with lines between the marks of a name."""
    start, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    text = start + "\n" + "\n".join(lines) + "\n\n" + end
    return re.sub(re.escape(start) + ".*" + re.escape(end), lambda _: text, page, flags=re.DOTALL)


def main():
    found = counts()
    KEPT.write_text(found.to_csv(index=False), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    page = written(page, "agreement", agreement_lines(found))
    PAGE.write_text(written(page, "reasons", reason_lines()), encoding="utf-8")


if __name__ == "__main__":
    main()
