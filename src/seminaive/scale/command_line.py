"""What the command line does with tables that it does not read into memory as a whole."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from seminaive.encode.files import CSV, check_table_name, is_named
from seminaive.errors import InputError
from seminaive.memory import available_bytes
from seminaive.scale.fitting import fit
from seminaive.scale.local_runner import LocalRunner
from seminaive.scale.predicting import predict_proba
from seminaive.scale.sources import Source, from_csv, from_parquet

if TYPE_CHECKING:
    from pathlib import Path

# A file that takes a larger share of the memory available is read in pieces: as a frame it is several times
# as large as on the disk.
SHARE_OF_MEMORY = 0.1


def is_large(path: Path) -> bool:
    """Tell whether a table is a folder, or a file that may not fit in memory."""
    return path.is_dir() or (path.is_file() and path.stat().st_size > SHARE_OF_MEMORY * available_bytes())


def fit_large(model: Any, path: Path, target: str, weight: str | None) -> Any:
    """Fit a model to a folder of Parquet files, or to a large file."""
    with tempfile.TemporaryDirectory(prefix="seminaive-") as scratch:
        return fit(model, _open(path, target, weight, ()), runner=LocalRunner(-1), scratch=scratch)


def predict_large(model: Any, path: Path, out: Path | None) -> Path:
    """Write the predictions of a large table into a folder."""
    if out is None:
        raise InputError(
            f"{str(path)!r} is a folder, or too large for memory: name a folder for the predictions in --out"
        )
    data = _open(path, None, None, model.schema_.text_names)
    return predict_proba(model, data, out=out, runner=LocalRunner(-1))


def _open(path: Path, target: str | None, weight: str | None, text_columns: tuple[str, ...]) -> Source:
    if not path.is_dir():
        check_table_name(path)
        if is_named(path, CSV):
            return from_csv(path, target=target, weight=weight, text_columns=text_columns)
    return from_parquet(path, target=target, weight=weight)
