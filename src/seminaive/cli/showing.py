"""Frames and progress on a terminal."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import typer


def show(shown: Any) -> None:
    """Print a table as wide as the terminal is now; ``rich.print`` keeps the first ``COLUMNS``."""
    from rich.console import Console

    Console().print(shown)


def show_frame(frame: Any, most: int) -> None:
    """Print the first lines of a frame as a table, numbers with three digits after the point."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name, kind in frame.dtypes.items():
        # Long names go on in the next line: cut short, two of them could look the same.
        shown.add_column(str(name), justify="right" if kind.kind in "iuf" else "left", overflow="fold")
    for line in frame.head(most).itertuples(index=False):
        cells = [
            "" if cell != cell else f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in line
        ]
        shown.add_row(*(Text(cell) for cell in cells))
    show(shown)
    if len(frame) > most:
        typer.echo(f"{len(frame) - most} more lines: --most {len(frame)}")


def spinner(text: str) -> Any:
    """Show on a terminal's standard error what is under way, and for how long; elsewhere nothing."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        return nullcontext()  # rich 13 writes an empty line even where a bar is disabled
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    bar.add_task(text, total=None)
    return bar
