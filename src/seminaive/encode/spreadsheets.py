"""Cells that a spreadsheet would run, written so that it shows them."""

from __future__ import annotations

from typing import Any

# A cell that begins so is a formula to spreadsheets.
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def without_formulas(frame: Any) -> Any:
    """Return a pandas frame whose text cells and names get an apostrophe where they look like formulas.

    For CSV files that people open in a spreadsheet: a name such as ``=cmd()`` from a stranger's table is
    shown and not run. Numbers are left as they are.

    >>> import pandas as pd
    >>> without_formulas(pd.DataFrame({"=a": ["=1+1", "b"], "loss": [-1.5, 2.0]})).columns.tolist()
    ["'=a", 'loss']
    """

    def shown(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_MARKS) else cell

    made = frame.copy()
    for position, kind in enumerate(made.dtypes):
        if kind.kind not in "iufb":
            made.isetitem(position, made.iloc[:, position].map(shown))
    made.columns = [shown(name) for name in made.columns]
    return made
