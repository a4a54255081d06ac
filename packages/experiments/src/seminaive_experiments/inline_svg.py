"""Pictures for a page: matplotlib's axes, as SVG text that takes its colours from the page.

Every picture is as wide as a phone, so that its text stays legible there. It is drawn in the colours that
the page has in light surroundings; within the page each of them becomes a CSS variable, which follows the
reader's light or dark setting. Text stays text in the reader's font.
"""

import re
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from markupsafe import Markup, escape

from seminaive.pages import svg_text

Arguments = ParamSpec("Arguments")

WIDTH = 360
_UNITS_PER_INCH = 72  # of matplotlib's SVG

# Models have them by position, so that the best dozen, and so all that share a picture of curves, differ.
_MODELS = (
    *(("#0b66b5", "#5aa9f0"), ("#c8500a", "#f2935a"), ("#0c8a63", "#48c79c"), ("#a8408f", "#e08acb")),
    *(("#8a6d00", "#d9b841"), ("#5b5bd6", "#a3a3ff"), ("#c2274b", "#ff7d97"), ("#4f7d12", "#a4d05c")),
    *(("#007f91", "#4fd0e0"), ("#7a4a21", "#c99a72"), ("#3f4a5a", "#aeb9c9"), ("#8b1fa8", "#d68cf0")),
)
N_MODEL_COLOURS = len(_MODELS)
# CSS variables of the page: their values in light and in dark surroundings.
COLOURS = {
    "paper": ("#ffffff", "#14171c"),
    "ink": ("#1b1f24", "#e6e8eb"),
    "soft": ("#57606a", "#a0a8b2"),
    "rule": ("#dfe3e8", "#343a43"),
    "good": ("#d3f0dc", "#1d4a2d"),
    "bad": ("#fbdcd7", "#5a2620"),
    "alarm": ("#b42318", "#ff8a7a"),
    **{f"m{number}": pair for number, pair in enumerate(_MODELS)},
}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 12.0,
    "text.color": COLOURS["ink"][0],
    "axes.titlesize": 12.0,
    "axes.titlelocation": "left",
    "axes.titlecolor": COLOURS["soft"][0],
    "axes.labelcolor": COLOURS["soft"][0],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
    "grid.color": COLOURS["rule"][0],
    **{f"{axis}tick.major.size": 0.0 for axis in "xy"},
    **{f"{axis}tick.major.pad": 6.0 for axis in "xy"},
    **{f"{axis}tick.labelcolor": COLOURS["soft"][0] for axis in "xy"},
    **{f"{axis}tick.labelsize": 11.0 for axis in "xy"},
}

_NOT_IN_A_PAGE = re.compile(
    r"""<style.*?</style>|<clipPath.*?</clipPath>|\sclip-path="[^"]*"|(?<=<g)\sid="[^"]*\"""", re.DOTALL
)


def model_colour(number: int) -> str:
    """Return the light colour of a model by its number."""
    return COLOURS[f"m{number % N_MODEL_COLOURS}"][0]


def page_axes(
    description: str, height: float, margins: tuple[float, float, float, float] = (46, 12, 38, 26)
) -> Any:
    """Return the axes of a new picture.

    Parameters
    ----------
    description : str
        What is read aloud in place of the picture.
    height, margins : float
        In units of which the picture is 360 wide; margins at the left, the right, the bottom and the top.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / _UNITS_PER_INCH, height / _UNITS_PER_INCH), label=description)
    figure.patch.set_visible(False)
    left, right, bottom, top = margins
    inside = (left / WIDTH, bottom / height, 1 - (left + right) / WIDTH, 1 - (bottom + top) / height)
    return figure.add_axes(inside)


def page_picture(draw: Callable[Arguments, Any]) -> Callable[Arguments, str]:
    """Turn a function that returns the axes it drew on into one that returns them as SVG text."""

    @wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> str:
        import matplotlib as mpl

        with mpl.rc_context(_STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the reader's font has it
            figure = draw(*args, **kwargs).figure
            text = svg_text(figure, "Creator", "Format", "Type")
        label = escape(figure.get_label())
        return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)

    return drawn


def inline_svg(svg: str) -> Markup:
    """Return a picture as an element of a page, in its colours.

    Without the names of groups, which occur in every picture, and without clip paths: a path of the same name
    in a picture that is folded away would hide this one. No picture has anything beyond its axes to clip.
    """
    opening, content = svg[svg.index("<svg ") :].split(">", 1)
    opening = re.sub(r'\s(xmlns(:xlink)?|version|width|height)="[^"]*"', "", opening)
    content = _NOT_IN_A_PAGE.sub("", content)
    for name, (light, _) in COLOURS.items():
        content = content.replace(f": {light}", f": var(--{name})")
    return Markup(f"{opening}>{content}")  # noqa: S704 - matplotlib escapes what it writes
