"""What the command line does with tables that it does not read into memory as a whole."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError
from seminaive.files import CSV, PARQUET, check_table_name, is_named
from seminaive.scale.fitting import fit
from seminaive.scale.local_runner import LocalRunner
from seminaive.scale.predicting import check_new_folder
from seminaive.scale.sources import Source, from_csv, from_parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from seminaive.delimited import TextFormat


def open_large(
    path: Path,
    text_format: TextFormat,
    *,
    target: str | None = None,
    weight: str | None = None,
    text_columns: Sequence[str] = (),
) -> Source:
    """Open a folder of Parquet files, or a large file."""
    if not path.is_dir():
        check_table_name(path)
        if is_named(path, CSV):
            return from_csv(
                path, target=target, weight=weight, text_columns=text_columns, text_format=text_format
            )
    return from_parquet(path, target=target, weight=weight)


def fit_large(model: Any, data: Source) -> Any:
    """Fit a model by all cores, with encoded rows in the folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="seminaive-") as scratch:
        return fit(model, data, runner=LocalRunner(-1), scratch=scratch)


def check_predictions_folder(path: Path, out: Path | None) -> Path:
    """Return where the predictions of a large table go; refuse what cannot be a new folder."""
    if out is None:
        raise InputError(
            f"{str(path)!r} is a folder, or too large for memory: name a folder for the predictions in --out"
        )
    if is_named(out, CSV + PARQUET):
        raise InputError(
            f"{str(path)!r} is a folder, or too large for memory; its predictions are a folder of Parquet "
            f"files: name one in --out, {out.name.split('.')[0]!r} for instance, not {str(out)!r}"
        )
    check_new_folder(out)
    return out
