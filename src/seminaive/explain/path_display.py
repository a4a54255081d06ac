"""A path of models as a picture: one line per feature, its name at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.errors import InputError
from seminaive.explain.plotting import spread_apart
from seminaive.explain.reading import clipped

if TYPE_CHECKING:
    from seminaive.models.path_curves import PathCurves

# Height of a label as a share of the axes, and how many of them fit.
LABEL_HEIGHT = 0.052
MOST_LABELS = 20


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Curves along a path of models, named at their ends.

    Make it with `from_estimator`, of a fitted model that has ``path_curves``.

    Parameters
    ----------
    curves : PathCurves
        Positions on the path, curves, names and labels.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One per curve.
    names_ : list of matplotlib Text
        The names that were written: of at most 20 curves, those that end farthest from 0.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import ForwardStagewiseNaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = PathDisplay.from_estimator(ForwardStagewiseNaiveBayes().fit(X, y))
    >>> display.ax_.get_ylabel()
    'alpha'
    """

    curves: PathCurves

    @classmethod
    def from_estimator(cls, estimator: Any, what: str | None = None, *, ax: Any = None) -> PathDisplay:
        """Draw the path of a fitted model.

        Parameters
        ----------
        estimator : a fitted model with a method ``path_curves``
        what : str, default=None
            Which of the model's curves; None draws its first kind, one curve per feature. Others, where the
            model has them, are "criteria" (training error, AIC, deviance) and "test loss" (of
            cross-validation, with its standard error).
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        PathDisplay
        """
        if not hasattr(estimator, "path_curves"):
            raise InputError(f"a {type(estimator).__name__} has no path to draw: it has no path_curves")
        return cls(estimator.path_curves() if what is None else estimator.path_curves(what)).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the curves, their names and the chosen model."""
        data = self.curves
        # A search moves from one model to the next; a strength falls continuously.
        style = {} if data.logarithmic else {"drawstyle": "steps-post"}
        self.lines_ = [self.ax_.plot(data.x, curve, **style)[0] for curve in data.curves.T]
        if data.error is not None:
            first = data.curves[:, 0]
            self.ax_.fill_between(data.x, first - data.error, first + data.error, alpha=0.2, lw=0)
        if data.logarithmic and (data.x > 0).all():
            self.ax_.set_xscale("log")
            self.ax_.invert_xaxis()
        if data.chosen is not None:
            self.ax_.axvline(data.chosen, color="0.5", linestyle=":", zorder=0)
        self.ax_.set_xlabel(data.x_label)
        self.ax_.set_ylabel(data.y_label)
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.names_ = self._write_names()

    def _write_names(self) -> list[Any]:
        """Write names in the margin, level with the ends of their lines as far as there is room.

        Of lines that end together, the one that ran higher has the higher name.
        """
        curves = self.curves.curves
        if curves.shape[1] == 1:
            return []  # the label of the axis says it
        farthest = np.argsort(np.abs(curves[-1]), kind="stable")[-MOST_LABELS:]
        named = farthest[np.lexsort([curves[:, farthest].sum(axis=0), curves[-1, farthest]])]
        low, high = self.ax_.get_ylim()
        ends = (curves[-1, named] - low) / (high - low)
        return [
            self.ax_.annotate(
                clipped(self.curves.names[j]),
                xy=(1.0, end),
                xycoords="axes fraction",
                xytext=(1.06, height),
                textcoords="axes fraction",
                va="center",
                fontsize="small",
                color=self.lines_[j].get_color(),
                arrowprops={
                    "arrowstyle": "-",
                    "color": self.lines_[j].get_color(),
                    "lw": 0.6,
                    "relpos": (0.0, 0.5),
                    "shrinkA": 1,
                    "shrinkB": 0,
                },
                annotation_clip=False,
            )
            for j, end, height in zip(named, ends, spread_apart(ends, LABEL_HEIGHT), strict=True)
        ]
