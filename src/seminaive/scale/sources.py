"""Tables that need not fit in memory: partitions, and which of their columns is what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from seminaive.errors import InputError
from seminaive.scale.partitions import CsvPartition, DaskPartition, FramePartition, parquet_partitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from seminaive.delimited import TextFormat
    from seminaive.scale.partitions import TablePartition


@dataclass(frozen=True)
class Source:
    """A table in partitions.

    Parameters
    ----------
    partitions : tuple of TablePartition
        In the order of the rows.
    target : str or None
        The column to predict; None for rows that are only predicted.
    weight : str or None
        A column of row weights.
    ids : tuple of str
        Columns that identify rows: not learned from, and kept in predictions.
    """

    partitions: tuple[TablePartition, ...]
    target: str | None
    weight: str | None
    ids: tuple[str, ...]

    @cached_property
    def types(self) -> pa.Schema:
        """Return the columns and types that all partitions have; refuse a partition that has others.

        Nothing is read for it. A column without any value in some partition has the type of the others.
        """
        types: dict[str, pa.DataType] | None = None
        first = ""
        for partition in self.partitions:
            schema = partition.types()
            if schema is None:
                continue
            found = _types_by_name(schema, partition.name)
            if types is None:
                types, first = found, partition.name
            _check_columns(found, types, partition.name, first)
            for name, kind in found.items():
                known = types[name]
                if pa.types.is_null(known):
                    types[name] = kind
                elif kind != known and not pa.types.is_null(kind):
                    raise InputError(
                        f"column {name!r} is {kind} in {partition.name!r} and {known} in {first!r}: convert "
                        "it, so that it has one type everywhere"
                    )
        if types is None:  # functions, whose columns only their first frames show
            types = self._first_types()
        return pa.schema(list(types.items()))

    def _first_types(self) -> dict[str, pa.DataType]:
        for partition in self.partitions:
            for piece in partition.tables(None):
                return _types_by_name(piece.schema, partition.name)
        raise InputError("no partition has any row")

    @cached_property
    def reading(self) -> Reading:
        """Return which columns are read, and as what."""
        types = self.types
        special = [name for name in (self.target, self.weight) if name is not None]
        for name in [*special, *self.ids]:
            if name not in types.names:
                raise InputError(f"there is no column {name!r}: the table has {types.names}")
        features = [name for name in types.names if name not in {*special, *self.ids}]
        return Reading(pa.schema([types.field(name) for name in features]), types, self.target, self.weight)


@dataclass(frozen=True)
class Reading:
    """How the rows of every partition are read.

    Parameters
    ----------
    features : pyarrow Schema
        The columns that a model looks at, in order.
    types : pyarrow Schema
        All columns.
    """

    features: pa.Schema
    types: pa.Schema
    target: str | None
    weight: str | None

    def pieces(self, partition: TablePartition, also: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Yield the rows of a partition, with the features, target and weight, and some further columns."""
        special = [name for name in (self.target, self.weight) if name is not None]
        for piece in partition.tables([*self.features.names, *special, *also]):
            if piece.num_rows:
                yield self._conformed(piece, partition.name)

    def _conformed(self, piece: pa.Table, name: str) -> pa.Table:
        """Return a piece whose columns have the types of the table; refuse other types."""
        for position, field in enumerate(piece.schema):
            expected = self.types.field(field.name).type
            stored = plain_type(field.type)
            if pa.types.is_null(stored) and not pa.types.is_null(expected):
                piece = piece.set_column(position, field.name, pa.nulls(piece.num_rows, expected))
            elif stored != expected and not pa.types.is_null(expected):
                raise InputError(
                    f"column {field.name!r} is {stored} in {name!r} and {expected} elsewhere: convert it, so "
                    "that it has one type everywhere"
                )
        return piece


def plain_type(stored: pa.DataType) -> pa.DataType:
    """Return the type of the values: dictionaries and long text are ways to store them."""
    if pa.types.is_dictionary(stored):
        return plain_type(stored.value_type)
    return pa.string() if pa.types.is_large_string(stored) or pa.types.is_string_view(stored) else stored


def _types_by_name(schema: pa.Schema, name: str) -> dict[str, pa.DataType]:
    """Return the type of each column; refuse two columns of one name."""
    twice = sorted({column for column in schema.names if schema.names.count(column) > 1})
    if twice:
        raise InputError(f"{name!r} has several columns named {twice[0]!r}: give each another name")
    return {field.name: plain_type(field.type) for field in schema}


