"""The types of saved models are a closed list, which follows from what models declare."""

import dataclasses
import pkgutil
import re
from importlib import import_module

import pytest

import seminaive
from seminaive.models import EditedModel
from seminaive.saving.fitted_state import ArrayBytes, declared_fields, to_node
from seminaive.saving.stored_types import STORED_TYPES, model_class, stored_type

ROOMS = ("encode", "statistics", "scores", "selection", "solvers", "structure", "models")


def models():
    found = [model_class(name) for name in seminaive.__all__]
    return [*(model for model in found if model is not None), EditedModel]


def dataclasses_of_rooms():
    """Return every dataclass of the rooms that a fitted model is made of, by name."""
    known = {}
    for room in ROOMS:
        package = import_module(f"seminaive.{room}")
        for file in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = import_module(file.name)
            for name, value in vars(module).items():
                if (
                    isinstance(value, type)
                    and dataclasses.is_dataclass(value)
                    and value.__module__ == module.__name__
                ):
                    known.setdefault(name, []).append(value)
    return known


def closure():
    """Return the dataclasses that the declarations of all models reach, with their subclasses, by name."""
    known = dataclasses_of_rooms()
    reached = {}

    def visit(annotation):
        text = annotation if isinstance(annotation, str) else annotation.__name__
        for named in (value for word in re.findall(r"\w+", text) for value in known.get(word, ())):
            for name, value in ((name, value) for name, values in known.items() for value in values):
                if issubclass(value, named) and name not in reached:
                    reached[name] = value.__module__
                    if name != "Schema":  # read and written by itself, once per model
                        for field in dataclasses.fields(value):
                            visit(field.type)

    for model in models():
        for declared in declared_fields(model.__new__(model)).values():
            visit(declared)
    return reached


def test_the_list_is_the_closure_of_what_models_declare():
    known = dataclasses_of_rooms()
    assert all(len(known[name]) == 1 for name in STORED_TYPES)
    assert closure() == STORED_TYPES


def test_every_listed_type_is_a_dataclass_of_the_file_that_is_named():
    for name, module in STORED_TYPES.items():
        found = stored_type(name)
        assert (found.__name__, found.__module__) == (name, module)
        assert dataclasses.is_dataclass(found)


@pytest.mark.parametrize(
    "name", ["TableEncoder", "SolverResult", "OrderSearch", "Path", "", None, 3, "os.system"]
)
def test_no_other_name_has_a_type(name):
    assert stored_type(name) is None


@pytest.mark.parametrize("name", ["load_model", "DateParts", "explain", "MultipleImputer", "Oracle", "os"])
def test_no_other_name_is_a_model(name):
    assert model_class(name) is None


def test_a_part_that_is_not_listed_is_not_written():
    from seminaive.solvers import SolverResult

    part = object.__new__(SolverResult)
    with pytest.raises(TypeError, match="SolverResult is not a part of fitted models"):
        to_node(part, ArrayBytes())
