"""What a base class declares, its subclasses have with the same parameters; other rooms call public steps."""

import ast
import inspect
import textwrap
from importlib import import_module
from pathlib import Path

import pytest

import seminaive
from seminaive.models.base import TableClassifier

ROOT = Path(seminaive.__file__).parent
for room in ("models", "structure"):
    for path in sorted((ROOT / room).glob("*.py")):
        import_module(f"seminaive.{room}.{path.stem}")
# Constructors differ, and ``fit`` has groups where there are folds.
FREE = {"__init__", "fit"}


def descendants(cls):
    return {cls} | {below for child in cls.__subclasses__() for below in descendants(child)}


CLASSES = sorted(
    (cls for cls in descendants(TableClassifier) if cls.__module__.startswith("seminaive.")),
    key=lambda cls: cls.__name__,
)


def overridden(cls):
    """Yield the methods of a class that one above it has, too, with both of their parameters."""
    for name, method in vars(cls).items():
        if not inspect.isfunction(method) or name in FREE:
            continue
        for above in cls.__mro__[1:]:
            if name in vars(above) and above.__module__.startswith("seminaive."):
                known = inspect.signature(vars(above)[name]).parameters.values()
                found = inspect.signature(method).parameters.values()
                yield name, [(p.name, p.kind) for p in found], [(p.name, p.kind) for p in known]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_hook_has_one_signature(cls):
    for name, found, declared in overridden(cls):
        assert found == declared, name


def test_hooks_are_found():
    assert sum(len(list(overridden(cls))) for cls in CLASSES) > 60


def test_rooms_above_take_public_steps_only():
    """Ruff refuses private members of others (SLF001); no file and no line of the package is excepted."""
    settings = (ROOT.parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    excepted = [line for line in settings.splitlines() if "SLF001" in line and "src/" in line]
    lines = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in ROOT.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "SLF001" in line
    ]
    assert excepted + lines == []


def read_names(cls):
    """Return the public names that the methods of a class read off ``self``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {
        node.attr
        for node in attributes
        if isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load)
    }


@pytest.mark.parametrize(
    "cls", [cls for cls in CLASSES if cls.__name__ in seminaive.models.__all__], ids=lambda cls: cls.__name__
)
def test_what_methods_read_is_a_parameter_or_learned(cls):
    """scikit-learn's base class has no types, so that mypy would not notice a parameter that is gone."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("seminaive.models")]
    read = set().union(*(read_names(base) for base in ours))
    read = {name for name in read if not name.endswith("_") and not name.startswith("_")}
    known = {*inspect.signature(cls).parameters, *dir(cls)}
    # An edited model is made of a fitted one, and has none of the parameters of a fit.
    exceptions = {"categorical_features", "class_weight", "merge_spellings", "missing", "n_jobs"}
    assert read - known - (exceptions if cls is seminaive.models.EditedModel else set()) == set()
