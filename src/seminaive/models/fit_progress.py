"""Progress of long fits, on standard error: a bar on a terminal, lines elsewhere, nothing unless asked."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

# Seconds between two lines where there is no terminal.
BETWEEN_LINES = 2.0


class Steps:
    """Counts finished pieces of work; call it after each one. This one shows nothing."""

    def __call__(self, note: str = "", n: int = 1) -> None:
        """Tell that ``n`` pieces are finished; ``note`` says how it stands, a loss for instance."""

    def say(self, text: str) -> None:
        """Show a line, about what is going to be done for instance."""


class _Lines(Steps):
    def __init__(self, model, what, total):
        self.model, self.what, self.total = model, what, total
        self.done = 0
        self.shown_at = float("-inf")

    def __call__(self, note="", n=1):
        self.done += n
        now = time.monotonic()
        if now - self.shown_at >= BETWEEN_LINES or self.done == self.total:
            self.shown_at = now
            of = f"/{self.total}" if self.total else ""
            self.say(f"{self.what} {self.done}{of}{': ' * bool(note)}{note}")

    def say(self, text):
        sys.stderr.write(f"{self.model}: {text}\n")
        sys.stderr.flush()


class _Bar(Steps):
    def __init__(self, bar, task):
        self.bar, self.task = bar, task

    def __call__(self, note="", n=1):
        self.bar.update(self.task, advance=n, note=note)

    def say(self, text):
        self.bar.console.print(text, markup=False, highlight=False)


@contextmanager
def progress(model: str, what: str, total: int | None, *, shown: bool):
    """Give a callable that counts finished pieces of work and shows how far it is.

    Parameters
    ----------
    model : str
        Who works.
    what : str
        What the pieces are: "folds", "trials", "passes".
    total : int or None
        How many there will be, where that is known.
    shown : bool
    """
    if not shown:
        yield Steps()
        return
    if not sys.stderr.isatty():
        yield _Lines(model, what, total)
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
        yield _Bar(bar, bar.add_task(f"{model}: {what}", total=total, note=""))
