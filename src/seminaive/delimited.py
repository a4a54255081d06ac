"""How a text table is written: its delimiter, decimal mark and encoding, given or read off its first lines.

Spreadsheets write semicolons and decimal commas in half of the world, begin files with a byte-order mark,
and name the delimiter in a first line ``sep=;``. Only the standard library is imported here, so that the
command line can look at a header and refuse at once.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import zipfile
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from seminaive.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

# Delimiters that are looked for, the usual one first.
DELIMITERS = (",", ";", "\t", "|")
# Lines and characters that are looked at.
MOST_LINES, MOST_CHARACTERS = 200, 1 << 18
# Digits of a code that may lie across two pieces of a file.
LONGEST_CODE = 64
# Byte-order marks; of UTF-16 and UTF-32 the codec that reads the mark itself.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The first bytes of compressed files, the ending of their names, and what pandas calls the format.
PACKED = (
    (b"\x1f\x8b", ".gz", "gzip"),
    (b"BZh", ".bz2", "bz2"),
    (b"\xfd7zXZ\0", ".xz", "xz"),
    (b"PK\x03\x04", ".zip", "zip"),
)
_OPEN: dict[str | None, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_COMMA, _POINT = re.compile(r"\s*[-+]?\d+,\d+\s*"), re.compile(r"\s*[-+]?\d+\.\d+\s*")


@dataclass(frozen=True)
class TextFormat:
    r"""How the cells of a text table are written; None is read off the file.

    Parameters
    ----------
    delimiter : str or None
        One character between two cells.
    encoding : str or None
        Of the characters; a byte-order mark decides, else UTF-8.
    missing : tuple of str
        Cells that count as missing, besides empty ones.
    decimal : {".", ","} or None
        The decimal mark.
    skipped : int
        Lines before the header: 1 where the first one names the delimiter, as in ``sep=;``.
    dates : {"day first", "month first"} or None
        What comes first in dates with the year last; None is read off the rows, where days above 12 prove it.

    Examples
    --------
    >>> TextFormat(";", "utf-8", ("NA",), ",").description
    "semicolons between cells, decimal comma, missing: empty and 'NA'"
    """

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    skipped: int = 0
    dates: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise InputError(f"a delimiter is one character, got {self.delimiter!r}: for tabs give 'tab'")
        if self.dates not in (None, "day first", "month first"):
            raise InputError(f"dates have the 'day first' or the 'month first', got {self.dates!r}")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"a decimal mark is '.' or ',', got {self.decimal!r}")
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise InputError(f"{self.delimiter!r} cannot be both the delimiter and the decimal mark")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise InputError(
                    f"there is no encoding {self.encoding!r}: utf-8, cp1252 (Windows) and latin-1 are usual"
                ) from error

    @property
    def description(self) -> str:
        """Say how cells are separated and written, in a few words."""
        between = _NAMES.get(self.delimiter or ",", repr(self.delimiter))
        parts = [f"{between} between cells"]
        if self.decimal == ",":
            parts.append("decimal comma")
        if self.encoding not in (None, "utf-8", "utf-8-sig"):
            parts.append(str(self.encoding))
        if self.missing:
            parts.append(f"missing: empty and {', '.join(map(repr, self.missing))}")
        return ", ".join(parts)


@dataclass(frozen=True)
class TextHead:
    """The format of a text table, and the names in its header."""

    format: TextFormat
    names: tuple[str, ...]


def look_at(path: Path, known: TextFormat) -> TextHead:
    """Read the format of a text table off its first lines, as far as it is not known already."""
    encoding = known.encoding or _encoding(path)
    try:
        with _opened(path) as binary, io.TextIOWrapper(binary, encoding=encoding, newline="") as text:
            beginning = text.read(MOST_CHARACTERS)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} cannot be read as a table: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(not_in_encoding(path, encoding)) from error
    lines = beginning.splitlines(keepends=True)[:MOST_LINES]
    declared = re.fullmatch(r"\"?sep=(.)\"?\s*", lines[0]) if lines else None
    lines = lines[1:] if declared else lines
    delimiter = known.delimiter or (declared.group(1) if declared else None) or _delimiter(path, lines)
    rows = _rows(lines, delimiter)
    if not rows:
        raise InputError(f"{str(path)!r} is empty: a table needs a line with the names of its columns")
    found = replace(
        known,
        delimiter=delimiter,
        encoding=encoding,
        decimal=known.decimal or _decimal(rows[1:], delimiter),
        skipped=int(declared is not None),
    )
    return TextHead(found, tuple(rows[0]))


def has_padded_digits(path: Path, found: TextFormat) -> bool:
    """Tell whether some cell of a text table is digits that begin with a zero, as those of codes do.

    ``found`` is the format that `look_at` has found. The file is read once, up to the first such cell.
    """
    between = re.escape(found.delimiter or ",")
    padded = re.compile(rf'[{between}\n\r"]0[0-9]+["{between}\n\r]')
    with _opened(path) as binary, io.TextIOWrapper(binary, encoding=found.encoding, newline="") as text:
        kept = "\n"
        while piece := text.read(MOST_CHARACTERS):
            if padded.search(kept + piece):
                return True
            kept = piece[-LONGEST_CODE:]
    return padded.search(kept + "\n") is not None


def not_in_encoding(path: Path, encoding: str) -> str:
    """Say that a file has bytes that its encoding has not, and what to try."""
    other = "cp1252" if encoding.lower().startswith("utf") else "utf-8"
    return (
        f"{str(path)!r} is not written in {encoding}: say how, with --encoding {other} for instance, or save "
        "it as UTF-8"
    )


def compression_of(path: Path) -> str | None:
    """Return how a file is compressed, by its first bytes or, where it is damaged, its name; or None."""
    with path.open("rb") as file:
        beginning = file.read(6)
    if beginning.startswith(b"PAR1"):
        raise InputError(f"{str(path)!r} holds Parquet, not text: name it .parquet")
    packed = [form for mark, _, form in PACKED if beginning.startswith(mark)]
    packed += [form for _, ending, form in PACKED if path.suffix.lower() == ending]
    return packed[0] if packed else None


def _opened(path: Path) -> IO[bytes]:
    """Open a file that may be compressed."""
    packed = compression_of(path)
    if packed in _OPEN:
        unpacked: IO[bytes] = _OPEN[packed](path)
        return unpacked
    if packed == "zip":
        archive = zipfile.ZipFile(path)
        if len(archive.namelist()) != 1:
            raise zipfile.BadZipFile(f"it holds {len(archive.namelist())} files instead of one")
        return archive.open(archive.namelist()[0])
    return path.open("rb")


def _encoding(path: Path) -> str:
    try:
        with _opened(path) as binary:
            beginning = binary.read(4)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} cannot be read as a table: {error}") from error
    return next((name for mark, name in MARKS if beginning.startswith(mark)), "utf-8")


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells, of any length; what cannot be split (an endless quotation) is left out."""
    rows = []
    limit = csv.field_size_limit(MOST_CHARACTERS + 1)
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            rows += [row] if row else []
    except csv.Error:
        return rows
    finally:
        csv.field_size_limit(limit)
    return rows


def _delimiter(path: Path, lines: list[str]) -> str:
    """Find the first delimiter that splits all lines into equally many cells, two or more."""
    if ".tsv" in path.name.lower():
        return "\t"
    split = {delimiter: _rows(lines, delimiter) for delimiter in DELIMITERS}
    widths = {delimiter: [len(row) for row in rows] for delimiter, rows in split.items()}
    # The last line may be cut, or a quoted cell may go on after it.
    even = [d for d, width in widths.items() if width and width[0] > 1 and len(set(width[:-1] or width)) == 1]
    if even:
        return even[0]
    return max(DELIMITERS, key=lambda d: widths[d][0] if widths[d] else 0)


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """Find the decimal mark: a comma where more cells are numbers with a comma than with a point."""
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    commas, points = (sum(mark.fullmatch(cell) is not None for cell in cells) for mark in (_COMMA, _POINT))
    return "," if commas > points else "."
