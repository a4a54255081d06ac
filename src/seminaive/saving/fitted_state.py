"""Fitted models as plain data: a JSON document and one block of bytes for the arrays, and back.

A class declares its fitted attributes in ``_fitted``, a mapping of names to types; the declarations of its
parents are added. A type is ``float``, ``int``, ``bool``, ``str``, ``numpy.ndarray`` (of numbers), ``dict``
(of arrays by name), ``tuple`` (of numbers), an annotation such as ``"dict[float, FoldLosses]"``, or a
dataclass of the package, whose fields are read by their annotations. Nothing besides constructor parameters
and declared fields is written or read, so that whatever is derived from them is derived again.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from seminaive.encode import ColumnReading, Schema
from seminaive.errors import InputError
from seminaive.models.fitted_checks import check_schema, check_terms, is_size, short
from seminaive.saving.stored_types import model_class, stored_type
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Types of numbers that an array may hold, as NumPy spells them.
NUMBER_TYPES = ("<f8", "<f4", "<f2", "<i8", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "|b1")
# What annotations of dataclass fields call arrays.
ARRAYS = {
    "Floats": "<f8",
    "Singles": "<f4",
    "NDArray[np.float64]": "<f8",
    "Indices": "<i8",
    "Labels": "<i8",
    "Positions": "<i8",
    "Integers": "<i8",
    "Bits": "<u8",
    "NDArray[np.int64]": "<i8",
    "Booleans": "|b1",
    "NDArray[np.bool_]": "|b1",
}
# What annotations of dataclass fields call one of some words.
WORDS = {"Degrees": ("count", "sum")}


class ArrayBytes:
    """The bytes of all arrays of a model, one after the other."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)

    def put(self, array: NDArray[Any]) -> dict[str, Any]:
        """Append an array; return what describes it in the document."""
        plain = np.ascontiguousarray(array).reshape(array.shape)
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        if plain.dtype.str not in NUMBER_TYPES:
            raise TypeError(f"arrays of {plain.dtype} are not stored")
        described = {"array": [plain.dtype.str, list(plain.shape), len(self.content)]}
        self.content += plain.tobytes()
        return described

    def take(self, node: Any, dtype: str | None = None) -> NDArray[Any]:
        """Return the array that a document describes; refuse one that lies outside of the bytes."""
        kind, shape, start = _only_key(node, "array")
        # Single precision may be half: what is kept so small says which is enough.
        allowed = NUMBER_TYPES if dtype is None else (dtype, "<f2") if dtype == "<f4" else (dtype,)
        if kind not in allowed:
            raise ValueError(f"an array of {kind} stands for one of {dtype or 'numbers'}")
        if not all(is_size(length) for length in [*shape, start]):
            raise ValueError("an array has a strange shape or start")
        count = math.prod(shape)  # Python's integers: no product wraps
        size = count * np.dtype(kind).itemsize
        if start + size > len(self.content):
            raise ValueError("an array is longer than the file")
        flat = np.frombuffer(self.content, dtype=kind, count=count, offset=start)
        if kind == "|b1" and count and np.frombuffer(self.content, "u1", count, start).max() > 1:
            raise ValueError("a truth value is neither 0 nor 1")
        return flat.reshape(shape).astype(np.dtype(kind).newbyteorder("="))


def _only_key(node: Any, key: str) -> Any:
    if type(node) is not dict or list(node) != [key]:
        raise ValueError(f"{short(node)} stands for an {key}")
    return node[key]


# Values


def to_node(value: Any, bytes_: ArrayBytes) -> Any:
    """Return a value as part of a JSON document; arrays go into the block of bytes."""
    if isinstance(value, Schema):
        return {"is": "Schema"}  # that of the model, which is written once
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if stored_type(type(value).__name__) is not type(value):
            raise TypeError(f"{type(value).__name__} is not a part of fitted models")
        fields = {f.name: to_node(getattr(value, f.name), bytes_) for f in dataclasses.fields(value)}
        return {"is": type(value).__name__, "fields": fields}
    if isinstance(value, np.ndarray):
        return bytes_.put(value)
    if isinstance(value, np.generic):
        return to_node(value.item(), bytes_)
    if isinstance(value, (list, tuple)):
        return [to_node(part, bytes_) for part in value]
    if isinstance(value, dict):
        return {"map": [[to_node(key, bytes_), to_node(part, bytes_)] for key, part in value.items()]}
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"a {type(value).__name__} is not stored")


