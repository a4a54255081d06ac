"""The line from naive Bayes to logistic regression, drawn: loss on unseen rows against training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from seminaive.displays import Display
from seminaive.errors import InputError
from seminaive.evaluate.forecast import LearningCurveForecast
from seminaive.evaluate.labels import classes_of
from seminaive.evaluate.metrics import log_loss

# Rows that are kept for judging, at most.
_MOST_TEST_ROWS = 5000


@dataclass(eq=False, repr=False)
class ContinuumDisplay(Display):
    """Log loss of several models against the number of training rows.

    A model with low variance, such as naive Bayes, is ahead at the left, where rows are few; one with low
    bias, such as logistic regression, at the right. A model in between should be close to the better of the
    two everywhere. Make it with `from_models`.

    Parameters
    ----------
    losses : DataFrame
        Columns ``model``, ``n_train``, ``log_loss`` (mean over the repetitions) and ``error`` (its standard
        error).
    forecast : DataFrame or None, default=None
        As of ``LearningCurveForecast``: the lines go on to the right of the data, with a band.

    Attributes
    ----------
    lines_ : dict of str to matplotlib Line2D
        One per model.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ends = {"naive Bayes": GaussianNB(), "logistic regression": LogisticRegression(max_iter=1000)}
    >>> display = ContinuumDisplay.from_models(ends, X, y, train_sizes=[15, 60], n_repeats=2)
    >>> display.losses["n_train"].tolist()
    [15, 60, 15, 60]
    """

    losses: pd.DataFrame
    forecast: pd.DataFrame | None = None
    inches = (6.4, 4.0)

    @classmethod
    def from_forecast(cls, found: LearningCurveForecast, *, ax: Any = None) -> "ContinuumDisplay":
        """Draw a learning curve, and how it would go on with more rows.

        Parameters
        ----------
        found : LearningCurveForecast
            What `learning_curve_forecast` returned.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        return cls(found.losses, found.forecast).plot(ax=ax)

    @classmethod
    def from_models(
        cls,
        models: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        train_sizes: Sequence[int] | None = None,
        n_repeats: int = 5,
        random_state: int = 0,
        ax: Any = None,
    ) -> "ContinuumDisplay":
        """Fit models to growing random parts of a table, and draw their losses on other rows.

        Parameters
        ----------
        models : mapping of str to classifier
            Any classifiers with ``predict_proba``, by the names that the picture shows; cloned for every fit.
        X : frame or array
        y : array-like of shape (n_rows,)
        train_sizes : sequence of int, default=None
            Numbers of training rows; None takes six from 4 rows per class to two thirds of the table, at
            equal ratios.
        n_repeats : int, default=5
            Random parts of each size; all models see the same ones.
        random_state : int, default=0
            Seed of the parts.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        X = X if hasattr(X, "iloc") else pd.DataFrame(np.asarray(X))
        _, classes, codes = classes_of(y)
        sizes = _sizes(train_sizes, len(codes), len(classes))
        rows = []
        for size in sizes:
            test = min(len(codes) - size, _MOST_TEST_ROWS)
            parts = StratifiedShuffleSplit(
                n_repeats, train_size=size, test_size=test, random_state=random_state
            )
            for train, held_out in parts.split(codes, codes):
                for name, model in models.items():
                    fitted = clone(model).fit(X.iloc[train], classes[codes[train]])
                    said = np.zeros((len(held_out), len(classes)))
                    said[:, np.searchsorted(classes, fitted.classes_)] = fitted.predict_proba(
                        X.iloc[held_out]
                    )
                    rows.append((name, size, log_loss(codes[held_out], said)))
        frame = pd.DataFrame(rows, columns=["model", "n_train", "log_loss"])
        grouped = frame.groupby(["model", "n_train"], sort=False)["log_loss"]
        losses = grouped.agg(["mean", "sem"]).reset_index()
        losses = losses.rename(columns={"mean": "log_loss", "sem": "error"})
        order = losses["model"].map({name: position for position, name in enumerate(models)})
        losses = losses.iloc[np.lexsort([losses["n_train"], order])].reset_index(drop=True)
        return cls(losses).plot(ax=ax)

    def _draw(self) -> None:
        """Draw one line per model, with bars of one standard error."""
        ax = self.ax_
        self.lines_ = {}
        for model, of_model in self.losses.groupby("model", sort=False):
            drawn = ax.errorbar(
                of_model["n_train"],
                of_model["log_loss"],
                yerr=of_model["error"],
                label=model,
                marker="o",
                markersize=4,
                capsize=2,
            )
            self.lines_[model] = drawn.lines[0]
        ax.set(xscale="log", xlabel="training rows", ylabel="log loss on other rows (less is better)")
        sizes = sorted(self.losses["n_train"].unique().tolist())
        if self.forecast is not None:
            self._draw_forecast(self.forecast)
            sizes = [*sizes[::2], *sorted(self.forecast["n_train"].unique().tolist())]
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.tick_params(axis="x", which="minor", length=0, labelbottom=False)
        ax.legend()

    def _draw_forecast(self, forecast: pd.DataFrame) -> None:
        """Draw the forecast of each model, dashed from its last loss on, with its band."""
        ax = self.ax_
        for model, ahead in forecast.groupby("model", sort=False):
            colour = self.lines_[model].get_color()
            measured = self.losses[self.losses["model"] == model].iloc[-1]
            sizes = [measured["n_train"], *ahead["n_train"]]
            ax.plot(sizes, [measured["log_loss"], *ahead["log_loss"]], ls="--", color=colour)
            ax.fill_between(ahead["n_train"], ahead["low"], ahead["high"], color=colour, alpha=0.15, lw=0)


def _sizes(wanted: Sequence[int] | None, n_rows: int, n_classes: int) -> list[int]:
    """Check numbers of training rows, or choose them."""
    if wanted is None:
        return sorted({round(size) for size in np.geomspace(4 * n_classes, 2 * n_rows / 3, 6)})
    sizes = sorted(int(size) for size in wanted)
    if not sizes or sizes[0] < n_classes or sizes[-1] > n_rows - n_classes:
        raise InputError(
            f"train_sizes must leave a row of each of {n_classes} classes on both sides: between {n_classes} "
            f"and {n_rows - n_classes}, got {list(wanted)}"
        )
    return sizes
