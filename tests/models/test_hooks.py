"""What a base class declares, its subclasses have with the same parameters; other rooms call public steps."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

import seminaive
from seminaive.models.base import TableClassifier

ROOT = Path(seminaive.__file__).parent
for path in sorted((ROOT / "models").glob("*.py")):
    import_module(f"seminaive.models.{path.stem}")
# Constructors differ, and ``fit`` has groups where there are folds.
FREE = {"__init__", "fit"}


def descendants(cls):
    return {cls} | {below for child in cls.__subclasses__() for below in descendants(child)}


CLASSES = sorted(
    (cls for cls in descendants(TableClassifier) if cls.__module__.startswith("seminaive.models")),
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
