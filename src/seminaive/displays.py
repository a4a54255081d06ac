"""What every picture shares: axes to draw on, and what to install where matplotlib is missing."""

from __future__ import annotations

from typing import Any, Self

from seminaive.errors import MissingExtraError


def axes_of(ax: Any, inches: tuple[float, float] | None = None) -> Any:
    """Return the axes, or those of a new figure for None, of some inches or of matplotlib's default."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("pictures need matplotlib: pip install 'seminaive[plot]'") from error
    return plt.subplots(figsize=inches, layout="constrained")[1]


class Display:
    """A picture that is drawn on axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any
    inches: tuple[float, float] | None = None

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        self.ax_ = axes_of(ax, self.inches)
        self.figure_ = self.ax_.figure
        self._draw()
        return self

    def _draw(self) -> None:
        """Draw on ``ax_``."""
        raise NotImplementedError
