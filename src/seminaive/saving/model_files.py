"""Saved models: plain data in an archive, so that loading a file from a stranger runs none of its code.

A file is a zip archive of ``seminaive.json``, which tells version, model, schema and fitted attributes, and
of ``arrays``, the numbers. A scikit-learn pipeline that ends in one of our models has a third member,
``steps``, in which skops keeps the steps before it.
"""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from seminaive.errors import InputError, ModelFileError
from seminaive.files import is_there, whole_file
from seminaive.saving.fitted_state import ArrayBytes, model_from_document, model_to_document
from seminaive.saving.stored_types import model_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seminaive.models.base import TableClassifier

# The member that says what the file is, readable without loading anything.
DOCUMENT, ARRAYS, STEPS = "seminaive.json", "arrays", "steps"
# What a file may hold, in bytes before compression, by default; and about how many times the bytes
# of a text the objects that it describes take.
MAX_BYTES, JSON_GROWTH = 1 << 30, 16
# The version that first wrote this format.
FORMAT_SINCE = (0, 2)
# Steps before the model that a pipeline may have, by module.
STEPS_ALLOWED = {
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing": (
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "seminaive": ("DateParts", "EqualFrequencyDiscretizer", "MDLDiscretizer"),
}


def save_model(model: TableClassifier | Pipeline, path: str | Path) -> None:
    """Write a fitted model to a file, whole or not at all.

    What was written is read back before it takes the place of an earlier file: a model that was saved can be
    loaded.

    Parameters
    ----------
    model : classifier of this package, fitted
        Or a scikit-learn pipeline that ends in one; the steps before it may be of the kinds that `load_model`
        lists.
    path : path
    """
    steps: list[Any] = []
    last = model
    if isinstance(model, Pipeline):
        *steps, (_, last) = model.steps
    if type(last) is not model_class(type(last).__name__):
        raise InputError(
            "only models of this package, and pipelines that end in one, can be saved, not a "
            f"{type(last).__name__}"
        )
    check_is_fitted(last)
    bytes_ = ArrayBytes()
    document = {"version": _version(), **model_to_document(last, bytes_)}
    members = {ARRAYS: bytes(bytes_.content)}
    if isinstance(model, Pipeline):
        import skops.io

        _check_steps(steps, InputError)
        document["name"] = model.steps[-1][0]
        members[STEPS] = skops.io.dumps(steps)
    members[DOCUMENT] = json.dumps(document, separators=(",", ":")).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with whole_file(Path(path)) as part:
        part.write_bytes(buffer.getvalue())
        if part.is_file():  # a pipe cannot be read back
            _read_back(part)


def _read_back(part: Path) -> None:
    """Refuse to keep a file that cannot be loaded; however large it is, it comes from this process."""
    try:
        load_model(part, max_bytes=sys.maxsize)
    except ModelFileError as error:
        reason = error.__cause__ or error
        raise ModelFileError(
            "the model was not saved, and an earlier file is as it was: what was written cannot be read back "
            f"({type(reason).__name__}: {reason}). This is a mistake of seminaive; please report it with the "
            "model's parameters"
        ) from error


def load_model(path: str | Path, *, max_bytes: int = MAX_BYTES) -> TableClassifier | Pipeline:
    """Read a model that ``save_model`` wrote.

    A file that is damaged, that comes from another version, or that holds anything besides a model of this
    package, is refused with a `ModelFileError`; what is loaded gives finite probabilities. None of a file's
    code is run, and about twice ``max_bytes`` of memory are taken at most.

    Of a pipeline, the promise of finite probabilities covers the model at its end. The steps before it may be
    ColumnTransformer (which may pass columns through), Pipeline, SimpleImputer, MissingIndicator,
    VarianceThreshold, the scalers, encoders, KBinsDiscretizer, PowerTransformer and QuantileTransformer of
    scikit-learn, and our discretisers.

    Parameters
    ----------
    path : path
    max_bytes : int, default=2**30
        What the file may hold, before compression, and what may be derived from it.
    """
    path = Path(path)
    if not is_there(path) or not path.is_file():
        raise ModelFileError(f"there is no file {str(path)!r}")
    members = _read_members(path, max_bytes)
    document = _read_document(path, members)
    with _damage_reported(path):
        model = model_from_document(document, ArrayBytes(members[ARRAYS]), max_bytes)
        if STEPS not in members:
            return model
        if type(document["name"]) is not str:
            raise ValueError("the last step has no name")
        return Pipeline([*_read_steps(path, members[STEPS], max_bytes), (document["name"], model)])


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Turn whatever a broken file makes the readers raise into a sentence."""
    try:
        yield
    except ModelFileError:
        raise
    except (Exception, RecursionError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ModelFileError(f"{str(path)!r} is damaged ({type(error).__name__}: {reason})") from error


def _read_members(path: Path, max_bytes: int) -> dict[str, bytes]:
    """Read the archive's members, after a look at their sizes."""
    if path.stat().st_size > max_bytes:
        raise _too_large(path, path.stat().st_size, max_bytes)
    try:
        with zipfile.ZipFile(path) as archive:
            return _members_within(path, archive, max_bytes)
    except ModelFileError:
        raise
    except Exception as error:  # whatever a foreign file makes the reader raise
        raise ModelFileError(f"{str(path)!r} is not a saved model of seminaive") from error


