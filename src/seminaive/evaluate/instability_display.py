"""How far each row's probability moves when the model is fitted to another sample of rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from seminaive.displays import Display
from seminaive.evaluate.validation_result import Validation

# Rows that are drawn: more would be one grey area.
_MOST_ROWS = 2000


@dataclass(eq=False, repr=False)
class InstabilityDisplay(Display):
    """The probability of each row by the fit to all rows, and the range that it has over the replays.

    Riley and Collins, Stability of clinical prediction models developed using statistical or machine learning
    methods, Biometrical Journal 65, 2023.

    Parameters
    ----------
    rows : DataFrame
        Of ``Validation.instability``, for one class: ``probability``, ``low``, ``high`` and ``mean_change``.
    target : label
        The class.
    coverage : float, default=0.95
        Of the ranges.
    """

    rows: pd.DataFrame
    target: Any
    coverage: float = 0.95
    inches = (5.4, 4.4)

    @classmethod
    def from_validation(
        cls, validation: Validation, target: Any = None, *, ax: Any = None
    ) -> "InstabilityDisplay":
        """Draw the probabilities of one class.

        Parameters
        ----------
        validation : Validation
        target : label, default=None
            The class; None is the last one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        label = validation.classes[validation.position_of(target)]
        rows = validation.instability
        shown = rows[rows["class"] == label]
        if shown.empty:  # of two classes the second is listed, and the first is its mirror
            shown = rows.assign(
                probability=1 - rows["probability"], low=1 - rows["high"], high=1 - rows["low"]
            )
        return cls(shown, label, validation.coverage).plot(ax=ax)

    def _draw(self) -> None:
        """Draw one line per row, from the lower to the upper bound of its range."""
        ordered = self.rows.sort_values("probability", kind="stable")
        step = max(1, -(-len(ordered) // _MOST_ROWS))
        drawn = ordered.iloc[::step]
        self.ax_.vlines(drawn["probability"], drawn["low"], drawn["high"], color="C0", alpha=0.25, lw=1)
        self.ax_.plot([0, 1], [0, 1], color="0.2", lw=1)
        change = float(np.mean(self.rows["mean_change"]))
        self.ax_.set(
            xlim=(0, 1),
            ylim=(0, 1),
            aspect="equal",
            xlabel=f"probability of {self.target} by the model",
            ylabel=f"{self.coverage:.0%} of the replays",
        )
        self.ax_.set_title(f"a replay moves it by {change:.3f} on average", fontsize="medium")
        self.ax_.spines[["top", "right"]].set_visible(False)
