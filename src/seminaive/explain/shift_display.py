"""How the mean score moved, term by term, and how one column is distributed before and now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.errors import InputError
from seminaive.explain.plotting import draw_steps
from seminaive.explain.reading import clipped
from seminaive.explain.shift import shift

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.explain.shift import Shift
    from seminaive.explain.shift_columns import ColumnShift


class ShiftDisplay(Display):
    """The mean score from before to now: one bar per term, the longest first; alarms are marked.

    Parameters
    ----------
    found : Shift
    max_terms : int, default=12
        Terms that are drawn, those that move the mean score most; the others are one bar.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import NaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ShiftDisplay.from_estimator(NaiveBayes().fit(X, y), X[y == 2])
    >>> display.names[0]
    'petal length (cm)'
    """

    def __init__(self, found: Shift, max_terms: int = 12) -> None:
        self.found = found
        self.max_terms = max_terms
        ordered = sorted(found.terms.items(), key=lambda term: -abs(term[1]))
        shown, rest = ordered[:max_terms], ordered[max_terms:]
        self.names = [name for name, _ in shown]
        self.values = np.array([change for _, change in shown])
        if rest:
            self.names.append(f"{len(rest)} smaller parts")
            self.values = np.append(self.values, sum(change for _, change in rest))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        rows: Any,
        y: Any = None,
        *,
        since: Any = None,
        target: Any = None,
        max_terms: int = 12,
        ax: Any = None,
    ) -> ShiftDisplay:
        """Compare rows with those of training, and draw what moved the mean score.

        Parameters
        ----------
        estimator : a fitted additive model
        rows, y, since, target
            As of `shift`.
        max_terms : int, default=12
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        return cls(shift(estimator, rows, y, since=since, target=target), max_terms).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the bars from top to bottom."""
        alarms = set(self.found.alarms)
        names = [f"{clipped(name, 36)}{' (alarm)' if name in alarms else ''}" for name in self.names]
        draw_steps(self.ax_, self.found.before, self.values, ["before", *names, "now"])
        self.ax_.set_xlabel(f"mean {clipped(self.found.name, 50)}")
        self.ax_.spines[["top", "right"]].set_visible(False)


@dataclass(eq=False, repr=False)
class ColumnShiftDisplay(Display):
    """The shares of one column's levels, or of ranges between deciles, before and now.

    Parameters
    ----------
    column : ColumnShift
    max_levels : int, default=20
        Levels that are drawn, those with the largest shares; the others are one bar.
    """

    column: ColumnShift
    max_levels: int = 20

    @classmethod
    def from_estimator(
        cls, estimator: Any, rows: Any, column: str | None = None, *, since: Any = None, ax: Any = None
    ) -> ColumnShiftDisplay:
        """Compare one column of rows with training.

        Parameters
        ----------
        estimator : a fitted additive model
        rows, since
            As of `shift`.
        column : str, default=None
            None is the one that changed most.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        columns = {column.name: column for column in shift(estimator, rows, since=since).columns}
        if column is not None and column not in columns:
            raise InputError(f"there is no column {column!r}: the model has {list(columns)}")
        return cls(columns[column or next(iter(columns))]).plot(ax=ax)

    def _draw(self) -> None:
        """Draw two bars per level."""
        labels, before, now = self._shown()
        heights = np.arange(len(labels))
        self.ax_.barh(heights - 0.2, before, height=0.38, color="0.6", label="before")
        self.ax_.barh(heights + 0.2, now, height=0.38, color="C3", label="now")
        names = [clipped(label, 28) for label in labels]
        self.ax_.set_yticks(heights, names, fontsize="small" if len(names) < 14 else "x-small")
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel("share of the rows")
        self.ax_.set_title(clipped(self.column.name, 50), fontsize="medium")
        self.ax_.legend(frameon=False)
        self.ax_.spines[["top", "right"]].set_visible(False)

    def _shown(self) -> tuple[list[str], Floats, Floats]:
        """Return labels and shares: levels that occur, in order, the smallest of many as one."""
        shares = np.array([side / max(side.sum(), 1e-300) for side in (self.column.before, self.column.now)])
        occurs = np.flatnonzero(shares.max(axis=0) > 0)
        largest = occurs[np.argsort(-shares[:, occurs].max(axis=0), kind="stable")]
        kept, rest = np.sort(largest[: self.max_levels]), largest[self.max_levels :]
        labels = [self.column.labels[k] for k in kept.tolist()]
        shown = shares[:, kept]
        if len(rest):
            labels.append(f"{len(rest)} others")
            shown = np.column_stack([shown, shares[:, rest].sum(axis=1)])
        return labels, shown[0], shown[1]