def _members_within(path: Path, archive: zipfile.ZipFile, max_bytes: int) -> dict[str, bytes]:
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    if DOCUMENT not in sizes:
        raise ModelFileError(f"{str(path)!r} is not a saved model of seminaive")
    wanted = [name for name in (DOCUMENT, ARRAYS, STEPS) if name in sizes]
    total = sum(info.file_size for info in archive.infolist()) + (JSON_GROWTH - 1) * sizes[DOCUMENT]
    if total > max_bytes:
        raise _too_large(path, total, max_bytes)
    members = {}
    for name in wanted:
        with archive.open(name) as member:
            # Never more than the size that was promised, whatever the compressed bytes would give.
            members[name] = member.read(sizes[name])
    return members


def _too_large(path: Path, size: int, max_bytes: int) -> ModelFileError:
    return ModelFileError(
        f"{str(path)!r} would take {size / 1e6:,.0f} MB, {max_bytes / 1e6:,.0f} MB are allowed: if you "
        "trust it, pass a larger max_bytes to load_model"
    )


def _read_document(path: Path, members: dict[str, bytes]) -> dict[str, Any]:
    """Read the document, and refuse one of another version."""
    try:
        document = json.loads(members[DOCUMENT])
        version = document["version"]
        parts = re.fullmatch(r"(\d{1,6})\.(\d{1,6})(\.\w{1,20}){0,4}", version)
        saved_by = (int(parts[1]), int(parts[2]))  # type: ignore[index]
    except (Exception, RecursionError) as error:
        raise ModelFileError(f"{str(path)!r} is not a saved model of seminaive") from error
    if saved_by > tuple(int(part) for part in _version().split(".")[:2]):
        raise ModelFileError(
            f"{str(path)!r} was saved by seminaive {version}, newer than this {_version()}: upgrade, or save "
            "it again with this version"
        )
    if saved_by < FORMAT_SINCE:
        raise ModelFileError(
            f"{str(path)!r} was saved by seminaive {version}, whose tables this version {_version()} does "
            "not read: fit the model again, or load it with that version"
        )
    if ARRAYS not in members:
        raise ModelFileError(f"{str(path)!r} is damaged (it has no arrays)")
    return dict(document)


def _version() -> str:
    from seminaive import __version__

    return __version__


# Pipelines


def _read_steps(path: Path, content: bytes, max_bytes: int) -> list[Any]:
    """Read the steps before the model: types of the list only, and nothing that skops does not trust."""
    import skops.io

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        total = sum(info.file_size for info in archive.infolist())
        if total > max_bytes:
            raise _too_large(path, total, max_bytes)
    ours = [f"{_allowed_type(name).__module__}.{name}" for name in STEPS_ALLOWED["seminaive"]]
    trusted = [*ours, "numpy.dtype"]
    foreign = [name for name in skops.io.get_untrusted_types(data=content) if name not in trusted]
    if foreign:
        raise ModelFileError(
            f"{str(path)!r} is not a model of this package: it contains {', '.join(sorted(foreign))}. "
            "Nothing of it was loaded"
        )
    steps = skops.io.loads(content, trusted=trusted)
    _check_steps(steps, ModelFileError)
    return [tuple(step) for step in steps]


def _check_steps(steps: Any, refusal: type[Exception]) -> None:
    """Refuse a step of a type that is not listed, also inside of pipelines and column transformers."""
    for _, step, *_ in steps:
        if step in ("passthrough", "drop") or _changes_nothing(step):
            continue
        name = type(step).__name__
        if not any(name in names for names in STEPS_ALLOWED.values()) or type(step) is not _allowed_type(
            name
        ):
            allowed = ", ".join(sorted(name for names in STEPS_ALLOWED.values() for name in names))
            raise refusal(f"a pipeline's step is a {name}: steps that can be saved are {allowed}")
        for inner in ("steps", "transformers", "transformers_"):
            _check_steps(getattr(step, inner, ()), refusal)


def _changes_nothing(step: Any) -> bool:
    """Tell whether a step is what a fitted ColumnTransformer makes of "passthrough": no function at all."""
    from sklearn.preprocessing import FunctionTransformer

    functions = (step.func, step.inverse_func) if type(step) is FunctionTransformer else (step,)
    return functions == (None, None) and not callable(step.feature_names_out)


def _allowed_type(name: str) -> type:
    from importlib import import_module

    module = next(module for module, names in STEPS_ALLOWED.items() if name in names)
    found: type = getattr(import_module(module), name)
    return found
