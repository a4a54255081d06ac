"""A comparison of rows as one HTML page: what to do, what moved, and every column that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seminaive.explain.shift_display import ColumnShiftDisplay, ShiftDisplay
from seminaive.pages import picture_address, write_page

if TYPE_CHECKING:
    from pathlib import Path

    from seminaive.displays import Display
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
    changed = found.columns[: max(1, min(len(found.alarms), MOST_COLUMNS))]
    lines = found.frame().to_dict("records")
    shown = lines[: len(found.columns) + MOST_TUPLES]
    return write_page(
        path,
        "seminaive.explain",
        "shift_page",
        title=title,
        found=found,
        lines=shown,
        left_out=len(lines) - len(shown),
        moved=_picture(ShiftDisplay(found)),
        columns=[(column.name, _picture(ColumnShiftDisplay(column))) for column in changed],
    )


def _picture(display: Display) -> str:
    """Draw a display; return it as the address of an image."""
    return picture_address(display.plot().figure_)
