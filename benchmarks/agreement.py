"""Write the table of agreement into docs/reproduction.md, from the kept results."""

import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
START, END = "<!-- agreement -->\n", "<!-- end of agreement -->\n"
# Tables that are kept, by text; descriptions of data and what agrees by construction are not counted.
TEXTS = {
    "Chapter 1, sizes, 0-1 loss and RMSE": [f"hybrid/dissertation-tableA{k}" for k in (1, 2, 3)],
    "Hybrid paper": ["hybrid/hybrid-table2"],
    "fsNB": ["fsnb-table1", "fsnb-table2", "fsnb-table4"],
    "NBRLR, simulations": [f"nbrlr-table{k}" for k in (1, 2, 3, 4)],
    "NBRLR, hybrid rows": ["hybrid/nbrlr-table1", "hybrid/nbrlr-table2", "hybrid/nbrlr-table7"],
    "NBRLR, real tables": ["nbrlr-table6", "nbrlr-table8"],
    "Chapter 2": [f"dissertation-table2.{k}" for k in (1, 2, 3, 4, 5, 7, 8)],
    "Chapter 3": ["dissertation-table3.2"],
    "ALR^n": ["alr-table2", "alr-table3", "alr-table4"],
}
# What is compared where a column of the cells does not say so.
QUANTITIES = {"dissertation-tableA2": "0-1 loss, %", "dissertation-tableA3": "RMSE"}


def kept(name):
    """Read the cells of a kept result; those of the hybrid models are in results."""
    folder = ROOT / "results" if "/" in name else ROOT / "docs" / "reproduction"
    return pd.read_csv(folder / f"{name}.csv", comment="#", keep_default_na=False, na_values=["", "nan"])


def differences(cells, name):
    """Return the median absolute difference of each quantity, as text."""
    kind = next((cells[column] for column in ("metric", "quantity") if column in cells), cells["cell"])
    medians = cells["difference"].abs().groupby(kind.fillna("value"), sort=False).median()
    named = {QUANTITIES.get(name, key): value for key, value in medians.items()}
    return ", ".join(f"{str(key).replace('_', ' ')} {value:.2g}" for key, value in named.items())


def table():
    """Return the table as lines of Markdown."""
    lines = [
        "| text | table | cells | agree | median absolute difference |",
        "| --- | --- | --- | --- | --- |",
    ]
    counted = agreed = 0
    for text, names in TEXTS.items():
        for name in names:
            cells = kept(name)
            agree = int(cells["agrees"].astype(bool).sum())
            counted, agreed = counted + len(cells), agreed + agree
            short = name.rpartition("/")[2]
            lines.append(f"| {text} | `{short}` | {len(cells)} | {agree} | {differences(cells, short)} |")
    return [*lines, f"| all | | {counted} | {agreed} | |"]


def main():
    page = PAGE.read_text(encoding="utf-8")
    between = re.escape(START) + ".*" + re.escape(END)
    written = START + "\n" + "\n".join(table()) + "\n\n" + END
    PAGE.write_text(re.sub(between, lambda _: written, page, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
