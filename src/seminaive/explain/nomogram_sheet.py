"""A sheet of paper in inches, on which a nomogram is drawn from top to bottom without overlaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.explain.nomogram_ticks import strip_ticks
from seminaive.explain.reading import clipped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.explain.nomogram_lanes import Lane
    from seminaive.scores import TupleEffect

    Floats = NDArray[np.float64]

# Inches of the sheet: its width, the margin for names, the right margin, a line of labels, a ruler.
WIDTH, NAMES, RIGHT, LINE, RULER = 11.0, 2.5, 0.5, 0.17, 0.24
SMALL, NORMAL = 7.0, 9.0
# Values per side of the small table of a pair.
PAIR_SIDE = 6


class Sheet:
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
        """Write text at a place."""
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
                entries = [
                    (float(self.x(points)), text, "value")
                    for text, points in strip_ticks(strip, lane.whole, jumped)
                ]
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