def from_node(node: Any, wanted: Any, bytes_: ArrayBytes, schema: Schema) -> Any:
    """Return the value of a node; refuse it where it is not of the type wanted.

    Parameters
    ----------
    wanted : type or str
        A declared type, or the annotation of a dataclass field.
    """
    if wanted is np.ndarray:
        return bytes_.take(node)
    if wanted is dict:
        pairs = _only_key(node, "map")
        if not all(type(pair) is list and len(pair) == 2 and type(pair[0]) is str for pair in pairs):
            raise ValueError("a map has strange keys")
        return {key: bytes_.take(part) for key, part in pairs}
    if wanted is tuple:
        wanted = "tuple[float, ...]"
    name = wanted if isinstance(wanted, str) else wanted.__name__
    if name.endswith(" | None"):
        return None if node is None else from_node(node, name.removesuffix(" | None"), bytes_, schema)
    if name in ARRAYS:
        return bytes_.take(node, ARRAYS[name])
    if name in ("bool", "int", "str"):
        if type(node).__name__ != name:
            raise ValueError(f"{short(node)} stands for a value of type {name}")
        return node
    if name == "float":
        if type(node) not in (float, int):
            raise ValueError(f"{short(node)} stands for a number")
        return float(node) if type(node) is float else node
    if name == "Any":
        if type(node) not in (str, int, float, bool):
            raise ValueError(f"{short(node)} stands for a label")
        return node
    if name in WORDS:
        if node not in WORDS[name]:
            raise ValueError(f"{short(node)} stands for one of {WORDS[name]}")
        return node
    if mapping := re.fullmatch(r"dict\[(\w+), (\w+)\]", name):
        kinds = mapping.groups()
        pairs = _only_key(node, "map")
        if type(pairs) is not list or not all(
            type(entry) is list and len(entry) == len(kinds) for entry in pairs
        ):
            raise ValueError(f"{short(node)} stands for a map")
        return {
            from_node(a, kinds[0], bytes_, schema): from_node(b, kinds[1], bytes_, schema) for a, b in pairs
        }
    if pair := re.fullmatch(r"tuple\[(\w+), (\w+)\]", name):
        if type(node) is not list or len(node) != len(pair.groups()):
            raise ValueError(f"{short(node)} stands for a pair")
        return tuple(from_node(*part, bytes_, schema) for part in zip(node, pair.groups(), strict=True))
    if sequence := re.fullmatch(r"tuple\[(.*), \.\.\.\]", name):
        if type(node) is not list:
            raise ValueError(f"{short(node)} stands for a list")
        return tuple(from_node(part, sequence[1], bytes_, schema) for part in node)
    return _dataclass_from(node, name, bytes_, schema)


def _dataclass_from(node: Any, name: str, bytes_: ArrayBytes, schema: Schema) -> Any:
    if type(node) is not dict or not set(node) <= {"is", "fields"} or type(node.get("is")) is not str:
        raise ValueError(f"{short(node)} stands for a {name}")
    type_, expected = stored_type(node["is"]), stored_type(name)
    if expected is None:
        raise TypeError(f"fields of type {name} are not stored")
    if type_ is None or not issubclass(type_, expected):
        raise ValueError(f"{short(node['is'])} stands for a {name}")
    if type_ is Schema:
        return schema
    fields = {field.name: field.type for field in dataclasses.fields(type_)}
    given = node.get("fields")
    if type(given) is not dict or set(given) != set(fields):
        raise ValueError(f"the fields of {type_.__name__} are {sorted(fields)}")
    made = type_(**{field: from_node(given[field], kind, bytes_, schema) for field, kind in fields.items()})
    if isinstance(made, Terms):
        check_terms(made)
    if hasattr(made, "check_consistent"):
        made.check_consistent()
    return made


