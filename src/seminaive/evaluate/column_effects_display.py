"""What one column says, with its range over the replays of a fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from seminaive.displays import Display
from seminaive.errors import InputError
from seminaive.evaluate.validation_result import Validation


@dataclass(eq=False, repr=False)
class ColumnEffectsDisplay(Display):
    """The effect of a column at some of its values, and its range over the replays.

    Effects are in log odds with two classes, in centred scores with more.

    Parameters
    ----------
    effects : DataFrame
        Lines of ``Validation.effects`` of one column and one class: ``value``, ``effect``, ``low``, ``high``.
    column : str
    """

    effects: pd.DataFrame
    column: str
    inches = (3.6, 2.6)

    @classmethod
    def from_validation(
        cls, validation: Validation, column: str, target: Any = None, *, ax: Any = None
    ) -> "ColumnEffectsDisplay":
        """Draw one column.

        Parameters
        ----------
        validation : Validation
            Of a model that tells its effects.
        column : str
        target : label, default=None
            The class, where there are more than two; None is the last one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = validation.effects
        if "class" in effects:
            effects = effects[effects["class"] == validation.classes[validation.position_of(target)]]
        lines = effects[effects["column"] == column]
        if lines.empty:
            known = ", ".join(effects["column"].unique()) or "none, since the model does not tell its effects"
            raise InputError(f"there are no effects of {column!r}: there are those of {known}")
        return cls(lines, column).plot(ax=ax)

    def _draw(self) -> None:
        """Draw a curve with a band for numbers, points with bars for categories."""
        values, low, high = (self.effects[name] for name in ("effect", "low", "high"))
        is_number = all(isinstance(value, int | float | np.number) for value in self.effects["value"])
        if is_number:
            at = self.effects["value"].astype(float)
            self.ax_.fill_between(at, low, high, color="C0", alpha=0.2, lw=0)
            self.ax_.plot(at, values, color="C0")
        else:
            positions = np.arange(len(values))
            self.ax_.vlines(positions, low, high, color="C0", alpha=0.5, lw=3)
            self.ax_.plot(positions, values, "o", color="C0")
            names = [str(value)[:14] for value in self.effects["value"]]
            self.ax_.set_xticks(positions, names, rotation=30, ha="right", fontsize="small")
        self.ax_.axhline(0, color="0.6", lw=0.8)
        self.ax_.set_title(self.column[:40], fontsize="medium")
        self.ax_.spines[["top", "right"]].set_visible(False)
