"""Pictures of results as SVG text: no plotting library, no script, colours left to the page.

Every picture is drawn 360 units wide, the width of a phone, so that its text stays legible there. Model
number i has the colour ``var(--m{i})`` of the page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import numpy.typing as npt

__all__ = ["Point", "box_plot", "curves", "rank_diagram", "scatter", "unit_square"]

WIDTH = 360
_ROW = 24
_NAME_WIDTH = 128
_CHARACTER = 6.6  # mean advance of 12-unit sans-serif text


@dataclass(frozen=True)
class Point:
    """A point of a scatter plot; the number of its model decides its colour, the label is its tooltip."""

    x: float
    y: float
    model: int
    label: str = ""


@dataclass(frozen=True)
class _Axis:
    """Values to places on the page, straight or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = np.log10(value), np.log10(low), np.log10(high)
        return float(self.start + (value - low) / (high - low) * (self.end - self.start))

    def ticks(self, most: int = 5) -> list[float]:
        if self.logarithmic:
            powers = range(int(np.floor(np.log10(self.low))), int(np.ceil(np.log10(self.high))) + 1)
            few = len(powers) <= 3
            candidates = [m * 10.0**p for p in powers for m in ((1, 2, 5) if few else (1,))]
            inside = [t for t in candidates if self.low * 0.999 <= t <= self.high * 1.001]
            return inside[:: max(1, -(-len(inside) // most))]
        span = self.high - self.low
        step = 10.0 ** np.floor(np.log10(span / most))
        step *= next(m for m in (1, 2, 5, 10) if span / (m * step) <= most)
        first = np.ceil(self.low / step - 1e-9)
        return [float(step * k) for k in np.arange(first, np.floor(self.high / step + 1e-9) + 1)]


def _axis(values: Iterable[float], start: float, end: float, *, logarithmic: bool = False) -> _Axis:
    """Fit an axis around the values, with a margin, also where they are all the same."""
    numbers = np.asarray([v for v in values if np.isfinite(v) and (v > 0 or not logarithmic)], dtype=float)
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    if logarithmic:
        factor = max((high / low) ** 0.06, 1.25)
        return _Axis(low / factor, high * factor, start, end, logarithmic=True)
    margin = max((high - low) * 0.06, abs(high) * 0.02, 1e-9)
    return _Axis(max(0.0, low - margin) if low >= 0 else low - margin, high + margin, start, end)


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}"  # adding zero turns -0 into 0


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "") -> str:
    extra = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _short(name: str, width: float) -> str:
    """Cut a name to a width; the whole of it stands in the tooltip."""
    most = max(3, int(width / _CHARACTER))
    return name if len(name) <= most else name[: most - 1] + "…"


def _svg(height: float, parts: Iterable[str], description: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(description, quote=True)}">'
        + "".join(parts)
        + "</svg>"
    )


def _horizontal_axis(
    axis: _Axis, y: float, top: float, title: str, ticks: Sequence[float] | None = None
) -> list[str]:
    parts = []
    for tick in axis.ticks() if ticks is None else ticks:
        parts.append(_line(axis(tick), top, axis(tick), y, "grid"))
        parts.append(_text(axis(tick), y + 15, _number(tick), anchor="middle", kind="tick"))
    if title:
        parts.append(_text((axis.start + axis.end) / 2, y + 32, title, anchor="middle", kind="title"))
    return parts


def _vertical_axis(axis: _Axis, x: float, right: float, title: str) -> list[str]:
    parts = []
    for tick in axis.ticks():
        parts.append(_line(x, axis(tick), right, axis(tick), "grid"))
        parts.append(_text(x - 5, axis(tick) + 4, _number(tick), anchor="end", kind="tick"))
    if title:
        parts.append(_text(2, axis.end - 8, title, kind="title"))
    return parts