def _check_columns(found: dict[str, Any], expected: dict[str, Any], name: str, first: str) -> None:
    lacking = [column for column in expected if column not in found]
    foreign = [column for column in found if column not in expected]
    if lacking or foreign:
        differences = [f"lacks {lacking}"] * bool(lacking) + [f"has {foreign} besides"] * bool(foreign)
        raise InputError(
            f"{name!r} {' and '.join(differences)}, compared with {first!r}: give every partition the same "
            "columns"
        )


def from_parquet(
    path: str | Path | Iterable[str | Path],
    *,
    target: str | None = None,
    weight: str | None = None,
    ids: Sequence[str] = (),
) -> Source:
    """Take the rows of Parquet files.

    Parameters
    ----------
    path : path or list of paths
        A file; a folder, of which all ``.parquet`` files are read in the order of their names; or files.
        Folders in it that are named like ``year=2020`` give their files a column ``year`` of text.
    target : str or None, default=None
        The column to predict; needed for a fit.
    weight : str or None, default=None
        A column of row weights: how often each row counts.
    ids : sequence of str, default=()
        Columns that identify rows. No model learns from them; predictions keep them.
    """
    return _source(parquet_partitions(path), target, weight, ids)


def from_csv(
    path: str | Path,
    *,
    target: str | None = None,
    weight: str | None = None,
    ids: Sequence[str] = (),
    text_columns: Sequence[str] = (),
    text_format: TextFormat | None = None,
) -> Source:
    """Take the rows of a CSV file, compressed or not.

    The file is read once to find the types of its columns, and once more in every pass over the rows, from
    its beginning to its end: it is a single partition. For several passes, write it as Parquet files first.

    Parameters
    ----------
    path : path
    target, weight, ids
        As in `from_parquet`.
    text_columns : sequence of str, default=()
        Columns that are text even where all of their values look like numbers.
    text_format : TextFormat or None, default=None
        How the file is written, as far as that is known (`seminaive.delimited.TextFormat`); the rest is
        read off its first lines.
    """
    return _source([CsvPartition.of(Path(path), text_columns, text_format)], target, weight, ids)


def from_batches(
    batches: Iterable[Any],
    *,
    target: str | None = None,
    weight: str | None = None,
    ids: Sequence[str] = (),
) -> Source:
    """Take the rows of frames, or of functions that give frames.

    Parameters
    ----------
    batches : iterable of frames or of functions
        pandas, polars or pyarrow frames, or functions of no arguments that return an iterable of frames. A
        function is called once per pass over the rows, and must give the same frames each time; for a
        cluster it has to be picklable.
    target, weight, ids
        As in `from_parquet`.
    """
    if hasattr(batches, "columns"):
        raise InputError(
            f"batches are several frames, got one {type(batches).__name__}: pass it in a list, and a Dask "
            "frame to from_dask"
        )
    partitions = [FramePartition(source, f"batch {number}") for number, source in enumerate(batches)]
    if not partitions:
        raise InputError("there is no batch: give at least one frame, or one function that returns frames")
    return _source(partitions, target, weight, ids)


def from_dask(
    frame: Any, *, target: str | None = None, weight: str | None = None, ids: Sequence[str] = ()
) -> Source:
    """Take the rows of a Dask frame, partition by partition.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    target, weight, ids
        As in `from_parquet`.
    """
    if not hasattr(frame, "to_delayed"):
        library = type(frame).__module__.partition(".")[0]
        raise InputError(
            f"frame is a dask.dataframe.DataFrame, got {library}.{type(frame).__name__}: pass frames of "
            "other libraries to from_batches, in a list"
        )
    from dask.dataframe.dispatch import make_meta

    parts = [
        DaskPartition(delayed, make_meta(frame), f"partition {number}")
        for number, delayed in enumerate(frame.to_delayed())
    ]
    return _source(parts, target, weight, ids)


def _source(
    partitions: Sequence[TablePartition], target: str | None, weight: str | None, ids: Sequence[str]
) -> Source:
    if isinstance(ids, str):
        ids = (ids,)
    return Source(tuple(partitions), target, weight, tuple(ids))
