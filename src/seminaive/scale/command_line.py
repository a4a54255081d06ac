"""What the command line does with tables that it does not read into memory as a whole."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError
from seminaive.files import CSV, check_table_name, is_named
from seminaive.scale.fitting import fit
from seminaive.scale.local_runner import LocalRunner
from seminaive.scale.predicting import predict_proba
from seminaive.scale.sources import Source, from_csv, from_parquet

if TYPE_CHECKING:
    from pathlib import Path

    from seminaive.delimited import TextFormat


def fit_large(model: Any, path: Path, target: str, weight: str | None, text_format: TextFormat) -> Any:
    """Fit a model to a folder of Parquet files, or to a large file."""
    with tempfile.TemporaryDirectory(prefix="seminaive-") as scratch:
        return fit(
            model, _open(path, target, weight, (), text_format), runner=LocalRunner(-1), scratch=scratch
        )


def predict_large(model: Any, path: Path, out: Path | None, text_format: TextFormat) -> Path:
    """Write the predictions of a large table into a folder."""
    if out is None:
        raise InputError(
            f"{str(path)!r} is a folder, or too large for memory: name a folder for the predictions in --out"
        )
    data = _open(path, None, None, model.schema_.text_names, text_format)
    return predict_proba(model, data, out=out, runner=LocalRunner(-1))


def _open(
    path: Path,
    target: str | None,
    weight: str | None,
    text_columns: tuple[str, ...],
    text_format: TextFormat,
) -> Source:
    if not path.is_dir():
        check_table_name(path)
        if is_named(path, CSV):
            return from_csv(
                path, target=target, weight=weight, text_columns=text_columns, text_format=text_format
            )
    return from_parquet(path, target=target, weight=weight)
