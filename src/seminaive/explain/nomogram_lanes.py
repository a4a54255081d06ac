"""The rulers of a nomogram: for each feature and class, which value has how many points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.explain.reading import code_labels, holds_whole_numbers, short_numbers

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode.column_types import Column
    from seminaive.scores import Effects, FeatureEffect


# Points of a curve between which a reader interpolates; the most whole numbers that have a mark each, where
# their points go one way, and where they do not.
POINTS, MOST_MARKS, MOST_SHUFFLED = 60, 13, 5
# A curve whose jumps are all but this share of its variation has no ticks to interpolate between.
SLOPE = 0.01


@dataclass(frozen=True)
class Lane:
    """The ruler of one feature for one class.

    Parameters
    ----------
    position : int
        The column in the schema.
    marks : list of (label, points, kind)
        Categories or whole numbers, then ``missing`` and ``unseen``; kind is "value", "missing" or "unseen".
    edges : tuple of float or None, default=None
        For whole numbers with a mark each: where the next one begins.
    curve : (numbers, points) or None, default=None
        For a curve: increasing numbers and their points.
    whole : bool, default=False
        Whether the numbers of training are whole.
    column : NumericColumn or None, default=None
        The column of a number.
    """

    name: str
    position: int
    class_position: int
    marks: list[tuple[str, float, str]]
    edges: tuple[float, ...] | None = None
    curve: tuple[Floats, Floats] | None = None
    whole: bool = False
    column: Column | None = None

    @property
    def of_numbers(self) -> bool:
        """Tell whether the feature is a number."""
        return self.edges is not None or self.curve is not None

    @property
    def is_ruler(self) -> bool:
        """Tell whether a curve can be read off one ruler: it has one direction, and not by jumps alone."""
        if self.curve is None:
            return True
        numbers, points = self.curve
        steps = np.diff(points)
        jump = numbers[1:] == np.nextafter(numbers[:-1], np.inf)
        one_way = bool((steps >= 0).all() or (steps <= 0).all())
        return one_way and float(np.abs(steps[~jump]).sum()) > SLOPE * float(np.ptp(points))

    @property
    def reach(self) -> float:
        """Return the largest number of points."""
        every = [points for _, points, kind in self.marks if kind != "unseen"]
        every += [] if self.curve is None else [float(self.curve[1].max())]
        return max(every, default=0.0)

    def points_of(self, code: int | None, number: float | None) -> float:
        """Return the points that a reader finds: of a mark, or on the curve."""
        if number is None:
            return self.marks[code or 0][1]
        if np.isnan(number):
            return next(points for _, points, kind in self.marks if kind == "missing")
        if self.curve is not None:
            return float(np.interp(number, *self.curve))
        return self.marks[int(np.searchsorted(np.array(self.edges), number, side="left"))][1]


def lane_of(effects: Effects, effect: FeatureEffect, c: int, reference: int) -> tuple[Lane, float]:
    """Return a lane in log odds from its lowest value, and that value."""
    if effect.curve is None:
        return _of_categories(effects, effect, c, reference)
    low, high = effect.range_seen()
    missing = float(effect.curve.missing[c] - effect.curve.missing[reference])
    whole = holds_whole_numbers(effect)
    present = np.unique(
        effect.seen[:-1][(effect.weight[:-1] > 0) & (effect.seen[:-1] >= low) & (effect.seen[:-1] <= high)]
    )
    numbers: Floats = present if whole else np.empty(0)
    heights = _log_odds(effect, numbers, c, reference)
    one_way = bool((np.diff(heights) >= 0).all() or (np.diff(heights) <= 0).all())
    if not 0 < len(numbers) <= (MOST_MARKS if one_way else MOST_SHUFFLED):
        numbers = effect.curve.grid(low, high, POINTS) if high > low else np.array([low])
        heights = _log_odds(effect, numbers, c, reference)
    lowest = float(heights.min(initial=missing if effect.weight[-1] > 0 else np.inf))
    marks = [("missing", missing - lowest, "missing")] if effect.weight[-1] > 0 else []
    column = effects.schema.columns[effect.position]
    lane = Lane(effect.name, effect.position, c, marks, whole=whole, column=column)
    if numbers is not present:
        return replace(lane, curve=(numbers, heights - lowest)), lowest
    texts = short_numbers(numbers.tolist(), 15, column)
    marks = [(text, float(y) - lowest, "value") for text, y in zip(texts, heights, strict=True)] + marks
    return replace(lane, marks=marks, edges=tuple((numbers[1:] + numbers[:-1]) / 2)), lowest


def _log_odds(effect: FeatureEffect, numbers: Floats, c: int, reference: int) -> Floats:
    assert effect.curve is not None  # noqa: S101 - narrows the type
    values = effect.curve.at(numbers)
    heights: Floats = values[:, c] - values[:, reference]
    return heights


def _of_categories(effects: Effects, effect: FeatureEffect, c: int, reference: int) -> tuple[Lane, float]:
    assert effect.table is not None  # noqa: S101 - narrows the type
    values = effect.table[:, c] - effect.table[:, reference]
    kinds = ["value"] * len(values)
    n_present = effects.schema.columns[effect.position].n_present
    if len(values) > n_present + 1:
        kinds[n_present] = "missing"
    kinds[-1] = "missing" if effect.weight[-1] > 0 else "unseen"
    lowest = float(values[:-1].min())
    labels = code_labels(effects.schema, effect.position)
    marks = list(zip(labels, (values - lowest).tolist(), kinds, strict=True))
    return Lane(effect.name, effect.position, c, marks), lowest


def scaled(lane: Lane, factor: float) -> Lane:
    """Return a lane in points, given the points per unit of log odds."""
    marks = [(label, points * factor, kind) for label, points, kind in lane.marks]
    curve = None if lane.curve is None else (lane.curve[0], lane.curve[1] * factor)
    return replace(lane, marks=marks, curve=curve)
