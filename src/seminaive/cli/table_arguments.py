"""Tables on the command line: how they are named, read, and described in messages."""

from __future__ import annotations

import atexit
import sys
import tempfile
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.delimited import TextFormat, look_at
from seminaive.errors import InputError
from seminaive.files import CSV, check_table, is_named

if TYPE_CHECKING:
    from collections.abc import Sequence

# The name of standard input.
STANDARD_INPUT = "-"
# Column names that a refusal lists.
MOST_NAMES = 20
# Rows to which counts may repeat a table: more are not held in memory.
MOST_REPEATED = 50_000_000


@dataclass(frozen=True)
class NamedTable:
    """A file that holds a table, looked at and not read yet.

    Parameters
    ----------
    text_format : TextFormat or None
        How a CSV file is written; None for other files.
    names : tuple of str or None
        The columns, where they are known without reading the whole file.
    """

    path: Path
    text_format: TextFormat | None
    names: tuple[str, ...] | None

    @property
    def description(self) -> str:
        """Say how the file was read."""
        return "Parquet" if self.text_format is None else f"CSV, {self.text_format.description}"

    @property
    def names_sentence(self) -> str:
        """List the columns in a sentence, where they are known without reading the whole file."""
        return "" if self.names is None else f" The columns are {_listed(self.names)}."

    def read(self, text_columns: Sequence[str] = ()) -> Any:
        """Read the whole table as a frame."""
        from seminaive import encode

        return encode.read_table(self.path, text_columns, self.text_format)

    def take(self, frame: Any, name: str) -> tuple[Any, Any]:
        """Take a column out of the table that was read, or say why it is not there."""
        from seminaive import encode

        self.check_column(name, list(map(str, frame.columns)))
        return encode.take_column(frame, name)

    def check_column(self, name: str, names: Sequence[str] | None = None) -> None:
        """Refuse a column that is not there, with what may have gone wrong."""
        names = self.names if names is None else names
        if names is None or name in names:
            return
        close = get_close_matches(name, names, n=1)
        nearest = f" Did you mean {close[0]!r}?" if close else ""
        read = ""
        if self.text_format is not None:
            read = f" It was read with {self.text_format.description}; --sep names another delimiter."
        raise InputError(
            f"{str(self.path)!r} has no column {name!r}: it has {_listed(names)}.{nearest}{read}"
        )


def repeated(frame: Any, column: Any, name: str) -> Any:
    """Return a frame in which each row occurs as often as a column of counts says."""
    import numpy as np

    from seminaive import encode

    try:
        counts = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"--counts {name}: the column has something besides numbers ({error})") from error
    # NaN is not equal to anything.
    wrong = ~(counts == np.floor(counts)) | (counts < 0) | np.isinf(counts)
    if wrong.any():
        raise InputError(
            f"--counts {name} names how many rows each row stands for, whole numbers of 0 or more: row "
            f"{int(wrong.argmax()) + 1} has {counts[wrong.argmax()]:g}. --weight takes any numbers"
        )
    if counts.sum() > MOST_REPEATED:
        raise InputError(
            f"--counts {name} sums to {counts.sum():,.0f} rows, more than {MOST_REPEATED:,}: pass --weight, "
            "or counts of thousands"
        )
    if not counts.any():
        raise InputError(f"--counts {name} has nothing but zeros: no row is left to learn from")
    return encode.repeat_rows(frame, counts.astype(np.int64))


def refuse_counts_in_pieces(counts: str | None) -> None:
    """Refuse a column of counts of a table that is read in pieces."""
    if counts is not None:
        raise InputError(
            f"--counts {counts} repeats rows in memory, and this table is read in pieces: repeat its rows "
            "before, or pass --weight"
        )


def columns_meant(parts: Sequence[str] | None, names: Sequence[str] | None) -> list[str]:
    """Return the columns that repeated options name; several may share one, with commas between."""
    known = names or ()
    return [name for part in parts or () for name in ([part] if part in known else part.split(","))]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:MOST_NAMES])) + (", ..." if len(names) > MOST_NAMES else "")


def text_format(
    sep: str | None,
    decimal: str | None,
    encoding: str | None,
    na_values: list[str] | None,
    dates: str | None,
) -> TextFormat:
    """Read the options that say how CSV files are written."""
    delimiter = "\t" if sep in ("tab", "\\t") else sep
    missing = tuple(cell for part in na_values or [] for cell in part.split(","))
    first = None if dates is None else dates.replace("-", " ")
    return TextFormat(delimiter, encoding, missing, decimal, dates=first)


def received(path: Path) -> Path:
    """Return the path of a table; what standard input holds is kept in a file until the process ends."""
    if str(path) != STANDARD_INPUT:
        return path
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InputError("- reads a table from standard input, and there is none")
    folder = tempfile.TemporaryDirectory(prefix="seminaive-")
    atexit.register(folder.cleanup)
    ending = ".parquet" if content.startswith(b"PAR1") else ".csv"
    kept = Path(folder.name) / f"standard-input{ending}"
    kept.write_bytes(content)
    return kept


def look(path: Path, known: TextFormat) -> NamedTable:
    """Refuse a file that is no table, and look at how it is written."""
    check_table(path)
    if not is_named(path, CSV):
        return NamedTable(path, None, None)
    head = look_at(path, known)
    return NamedTable(path, head.format, head.names)
