"""A fitted model on one sheet of paper: a ruler per feature, and a ruler from the sum to a probability."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError
from seminaive.explain.drawing import axes_of
from seminaive.explain.reading import (
    class_position,
    clipped,
    code_labels,
    effects_of,
    interval_labels,
    short_numbers,
)
from seminaive.explain.segments import best_bands
from seminaive.explain.tables import importance, one_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.scores import Effects, FeatureEffect, TupleEffect

    Floats = NDArray[np.float64]

# Inches of the sheet: its width, the margin for names, the right margin, a line of labels, a ruler.
WIDTH, NAMES, RIGHT, LINE, RULER = 11.0, 2.5, 0.5, 0.17, 0.24
SMALL, NORMAL = 7.0, 9.0
# Ticks of a curve between which a reader interpolates; the most strips of a curve that turns.
TICKS, MOST_STRIPS, BANDS = 60, 4, 12
# Values per side of the small table of a pair, and the most lanes (classes besides the reference).
PAIR_SIDE, MOST_LANES = 6, 6
PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


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


class NomogramDisplay:
    """A nomogram: points per value, which add up to the probability.

    One ruler per feature, the one with the widest reach first. A curve that turns has one strip for each
    direction; one that turns often is drawn in bands. With more than two classes each feature has one lane
    per class against a reference class: the weight of a class doubles with every 10 points, that of the
    reference is 1, and a probability is a weight divided by the sum of all. The strongest pairs are small
    tables of points; what is not drawn is said in the last line.

    Parameters
    ----------
    lanes : list of Lane
    start : ndarray of shape (n_lane_classes,)
        Log odds of each class at 0 points.
    factor : float
        Points per unit of log odds.
    pairs : list of TupleEffect
        Those that are drawn.
    model : the model
    targets : list of int
        The classes that have lanes, by position.
    reference : int
        The class that they are compared with.
    note : str
        How far the drawn part is from the whole model.
    row : EncodedTable of one row or None
        The row that is overlaid.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    unlabelled_ : int
        Marks that had no room for a label.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seminaive import NaiveBayes
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> display = NomogramDisplay.from_estimator(NaiveBayes().fit(X.iloc[:, :3], y))
    >>> [lane.name for lane in display.lanes]
    ['mean perimeter', 'mean radius', 'mean texture']
    """

    def __init__(
        self,
        lanes: list[Lane],
        start: Floats,
        factor: float,
        pairs: list[TupleEffect],
        model: Any,
        targets: list[int],
        reference: int,
        note: str,
        row: Any = None,
    ) -> None:
        self.lanes = lanes
        self.start = start
        self.factor = factor
        self.pairs = pairs
        self.model = model
        self.targets = targets
        self.reference = reference
        self.note = note
        self.row = row

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        target: Any = None,
        row: Any = None,
        scale: str = "hundred",
        pairs: int = 3,
        ax: Any = None,
    ) -> NomogramDisplay:
        """Draw a nomogram.

        Parameters
        ----------
        estimator : a fitted additive model
        target : label, default=None
            With two classes the one that points speak for, by default the second; with more the reference
            class, by default the most frequent one.
        row : mapping of column to cell, list of cells, or table of one row, default=None
            A row to overlay.
        scale : {"hundred", "doubling"}, default="hundred"
            Whether the widest feature has 100 points, or 10 points double the odds. More than two classes
            always have the second.
        pairs : int, default=3
            How many pairs are drawn, the strongest.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a sheet of the right size.
        """
        if scale not in ("hundred", "doubling"):
            raise InputError(f"scale is 'hundred' or 'doubling', got {scale!r}")
        effects = effects_of(estimator)
        if effects.n_classes == 2:
            targets = [class_position(estimator, target)]
            reference = 1 - targets[0]
        else:
            by_weight = int(estimator.summary_.class_weight.argmax())
            reference = by_weight if target is None else class_position(estimator, target)
            targets = [c for c in range(effects.n_classes) if c != reference]
            if len(targets) > MOST_LANES:
                raise InputError(
                    f"a nomogram has room for {MOST_LANES + 1} classes, the model has {effects.n_classes}: "
                    "use effects_table, an EffectDisplay per feature, or the calculator"
                )
        strongest = sorted(
            (own for own in effects.tuples if len(own.columns) == 2),
            key=lambda own: -importance(own.deviation),
        )
        drawn = [own for own in strongest[:pairs] if importance(own.deviation) > 0]
        per_unit = [_lanes_of(effects, own, c, reference) for own in effects.features for c in targets]
        widest = max((lane.reach for lane, _, _ in per_unit), default=1.0) or 1.0
        factor = 100.0 / widest if scale == "hundred" and len(targets) == 1 else 10.0 / np.log(2)
        start = _against(effects.intercept, np.array(targets), reference)
        squares = 0.0
        for lane, lowest, lost in per_unit:
            start[targets.index(lane.class_position)] += lowest
            squares += lost**2 / len(targets)
        lanes = [_scaled(lane, factor) for lane, _, _ in per_unit]
        reach: dict[str, float] = {}
        for lane in lanes:
            reach[lane.name] = max(reach.get(lane.name, 0.0), lane.reach)
        lanes.sort(key=lambda lane: -reach[lane.name])
        left = [own for own in effects.tuples if own not in drawn]
        squares += sum(importance(own.deviation) ** 2 for own in left)
        banded = any(lost > 0 for _, _, lost in per_unit)
        note = _note(len(left), banded, float(np.sqrt(squares)), factor)
        table = None if row is None else one_row(estimator, row)
        display = cls(lanes, start, factor, drawn, estimator, targets, reference, note, table)
        return display.plot(ax=ax)

    def probabilities(self, table: Any, *, pairs: bool = True) -> Floats:
        """Return the probabilities that a reader finds for the rows of an encoded table, in class order."""
        schema = self.model.schema_
        coded = {position: j for j, position in enumerate(schema.coded)}
        numeric = {position: j for j, position in enumerate(schema.numeric)}
        log_odds = np.zeros((len(table), len(self.model.classes_)))
        for i in range(len(table)):
            for lane in self.lanes:
                is_curve = lane.edges is not None or bool(lane.strips)
                number = float(table.numbers[i, numeric[lane.position]]) if is_curve else None
                code = None if is_curve else int(table.codes[i, coded[lane.position]])
                log_odds[i, lane.class_position] += lane.points_of(code, number) / self.factor
        for k, c in enumerate(self.targets):
            log_odds[:, c] += self.start[k]
            for own in self.pairs if pairs else ():
                cells = own.table[tuple(table.codes[:, j] for j in own.columns)]
                log_odds[:, c] += cells[:, c] - cells[:, self.reference]
        weight = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
        proba: Floats = weight / weight.sum(axis=1, keepdims=True)
        return proba

    def plot(self, ax: Any = None) -> NomogramDisplay:
        """Draw the sheet.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure of the right size.
        """
        made = ax is None
        self.ax_ = axes_of(ax)
        self.figure_ = self.ax_.figure
        self.unlabelled_ = 0
        self.ax_.axis("off")
        sheet = _Sheet(self.ax_, max((lane.reach for lane in self.lanes), default=1.0) or 1.0)
        sheet.ruler("Points", *_nice_ticks(sheet.most))
        before = None
        for lane in self.lanes:
            several = len(self.targets) > 1
            name = "" if lane.name == before else clipped(lane.name, 30 if not several else 20)
            colour = f"C{self.targets.index(lane.class_position)}" if several else "black"
            label = clipped(str(self.model.classes_[lane.class_position]), 12) if several else ""
            self.unlabelled_ += sheet.lane(lane, name, label, colour, self._own_points(lane))
            before = lane.name
        self._draw_pairs(sheet)
        self._draw_totals(sheet)
        words = [self.note]
        if self.unlabelled_:
            words.append(
                f"Marks without room for a label: {self.unlabelled_}; effects_table lists all values."
            )
        if any(kind == "unseen" for lane in self.lanes for _, _, kind in lane.marks):
            words.append("A triangle marks a value that training never had.")
        for text in words:
            sheet.text(text)
        self.ax_.set_xlim(0, WIDTH)
        self.ax_.set_ylim(sheet.y + 0.1, 0)
        if made:
            self.figure_.set_layout_engine("none")
            self.figure_.set_size_inches(WIDTH, sheet.y + 0.2)
            self.ax_.set_position((0, 0, 1, 1))
        return self

    def _own_points(self, lane: Lane) -> float | None:
        """Return the points of the overlaid row on a lane."""
        if self.row is None:
            return None
        schema = self.model.schema_
        if lane.edges is not None or lane.strips:
            number = float(self.row.numbers[0, schema.numeric.index(lane.position)])
            return lane.points_of(None, number)
        return lane.points_of(int(self.row.codes[0, schema.coded.index(lane.position)]), None)

    def _draw_pairs(self, sheet: _Sheet) -> None:
        schema = self.model.schema_
        for own in self.pairs:
            labels = [code_labels(schema, schema.coded[j]) for j in own.columns]
            for c in self.targets:
                points = (own.table[..., c] - own.table[..., self.reference]) * self.factor
                suffix = f" ({clipped(str(self.model.classes_[c]), 12)})" if len(self.targets) > 1 else ""
                cell = None if self.row is None else tuple(int(self.row.codes[0, j]) for j in own.columns)
                sheet.pair(own, labels, points, suffix, cell)

    def _draw_totals(self, sheet: _Sheet) -> None:
        """Draw the ruler from the sum of points to a probability, or to weights."""
        totals = [sum(lane.reach for lane in self.lanes if lane.class_position == c) for c in self.targets]
        own = [
            None
            if self.row is None
            else sum(self._own_points(lane) or 0.0 for lane in self.lanes if lane.class_position == c)
            + sum(self._pair_points(pair, c) for pair in self.pairs)
            for c in self.targets
        ]
        most = max(totals) or 1.0
        least = min([0.0, *(value for value in own if value is not None)])
        sheet.y += 0.1
        sheet.ruler("Total points", *_nice_ticks(most), low=least, high=most, own=own)
        if len(self.targets) == 1:
            ticks = [((np.log(p / (1 - p)) - self.start[0]) * self.factor, f"{p:g}") for p in PROBABILITIES]
            inside = [(at, label) for at, label in ticks if least <= at <= most]
            name = f"Probability of {self.model.classes_[self.targets[0]]}"
            sheet.ruler(
                clipped(name, 32),
                [at for at, _ in inside],
                [label for _, label in inside],
                low=least,
                high=most,
            )
        else:
            powers = range(int(np.floor(least / 10)), int(most / 10) + 1, max(1, int(most / 10 / 12)))
            sheet.ruler(
                "Weight", [10.0 * k for k in powers], [_weight(2.0**k) for k in powers], low=least, high=most
            )
            starts = ", ".join(
                f"{clipped(str(self.model.classes_[c]), 16)} {value * self.factor:+.1f}"
                for c, value in zip(self.targets, self.start, strict=True)
            )
            reference = clipped(str(self.model.classes_[self.reference]), 16)
            sheet.text(
                f"Add to the total points: {starts}. {reference} has weight 1. Probability = weight / sum."
            )
        if self.row is not None:
            shown = ", ".join(
                f"{clipped(str(label), 16)} {p:.3f}"
                for label, p in zip(self.model.classes_, self.probabilities(self.row)[0], strict=True)
            )
            sheet.text(f"This row: {shown}", colour="C3")

    def _pair_points(self, pair: TupleEffect, c: int) -> float:
        cell = pair.table[tuple(int(self.row.codes[0, j]) for j in pair.columns)]
        return float(cell[c] - cell[self.reference]) * self.factor


def _weight(weight: float) -> str:
    return f"{weight:g}" if 1 / 16 <= weight < 1e4 else f"{weight:.0e}"


def _note(n_left: int, banded: bool, deviation: float, factor: float) -> str:
    """Say how far the drawn part is from the whole model."""
    parts = [f"{n_left} weaker pairs and tuples that are not drawn"] if n_left else []
    parts += ["bands in place of curves"] if banded else []
    if not parts:
        return "The rulers are the whole model."
    text = " and ".join(parts)
    return (
        f"{text[:1].upper()}{text[1:]} move the log odds by {deviation:.2g} "
        f"({deviation * factor:.1f} points), as a standard deviation over the training rows."
    )


def _against(values: Floats, targets: Any, reference: int) -> Floats:
    own: Floats = values[..., targets] - values[..., [reference]]
    return own


def _lanes_of(effects: Effects, own: FeatureEffect, c: int, reference: int) -> tuple[Lane, float, float]:
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
    flat = not own.curve.coefficients[:, 1:, [c, reference]].any()
    if flat or not strips or len(strips) > MOST_STRIPS:
        seen = own.at_seen[:, c] - own.at_seen[:, reference]
        edges, means = best_bands(own, seen, BANDS)
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


def _scaled(lane: Lane, factor: float) -> Lane:
    marks = [(label, points * factor, kind) for label, points, kind in lane.marks]
    strips = [(x, y * factor) for x, y in lane.strips]
    return replace(lane, marks=marks, strips=strips)


def _nice_ticks(most: float) -> tuple[list[float], list[str]]:
    from matplotlib.ticker import MaxNLocator

    ticks = [float(tick) for tick in MaxNLocator(10).tick_values(0, most) if 0 <= tick <= most * (1 + 1e-9)]
    return ticks, [f"{tick:g}" for tick in ticks]


class _Sheet:
    """A sheet in inches from its upper left corner, filled from top to bottom; no two labels overlap."""

    def __init__(self, ax: Any, most: float) -> None:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextToPath

        self.ax, self.most, self.y = ax, most, 0.3
        self._measure = TextToPath()
        self._font = FontProperties()

    def width(self, text: str, size: float = SMALL) -> float:
        """Return the width of a text in inches."""
        font = self._font.copy()
        font.set_size(size)
        return float(self._measure.get_text_width_height_descent(text, font, ismath=False)[0]) / 72

    def x(self, points: Any, low: float = 0.0, high: float | None = None) -> Any:
        """Return the place of points between the margins."""
        reach = (self.most if high is None else high) - low
        return NAMES + (np.asarray(points) - low) / reach * (WIDTH - NAMES - RIGHT)

    def write(self, x: float, y: float, text: str, size: float = SMALL, **style: Any) -> None:
        self.ax.text(x, y, text, fontsize=size, va="center", **style)

    def text(self, text: str, colour: str = "0.25") -> None:
        """Write lines of prose below all else."""
        words, line = text.split(" "), ""
        for word in [*words, ""]:
            longer = f"{line} {word}".strip()
            if word and self.width(longer) < WIDTH - 0.4:
                line = longer
                continue
            self.write(0.15, self.y + 0.1, line, color=colour)
            self.y += LINE
            line = word

    def ruler(
        self,
        name: str,
        ticks: list[float],
        labels: list[str],
        low: float = 0.0,
        high: float | None = None,
        own: Any = (),
    ) -> None:
        """Draw a ruler with its labels above."""
        self.y += LINE
        ends = self.x([low, self.most if high is None else high], low, high)
        self.ax.plot(ends, [self.y, self.y], color="black", lw=0.8)
        self.write(0.15, self.y, name, NORMAL, weight="bold")
        taken: list[tuple[float, float]] = []
        for at, label in zip(self.x(ticks, low, high), labels, strict=True):
            self.ax.plot([at, at], [self.y, self.y - 0.05], color="black", lw=0.6)
            half = self.width(label) / 2 + 0.04
            if all(at + half < a or at - half > b for a, b in taken):
                self.write(at, self.y - 0.12, label, ha="center")
                taken.append((at - half, at + half))
        for k, value in enumerate(own):
            if value is not None:
                colour = "C3" if len(own) == 1 else f"C{k}"
                self.ax.plot(self.x([value], low, high), [self.y], "o", color=colour, ms=5, zorder=3)
        self.y += RULER

    def lane(self, lane: Lane, name: str, label: str, colour: str, own: float | None) -> int:
        """Draw a feature; return how many marks have no label."""
        strips: list[Any] = [*lane.strips] or [None]
        left_out = 0
        for k, strip in enumerate(strips):
            labels = _Labels(self)
            if strip is None:
                entries = [(self.x(p), clipped(text), kind) for text, p, kind in lane.marks]
            else:
                jumped = k > 0 and strip[0][0] == np.nextafter(strips[k - 1][0][-1], np.inf)
                entries = self._ticks_of(strip, lane.whole, jumped)
                if k == 0:
                    entries += [(self.x(p), text, kind) for text, p, kind in lane.marks if kind == "missing"]
            left_out += labels.place(entries, drop_quietly=strip is not None)
            self.y += 0.1 + LINE * labels.above
            at = [place for place, _, kind in entries if kind != "unseen"]
            if strip is not None:
                at = [self.x(own_) for own_ in strip[1]]
            if at:
                self.ax.plot([min(at), max(at)], [self.y, self.y], color=colour, lw=0.8)
            for place, _, kind in entries:
                style = {"unseen": "^", "missing": "s"}.get(kind)
                if style:
                    self.ax.plot([place], [self.y], style, ms=3.5, mfc="white", mec="0.4", mew=0.7, zorder=2)
                else:
                    self.ax.plot([place] * 2, [self.y - 0.035, self.y + 0.035], color=colour, lw=0.7)
            labels.draw(self.y)
            if k == 0:
                self.write(0.15, self.y, name, NORMAL)
                self.write(NAMES - 0.15, self.y, label, color=colour, ha="right")
            here = own is not None and (
                strip is None or strip[1].min() - 1e-9 <= own <= strip[1].max() + 1e-9
            )
            if here:
                self.ax.plot([self.x(own)], [self.y], "o", color="C3", ms=5, zorder=3)
                own = None
            self.y += 0.1 + LINE * labels.below
        if own is not None:  # beyond what is drawn
            self.ax.plot([self.x(own)], [self.y - 0.1], "o", color="C3", ms=5, zorder=3, clip_on=False)
        return left_out

    def _ticks_of(
        self, strip: tuple[Floats, Floats], whole: bool, jumped: bool
    ) -> list[tuple[float, str, str]]:
        """Return ticks of a strip: its ends and round numbers between them.

        A strip after a jump begins at the next double; its first label is that of the jump, with a sign.
        """
        from matplotlib.ticker import MaxNLocator

        numbers, points = strip
        low, high = float(numbers[0]), float(numbers[-1])
        candidates = MaxNLocator(8, integer=whole).tick_values(low, high)
        inner = [float(own) for own in candidates if low < own < high]
        start = float(np.nextafter(low, -np.inf)) if jumped else low
        labels = short_numbers([start, high, *inner], 3)
        if jumped:
            labels[0] = f"> {labels[0]}"
        return [
            (float(self.x(np.interp(number, numbers, points))), text, "value")
            for number, text in zip([low, high, *inner], labels, strict=True)
        ]

    def pair(
        self,
        own: TupleEffect,
        labels: list[list[str]],
        points: Floats,
        suffix: str,
        cell: tuple[int, ...] | None,
    ) -> None:
        """Draw the points of a pair as a small table."""
        kept = []
        for axis in (0, 1):
            weight = own.weight.sum(axis=1 - axis)
            order = np.argsort(-weight, kind="stable")[:PAIR_SIDE]
            kept.append(np.sort(order[weight[order] > 0]))
        self.y += 0.12
        n_seen = [int((own.weight.sum(axis=1 - axis) > 0).sum()) for axis in (0, 1)]
        beside = ", the most frequent values" if [len(codes) for codes in kept] != n_seen else ""
        self.write(0.15, self.y, f"{clipped(own.name, 70)}{suffix}: points{beside}", NORMAL)
        self.y += LINE + 0.06
        step = 1.15
        for k, code in enumerate(kept[1]):
            self.write(NAMES + step * (k + 0.5), self.y, clipped(labels[1][code], 15), ha="center")
        largest = float(np.abs(points[np.ix_(*kept)]).max()) or 1.0
        for row in kept[0]:
            self.y += LINE
            self.write(NAMES - 0.1, self.y, clipped(labels[0][row], 24), ha="right")
            for k, column in enumerate(kept[1]):
                value = points[row, column]
                colour = (0.84, 0.38, 0.30) if value > 0 else (0.26, 0.58, 0.76)
                faded = 1.0 if own.weight[row, column] >= 10 else 0.4
                self.ax.fill_between(
                    [NAMES + step * k + 0.03, NAMES + step * (k + 1) - 0.03],
                    self.y - LINE / 2 + 0.01, self.y + LINE / 2 - 0.01,
                    color=colour, alpha=0.6 * faded * abs(value) / largest, lw=0,
                )  # fmt: skip
                is_own = cell == (row, column)
                self.write(
                    NAMES + step * (k + 0.5), self.y, f"{value:+.0f}" if round(value) else "0", ha="center",
                    weight="bold" if is_own else "normal", color="C3" if is_own else "black",
                )  # fmt: skip
        self.y += LINE


class _Labels:
    """Labels around a ruler, in up to two lines above and two below, none over another."""

    ORDER = (("above", 0), ("below", 0), ("above", 1), ("below", 1))

    def __init__(self, sheet: _Sheet) -> None:
        self.sheet = sheet
        self.placed: list[tuple[float, float, str, str, int, str]] = []

    @property
    def above(self) -> int:
        return 1 + max((line for *_, side, line, _ in self.placed if side == "above"), default=-1)

    @property
    def below(self) -> int:
        return 1 + max((line for *_, side, line, _ in self.placed if side == "below"), default=-1)

    def place(self, entries: list[tuple[float, str, str]], *, drop_quietly: bool) -> int:
        """Find room for each label, ends first; return how many have none."""
        shown = [own for own in entries if own[2] != "unseen"]
        order = sorted(range(len(shown)), key=lambda k: shown[k][0])
        if not drop_quietly and len(order) > 2:
            order = [order[0], order[-1], *order[1:-1]]
        elif drop_quietly:
            order = list(range(len(shown)))
        left_out = 0
        for k in order:
            at, text, kind = float(shown[k][0]), shown[k][1], shown[k][2]
            if not self._find(at, text, kind) and not self._find(at, clipped(text, 10), kind):
                left_out += not drop_quietly
        return left_out

    def _find(self, at: float, text: str, kind: str) -> bool:
        half = self.sheet.width(text) / 2
        middle = min(max(at, NAMES - 0.1 + half), WIDTH - 0.1 - half)
        for side, line in self.ORDER:
            if line and abs(middle - at) > half:
                continue
            if all(self._clear(at, middle, half, side, line, other) for other in self.placed):
                self.placed.append((at, middle, text, side, line, kind))
                return True
        return False

    def _clear(self, at: float, middle: float, half: float, side: str, line: int, other: Any) -> bool:
        """Tell whether neither text nor pointer of two labels cross."""
        its_at: float = other[0]
        its_middle: float = other[1]
        its_text, its_side, its_line, _ = other[2:]
        if side != its_side:
            return True
        its_half = self.sheet.width(its_text) / 2
        gap = 0.06
        if line == its_line:
            return abs(middle - its_middle) > half + its_half + gap
        if line > its_line:  # the pointer passes the line of the other
            return abs(at - its_middle) > its_half + gap / 2
        return abs(its_at - middle) > half + gap / 2

    def draw(self, y: float) -> None:
        for at, middle, text, side, line, kind in self.placed:
            sign = -1 if side == "above" else 1
            height = y + sign * (0.12 + LINE * line)
            if line:
                self.sheet.ax.plot([at, at], [y, height - sign * 0.06], color="0.75", lw=0.5, zorder=0)
            colour = "0.45" if kind == "missing" else "black"
            self.sheet.write(middle, height, text, ha="center", color=colour)
