"""Parts of a table that are read one at a time: row groups of Parquet files, frames, streams of batches."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from seminaive.encode.table_files import code_columns, csv_pieces
from seminaive.errors import InputError, TableTypeError
from seminaive.files import CSV, PARQUET, is_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seminaive.delimited import TextFormat

# What stands for a missing value in the name of a folder.
HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"
# Rows that are decoded, encoded and counted at once.
ROWS_AT_ONCE = 1 << 18
# Rows of a partition, where row groups are smaller; a larger row group is one partition.
ROWS_OF_A_PARTITION = 500_000


class TablePartition(Protocol):
    """Some rows of a table. It is picklable, so that any process may read it, and read it again."""

    @property
    def name(self) -> str:
        """Return what messages call it."""

    def types(self) -> pa.Schema | None:
        """Return the columns and their types without reading any row; None where only reading tells."""

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """Yield the rows in order, a piece at a time, with some of the columns or all."""


@dataclass(frozen=True)
class ParquetPartition:
    """Some row groups of a Parquet file.

    Parameters
    ----------
    path_values : tuple of (name, value)
        Columns that the folders of the file name, as in ``year=2020/part.parquet``: text, None where missing.
    """

    path: str
    row_groups: tuple[int, ...]
    path_values: tuple[tuple[str, str | None], ...] = ()

    @property
    def name(self) -> str:
        """Return the file's name."""
        return self.path

    def types(self) -> pa.Schema:
        """Return the types that the file's footer states, and text for the columns that folders name."""
        with readable(self.path):
            schema = pq.read_schema(self.path)
        for name, _ in self.path_values:
            schema = schema.append(pa.field(name, pa.string()))
        return schema

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """Yield pieces of the row groups; text comes as dictionaries, as the file stores it."""
        added = [pair for pair in self.path_values if columns is None or pair[0] in columns]
        names = [name for name, _ in added]
        stored = None if columns is None else [name for name in columns if name not in names]
        with readable(self.path):
            text = [field.name for field in pq.read_schema(self.path) if _is_text(field.type)]
            with pq.ParquetFile(self.path, read_dictionary=text) as file:
                batches = file.iter_batches(
                    ROWS_AT_ONCE, row_groups=list(self.row_groups), columns=stored, use_threads=False
                )
                for batch in batches:
                    piece = pa.Table.from_batches([batch])
                    for name, value in added:
                        piece = piece.append_column(name, _repeated(value, piece.num_rows))
                    yield piece


def _repeated(value: str | None, n_rows: int) -> pa.Array:
    """Return a column of text that has one value in all rows."""
    if value is None:
        return pa.nulls(n_rows, pa.string())
    return pa.DictionaryArray.from_arrays(np.zeros(n_rows, dtype=np.int32), pa.array([value]))


@dataclass(frozen=True)
class CsvPartition:
    """A CSV file, compressed or not, read from its beginning to its end.

    Parameters
    ----------
    kinds : tuple of (name, pandas type)
        What each column is read as, so that every piece has the types of the whole file.
    text_format : TextFormat or None
        How the file is written, as far as that is known.
    """

    path: str
    kinds: tuple[tuple[str, str], ...]
    text_format: TextFormat | None = None

    @classmethod
    def of(
        cls, path: Path, text_columns: Sequence[str] = (), text_format: TextFormat | None = None
    ) -> CsvPartition:
        """Find the type of each column by reading the file once: numbers, booleans, else text."""
        kinds: dict[str, str] = {}
        texts = (*text_columns, *code_columns(path, text_format))
        for piece in csv_pieces(path, ROWS_AT_ONCE, texts, text_format):
            for name in piece.columns:
                kinds[name] = _wider(kinds.get(name, ""), piece[name])
        found = tuple((name, kind or "float64") for name, kind in kinds.items())
        return cls(str(path), found, text_format)

    @property
    def name(self) -> str:
        """Return the file's name."""
        return self.path

    def types(self) -> pa.Schema:
        """Return the types of the columns."""
        return pa.schema([(name, CSV_TYPES[kind]) for name, kind in self.kinds])

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """Yield pieces of the file."""
        types = self.types()
        for piece in csv_pieces(
            Path(self.path), ROWS_AT_ONCE, text_format=self.text_format, dtype=dict(self.kinds)
        ):
            table = pa.Table.from_pandas(piece, schema=types, preserve_index=False)
            yield table if columns is None else table.select(columns)


