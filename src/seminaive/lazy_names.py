"""Public names of a package whose files are read when a name is first used."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
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
    imports = ast.parse(get_data(package, "__init__.pyi") or "").body
    modules = {
        alias.name: node.module
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
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
