"""Predict the rows of a source, partition by partition, into a folder of Parquet files."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.utils.validation import check_is_fitted

from seminaive.errors import InputError
from seminaive.models.fit_progress import progress_of
from seminaive.scale.local_runner import checked_runner
from seminaive.scale.sources import Reading, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.models.base import TableClassifier
    from seminaive.scale.local_runner import Runner
    from seminaive.scale.partitions import TablePartition


def predict_proba(
    model: TableClassifier, data: Source, *, out: str | Path, runner: Runner | None = None
) -> Path:
    """Write the most probable class and the probabilities of every row; return the folder.

    The folder has one file per partition, ``part-00000.parquet`` and so on, so that the rows stay in the
    order of the source. Their columns are the source's ``ids``, ``prediction``, and ``probability_`` followed
    by each class. The folder appears when all of it is written, and not at all where something fails.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package.
    data : Source
        With the training columns; a target is not needed, and further columns are not looked at.
    out : path
        A folder that does not exist yet, or is empty. On a cluster every worker must be able to write to it.
    runner : LocalRunner, DaskRunner or None, default=None
        Who does the work; None is one thread of this process.
    """
    check_is_fitted(model)
    if not isinstance(data, Source):
        raise InputError(
            f"data is what scale.from_parquet, from_batches or from_dask return, got {type(data).__name__}"
        )
    reading = _reading(model, data)
    runner = checked_runner(runner)
    partitions = list(enumerate(data.partitions))
    with (
        whole_folder(Path(out)) as folder,
        progress_of(model, "partitions predicted", len(partitions)) as step,
    ):
        for _ in runner.each(_predict_partition, partitions, model, reading, data.ids, str(folder)):
            step()
    return Path(out)


def _reading(model: TableClassifier, data: Source) -> Reading:
    types, names = data.types, model.schema_.names
    absent = [name for name in names if name not in types.names]
    if absent:
        raise InputError(
            f"fitted on {len(names)} columns, of which the table lacks {absent}: pass the training columns "
            "or refit"
        )
    unknown = [name for name in data.ids if name not in types.names]
    if unknown:
        raise InputError(f"there is no column {unknown[0]!r}: the table has {types.names}")
    _refuse_predicted_names(model, data.ids)
    return Reading(pa.schema([types.field(name) for name in names]), types, None, None)


def _refuse_predicted_names(model: TableClassifier, ids: Sequence[str]) -> None:
    """Refuse columns that are to be kept and are named like a prediction, or are named twice."""
    predicted = {"prediction", *(f"probability_{label}" for label in model.classes_)}
    for number, name in enumerate(ids):
        if name in predicted:
            raise InputError(
                f"the table has a column {name!r}, and so have the predictions: rename it, or keep others"
            )
        if name in ids[:number]:
            raise InputError(f"the column {name!r} is to be kept twice: name it once")


def _predict_partition(
    numbered: tuple[int, TablePartition],
    model: TableClassifier,
    reading: Reading,
    ids: Sequence[str],
    folder: str,
) -> None:
    """Write the predictions of a partition; doing it again writes the same file."""
    number, partition = numbered
    path = Path(folder) / f"part-{number:05d}.parquet"
    also = [name for name in ids if name not in reading.features.names]
    part = path.with_suffix(".part")
    kinds = predicted_types(model, reading, ids)
    with _writable(part), pq.ParquetWriter(part, kinds) as writer:
        for piece in reading.pieces(partition, also):
            probabilities = model.predict_proba(piece.select(reading.features.names))
            columns = [piece.column(name).cast(reading.types.field(name).type) for name in ids]
            columns.append(pa.array(model.classes_[probabilities.argmax(axis=1)]))
            columns += [pa.array(column) for column in probabilities.T]
            writer.write_table(pa.table(columns, schema=kinds))
    part.replace(path)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """Turn a disk that is full, or cannot be written to, into a sentence; what is read has another one."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"predictions cannot be written to {str(path)!r}: {error}. Name a folder on another disk in out"
        ) from error


def predicted_types(model: TableClassifier, reading: Reading, ids: Sequence[str]) -> pa.Schema:
    """Return the columns of a file of predictions."""
    fields = [reading.types.field(name) for name in ids]
    fields.append(pa.field("prediction", pa.array(model.classes_).type))
    fields += [pa.field(f"probability_{label}", pa.float64()) for label in model.classes_]
    return pa.schema(fields)


def check_new_folder(path: Path) -> None:
    """Refuse a path that cannot become a new folder."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{str(path)!r} exists and is not an empty folder: name another one")
    if not path.resolve().parent.is_dir():
        raise InputError(f"there is no folder {str(path.resolve().parent)!r} to make {path.name!r} in")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write to that becomes ``path`` at the end; a failure leaves nothing of it."""
    check_new_folder(path)
    with _writable(path):
        folder = Path(tempfile.mkdtemp(dir=path.resolve().parent, prefix=f".{path.name}-"))
    try:
        yield folder
        if path.exists():
            path.rmdir()
        folder.chmod(0o755)
        folder.replace(path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