# Types of the columns of a CSV file, from what pandas calls them; a missing cell has a place in each.
CSV_TYPES = {
    "boolean": pa.bool_(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "str": pa.string(),
}


def _wider(known: str, piece: Any) -> str:
    """Return the type that holds what was known of a column, and a further piece of it; "" holds nothing."""
    if piece.isna().all():
        return "float64" if known == "int64" else known
    kind = {"b": "boolean", "i": "int64", "u": "float64", "f": "float64"}.get(piece.dtype.kind, "str")
    if kind == "str" and piece.dropna().map(type).eq(bool).all():
        kind = "boolean"  # truth values beside missing cells
    if known in ("", kind):
        return kind
    return "float64" if {known, kind} == {"int64", "float64"} else "str"


@dataclass(frozen=True)
class FramePartition:
    """A frame, or a function that gives frames.

    Parameters
    ----------
    source : frame or callable
        A pandas, polars or pyarrow frame, or a function of no arguments that returns an iterable of frames.
    """

    source: Any
    name: str

    def types(self) -> pa.Schema | None:
        """Return the types of a frame; a function's are not known before it is called."""
        return None if callable(self.source) else arrow_table(self.source).schema

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """Yield pieces of the frames."""
        for frame in self.source() if callable(self.source) else (self.source,):
            yield from _pieces(arrow_table(frame), columns, self.name)


@dataclass(frozen=True)
class DaskPartition:
    """A partition of a Dask frame.

    Parameters
    ----------
    delayed : dask.delayed.Delayed
        Gives a pandas frame. A `DaskRunner` lets the cluster compute it, and compute it again.
    meta : DataFrame
        An empty frame of the same types.
    """

    delayed: Any
    meta: Any
    name: str

    def types(self) -> pa.Schema:
        """Return the types of the empty frame; categories of unknown type count as null."""
        return pa.Schema.from_pandas(self.meta, preserve_index=False)

    def tables(self, columns: list[str] | None) -> Iterator[pa.Table]:
        """Yield pieces of the frame, computed in this process."""
        frame = self.delayed.compute(scheduler="synchronous")
        yield from FramePartition(frame, self.name).tables(columns)


def parquet_partitions(path: str | Path | Iterable[str | Path]) -> list[ParquetPartition]:
    """Return the partitions of a file, of all Parquet files in a folder by name, or of a list of files."""
    partitions: list[ParquetPartition] = []
    folder = Path(path) if isinstance(path, str | Path) and Path(path).is_dir() else None
    for file in _files(path) if folder is None else _files_below(folder):
        with readable(str(file)):
            metadata = pq.read_metadata(file)
            sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
            stored = set(metadata.schema.to_arrow_schema().names)
        named = () if folder is None else _path_values(file.relative_to(folder).parts[:-1])
        values = tuple(pair for pair in named if pair[0] not in stored)
        partitions += [ParquetPartition(str(file), groups, values) for groups in _grouped(sizes)]
    return partitions


def _files(path: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return a file, or the files of a list."""
    if isinstance(path, str | Path):
        if not Path(path).exists():
            raise InputError(f"there is no file or folder {str(path)!r}")
        return [Path(path)]
    files = [Path(file) for file in path]
    if not files:
        raise InputError("the list of Parquet files is empty: name at least one")
    return files


def _files_below(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and in the folders below it, by name."""
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in PARQUET
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    )
    if not files:
        others = " A CSV file is named itself: it has no need of a folder" * any(
            is_named(file, CSV) for file in folder.iterdir()
        )
        raise InputError(f"there is no .parquet file in the folder {str(folder)!r}.{others}")
    return files


def _path_values(folders: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Return the columns that folders such as ``year=2020`` name, as Hive, Spark and Dask write them."""
    pairs = [folder.partition("=")[::2] for folder in folders if "=" in folder]
    return tuple((unquote(name), None if value == HIVE_MISSING else unquote(value)) for name, value in pairs)


def _grouped(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield consecutive row groups that together are not too many rows; at least one tuple."""
    together: list[int] = []
    rows = 0
    for group, size in enumerate(sizes):
        if together and rows + size > ROWS_OF_A_PARTITION:
            yield tuple(together)
            together, rows = [], 0
        together.append(group)
        rows += size
    yield tuple(together)


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn what goes wrong while a Parquet file is read into a sentence that names it."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path!r} cannot be read as a Parquet file: {reason}") from error


def arrow_table(frame: Any) -> pa.Table:
    """Return a frame of any library as an arrow table."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    import narwhals as nw

    try:
        opened = nw.from_native(frame, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"two columns of a batch have the same name ({reason}): rename one") from error
    if not isinstance(opened, nw.DataFrame):
        raise TableTypeError(
            f"a batch is a pandas, polars or pyarrow frame, got {type(frame).__name__}: rows that are scaled "
            "need names of columns"
        )
    return pa.Table.from_pandas(frame, preserve_index=False) if _is_pandas(opened) else opened.to_arrow()


def _is_pandas(opened: Any) -> bool:
    return bool(opened.implementation.is_pandas())


def _pieces(table: pa.Table, columns: list[str] | None, name: str) -> Iterator[pa.Table]:
    if columns is not None:
        absent = [column for column in columns if column not in table.column_names]
        if absent:
            raise InputError(f"{name} lacks the columns {absent}: give every partition the same columns")
        table = table.select(columns)
    for start in range(0, table.num_rows, ROWS_AT_ONCE):
        yield table.slice(start, ROWS_AT_ONCE)


def _is_text(stored: pa.DataType) -> bool:
    return bool(pa.types.is_string(stored) or pa.types.is_large_string(stored))
