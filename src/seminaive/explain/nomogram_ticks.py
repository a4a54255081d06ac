"""Where the rulers of a nomogram have ticks, and what is written at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.explain.reading import short_numbers

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode.column_types import Column

MILLION = 1e6


def nice_ticks(most: float) -> tuple[list[float], list[str]]:
    """Return round numbers of points between 0 and the most, and their labels."""
    from matplotlib.ticker import MaxNLocator

    ticks = [float(tick) for tick in MaxNLocator(10).tick_values(0, most) if 0 <= tick <= most * (1 + 1e-9)]
    return ticks, [f"{tick:g}" for tick in ticks]


def number_ticks(
    numbers: Floats, whole: bool, most: int, column: Column | None = None
) -> tuple[list[float], list[str]]:
    """Return ticks of a curve and their labels: its ends and round numbers between them.

    Where training has whole numbers only, so have the ticks.

    Parameters
    ----------
    numbers : ndarray
        Increasing.
    whole : bool
        Whether only whole numbers have ticks.
    most : int
        About how many round numbers there are.
    column : NumericColumn or None, default=None
        Where the numbers are from; those of a column of dates are written as dates.
    """
    from matplotlib.ticker import MaxNLocator

    low, high = float(numbers[0]), float(numbers[-1])
    if whole:
        low, high = float(np.ceil(low)), float(np.floor(high))
    inner = [
        float(tick) for tick in MaxNLocator(most, integer=whole).tick_values(low, high) if low < tick < high
    ]
    ticks = list(dict.fromkeys([low, high, *inner])) if low <= high else []
    return ticks, short_numbers(ticks, 15 if whole else 3, column)


def weight_label(weight: float) -> str:
    """Return a weight as text: whole below a million."""
    if weight < 1 / 16:
        return f"{weight:.0e}"
    return f"{weight:,.10g}" if weight < MILLION else f"{weight:.1e}".replace("e+0", "e").replace("e+", "e")
