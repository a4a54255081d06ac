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