def rank_diagram(
    names: Sequence[str],
    numbers: Sequence[int],
    ranks: Sequence[float],
    groups: Sequence[tuple[int, int]],
    difference: float | None,
) -> str:
    """Critical-difference diagram, one row per model from best to worst.

    Parameters
    ----------
    names, numbers, ranks : sequences
        Models in the order of their average ranks, and their numbers.
    groups : sequence of (first, last)
        Runs of rows that cannot be told apart, drawn as bars at the right.
    difference : float or None
        The critical difference, drawn as a shaded reach from the best model.
    """
    room = 10 * len(groups) + 8
    axis = _Axis(1.0, float(max(len(names), 2)), _NAME_WIDTH + 12, WIDTH - room - 8)
    bottom = 8 + _ROW * len(names)
    parts = []
    if difference is not None and len(ranks):
        reach = min(ranks[0] + difference, axis.high)
        parts.append(
            f'<rect x="{axis(ranks[0]):.1f}" y="4" width="{axis(reach) - axis(ranks[0]):.1f}" '
            f'height="{bottom - 4:.1f}" class="reach"/>'
        )
    whole_ranks = np.arange(1, len(names) + 1, max(1, len(names) // 8)).tolist()
    parts += _horizontal_axis(axis, bottom, 4, "average rank (1 is best)", whole_ranks)
    for row, (name, number, rank) in enumerate(zip(names, numbers, ranks, strict=True)):
        y = 8 + _ROW * (row + 0.5)
        parts.append(f"<g><title>{escape(name)}: average rank {rank:.2f}</title>")
        parts.append(_text(0, y + 4, _short(f"{number + 1} {name}", _NAME_WIDTH)))
        parts.append(_line(axis(1.0), y, axis(rank), y, "stem"))
        parts.append(f'<circle cx="{axis(rank):.1f}" cy="{y:.1f}" r="5" style="fill:var(--m{number})"/></g>')
    for column, (first, last) in enumerate(groups):
        x = WIDTH - room + 6 + 10 * column
        parts.append(_line(x, 8 + _ROW * first + 5, x, 8 + _ROW * (last + 1) - 5, "group"))
    return _svg(bottom + 38, parts, "Average ranks of the models with groups that do not differ")


def box_plot(
    names: Sequence[str], numbers: Sequence[int], samples: Sequence[npt.NDArray[np.float64]], title: str
) -> str:
    """Quartiles, whiskers to the farthest value within 1.5 interquartile ranges, and values beyond."""
    finite = [sample[np.isfinite(sample)] for sample in samples]
    axis = _axis(np.concatenate([np.empty(0), *finite]), _NAME_WIDTH + 12, WIDTH - 10)
    bottom = 6 + _ROW * len(names)
    parts = _horizontal_axis(axis, bottom, 2, title)
    for row, (name, number, sample) in enumerate(zip(names, numbers, finite, strict=True)):
        y = 6 + _ROW * (row + 0.5)
        parts.append(_text(0, y + 4, _short(f"{number + 1} {name}", _NAME_WIDTH)))
        if sample.size == 0:
            parts.append(_text(axis.start, y + 4, "no finished fold", kind="tick"))
            continue
        q1, median, q3 = np.quantile(sample, [0.25, 0.5, 0.75])
        reach = 1.5 * (q3 - q1)
        low = float(sample[sample >= q1 - reach].min())
        high = float(sample[sample <= q3 + reach].max())
        beyond = sample[(sample < low) | (sample > high)]
        parts.append(
            f'<g style="--c:var(--m{number})"><title>{escape(name)}: median {median:.4g}, '
            f"quartiles {q1:.4g} to {q3:.4g}, {sample.size} folds</title>"
        )
        parts.append(_line(axis(low), y, axis(high), y, "whisker"))
        parts.append(
            f'<rect x="{axis(q1):.1f}" y="{y - 7:.1f}" width="{max(axis(q3) - axis(q1), 1):.1f}" '
            'height="14" rx="2" class="box"/>'
        )
        parts.append(_line(axis(median), y - 7, axis(median), y + 7, "median"))
        parts += [f'<circle cx="{axis(v):.1f}" cy="{y:.1f}" r="2" class="beyond"/>' for v in beyond]
        parts.append("</g>")
    return _svg(bottom + (38 if title else 22), parts, f"Box plots of {title}")


def scatter(
    points: Sequence[Point],
    faint: Sequence[Point],
    x_title: str,
    y_title: str,
    *,
    logarithmic_x: bool = False,
    equal_sums: bool = False,
) -> str:
    """Points with their models' numbers over faint ones; ``equal_sums`` adds lines of the same x + y."""
    everything = [*points, *faint]
    x_axis = _axis((p.x for p in everything), 46, WIDTH - 12, logarithmic=logarithmic_x)
    y_axis = _axis((p.y for p in everything), 240, 26)
    parts = _horizontal_axis(x_axis, 240, 26, x_title) + _vertical_axis(y_axis, 46, WIDTH - 12, y_title)
    if equal_sums:
        parts += _lines_of_equal_sum(x_axis, y_axis)
    parts += [
        f'<circle cx="{x_axis(p.x):.1f}" cy="{y_axis(p.y):.1f}" r="2.5" class="faint" '
        f'style="--c:var(--m{p.model})"><title>{escape(p.label)}</title></circle>'
        for p in faint
    ]
    for p in points:
        x, y = x_axis(p.x), y_axis(p.y)
        parts.append(
            f'<g style="--c:var(--m{p.model})"><title>{escape(p.label)}: {p.x:.4g}, {p.y:.4g}</title>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="point"/>'
            + _text(x, y + 4, str(p.model + 1), anchor="middle", kind="inside")
            + "</g>"
        )
    return _svg(276, parts, f"{y_title} against {x_title}")


def _lines_of_equal_sum(x_axis: _Axis, y_axis: _Axis) -> list[str]:
    parts = []
    sums = _Axis(x_axis.low + y_axis.low, x_axis.high + y_axis.high, 0, 1).ticks(6)
    for total in sums:
        start = max(x_axis.low, total - y_axis.high)
        end = min(x_axis.high, total - y_axis.low)
        if end > start:
            parts.append(
                _line(x_axis(start), y_axis(total - start), x_axis(end), y_axis(total - end), "level")
            )
    return parts


def curves(lines: Sequence[tuple[int, Sequence[float], Sequence[float]]], x_title: str, y_title: str) -> str:
    """One line per model: its number, the numbers of training rows and the losses."""
    x_axis = _axis((x for _, xs, _ in lines for x in xs), 46, WIDTH - 12, logarithmic=True)
    y_axis = _axis((y for _, _, ys in lines for y in ys), 190, 26)
    parts = _horizontal_axis(x_axis, 190, 26, x_title) + _vertical_axis(y_axis, 46, WIDTH - 12, y_title)
    for number, xs, ys in lines:
        places = [(x_axis(x), y_axis(y)) for x, y in zip(xs, ys, strict=True) if np.isfinite(y)]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{joined}" class="curve" style="--c:var(--m{number})"/>')
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" style="fill:var(--m{number})"/>' for x, y in places
        ]
    return _svg(228, parts, f"{y_title} against {x_title}")


def unit_square(
    lines: Sequence[tuple[int, Sequence[float], Sequence[float]]], x_title: str, y_title: str
) -> str:
    """One line per model between 0 and 1 on both axes, over a dashed diagonal."""
    x_axis, y_axis = _Axis(0.0, 1.0, 46, WIDTH - 12), _Axis(0.0, 1.0, 300, 26)
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    parts = _horizontal_axis(x_axis, 300, 26, x_title, ticks) + _vertical_axis(
        y_axis, 46, WIDTH - 12, y_title
    )
    parts.append(_line(x_axis(0), y_axis(0), x_axis(1), y_axis(1), "diagonal"))
    for number, xs, ys in lines:
        joined = " ".join(f"{x_axis(x):.1f},{y_axis(y):.1f}" for x, y in zip(xs, ys, strict=True))
        parts.append(f'<polyline points="{joined}" class="curve" style="--c:var(--m{number})"/>')
    return _svg(338, parts, f"{y_title} against {x_title}")
