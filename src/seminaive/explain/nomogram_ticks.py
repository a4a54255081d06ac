"""Where the rulers of a nomogram have ticks, and what is written at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.explain.reading import short_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MILLION = 1e6


def nice_ticks(most: float) -> tuple[list[float], list[str]]:
    """Return round numbers of points between 0 and the most, and their labels."""
    from matplotlib.ticker import MaxNLocator

    ticks = [float(tick) for tick in MaxNLocator(10).tick_values(0, most) if 0 <= tick <= most * (1 + 1e-9)]
    return ticks, [f"{tick:g}" for tick in ticks]


def strip_ticks(strip: tuple[Floats, Floats], whole: bool, jumped: bool) -> list[tuple[str, float]]:
    """Return labels and points of the ticks of a strip: its ends and round numbers between them.

    A strip after a jump begins at the next double; its first label is that of the jump, with a sign.

    Parameters
    ----------
    strip : numbers and points
    whole : bool
        Whether only whole numbers have ticks.
    jumped : bool
    """
    from matplotlib.ticker import MaxNLocator

    numbers, points = strip
    low, high = float(numbers[0]), float(numbers[-1])
    candidates = MaxNLocator(8, integer=whole).tick_values(low, high)
    inner = [float(own) for own in candidates if low < own < high]
    start = float(np.nextafter(low, -np.inf)) if jumped else low
    labels = short_numbers([start, high, *inner], 3)
    if jumped:
        labels[0] = f"> {labels[0]}"
    return [
        (text, float(np.interp(number, numbers, points)))
        for number, text in zip([low, high, *inner], labels, strict=True)
    ]


def weight_label(weight: float) -> str:
    """Return a weight as text: whole below a million."""
    if weight < 1 / 16:
        return f"{weight:.0e}"
    return f"{weight:,.10g}" if weight < MILLION else f"{weight:.1e}".replace("e+0", "e").replace("e+", "e")
