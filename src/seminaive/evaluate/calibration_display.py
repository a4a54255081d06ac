"""What a model says against what is seen: a smooth calibration curve with its band."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from seminaive.displays import Display
from seminaive.evaluate.validation_result import Validation


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """The frequency of a class against its probability: as it seems on the training rows, and corrected.

    A calibrated model is on the diagonal. The bars at the bottom are the probabilities of the training rows.

    Parameters
    ----------
    curve : DataFrame
        As of ``Validation.calibration``.
    probability : array of shape (n_rows,)
        What the model says of the training rows.
    target : label
        The class.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from seminaive.evaluate import validate
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = validate(GaussianNB(), X, y, n_replays=10)
    >>> CalibrationDisplay.from_validation(found, target=1).ax_.get_xlabel()
    'probability of 1 that the model gives'
    """

    curve: pd.DataFrame
    probability: Any
    target: Any
    inches = (5.4, 4.4)

    @classmethod
    def from_validation(
        cls, validation: Validation, target: Any = None, *, ax: Any = None
    ) -> "CalibrationDisplay":
        """Draw the curve of one class.

        Parameters
        ----------
        validation : Validation
        target : label, default=None
            The class; None is the last one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        position = validation.position_of(target)
        said = validation.replays.apparent[:, position]
        return cls(validation.calibration(target), said, validation.classes[position]).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the diagonal, both curves, the band, and the distribution of the probabilities."""
        at = self.curve["probability"]
        self.ax_.plot([0, 1], [0, 1], ls="--", color="0.5", lw=1, label="calibrated")
        self.ax_.fill_between(at, self.curve["low"], self.curve["high"], color="C0", alpha=0.2, lw=0)
        self.ax_.plot(at, self.curve["apparent"], color="0.35", ls=":", label="on the training rows")
        self.ax_.plot(at, self.curve["corrected"], color="C0", label="to expect on new rows")
        heights, edges = np.histogram(self.probability, bins=40, range=(0, 1))
        tallest = 0.12 / max(heights.max(), 1)
        self.ax_.bar(edges[:-1], heights * tallest, np.diff(edges), align="edge", color="0.6", alpha=0.6)
        self.ax_.set(
            xlim=(0, 1),
            ylim=(0, 1),
            xlabel=f"probability of {self.target} that the model gives",
            ylabel=f"share of rows that are {self.target}",
            aspect="equal",
        )
        self.ax_.legend(frameon=False, loc="upper left")
        self.ax_.spines[["top", "right"]].set_visible(False)
