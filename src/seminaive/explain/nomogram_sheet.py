"""A sheet of paper in inches, on which a nomogram is drawn from top to bottom without overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.explain.nomogram_ticks import number_ticks
from seminaive.explain.reading import clipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.explain.nomogram_lanes import Lane
    from seminaive.scores import TupleEffect


# Inches of the sheet: its width, the margin for names, the right margin, a line of labels, a ruler.
WIDTH, NAMES, RIGHT, LINE, RULER = 11.0, 2.5, 0.5, 0.17, 0.24
SMALL, NORMAL = 7.0, 9.0
# Inches of the small picture of a curve that turns.
CURVE = 0.7
# A page in inches: A4 at this width.
PAGE = 15.5
# Values per side of the small table of a pair.
PAIR_SIDE = 6


class Sheet:
    """A sheet in inches from its upper left corner, filled from top to bottom; no two labels overlap."""

    def __init__(self, ax: Any, most: float) -> None:
        from matplotlib import rcParams
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextToPath

        self.ax, self.most, self.y = ax, most, 0.3
        self.ink = rcParams["text.color"]
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
        """Write text at a place."""
        self.ax.text(x, y, text, fontsize=size, va="center", **style)

    def text(self, text: str, colour: str = "0.5") -> None:
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
        row_totals: Any = (),
        bars: Sequence[Floats] = (),
    ) -> None:
        """Draw a ruler with its labels above, and the totals of a row with bars on both sides."""
        self.y += LINE
        ends = self.x([low, self.most if high is None else high], low, high)
        self.ax.plot(ends, [self.y, self.y], color=self.ink, lw=0.8)
        self.write(0.15, self.y, name, NORMAL, weight="bold")
        taken: list[tuple[float, float]] = []
        for at, label in zip(self.x(ticks, low, high), labels, strict=True):
            self.ax.plot([at, at], [self.y, self.y - 0.05], color=self.ink, lw=0.6)
            half = self.width(label) / 2 + 0.04
            if all(at + half < a or at - half > b for a, b in taken):
                self.write(at, self.y - 0.12, label, ha="center")
                taken.append((at - half, at + half))
        for k, value in enumerate(row_totals):
            if value is not None:
                colour = "C3" if len(row_totals) == 1 else f"C{k}"
                self.ax.plot(self.x([value], low, high), [self.y], "o", color=colour, ms=5, zorder=3)
                if k < len(bars) and bars[k].any():
                    within = np.clip([value - bars[k][0], value + bars[k][1]], low, high)
                    bar = self.x(within, low, high)
                    self.ax.plot(bar, [self.y] * 2, color=colour, lw=3, alpha=0.5, zorder=2)
        self.y += RULER

    def lane(self, lane: Lane, name: str, label: str, colour: str, row: tuple[float, float] | None) -> int:
        """Draw a feature; return how many marks have no label.

        Parameters
        ----------
        name, label : str
            Of the feature and of the class.
        row : (number, points) or None
            Where the overlaid row is; the number is NaN of a missing one and of categories.
        """
        draw = self._ruler_lane if lane.is_ruler else self._curve_lane
        return draw(lane, name, label, colour, row)

    def _ruler_lane(
        self, lane: Lane, name: str, label: str, colour: str, row: tuple[float, float] | None
    ) -> int:
        """Draw marks or ticks along one ruler."""
        entries = [(float(self.x(p)), clipped(text), kind) for text, p, kind in lane.marks]
        if lane.curve is not None:
            numbers, points = lane.curve
            ticks, texts = number_ticks(numbers, lane.whole, 8, lane.column)
            places = self.x(np.interp(ticks, numbers, points))
            entries = [(float(x), text, "value") for x, text in zip(places, texts, strict=True)] + entries
        labels = _Labels(self)
        left_out = labels.place(entries, drop_quietly=lane.curve is not None)
        self.y += 0.1 + LINE * labels.above
        at = [place for place, _, kind in entries if kind != "unseen"]
        at += [] if lane.curve is None else self.x(lane.curve[1]).tolist()
        if at:
            self.ax.plot([min(at), max(at)], [self.y, self.y], color=colour, lw=0.8)
        for place, _, kind in entries:
            if kind == "value":
                self.ax.plot([place] * 2, [self.y - 0.035, self.y + 0.035], color=colour, lw=0.7)
            else:
                self._special(place, kind)
        labels.draw(self.y)
        self._name(name, label, colour)
        if row is not None:
            self._dot(float(self.x(row[1])), self.y)
        self.y += 0.1 + LINE * labels.below
        return left_out

    def _curve_lane(
        self, lane: Lane, name: str, label: str, colour: str, row: tuple[float, float] | None
    ) -> int:
        """Draw a curve that turns: its numbers upwards, its points along the sheet."""
        assert lane.curve is not None  # noqa: S101 - narrows the type
        numbers, points = lane.curve
        low, high = float(numbers[0]), float(numbers[-1])
        top = self.y + 0.12

        def height(number: Any) -> Any:
            return top + (high - np.asarray(number)) / ((high - low) or 1.0) * CURVE

        ticks, texts = number_ticks(numbers, lane.whole, 4, lane.column)
        taken: list[float] = []
        for tick, text in zip(ticks, texts, strict=True):
            level = float(height(tick))
            if all(abs(level - other) > 0.8 * LINE for other in taken):
                taken.append(level)
                end = float(self.x(np.interp(tick, numbers, points)))
                self.ax.plot([NAMES, end], [level, level], color="0.5", alpha=0.35, lw=0.6, zorder=0)
                self.write(NAMES - 0.06, level, text, ha="right")
        self.ax.plot(self.x(points), height(numbers), color=colour, lw=1.0)
        self.y = top + CURVE / 2
        self._name(name, label, colour, at=NAMES - 0.55)
        if row is not None and row[0] == row[0]:
            self._dot(float(self.x(row[1])), float(height(np.clip(row[0], low, high))))
        self.y = top + CURVE + 0.12
        for text, place, kind in lane.marks:
            self.y += LINE
            self._special(float(self.x(place)), kind)
            self.write(float(self.x(place)) + 0.08, self.y, text, color="0.45")
            if row is not None and row[0] != row[0]:
                self._dot(float(self.x(row[1])), self.y)
            self.y += LINE / 2
        return 0

    def _name(self, name: str, label: str, colour: str, at: float = NAMES - 0.15) -> None:
        self.write(0.15, self.y, name, NORMAL)
        self.write(at, self.y, label, color=colour, ha="right")

    def _special(self, place: float, kind: str) -> None:
        """Mark what a missing cell, or a value that training never had, adds."""
        style = "^" if kind == "unseen" else "s"
        self.ax.plot([place], [self.y], style, ms=3.5, mfc="none", mec="0.4", mew=0.7, zorder=2)

    def _dot(self, x: float, y: float) -> None:
        """Mark the overlaid row, at the edge where it is beyond what is drawn."""
        self.ax.plot([np.clip(x, NAMES - 0.05, WIDTH - 0.1)], [y], "o", color="C3", ms=5, zorder=3)

    def pair(
        self,
        effect: TupleEffect,
        labels: list[list[str]],
        points: Floats,
        suffix: str,
        cell: tuple[int, ...] | None,
        largest: float,
    ) -> None:
        """Draw the points of a pair as a small table; ``largest`` has the full colour."""
        kept = []
        for axis in (0, 1):
            weight = effect.weight.sum(axis=1 - axis)
            order = np.argsort(-weight, kind="stable")[:PAIR_SIDE]
            kept.append(np.sort(order[weight[order] > 0]))
        self.y += 0.2
        n_seen = [int((effect.weight.sum(axis=1 - axis) > 0).sum()) for axis in (0, 1)]
        beside = ", the most frequent values" if [len(codes) for codes in kept] != n_seen else ""
        self.write(0.15, self.y, f"{clipped(effect.name, 70)}{suffix}: points{beside}", NORMAL)
        self.y += LINE + 0.06
        step = 1.15
        for k, code in enumerate(kept[1]):
            self.write(NAMES + step * (k + 0.5), self.y, clipped(labels[1][code], 15), ha="center")
        for row in kept[0]:
            self.y += LINE
            self.write(NAMES - 0.1, self.y, clipped(labels[0][row], 24), ha="right")
            for k, column in enumerate(kept[1]):
                value = points[row, column]
                colour = (0.84, 0.38, 0.30) if value > 0 else (0.26, 0.58, 0.76)
                faded = 1.0 if effect.weight[row, column] >= 10 else 0.4
                self.ax.fill_between(
                    [NAMES + step * k + 0.03, NAMES + step * (k + 1) - 0.03],
                    self.y - LINE / 2 + 0.01, self.y + LINE / 2 - 0.01,
                    color=colour, alpha=0.6 * faded * abs(value) / (largest or 1.0), lw=0,
                )  # fmt: skip
                is_rows_cell = cell == (row, column)
                self.write(
                    NAMES + step * (k + 0.5), self.y, f"{value:+.0f}" if round(value) else "0", ha="center",
                    weight="bold" if is_rows_cell else "normal", color="C3" if is_rows_cell else self.ink,
                )  # fmt: skip
        self.y += LINE


class _Labels:
    """Labels around a ruler, in up to two lines above and two below, none over another."""

    ORDER = (("above", 0), ("below", 0), ("above", 1), ("below", 1))

    def __init__(self, sheet: Sheet) -> None:
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
        shown = [entry for entry in entries if entry[2] != "unseen"]
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
                self.sheet.ax.plot(
                    [at, at], [y, height - sign * 0.06], color="0.5", alpha=0.6, lw=0.5, zorder=0
                )
            colour = "0.45" if kind == "missing" else self.sheet.ink
            self.sheet.write(middle, height, text, ha="center", color=colour)