# Labels


def labels_to_node(classes: NDArray[Any]) -> dict[str, Any]:
    """Return class labels as part of a document."""
    kind = "object" if classes.dtype.kind == "O" else classes.dtype.str
    return {"dtype": kind, "values": classes.tolist()}


def labels_from_node(node: Any, most_bytes: int) -> NDArray[Any]:
    """Return class labels, sorted and different from each other."""
    if type(node) is not dict or set(node) != {"dtype", "values"} or type(node["values"]) is not list:
        raise ValueError("the classes are not a list")
    values, kind = node["values"], node["dtype"]
    if not values or not all(type(value) in (str, int, float, bool) for value in values):
        raise ValueError("a class is neither text, number nor boolean")
    if type(kind) is not str or not re.fullmatch(r"object|<U\d{1,9}|[<|][iuf][1248]|\|b1", kind):
        raise ValueError(f"classes are of the type {short(kind)}")
    dtype = np.dtype(kind)
    if dtype.itemsize * len(values) > most_bytes:
        raise ValueError("the classes are longer than the file may be")
    if dtype.kind == "U" and not all(type(value) is str for value in values):
        raise ValueError("classes mix text and numbers")
    if dtype.kind != "U" and dtype.kind != "O" and any(type(value) is str for value in values):
        raise ValueError("classes mix text and numbers")
    classes = np.array(values, dtype=dtype)
    if classes.tolist() != values or sorted(set(values)) != values:
        raise ValueError("the classes are not sorted, or occur twice")
    return classes


# Constructor parameters


def parameter_to_node(name: str, value: Any, bytes_: ArrayBytes) -> Any:
    """Return a constructor parameter as part of a document.

    Plain values, lists, maps, arrays, splitters, and a fitted model, as of ``start``.
    """
    if isinstance(value, FrozenEstimator):
        value = value.estimator
    if _is_fitted_model(value):
        return {"model": model_to_document(value, bytes_, nested=True)}
    if type(value).__name__ in _splitters() and type(value) is _splitters()[type(value).__name__]:
        given = {key: part for key, part in vars(value).items() if not key.startswith("_")}
        try:
            return {"splitter": type(value).__name__, "given": to_node(given, bytes_)}
        except TypeError:
            pass
    if isinstance(value, np.ndarray) and value.dtype.str not in NUMBER_TYPES:
        value = value.tolist()
    if isinstance(value, tuple):
        return {"tuple": [parameter_to_node(name, part, bytes_) for part in value]}
    try:
        return to_node(value, bytes_)
    except TypeError as error:
        raise InputError(
            f"the parameter {name}={value!r} cannot be written to a file ({error}): set it to a plain value, "
            f"set_params({name}=...), before saving"
        ) from error


def _is_fitted_model(value: Any) -> bool:
    """Tell whether a value is a fitted model of this package."""
    return hasattr(type(value), "_fitted") and "schema_" in vars(value)


def parameter_from_node(node: Any, bytes_: ArrayBytes) -> Any:
    """Return a constructor parameter."""
    if type(node) is list:
        return [parameter_from_node(part, bytes_) for part in node]
    if type(node) is not dict:
        return node
    if list(node) == ["array"]:
        return bytes_.take(node)
    if list(node) == ["tuple"] and type(node["tuple"]) is list:
        return tuple(parameter_from_node(part, bytes_) for part in node["tuple"])
    if list(node) == ["map"]:
        return {
            parameter_from_node(key, bytes_): parameter_from_node(part, bytes_) for key, part in node["map"]
        }
    if list(node) == ["splitter", "given"] and type(node["splitter"]) is str:
        given = parameter_from_node(node["given"], bytes_)
        return _splitters()[node["splitter"]](**given)
    raise ValueError(f"{short(node)} stands for a parameter")


