"""Net benefit: is acting on the model better than acting on every row, or on none."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from seminaive.displays import Display
from seminaive.evaluate.validation_result import Validation


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(Display):
    """Net benefit against the threshold of the probability above which one acts, with its band.

    Parameters
    ----------
    curve : DataFrame
        As of ``Validation.net_benefit``.
    target : label
        The class that is acted upon.
    """

    curve: pd.DataFrame
    target: Any
    inches = (5.4, 4.4)

    @classmethod
    def from_validation(
        cls, validation: Validation, target: Any = None, *, thresholds: Any = None, ax: Any = None
    ) -> "DecisionCurveDisplay":
        """Draw the decision curve of one class.

        Parameters
        ----------
        validation : Validation
        target : label, default=None
            The class that is acted upon; None is the last one.
        thresholds : array-like, default=None
            Probabilities; None takes .01 to .99.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        given = {} if thresholds is None else {"thresholds": thresholds}
        label = validation.classes[validation.position_of(target)]
        return cls(validation.net_benefit(target, **given), label).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the model, and acting on every row and on none."""
        at, top = self.curve["threshold"], float(self.curve[["corrected", "high"]].to_numpy().max())
        self.ax_.fill_between(at, self.curve["low"], self.curve["high"], color="C0", alpha=0.2, lw=0)
        self.ax_.plot(at, self.curve["corrected"], color="C0", label="model, to expect on new rows")
        self.ax_.plot(at, self.curve["apparent"], color="0.35", ls=":", label="model, on the training rows")
        self.ax_.plot(at, self.curve["all"], color="C1", lw=1.2, label="act on every row")
        self.ax_.axhline(0, color="0.5", lw=1, ls="--", label="act on none")
        self.ax_.set(
            xlim=(0, 1),
            ylim=(-0.15 * top, 1.1 * top),
            xlabel=f"act where the probability of {self.target} is above",
            ylabel="net benefit (hits per row)",
        )
        self.ax_.legend(loc="lower left", framealpha=0.9, edgecolor="none", fontsize="small")
        self.ax_.spines[["top", "right"]].set_visible(False)
