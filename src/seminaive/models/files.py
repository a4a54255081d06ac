"""Saved models: skops files, so that loading one from a stranger runs none of the stranger's code."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from seminaive import encode, scores, selection, solvers, statistics, structure
from seminaive.encode import Schema, whole_file
from seminaive.errors import InputError, ModelFileError
from seminaive.models.base import TableClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

# The page of a model file that says what it is, readable without loading anything.
LABEL = "seminaive.json"


def save_model(model: TableClassifier, path: str | Path) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file is a skops archive with a label that holds the version and the schema.

    Parameters
    ----------
    model : classifier of this package, fitted
    path : path
    """
    import skops.io

    if not isinstance(model, TableClassifier):
        raise InputError(f"only models of this package can be saved, not a {type(model).__name__}")
    check_is_fitted(model)
    path = Path(path)
    label = {
        "version": _version(),
        "model": type(model).__name__,
        "schema": json.loads(model.schema_.to_json()),
    }
    buffer = io.BytesIO(skops.io.dumps(model))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(LABEL, json.dumps(label, indent=1))
    with whole_file(path) as part:
        part.write_bytes(buffer.getvalue())


def load_model(path: str | Path) -> TableClassifier:
    """Read a model that ``save_model`` wrote.

    A file that is damaged, that comes from a newer version, or that names anything besides the types of
    this package and the plain ones of numpy and scikit-learn, is refused.

    Parameters
    ----------
    path : path
    """
    import skops.io

    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"there is no file {str(path)!r}")
    content = path.read_bytes()
    label = _read_label(path, content)
    trusted = set(_trusted_types())
    with _damage_reported(path):
        foreign = [name for name in skops.io.get_untrusted_types(data=content) if name not in trusted]
    if foreign:
        raise ModelFileError(
            f"{str(path)!r} is not a model of this package: it contains {', '.join(sorted(foreign))}. "
            "Nothing of it was loaded"
        )
    with _damage_reported(path):
        model = skops.io.loads(content, trusted=sorted(trusted))
    if not isinstance(model, TableClassifier):
        raise ModelFileError(f"{str(path)!r} holds a {type(model).__name__}, not a model of this package")
    with _damage_reported(path):
        if Schema.from_json(json.dumps(label["schema"])) != model.schema_:
            raise ValueError("label and model have different schemas")
        # Compiled loops believe offsets and sizes, so these are checked before the first prediction.
        model._check_consistent()  # noqa: SLF001 - the package's own
    return model


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Turn whatever a broken archive makes the reader raise into a sentence."""
    try:
        yield
    except Exception as error:
        raise ModelFileError(f"{str(path)!r} is damaged ({type(error).__name__}: {error})") from error


def _read_label(path: Path, content: bytes) -> dict:
    """Read version, model name and schema of a model file, and refuse a file from a newer version."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            label = json.loads(archive.read(LABEL))
        version = tuple(int(part) for part in label["version"].split(".")[:2])
    except Exception as error:  # whatever a foreign file makes the readers raise
        raise ModelFileError(f"{str(path)!r} is not a saved model of seminaive") from error
    if version > tuple(int(part) for part in _version().split(".")[:2]):
        raise ModelFileError(
            f"{str(path)!r} was saved by seminaive {label['version']}, newer than this {_version()}: "
            "upgrade, or save it again with this version"
        )
    return label


def _version() -> str:
    from seminaive import __version__

    return __version__


def _trusted_types() -> Iterator[str]:
    """Yield the full names of this package's classes that a fitted model consists of."""
    from seminaive import models

    yield "seminaive.scores.additive.NumericTerms"  # its place in version 0.1
    yield "seminaive.models.markov_blanket_selector.BlanketTrace"
    for room in (models, encode, scores, selection, solvers, statistics, structure):
        for name in room.__all__:
            member = getattr(room, name)
            if isinstance(member, type):
                yield f"{member.__module__}.{member.__qualname__}"
