"""A bar on a terminal's standard error, and nothing anywhere else."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def progress_bar(*, shown: bool) -> Progress:
    """Make a bar that counts finished pieces of work and guesses the time left."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),  # names may hold brackets
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        transient=True,
        disable=not (shown and console.is_terminal),
    )
