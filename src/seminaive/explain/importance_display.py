"""Which columns move the scores most, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.explain.reading import clipped, effects_of
from seminaive.explain.what_matters import column_importances, is_negligible, joint_sentence

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import Effects


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """How far each column moves the scores: alone, and by its share of pairs and larger tuples.

    The column that moves them most is on top. What a column says alone is the standard deviation of its
    effect over the training rows; that of a pair or tuple is divided equally among its columns.

    Parameters
    ----------
    names : list of str
    alone, shared : ndarray of shape (n_columns,)
        Standard deviations, their sum decreasing.
    left_out : int
        How many columns were left out.
    name : str
        What the values are standard deviations of.
    note : str
        What pairs amount to together; empty where that is less than a hundredth of the whole.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import NaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ImportanceDisplay.from_estimator(NaiveBayes().fit(X, y)).names[-1]
    'sepal width (cm)'
    """

    names: list[str]
    alone: Floats
    shared: Floats
    left_out: int
    name: str
    note: str

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, max_columns: int = 20, effects: Effects | None = None, ax: Any = None
    ) -> ImportanceDisplay:
        """Draw the columns that move the scores of a model most.

        Parameters
        ----------
        estimator : a fitted additive model
        max_columns : int, default=20
        effects : Effects, default=None
            Of the estimator, where they are at hand; None takes it apart.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = effects or effects_of(estimator)
        alone, shared = column_importances(effects)
        about = "log odds" if effects.n_classes == 2 else "scores"
        note = joint_sentence(effects.tuples, about)
        if is_negligible(effects.tuples, effects):
            shared, note = np.zeros_like(shared), ""
        order = np.argsort(-(alone + shared), kind="stable")
        order = order[(alone + shared)[order] > 0]
        shown = order[:max_columns]
        display = cls(
            [effects.schema.columns[k].name for k in shown],
            alone[shown],
            shared[shown],
            len(order) - len(shown),
            about,
            note,
        )
        return display.plot(ax=ax)

    def _draw(self) -> None:
        """Draw the bars."""
        heights = np.arange(len(self.names))
        self.ax_.barh(heights, self.alone, color="C0", label="alone")
        if self.shared.any():
            self.ax_.barh(heights, self.shared, left=self.alone, color="C1", label="its share of pairs")
            self.ax_.legend(frameon=False, loc="lower right")
        names = [clipped(name, 36) for name in self.names]
        self.ax_.set_yticks(heights, names, fontsize="small" if len(names) < 16 else "x-small")
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(f"standard deviation of the {self.name} over the training rows")
        self.ax_.spines[["top", "right"]].set_visible(False)
        more = f"{self.left_out} weaker columns not drawn" if self.left_out else ""
        # The title begins where the bars do, right of the names.
        width = 82 - max(map(len, names), default=0)
        lines = [*wrap(self.note, width), *([more] if more else [])]
        self.ax_.set_title("\n".join(clipped(line, width) for line in lines), loc="left", fontsize="small")
