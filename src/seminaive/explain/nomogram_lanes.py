"""The rulers of a nomogram: for each feature and class, which value has how many points."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.explain.reading import code_labels, interval_labels
from seminaive.explain.segments import best_bands

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.scores import Effects, FeatureEffect

    Floats = NDArray[np.float64]

# Ticks of a curve between which a reader interpolates; the most strips of a curve that turns; bands else.
TICKS, MOST_STRIPS, BANDS = 60, 4, 12
# A curve whose jumps are all but this share of its variation is drawn in bands: between jumps its ticks would
# lie on each other.
SLOPE = 0.01


@dataclass(frozen=True)
class Lane:
    """The ruler of one feature for one class.

    Parameters
    ----------
    name : str
    position : int
        The column in the schema.
    class_position : int
    edges : tuple of float or None
        For a number that is drawn in bands: their upper ends, as in a scorecard.
    marks : list of (label, points, kind)
        Categories or bands, then ``missing`` and ``unseen``; kind is "value", "missing" or "unseen".
    strips : list of (numbers, points)
        For a curve: increasing numbers and their points, one strip for each direction of the curve.
    whole : bool
        Whether the numbers of training are whole.
    """

    name: str
    position: int
    class_position: int
    edges: tuple[float, ...] | None
    marks: list[tuple[str, float, str]]
    strips: list[tuple[Floats, Floats]] = field(default_factory=list)
    whole: bool = False

    @property
    def reach(self) -> float:
        """Return the largest number of points."""
        every = [points for _, points, kind in self.marks if kind != "unseen"]
        every += [float(own.max()) for _, own in self.strips]
        return max(every, default=0.0)

    def points_of(self, code: int | None, number: float | None) -> float:
        """Return the points that a reader finds: of a mark, or between two ticks of a strip."""
        if number is None:
            return self.marks[code or 0][1]
        if np.isnan(number):
            return next(points for _, points, kind in self.marks if kind == "missing")
        if not self.strips:
            return self.marks[int(np.searchsorted(np.array(self.edges), number, side="left"))][1]
        starts = [numbers[0] for numbers, _ in self.strips]
        numbers, points = self.strips[max(0, int(np.searchsorted(starts, number, side="right")) - 1)]
        return float(np.interp(number, numbers, points))


def lane_of(effects: Effects, own: FeatureEffect, c: int, reference: int) -> tuple[Lane, float, float]:
    """Return a lane in log odds from its lowest value, that value, and what bands lose."""
    labels = None if own.table is None else code_labels(effects.schema, own.position)
    if own.curve is None:
        assert own.table is not None  # noqa: S101 - narrows the type
        assert labels is not None  # noqa: S101 - narrows the type
        values = own.table[:, c] - own.table[:, reference]
        kinds = ["value"] * len(values)
        n_present = effects.schema.columns[own.position].n_present
        if len(values) > n_present + 1:
            kinds[n_present] = "missing"
        kinds[-1] = "unseen"
        if own.weight[-1] > 0:
            kinds[-1] = "missing"
        lowest = float(values[:-1].min())
        marks = list(zip(labels, (values - lowest).tolist(), kinds, strict=True))
        return Lane(own.name, own.position, c, None, marks), lowest, 0.0
    low, high = own.range_seen()
    missing = float(own.curve.missing[c] - own.curve.missing[reference])
    grid = own.curve.grid(low, high, TICKS) if high > low else np.array([low])
    heights = own.curve.at(grid)
    heights = heights[:, c] - heights[:, reference]
    strips = _strips(grid, heights) if np.ptp(heights) > 0 else []
    jump = grid[1:] == np.nextafter(grid[:-1], np.inf)
    steps = np.abs(np.diff(heights))
    flat = steps[~jump].sum() <= SLOPE * np.ptp(heights)
    if flat or not strips or len(strips) > MOST_STRIPS:
        seen = own.at_seen[:, c] - own.at_seen[:, reference]
        bands = min(BANDS, 1 + int(np.count_nonzero(steps[jump]))) if flat else BANDS
        edges, means = best_bands(own, seen, bands)
        lowest = float(means.min())
        place = np.searchsorted(np.array(edges), own.seen[:-1], side="left")
        lost = np.sqrt(np.average((means[place] - seen[:-1]) ** 2, weights=own.weight[:-1] + 1e-300))
        names = interval_labels(edges)
        marks = [(name, float(value) - lowest, "value") for name, value in zip(names, means, strict=True)]
        marks.append(("missing", missing - lowest, "missing"))
        return Lane(own.name, own.position, c, tuple(edges), marks), lowest, float(lost)
    lowest = float(heights.min())
    marks = [("missing", missing - lowest, "missing")]
    whole = bool((own.seen[:-1] == np.round(own.seen[:-1])).all())
    moved = [(x, y - lowest) for x, y in strips]
    return Lane(own.name, own.position, c, None, marks, moved, whole), lowest, 0.0


def _strips(x: Floats, y: Floats) -> list[tuple[Floats, Floats]]:
    """Cut a curve where it turns; a jump against the direction of the curve is not drawn itself."""
    direction = np.sign(np.diff(y))
    jump = x[1:] == np.nextafter(x[:-1], np.inf)
    pieces: list[tuple[int, int, float]] = []  # first and last point, and direction
    first, own = 0, 0.0
    for k in range(len(direction)):
        if direction[k] == 0 or own in (0.0, direction[k]):
            own = own or float(direction[k])
        else:
            pieces.append((first, k, own))
            first, own = (k + 1, 0.0) if jump[k] else (k, float(direction[k]))
    pieces.append((first, len(x) - 1, own))
    return [(x[a : b + 1], y[a : b + 1]) for a, b, _ in pieces]


def scaled(lane: Lane, factor: float) -> Lane:
    """Return a lane in points, given the points per unit of log odds."""
    marks = [(label, points * factor, kind) for label, points, kind in lane.marks]
    strips = [(x, y * factor) for x, y in lane.strips]
    return replace(lane, marks=marks, strips=strips)
