"""What the command line does with tables that it does not read into memory as a whole."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from seminaive.errors import InputError
from seminaive.evaluate.written_predictions import PREDICTION, PROBABILITY
from seminaive.files import CSV, PARQUET, check_table_name, is_named
from seminaive.memory import refuse_beyond_memory
from seminaive.scale.fit_anywhere import fit
from seminaive.scale.local_runner import LocalRunner
from seminaive.scale.predicting import check_new_folder
from seminaive.scale.sources import Source, from_csv, from_parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from seminaive.delimited import TextFormat
    from seminaive.scale.fit_anywhere import Model

# Predictions that are scored are in memory as Arrow columns, as a frame and as arrays.
COPIES = 3


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


def fit_large(model: Model, data: Source, max_categories: int | None = None) -> Model:
    """Fit a model by all cores, with encoded rows in the folder for temporary files."""
    with tempfile.TemporaryDirectory(prefix="seminaive-") as scratch:
        return fit(model, data, runner=LocalRunner(-1), scratch=scratch, max_categories=max_categories)


def read_predictions(folder: Path, truth: str) -> pd.DataFrame:
    """Read the predictions in a folder, and the column that holds the truth, as a pandas frame."""
    data = from_parquet(folder)
    names = data.types.names
    if truth not in names:
        raise InputError(f"there is no column {truth!r}: the table has {names}")
    read = [name for name in names if name in (truth, PREDICTION) or name.startswith(PROBABILITY)]
    n_rows = sum(
        pq.read_metadata(file).num_rows for file in {partition.name for partition in data.partitions}
    )
    refuse_beyond_memory(
        {f"{n_rows:,} rows of {len(read)} columns": COPIES * 8 * n_rows * len(read)},
        "score some of the files at a time",
    )
    pieces = [piece for partition in data.partitions for piece in partition.tables(read)]
    if not pieces:
        raise InputError(f"no file in {str(folder)!r} has any row: there is nothing to score")
    predictions: pd.DataFrame = pa.concat_tables(pieces).to_pandas()
    return predictions


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
