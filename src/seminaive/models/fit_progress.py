"""Progress of long fits, on standard error: a bar on a terminal, lines elsewhere, nothing unless verbose."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from seminaive.models.base import TableClassifier

# Seconds between two lines where there is no terminal.
BETWEEN_LINES = 2.0


class Steps:
    """Counts finished pieces of work; call it after each one. This one shows nothing."""

    def __call__(self, note: str = "", n: int = 1) -> None:
        """Tell that ``n`` pieces are finished; ``note`` says how it stands, a loss for instance."""

    def say(self, text: str) -> None:
        """Show a line, about what is going to be done for instance."""


class ProgressLines(Steps):
    """Writes a line every two seconds."""

    def __init__(self, model: str, what: str, total: int | None) -> None:
        self.model, self.what, self.total = model, what, total
        self.done = 0
        self.shown_at = float("-inf")

    def __call__(self, note: str = "", n: int = 1) -> None:
        """Count, and write a line if the last one is old or this is the end."""
        self.done += n
        now = time.monotonic()
        if now - self.shown_at >= BETWEEN_LINES or self.done == self.total:
            self.shown_at = now
            of = f"/{self.total}" if self.total else ""
            self.say(f"{self.what} {self.done}{of}{': ' * bool(note)}{note}")

    def say(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{self.model}: {text}\n")
        sys.stderr.flush()


class ProgressBar(Steps):
    """Moves the bar of a terminal."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self.bar, self.task = bar, task

    def __call__(self, note: str = "", n: int = 1) -> None:
        """Move the bar."""
        self.bar.update(self.task, advance=n, note=note)

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self.bar.console.print(text, markup=False, highlight=False)


@contextmanager
def progress_of(model: TableClassifier, what: str, total: int | None = None) -> Iterator[Steps]:
    """Give a callable that counts finished pieces of a fit, and shows how far it is if ``model.verbose``.

    ``with progress_of(model, "folds", 10) as step: ...; step("loss 0.31")``. What iterates below the models
    takes ``step`` as a callback.

    Parameters
    ----------
    what : str
        What the pieces are: "folds", "trials", "passes".
    total : int or None
        How many there will be, where that is known.
    """
    name = type(model).__name__
    if not model.verbose:
        yield Steps()
        return
    if not sys.stderr.isatty():
        yield ProgressLines(name, what, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield ProgressBar(bar, bar.add_task(f"{name}: {what}", total=total, note=""))
