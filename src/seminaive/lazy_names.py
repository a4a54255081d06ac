"""Public names of a package whose files are read when a name is first used."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def read_when_asked(
    package: str, files: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, so that importing it costs only what is used.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    files : mapping of str to str
        The file of each public name.
    """

    def get(name: str) -> Any:
        if name not in files:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{files[name]}"), name)

    return get, lambda: sorted(files)
