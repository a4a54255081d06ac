"""Public names of a package whose files are read when a name is first used."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import get_data
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A package in which a public name wins over the file of the same name.

    Python binds a file to its package when it is first imported. The file ``shift.py`` would then hide the
    function ``shift``, which is the public name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in vars(self).get("__all__", ())):
            super().__setattr__(name, value)


def names_on_first_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, which costs what is used of it.

    Which file has a name is said once, by the imports of ``__init__.pyi``, which type checkers read, too.
    A name that was used is kept in the package, where Python finds it without calling ``__getattr__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    """
    modules = _modules_of(package)
    room = sys.modules[package]
    room.__class__ = _Room

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name]), name)
        setattr(room, name, value)
        return value

    names = sorted(modules)
    return get, lambda: names, names


def file_of(package: str, name: str) -> str:
    """Return the module that defines a public name, without importing it."""
    module = _modules_of(package)[name]
    while name in _modules_of(module):
        module = _modules_of(module)[name]
    return module


@cache
def _modules_of(package: str) -> dict[str, str]:
    """Return where each public name of a package comes from; none where it is a file."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return {}
    try:
        imports = ast.parse(get_data(package, "__init__.pyi") or "").body
    except FileNotFoundError:
        return {}
    return {
        alias.name: node.module
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
