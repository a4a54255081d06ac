"""Commands of other distributions: each plugs in by an entry point of the group ``seminaive.commands``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

GROUP = "seminaive.commands"
# Commands of seminaive-experiments, which are listed also where it is not installed.
EXPERIMENTS = {
    "compare": "Compare models on tables by cross-validation.",
    "demo": "Compare models with scikit-learn's in two short scenes.",
    "reproduce": "Run a table of a paper again, or draw a figure.",
}
REMEDY = "pip install 'seminaive[experiments]', or pip install ./packages/experiments in a clone"


def add_commands(app: typer.Typer) -> None:
    """Add the commands that are installed, and an answer for each of ours that is not."""
    found: dict[str, Callable[..., Any]] = {}
    faults = dict.fromkeys(EXPERIMENTS, "")
    for point in entry_points(group=GROUP):
        try:
            found[point.name] = point.load()
        except (ImportError, AttributeError) as error:  # a broken command must not end all others
            faults[point.name] = f" (it cannot be loaded: {error})"
    for name, command in found.items():
        app.command(name)(command)
    # Whatever is asked of a command that is not there, its help included, has the same answer.
    anything = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    for name in (name for name in faults if name not in found):
        sentence = f"{EXPERIMENTS.get(name, 'A command.').removesuffix('.')} (not installed)."
        app.command(name, help=sentence, context_settings=anything)(_missing(name, faults[name]))


def _missing(name: str, fault: str) -> Callable[[], None]:
    """Return the command that says how to get the one of this name, and what is wrong with it."""

    def command() -> None:
        if name in EXPERIMENTS:
            raise InputError(f"{name} is part of seminaive-experiments: {REMEDY}{fault}")
        raise InputError(f"{name} is a command of another package{fault}")

    return command
