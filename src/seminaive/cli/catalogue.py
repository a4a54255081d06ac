"""The models by the names that the command line knows, listed without importing any of them.

Sentences and parameters are read off the source, because importing a model imports scikit-learn, and a
misspelt name should be refused at once.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import seminaive
from seminaive.errors import InputError
from seminaive.lazy_names import file_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a public class of the package that is no classifier ends with.
OTHERS = ("Selector", "Imputer", "Discretizer", "DateParts")
# The model to take first is the first in every list.
FIRST = "semi-naive"
# What is compiled beforehand, and compared with rivals, unless models are named.
USUAL = ("semi-naive", "naive-bayes", "naive-bayes-logistic-regression-cv")


def class_names() -> dict[str, str]:
    """Return the classes of our classifiers by their names on the command line, the first one first."""
    public = [name for name in dir(seminaive) if name[0].isupper() and not name.endswith(OTHERS)]
    found = {_hyphenated(name): name for name in public}
    return {FIRST: found.pop(FIRST), **found}


def _hyphenated(class_name: str) -> str:
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in class_name)
    return words.removeprefix("-").replace("c-v", "cv")


@cache
def sentence_of(name: str) -> str:
    """Read the first sentence of a model's docstring; empty where there is no source."""
    texts = [ast.get_docstring(part) or "" for part in _sources(_module(name), class_names()[name])]
    return " ".join("".join(texts[:1]).split("\n\n")[0].replace("`", "").split())


@cache
def parameters_of(name: str) -> tuple[str, ...]:
    """Read the parameters of a model off its class and the bases that it takes them from."""
    found: list[str] = []
    for written in _sources(_module(name), class_names()[name]):
        constructors = [
            part for part in written.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"
        ]
        if constructors:
            return tuple(argument.arg for argument in constructors[0].args.kwonlyargs)
        fields = [part for part in written.body if isinstance(part, ast.AnnAssign)]
        found += [ast.unparse(field.target) for field in fields if _is_parameter(field)]
    return tuple(dict.fromkeys(found))


def _module(name: str) -> str:
    return file_of(seminaive.__name__, class_names()[name])


def _sources(module: str, class_name: str) -> Iterator[ast.ClassDef]:
    """Yield the source of a class and of its bases in this package, as far as there is some."""
    spec = find_spec(module)
    source = spec.loader.get_source(spec.name) if spec and hasattr(spec.loader, "get_source") else None  # type: ignore[union-attr]
    tree = ast.parse(source or "")
    imports = [part for part in tree.body if isinstance(part, ast.ImportFrom)]
    modules = {alias.name: part.module or "" for part in imports for alias in part.names}
    for written in tree.body:
        if isinstance(written, ast.ClassDef) and written.name == class_name:
            yield written
            for base in map(ast.unparse, written.bases):
                if modules.get(base, "").startswith(seminaive.__name__):
                    yield from _sources(modules[base], base)


def _is_parameter(field: ast.AnnAssign) -> bool:
    """Tell whether a field of a model's class is an argument of its constructor."""
    written = ast.unparse(field)
    return field.value is not None and "ClassVar" not in written and "init=False" not in written


def check_model(name: str) -> None:
    """Refuse a name that no model has."""
    known = class_names()
    if name not in known:
        raise InputError(f"there is no model {name!r}: choose among {', '.join(known)}")


def read_parameters(name: str, texts: list[str]) -> dict[str, Any]:
    """Read ``name=value`` texts; a value is JSON, or else the text itself."""
    given = dict(map(_parameter, texts))
    known = parameters_of(name)
    if known:
        _check_parameters(name, given, known)
    return given


def _parameter(text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"a parameter is given as name=value, got {text!r}")
    try:
        return key, json.loads(value)
    except ValueError:  # no JSON, or a number of more digits than Python reads
        return key, value


def make_model(name: str, given: dict[str, Any] | None = None) -> Any:
    """Make one of our models by name."""
    model_class = getattr(seminaive, class_names()[name])
    _check_parameters(name, given or {}, tuple(model_class().get_params()))
    return model_class(**(given or {}))


def _check_parameters(name: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
    foreign = [key for key in given if key not in known]
    if foreign:
        raise InputError(f"{name} has no parameter {foreign[0]!r}: it has {', '.join(known)}")