@cache
def _splitters() -> dict[str, type]:
    """Return scikit-learn's splitters whose attributes are their constructor's arguments."""
    from sklearn import model_selection

    names = ("GroupKFold", "KFold", "StratifiedGroupKFold", "StratifiedKFold", "TimeSeriesSplit")
    return {name: getattr(model_selection, name) for name in names}


# Models


def declared_fields(model: Any) -> dict[str, Any]:
    """Return the declared fitted attributes of a class, those of its parents included."""
    fields: dict[str, Any] = {}
    for parent in reversed(type(model).__mro__):
        fields |= vars(parent).get("_fitted", {})
    derived = {name for parent in type(model).__mro__ for name in vars(parent).get("_derived", ())}
    return {name: kind for name, kind in fields.items() if name not in derived}


def model_to_document(model: Any, bytes_: ArrayBytes, *, nested: bool = False) -> dict[str, Any]:
    """Return a fitted model as a JSON document.

    One that is ``nested`` in another, as what that started from, is whole without the model that it started
    from itself, and is written without.
    """
    parameters = model.get_params(deep=False)
    if nested:
        usual = type(model)().get_params(deep=False)
        parameters = {
            name: usual[name] if _is_fitted_model(value) else value for name, value in parameters.items()
        }
    fitted = {
        name: to_node(getattr(model, name), bytes_) for name in declared_fields(model) if name in vars(model)
    }
    return {
        "model": type(model).__name__,
        "parameters": {name: parameter_to_node(name, value, bytes_) for name, value in parameters.items()},
        "schema": json.loads(model.schema_.to_json()),
        "named": "feature_names_in_" in vars(model),
        "classes": labels_to_node(model.classes_),
        "columns": [[reading.dtype, reading.n_missing] for reading in model.columns_read_],
        "fitted": fitted,
    }


def model_from_document(document: Any, bytes_: ArrayBytes, most_bytes: int, *, nested: bool = False) -> Any:
    """Build a model from a document; whatever does not fit together is refused.

    A document that is ``nested`` in another has no further one in it.
    """
    made = model_class(document["model"])
    if made is None:
        raise ValueError(f"there is no model {short(document['model'])}")
    nodes, earlier = document["parameters"], {}
    if not nested and type(nodes) is dict:
        for name, node in nodes.items():
            if type(node) is dict and list(node) == ["model"]:
                earlier[name] = model_from_document(node["model"], bytes_, most_bytes, nested=True)
        nodes = {name: None if name in earlier else node for name, node in nodes.items()}
    model = made(**(_parameters_of(nodes, made, bytes_) | earlier))
    schema = Schema.from_json(json.dumps(document["schema"]))
    check_schema(schema)
    model.schema_, model.n_features_in_ = schema, len(schema.columns)
    if type(document["named"]) is not bool:
        raise ValueError("it does not tell whether the columns had names")
    if document["named"]:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    model.classes_ = labels_from_node(document["classes"], most_bytes)
    columns = [(str(dtype), missing) for dtype, missing in document["columns"]]
    if len(columns) != len(schema.columns) or not all(is_size(missing) for _, missing in columns):
        raise ValueError("the report of the columns does not fit the schema")
    model.columns_read_ = tuple(ColumnReading(dtype, missing) for dtype, missing in columns)
    declared = declared_fields(model)
    for name, node in document["fitted"].items():
        if name not in declared:
            raise ValueError(f"{short(name)} is not a fitted attribute of {made.__name__}")
        setattr(model, name, from_node(node, declared[name], bytes_, schema))
    model.restore(most_bytes)
    return model


def _parameters_of(document: Any, made: type, bytes_: ArrayBytes) -> dict[str, Any]:
    known = set(made().get_params(deep=False))
    if type(document) is not dict or set(document) != known:
        raise ValueError(f"the parameters of {made.__name__} are {sorted(known)}")
    return {name: parameter_from_node(node, bytes_) for name, node in document.items()}
