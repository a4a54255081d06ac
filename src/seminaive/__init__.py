"""Classifiers between naive Bayes and logistic regression, for ordinary tables."""

from importlib import import_module
from typing import Any

from seminaive.lazy_names import names_on_first_use

__version__ = "0.3.0"

_get, _, __all__ = names_on_first_use(__name__)

# Rooms that are reached through the package: `seminaive.explain` needs no further import.
ROOMS = ("edits", "errors", "evaluate", "explain", "export", "scale", "structure")


def __getattr__(name: str) -> Any:
    return import_module(f"{__name__}.{name}") if name in ROOMS else _get(name)


def __dir__() -> list[str]:
    return [*__all__, *ROOMS, "__version__"]
