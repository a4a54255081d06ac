"""The dependences that divided a hybrid model's features, as a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats

# Features up to which each cell has its number written in it, and each row its name.
MOST_NUMBERS = 15
# Of numbers in cells, in points, and the width of one such as 0.12 with its margin, in font sizes.
LARGEST_FONT, WIDTH_OF_A_NUMBER = 8.0, 2.8
POINTS_PER_INCH = 72.0
MOST_NAMES = 40


@dataclass(eq=False, repr=False)
class DependenceDisplay(Display):
    """How much every pair of features depends on each other within the classes.

    Make it with `from_estimator`, of a fitted `HybridLogisticNaiveBayes`. The features of the logistic part
    come first, those of the generative part after a line; within a part the most dependent one leads.

    Parameters
    ----------
    matrix : ndarray of shape (p, p)
        Normalised mutual information given the class, between 0 and 1.
    names : sequence of str
    n_logistic, n_generative : int
        How many of the first features are in the logistic part, and how many of the others in the generative
        one.

    Attributes
    ----------
    image_ : matplotlib AxesImage
    colorbar_ : matplotlib Colorbar
    numbers_ : list of matplotlib Text
        What is written in the cells, of at most 15 features.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_iris
    >>> from seminaive import HybridLogisticNaiveBayes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = HybridLogisticNaiveBayes(partition=["petal length (cm)"]).fit(X, y)
    >>> DependenceDisplay.from_estimator(model).names[0]
    'petal length (cm)'
    """

    matrix: Floats
    names: Sequence[str]
    n_logistic: int
    n_generative: int

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> DependenceDisplay:
        """Draw the dependences of a fitted hybrid model.

        Parameters
        ----------
        estimator : HybridLogisticNaiveBayes
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        if not hasattr(estimator, "partition_") or not hasattr(estimator, "normalized_information_"):
            raise InputError(f"a {type(estimator).__name__} has no dependences to draw: fit a hybrid model")
        matrix, parts = estimator.normalized_information_, estimator.partition_
        apart = matrix - np.diag(np.diag(matrix))
        strongest = np.argsort(-apart.sum(axis=1), kind="stable")
        # The others are in the generative part, or all are in neither part.
        order = sorted(strongest, key=lambda j: j not in parts.logistic)
        names = [estimator.features_[j] for j in order]
        made = cls(matrix[np.ix_(order, order)], names, len(parts.logistic), len(parts.generative))
        return made.plot(ax=ax)

    def _draw(self) -> None:
        """Draw the heat map, the line between the parts, and the numbers where there is room."""
        n_features = len(self.names)
        # A feature's dependence on itself tells nothing, and would take the end of the colours.
        shown = np.ma.masked_array(self.matrix, np.eye(n_features, dtype=bool))
        self.image_ = self.ax_.imshow(shown, cmap="Blues", vmin=0.0)
        self.colorbar_ = self.figure_.colorbar(self.image_, ax=self.ax_, shrink=0.8)
        self.colorbar_.set_label("normalised mutual information given the class")
        if n_features <= MOST_NAMES:
            self.ax_.set_xticks(
                range(n_features), self.names, rotation=45, ha="right", rotation_mode="anchor"
            )
            self.ax_.set_yticks(range(n_features), self.names)
        self.ax_.spines[:].set_visible(False)
        self.ax_.tick_params(length=0)
        if 0 < self.n_logistic < n_features:
            for line in (self.ax_.axhline, self.ax_.axvline):
                line(self.n_logistic - 0.5, color="0.25", linewidth=1.2)
        self.numbers_ = self._write_numbers() if n_features <= MOST_NUMBERS else []
        self.ax_.set_title(f"{self.n_logistic} logistic, {self.n_generative} generative", fontsize="medium")

    def _write_numbers(self) -> list[Any]:
        off = self.matrix[~np.eye(len(self.names), dtype=bool)]
        dark = 0.6 * float(off.max(initial=0.0))
        self.figure_.draw_without_rendering()  # settles how large a cell is
        cell = self.ax_.get_window_extent().width / len(self.names) * POINTS_PER_INCH / self.figure_.dpi
        return [
            self.ax_.text(
                column,
                row,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=min(LARGEST_FONT, cell / WIDTH_OF_A_NUMBER),
                color="white" if value > dark else "0.2",
            )
            for (row, column), value in np.ndenumerate(self.matrix)
            if row != column
        ]
