"""What one feature says, as a picture: a curve over its numbers, or one mark per category."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.explain.drawing import Display
from seminaive.explain.reading import (
    class_position,
    clipped,
    code_labels,
    effects_of,
    evidence,
    evidence_name,
    feature_named,
)

if TYPE_CHECKING:
    from seminaive.scores import FeatureEffect

# Categories that are drawn: those of the largest training weight.
MOST_CATEGORIES = 25


class EffectDisplay(Display):
    """The effect of one feature on the log odds, or on the scores of the classes.

    A number is a curve between its .5 and its 99.5 % quantile of training, over the density of its training
    rows, with what a missing number adds as a dashed line. Categories are marks, the highest effect on top,
    whose area is the share of training rows.

    Parameters
    ----------
    effect : FeatureEffect
    labels : list of str or None
        Of the categories.
    targets : list of int
        The classes that are drawn, by position.
    names : list of str
        What the value of each class is called.

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
    >>> display = EffectDisplay.from_estimator(NaiveBayes().fit(X, y), "petal width (cm)")
    >>> display.ax_.get_xlabel()
    'petal width (cm)'
    """

    def __init__(
        self, effect: FeatureEffect, labels: list[str] | None, targets: list[int], names: list[str]
    ) -> None:
        self.effect = effect
        self.labels = labels
        self.targets = targets
        self.names = names

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature: str, *, target: Any = None, ax: Any = None
    ) -> EffectDisplay:
        """Draw the effect of one feature.

        Parameters
        ----------
        estimator : a fitted additive model
        feature : str
            The name of a column.
        target : label, default=None
            The class whose log odds or score is drawn. None is the second of two classes, or all of more.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = effects_of(estimator)
        own = feature_named(effects, feature)
        every = target is None and effects.n_classes > 2
        targets = list(range(effects.n_classes)) if every else [class_position(estimator, target)]
        names = [evidence_name(estimator, position) for position in targets]
        labels = code_labels(effects.schema, own.position) if own.table is not None else None
        return cls(own, labels, targets, names).plot(ax=ax)

    def _draw(self) -> None:
        """Draw the effect."""
        if self.effect.curve is not None:
            self._draw_curve()
        else:
            self._draw_categories()
        self.ax_.spines[["top", "right"]].set_visible(False)
        if len(self.targets) > 1:
            self.ax_.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))

    def _draw_curve(self) -> None:
        own, ax = self.effect, self.ax_
        assert own.curve is not None  # noqa: S101 - narrows the type
        low, high = own.range_seen()
        grid = own.curve.grid(low, high) if high > low else np.array([low - 0.5, low + 0.5])
        values, missing = own.curve.at(grid), own.curve.missing
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        for k, (target, name) in enumerate(zip(self.targets, self.names, strict=True)):
            ax.plot(grid, evidence(values, target), color=f"C{k}", label=name.removeprefix("score of "))
            if own.weight[-1] > 0:
                ax.axhline(float(evidence(missing, target)), color=f"C{k}", ls="--", lw=0.8)
        if own.weight[-1] > 0:
            height = float(evidence(missing, self.targets[0]))
            ax.annotate(
                "missing", (1.0, height), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                fontsize="small", color="0.35",
            )  # fmt: skip
        bottom, top = ax.get_ylim()
        inside = (own.seen >= low) & (own.seen <= high)
        if inside.any() and high > low:
            bars = int(np.clip(inside.sum() // 2, 8, 40))  # training keeps bins of numbers, not numbers
            counts, edges = np.histogram(own.seen[inside], bars, (low, high), weights=own.weight[inside])
            room = 0.15 * (top - bottom)
            ax.bar(
                edges[:-1], room * counts / counts.max(), np.diff(edges), bottom - room, align="edge",
                color="0.82", zorder=0,
            )  # fmt: skip
            ax.set_ylim(bottom - room, top)
        ax.set_xlabel(clipped(own.name, 60))
        ax.set_ylabel(clipped(self.names[0], 40) if len(self.names) == 1 else "score")

    def _draw_categories(self) -> None:
        own, ax = self.effect, self.ax_
        assert own.table is not None  # noqa: S101 - narrows the type
        assert self.labels is not None  # noqa: S101 - narrows the type
        heaviest = np.argsort(-own.weight, kind="stable")[:MOST_CATEGORIES]
        shown = heaviest[own.weight[heaviest] > 0]
        if len(self.targets) == 1:
            shown = shown[np.argsort(evidence(own.table[shown], self.targets[0]), kind="stable")]
        else:
            shown = np.sort(shown)[::-1]
        share = own.weight[shown] / own.weight.sum()
        ax.axvline(0.0, color="0.8", lw=0.8, zorder=0)
        for k, (target, name) in enumerate(zip(self.targets, self.names, strict=True)):
            values = evidence(own.table[shown], target)
            if len(self.targets) == 1:
                ax.hlines(np.arange(len(shown)), 0.0, values, color="0.75", lw=1, zorder=1)
            ax.scatter(
                values, np.arange(len(shown)), s=15 + 250 * share, color=f"C{k}", zorder=2,
                label=name.removeprefix("score of "),
            )  # fmt: skip
        names = [f"{clipped(self.labels[code])}  {part:.0%}" for code, part in zip(shown, share, strict=True)]
        ax.set_yticks(np.arange(len(shown)), names, fontsize="small" if len(shown) < 16 else "x-small")
        ax.set_ylim(-0.7, len(shown) - 0.3)
        ax.set_xlabel(clipped(self.names[0], 40) if len(self.names) == 1 else "score")
        left_out = int((own.weight > 0).sum()) - len(shown)
        more = f", {left_out} rarer values not drawn" if left_out else ""
        ax.set_title(f"{clipped(own.name, 40)}{more}", loc="left", fontsize="medium")
