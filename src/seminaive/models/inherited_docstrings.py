"""Docstrings of classes and methods, completed by what their base classes say of the same names."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADING = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


def complete_docstrings(cls: type, bases: Iterable[type]) -> None:
    """Complete the docstrings of a class, if it lists parameters, and of its public methods.

    Parameters
    ----------
    bases : iterable of type
        Whose docstrings are read, the nearest first.
    """
    bases = list(bases)
    if _entries(cls, "Parameters"):
        _add(cls, "Parameters", _inherited(bases, "Parameters", _parameter_names(cls)))
        _add(cls, "Attributes", _inherited(bases, "Attributes"), first=True)
    for name, method in vars(cls).items():
        if inspect.isfunction(method) and method.__doc__ and not name.startswith("_"):
            sources = [getattr(base, name) for base in bases if hasattr(base, name)]
            _add(
                method, "Parameters", _inherited(sources, "Parameters", inspect.signature(method).parameters)
            )


def _parameter_names(cls: type) -> Iterable[str]:
    """Return the names of a constructor's parameters, among others: those that fields may have."""
    if "__init__" in vars(cls):
        return inspect.signature(cls).parameters
    return [name for part in cls.__mro__ for name in inspect.get_annotations(part)]


def _entries(documented: Any, section: str) -> dict[str, str]:
    """Return what a docstring says of each name in a section, its paragraph or nothing."""
    parts = HEADING.split(inspect.cleandoc(documented.__doc__ or ""))
    body = dict(zip(parts[1::2], parts[2::2], strict=True)).get(section, "")
    entries = [entry.rstrip() for entry in re.split(r"\n(?=\S)", body) if entry.strip()]
    return {name: entry for entry in entries for name in re.split(r" : |\n", entry)[0].split(", ")}


def _inherited(sources: Iterable[Any], section: str, names: Iterable[str] | None = None) -> dict[str, str]:
    """Return the entries of several docstrings, the first ones before others, of some names or of all."""
    found: dict[str, str] = {}
    for source in sources:
        found |= {name: entry for name, entry in _entries(source, section).items() if name not in found}
    return found if names is None else {name: entry for name, entry in found.items() if name in names}


def _add(documented: Any, section: str, entries: dict[str, str], *, first: bool = False) -> None:
    """Add entries to a section of a docstring, before or after those that it has."""
    given = _entries(documented, section)
    added = [entry for name, entry in entries.items() if name not in given]
    if not added:
        return
    every = [*added, *given.values()] if first else [*given.values(), *added]
    parts = HEADING.split(inspect.cleandoc(documented.__doc__))
    if section not in parts[1::2]:
        parts[1:1] = [section, ""]
    parts[2 + 2 * parts[1::2].index(section)] = "\n".join(dict.fromkeys(every))
    sections = [
        f"{name}\n{'-' * len(name)}\n{body}" for name, body in zip(parts[1::2], parts[2::2], strict=True)
    ]
    text = "\n\n".join(part.rstrip() for part in (parts[0], *sections))
    documented.__doc__ = textwrap.indent(text, "    ").lstrip() + "\n    "
