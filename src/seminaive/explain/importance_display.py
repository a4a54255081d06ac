"""Which features and pairs move the scores most, as bars."""

from __future__ import annotations

from typing import Any

from seminaive.explain.drawing import Display
from seminaive.explain.reading import clipped, effects_of
from seminaive.scores import importance


class ImportanceDisplay(Display):
    """The standard deviation of each effect over the training rows, the largest on top.

    Parameters
    ----------
    names : list of str
    values : list of float
        Standard deviations, decreasing.
    orders : list of int
        How many columns each effect has.
    left_out : int
        How many effects were left out.
    name : str
        What the values are standard deviations of.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

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

    def __init__(
        self, names: list[str], values: list[float], orders: list[int], left_out: int, name: str
    ) -> None:
        self.names = names
        self.values = values
        self.orders = orders
        self.left_out = left_out
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_effects: int = 20, ax: Any = None) -> ImportanceDisplay:
        """Draw the effects of a model that move its scores most.

        Parameters
        ----------
        estimator : a fitted additive model
        max_effects : int, default=20
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = effects_of(estimator)
        found = [(importance(own.deviation), own.name, 1) for own in effects.features]
        found += [(importance(own.deviation), own.name, len(own.columns)) for own in effects.tuples]
        found.sort(key=lambda own: -own[0])
        shown = found[:max_effects]
        name = "log odds" if effects.n_classes == 2 else "scores"
        display = cls(
            [own[1] for own in shown],
            [own[0] for own in shown],
            [own[2] for own in shown],
            len(found) - len(shown),
            name,
        )
        return display.plot(ax=ax)

    def _draw(self) -> None:
        """Draw the bars."""
        kinds = {1: "features", 2: "pairs", 3: "larger tuples"}
        for order, name in kinds.items():
            own = [k for k, columns in enumerate(self.orders) if min(columns, 3) == order]
            if own:
                self.ax_.barh(own, [self.values[k] for k in own], color=f"C{order - 1}", label=name)
        names = [clipped(name, 36) for name in self.names]
        self.ax_.set_yticks(range(len(names)), names, fontsize="small" if len(names) < 16 else "x-small")
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(f"standard deviation of the {self.name} over the training rows")
        self.ax_.spines[["top", "right"]].set_visible(False)
        if len(set(self.orders)) > 1:
            self.ax_.legend(frameon=False, loc="lower right")
        if self.left_out:
            self.ax_.set_title(f"{self.left_out} smaller effects not drawn", loc="right", fontsize="small")
