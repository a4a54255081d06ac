"""All commands of `seminaive` in one application, and what becomes of refusals and interrupts."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

import seminaive
from seminaive.__main__ import INTERRUPTED
from seminaive.cli.fit_commands import FitCommand, fit, predict, score
from seminaive.cli.model_commands import explain, export
from seminaive.cli.plugged_in import add_commands
from seminaive.cli.shifting import shift
from seminaive.cli.validating import validate
from seminaive.cli.warming_up import warm_up
from seminaive.errors import SeminaiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Classifiers between naive Bayes and logistic regression, for ordinary tables.",
)
app.command(cls=FitCommand)(fit)
for command in (predict, score, validate, explain, export, shift, warm_up):
    app.command()(command)
add_commands(app)


def main() -> None:
    """Run the command line; turn what the package refuses, and an interrupt, into a sentence."""
    try:
        with _interrupts_end_everything():
            app()
    except (SeminaiveError, OSError, UnicodeEncodeError) as error:
        sys.stderr.write(f"seminaive: {' '.join(str(error).split())}\n")
        sys.exit(1)
    except Interrupted:
        sys.stderr.write(INTERRUPTED)
        sys.exit(130)


class Interrupted(BaseException):
    """Ctrl-C, under a name that no library handles."""


@contextmanager
def _interrupts_end_everything() -> Iterator[None]:
    """Let SIGINT raise `Interrupted`, on which files that were begun are removed on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"seminaive {seminaive.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
