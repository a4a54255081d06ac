"""The papers' p-values beside ours: who differs from whom at 0.05."""

from collections.abc import Iterable

import pandas as pd

from seminaive_experiments.pairwise_tests import paired_t_test

__all__ = ["LEVEL", "agreeing_sides", "paired_t_p_values", "printed_p_value"]

LEVEL = 0.05


def printed_p_value(text: str) -> float:
    """Read a printed p-value; one below a bound counts as half of it.

    >>> printed_p_value("0.041"), printed_p_value("<0.001")
    (0.041, 0.0005)
    """
    return float(text[1:]) / 2 if text.startswith("<") else float(text)


def agreeing_sides(pairs: Iterable[tuple[float, str]]) -> tuple[int, int]:
    """Count the pairs of our p-value and a printed one on the same side of 0.05, and all that can be read."""
    readable = [(ours, printed_p_value(text)) for ours, text in pairs if text]
    return sum((ours < LEVEL) == (printed < LEVEL) for ours, printed in readable), len(readable)


def paired_t_p_values(records: pd.DataFrame, keys: list[str], metric: str, method: str) -> "pd.Series[float]":
    """Test a method's losses against NBRLR's over the repetitions of every cell.

    Parameters
    ----------
    records : DataFrame
        One row for each cell, method and repetition.
    keys : list of str
        The columns that name a cell.
    metric, method : str
        The loss, and the method beside NBRLR.
    """
    wide = records.pivot_table(index=[*keys, "repetition"], columns="method", values=metric)
    both = wide[[method, "NBRLR"]].dropna()
    return both.groupby(level=keys).apply(
        lambda cell: paired_t_test(cell[method].to_numpy(), cell["NBRLR"].to_numpy()).p_value
    )
