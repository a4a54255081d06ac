"""What agrees with the print, table by table, and why the rest does not: the kept counts of all full runs."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pandas as pd

from seminaive_experiments.papers.miss_reasons import NOT_OURS, misses_by_reason

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["agreement_of", "agreement_share", "kept_agreement"]

# What is compared where a column of the cells does not say so.
_QUANTITIES = {"dissertation-tableA2": "0-1 loss, %", "dissertation-tableA3": "RMSE"}


def agreement_of(table: str, cells: pd.DataFrame) -> dict[str, object]:
    """Count the cells of a table, those that agree, and those that nothing run here could agree with.

    Parameters
    ----------
    table : str
        The published table.
    cells : DataFrame
        As a comparison has them.
    """
    reasons = misses_by_reason(table, cells)
    return {
        "table": table,
        "cells": len(cells),
        "agree": int(cells["agrees"].astype(bool).sum()),
        "explained": sum(count for reason, count in reasons if reason.kind in NOT_OURS),
        "median_difference": _median_differences(table, cells),
        "reasons": "; ".join(f"{reason.where} ({count}, {reason.kind})" for reason, count in reasons),
    }


def _median_differences(table: str, cells: pd.DataFrame) -> str:
    """Return the median absolute difference of each quantity, as text."""
    kind = next((cells[column] for column in ("metric", "quantity") if column in cells), cells["cell"])
    medians = cells["difference"].abs().groupby(kind.fillna("value"), sort=False).median()
    named = {_QUANTITIES.get(table, str(key)): float(value) for key, value in medians.items()}
    return ", ".join(f"{key.replace('_', ' ')} {value:.2g}" for key, value in named.items())


def kept_agreement() -> pd.DataFrame:
    """Read the counts of the kept results, one row for each table."""
    path = resources.files("seminaive_experiments.papers") / "kept" / "agreement.csv"
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, keep_default_na=False)


def agreement_share(totals: Mapping[str, int]) -> float:
    """Return the share of agreeing cells among those that another data version or the text does not explain.

    >>> agreement_share({"cells": 110, "agree": 90, "explained": 10})
    0.9
    """
    return totals["agree"] / (totals["cells"] - totals["explained"])
