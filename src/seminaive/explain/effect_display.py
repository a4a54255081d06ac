"""What one feature says, as a picture: a curve over its numbers, or one mark per category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.displays import Display
from seminaive.encode import CategoricalColumn, NumericColumn
from seminaive.explain.bands import Bands, of_class
from seminaive.explain.reading import (
    axis_labels,
    class_position,
    clipped,
    effects_of,
    evidence,
    evidence_name,
    feature_named,
    holds_whole_numbers,
    label_text,
)

if TYPE_CHECKING:
    from seminaive.encode.column_types import Column
    from seminaive.scores import Effects, FeatureEffect

# Categories that are drawn: those of the largest training weight.
MOST_CATEGORIES = 25
# A column is skewed where its range is more than this multiple of that of the nine rows in ten nearest to 0.
SKEWED = 10.0
# Ticks of a skewed axis, at least.
FEWEST_TICKS = 3


@dataclass(eq=False, repr=False)
class EffectDisplay(Display):
    """The effect of one feature on the log odds, or on the scores of the classes.

    A number is a curve between its .5 and its 99.5 % quantile of training, over the density of its training
    rows, with what a missing number adds as a dashed line; the share of rows beyond is written at the edge.
    A column whose rows nearly all lie in a small part of its range, at 0 for instance, has an inverse
    hyperbolic sine scale, linear near 0 and logarithmic beyond, and bars whose heights are roots of the
    numbers of rows. Categories are marks, the highest effect or the first level on top, whose area is the
    share of training rows. Intervals are a band around a curve, and lines through the marks.

    Parameters
    ----------
    effect : FeatureEffect
    labels : list of str or None
        Of the categories.
    targets : list of int
        The classes that are drawn, by position.
    names : list of str
        What the value of each class is called or, of several classes, the classes.
    target : str, default="class"
        What is predicted, in the legend of several classes.
    column : column of a schema or None, default=None
        What the feature holds: dates have an axis of dates, and ordered levels are drawn in their order.
    shape : str or None, default=None
        The shape that the feature was fitted under, which is the title.
    bands : Bands or None, default=None
        The intervals around the effect.

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

    effect: FeatureEffect
    labels: list[str] | None
    targets: list[int]
    names: list[str]
    target: str = "class"
    column: Column | None = None
    shape: str | None = None
    bands: Bands | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        feature: str,
        *,
        target: Any = None,
        interval: float | None = None,
        effects: Effects | None = None,
        ax: Any = None,
    ) -> EffectDisplay:
        """Draw the effect of one feature.

        Parameters
        ----------
        estimator : a fitted additive model
        feature : str
            The name of a column.
        target : label, default=None
            The class whose log odds or score is drawn. None is the second of two classes, or all of more.
        interval : float or None, default=None
            The coverage of intervals that are drawn around the effect, such as .95.
        effects : Effects, default=None
            Of the estimator, where they are at hand; None takes it apart.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        """
        effects = effects or effects_of(estimator)
        effect = feature_named(effects, feature)
        every = target is None and effects.n_classes > 2
        targets = list(range(effects.n_classes)) if every else [class_position(estimator, target)]
        if every:
            names = [label_text(estimator.classes_[position]) for position in targets]
        else:
            names = [evidence_name(estimator, position) for position in targets]
        labels = axis_labels(effects, effect.position) if effect.table is not None else None
        predicted = getattr(estimator, "target_name_", "class")
        column = effects.schema.columns[effect.position]
        shape = getattr(estimator, "shapes_", {}).get(feature)
        bands = Bands.of(estimator, interval)
        return cls(effect, labels, targets, names, predicted, column, shape, bands).plot(ax=ax)

    @property
    def _value_name(self) -> str:
        """What is drawn: the value of one class, or of each."""
        if len(self.names) == 1:
            return clipped(self.names[0], 40)
        return "score of each class" + ("" if self.target == "class" else f" of {clipped(self.target, 20)}")

    def _draw(self) -> None:
        """Draw the effect."""
        if self.effect.curve is not None:
            self._draw_curve()
        else:
            self._draw_categories()
        if self.shape is not None:
            self.ax_.set_title(f"fitted as {clipped(self.shape, 40)}", loc="left", fontsize="medium")
        self.ax_.spines[["top", "right"]].set_visible(False)
        if len(self.targets) > 1:
            self.ax_.legend(
                title=clipped(self.target, 20), frameon=False, fontsize="small", loc="upper left",
                bbox_to_anchor=(1.0, 1.0),
            )  # fmt: skip

    def _draw_curve(self) -> None:
        effect, ax = self.effect, self.ax_
        assert effect.curve is not None  # noqa: S101 - narrows the type
        low, high = effect.range_seen()
        grid = effect.curve.grid(low, high) if high > low else np.array([low - 0.5, low + 0.5])
        has_dates = isinstance(self.column, NumericColumn) and self.column.has_dates
        width = None if has_dates else linear_width(effect)
        if has_dates:
            _set_date_ticks(ax)
        elif width is not None:
            _set_skewed_scale(ax, low, high, width)
        elif holds_whole_numbers(effect):
            from matplotlib.ticker import MaxNLocator

            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        values, missing = effect.curve.at(grid), effect.curve.missing
        ax.axhline(0.0, color="0.5", alpha=0.5, lw=0.8, zorder=0)
        for k, (target, name) in enumerate(zip(self.targets, self.names, strict=True)):
            ax.plot(grid, evidence(values, target), color=f"C{k}", label=name)
            if self.bands is not None:
                below, above = of_class(self.bands.of_feature(effect, grid), target)
                curve = evidence(values, target)
                ax.fill_between(grid, curve - below, curve + above, color=f"C{k}", alpha=0.2, lw=0)
            if effect.weight[-1] > 0:
                ax.axhline(float(evidence(missing, target)), color=f"C{k}", ls="--", lw=0.8)
        if effect.weight[-1] > 0:
            height = float(evidence(missing, self.targets[0]))
            ax.annotate(
                "missing", (1.0, height), xycoords=("axes fraction", "data"), ha="right", va="bottom",
                fontsize="small", color="0.5",
            )  # fmt: skip
        if high > low:
            self._draw_rows(low, high, width)
        ax.set_xlabel(clipped(effect.name, 60))
        ax.set_ylabel(self._value_name)

    def _draw_rows(self, low: float, high: float, width: float | None) -> None:
        """Draw how many training rows have which number, and say how many are beyond the curve."""
        effect, ax = self.effect, self.ax_
        bottom, top = ax.get_ylim()
        room = 0.15 * (top - bottom)
        inside = (effect.seen >= low) & (effect.seen <= high)
        bars = int(np.clip(inside.sum() // 2, 8, 40))  # training keeps bins of numbers, not numbers
        unit = 1.0 if width is None else width
        ends = np.arcsinh(np.array([low, high]) / unit) if width is not None else np.array([low, high])
        edges = np.linspace(ends[0], ends[1], bars + 1)
        edges = edges if width is None else np.sinh(edges) * unit
        edges[[0, -1]] = low, high
        counts, _ = np.histogram(effect.seen[inside], edges, weights=effect.weight[inside])
        heights = counts if width is None else np.sqrt(counts)
        ax.bar(
            edges[:-1], room * heights / (heights.max() or 1.0), np.diff(edges), bottom - room,
            align="edge", color="0.5", alpha=0.35, zorder=0,
        )  # fmt: skip
        ax.set_ylim(bottom - room, top)
        total = effect.weight.sum()
        for beyond, x, side in ((effect.seen < low, 0.0, "left"), (effect.seen > high, 1.0, "right")):
            share = float(effect.weight[beyond].sum() / total) if total > 0 else 0.0
            if share > 0:
                arrow = "←" if side == "left" else "→"
                text = f"{max(share, 0.001):.1%}"
                ax.annotate(
                    f"{arrow} {text}" if side == "left" else f"{text} {arrow}", (x, 0.0),
                    xycoords="axes fraction", xytext=(0, 2), textcoords="offset points", ha=side,
                    va="bottom", fontsize="x-small", color="0.5",
                )  # fmt: skip

    def _draw_categories(self) -> None:
        effect, ax = self.effect, self.ax_
        assert effect.table is not None  # noqa: S101 - narrows the type
        assert self.labels is not None  # noqa: S101 - narrows the type
        heaviest = np.argsort(-effect.weight, kind="stable")[:MOST_CATEGORIES]
        shown = heaviest[effect.weight[heaviest] > 0]
        ordered = isinstance(self.column, CategoricalColumn) and self.column.order is not None
        if len(self.targets) == 1 and not ordered:
            shown = shown[np.argsort(evidence(effect.table[shown], self.targets[0]), kind="stable")]
        else:
            shown = np.sort(shown)[::-1]
        share = effect.weight[shown] / effect.weight.sum()
        ax.axvline(0.0, color="0.5", alpha=0.5, lw=0.8, zorder=0)
        for k, (target, name) in enumerate(zip(self.targets, self.names, strict=True)):
            values = evidence(effect.table[shown], target)
            if len(self.targets) == 1:
                ax.hlines(np.arange(len(shown)), 0.0, values, color="0.5", alpha=0.5, lw=1, zorder=1)
            ax.scatter(
                values, np.arange(len(shown)), s=15 + 250 * share, color=f"C{k}", zorder=2,
                label=name,
            )  # fmt: skip
            if self.bands is not None:
                below, above = (end[shown] for end in of_class(self.bands.of_feature(effect), target))
                places = np.arange(len(shown))
                ax.hlines(places, values - below, values + above, color=f"C{k}", alpha=0.6, lw=2, zorder=2)
        names = [f"{clipped(self.labels[code])}  {part:.0%}" for code, part in zip(shown, share, strict=True)]
        ax.set_yticks(np.arange(len(shown)), names, fontsize="small" if len(shown) < 16 else "x-small")
        ax.set_ylim(-0.7, len(shown) - 0.3)
        ax.set_xlabel(self._value_name)
        left_out = int((effect.weight > 0).sum()) - len(shown)
        more = f", {left_out} rarer values not drawn" if left_out else ""
        ax.set_title(f"{clipped(effect.name, 40)}{more}", loc="left", fontsize="medium")


def _set_date_ticks(ax: Any) -> None:
    """Write dates at the ticks of an axis of days since 1970, matplotlib's unit of dates."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _set_skewed_scale(ax: Any, low: float, high: float, width: float) -> None:
    """Let an axis be linear up to a width and logarithmic beyond, with ticks at 0 and at round numbers."""
    ax.set_xscale("asinh", linear_width=width)
    ax.set_xlim(low, high)
    powers = 10.0 ** np.arange(np.floor(np.log10(width)), np.floor(np.log10(max(abs(low), abs(high)))) + 1)
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        sizes = np.sort(np.outer(powers, steps).ravel())
        sizes = sizes[sizes >= width]
        ticks = [tick for tick in (*-sizes[::-1], 0.0, *sizes) if low <= tick <= high]
        if len(ticks) >= FEWEST_TICKS:
            break
    ax.set_xticks(ticks, [f"{tick:,g}" if abs(tick) < 1e6 else f"{tick:.0e}" for tick in ticks])
    ax.minorticks_off()


def linear_width(effect: FeatureEffect) -> float | None:
    """Return up to where a skewed column is drawn on a linear scale; None for a column that is not skewed.

    A column is skewed where nine rows in ten lie in a tenth of its range, around 0.
    """
    low, high = effect.range_seen()
    inside = ~np.isnan(effect.seen) & (effect.weight > 0) & (effect.seen >= low) & (effect.seen <= high)
    size, weight = np.abs(effect.seen[inside]), effect.weight[inside]
    if len(size) < 2 or high <= low:
        return None
    order = np.argsort(size)
    share = np.cumsum(weight[order]) / weight.sum()
    near = float(size[order][np.searchsorted(share, 0.9)])
    if SKEWED * near >= max(abs(low), abs(high)):
        return None
    smallest = float(size[size > 0].min())
    return max(near, smallest)
