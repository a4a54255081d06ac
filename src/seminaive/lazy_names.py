"""Public names of a package whose files are read when a name is first used."""

import ast
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data
from typing import Any


def names_on_first_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, which costs what is used of it.

    Which file has a name is said once, by the imports of ``__init__.pyi``, which type checkers read, too.

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

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    names = sorted(modules)
    return get, lambda: names, names
