"""Axes for pictures of an evaluation, and what to install where matplotlib is missing."""

from typing import Any

from seminaive.errors import MissingExtraError

__all__ = ["axes_of"]


def axes_of(ax: Any, size: tuple[float, float] = (5.4, 4.4)) -> Any:
    """Return the axes, or those of a new figure of some inches for None."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'seminaive[plot]'") from error
    return plt.subplots(figsize=size, layout="constrained")[1]
