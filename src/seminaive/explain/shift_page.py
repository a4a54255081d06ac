"""A comparison of rows as one HTML page: what to do, what moved, and every column that changed."""

from __future__ import annotations

import base64
import hashlib
import io
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined

from seminaive.explain.plotting import axes_of
from seminaive.explain.shift_display import ColumnShiftDisplay, ShiftDisplay
from seminaive.files import whole_file

if TYPE_CHECKING:
    from seminaive.explain.plotting import Display
    from seminaive.explain.shift import Shift

# Columns that are drawn, those that changed most, and tuples of columns in the table.
MOST_COLUMNS, MOST_TUPLES = 12, 10


def shift_page(found: Shift, path: str | Path, *, title: str = "What has changed") -> Path:
    """Write a comparison of rows as one HTML page. It runs no script and loads nothing from elsewhere.

    Parameters
    ----------
    found : Shift
        What `shift` returned.
    path : path
        Where to write, whole or not at all.
    title : str, default="What has changed"

    Returns
    -------
    Path
    """
    path = Path(path)
    folder = files("seminaive.explain")
    style = folder.joinpath("shift_page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    template = environment.from_string(folder.joinpath("shift_page.html").read_text(encoding="utf-8"))
    changed = found.columns[: max(1, min(len(found.alarms), MOST_COLUMNS))]
    lines = found.frame().to_dict("records")
    shown = lines[: len(found.columns) + MOST_TUPLES]
    content = template.render(
        title=title,
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii"),
        found=found,
        lines=shown,
        left_out=len(lines) - len(shown),
        moved=_picture(ShiftDisplay(found)),
        columns=[(own.name, _picture(ColumnShiftDisplay(own))) for own in changed],
    )
    with whole_file(path) as part:
        part.write_text(content, encoding="utf-8", newline="\n")
    return path


def _picture(display: Display) -> str:
    """Draw a display; return it as SVG in the address of an image, which runs no script."""
    ax = axes_of(None)
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    figure: Any = display.plot(ax=ax).figure_
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "seminaive"}):  # the same rows give the same page
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return f"data:image/svg+xml;base64,{base64.b64encode(text.getvalue().encode('utf-8')).decode('ascii')}"
