"""One module per paper: its generators, its protocol and its published tables."""

from functools import cache
from importlib import resources

from seminaive.errors import InputError
from seminaive_experiments.papers.not_reproduced import REASONS

__all__ = ["check_published", "check_runnable", "names_figure", "published_names"]


@cache
def published_names() -> tuple[str, ...]:
    """Names of all published tables that the package carries."""
    folder = resources.files(__name__) / "published"
    return tuple(
        sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv"))
    )


def check_published(name: str) -> None:
    """Refuse a name that no published table has."""
    if name not in published_names():
        raise InputError(f"there is no published table {name!r}: it is one of {', '.join(published_names())}")


def check_runnable(name: str) -> None:
    """Refuse a table that does not exist or cannot be run, without importing what would run it."""
    check_published(name)
    if name in REASONS:
        raise InputError(f"{name} cannot be run: {REASONS[name][1]}")


def names_figure(name: str) -> bool:
    """Whether a name is that of a figure, and not of a table."""
    return "-figure" in name or "-supplement" in name
