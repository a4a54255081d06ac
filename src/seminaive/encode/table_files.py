"""Tables on disk: CSV and Parquet in and out."""

from __future__ import annotations

import lzma
import warnings
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from seminaive.delimited import TextFormat, compression_of, has_padded_digits, look_at, not_in_encoding
from seminaive.encode.written_dates import DateFormat
from seminaive.errors import InputError
from seminaive.files import CSV, check_table, check_table_name, is_named, whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# Rows of a CSV file that are looked through at once.
ROWS_AT_ONCE = 100_000


def read_table(path: Path, text_columns: Sequence[str] = (), text_format: TextFormat | None = None) -> Any:
    """Read a CSV file (compressed or not) or a Parquet file as a pandas frame.

    Parameters
    ----------
    path : Path
        By its name, CSV (``.csv``, ``.tsv``, also with ``.gz``, ``.bz2``, ``.xz`` or ``.zip``) or Parquet.
    text_columns : sequence of str
        Columns of a CSV file that are text even where all of their values look like numbers. Columns with
        digits that begin with a zero are text, too.
    text_format : TextFormat, optional
        How a CSV file is written, as far as that is known; the rest is read off its first lines. Only an
        empty cell is missing unless ``missing`` names others.
    """
    import pandas as pd

    with _readable(path):
        if not is_named(path, CSV):
            return pd.read_parquet(path)
        texts = (*text_columns, *code_columns(path, text_format))
        options = _csv_options(path, texts, text_format or TextFormat())
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
            return _with_dates(pd.read_csv(path, **options), text_format)


def code_columns(path: Path, text_format: TextFormat | None = None) -> tuple[str, ...]:
    """Return the columns of a CSV file some of whose cells are digits that begin with a zero.

    A postcode, an account or a bank's number is no quantity, and would lose its zeros if it were read as one.
    """
    with _readable(path):
        found = look_at(path, text_format or TextFormat()).format
        if not has_padded_digits(path, found):
            return ()
    names: dict[str, None] = {}
    for piece in csv_pieces(path, ROWS_AT_ONCE, text_format=found, dtype=str):
        padded = [name for name in piece.columns if piece[name].str.fullmatch("0[0-9]+").any()]
        names |= dict.fromkeys(padded)
    return tuple(names)


def csv_pieces(
    path: Path,
    n_rows: int,
    text_columns: Sequence[str] = (),
    text_format: TextFormat | None = None,
    dtype: Mapping[str, str] | type[str] | None = None,
) -> Iterator[Any]:
    """Yield a CSV file in frames of ``n_rows`` rows, read as `read_table` reads it.

    Types are found anew in each frame unless ``dtype`` says which.
    """
    import pandas as pd

    with _readable(path):
        options = _csv_options(path, text_columns, text_format or TextFormat())
        if dtype is not None:
            options["dtype"] = dtype
        with pd.read_csv(path, chunksize=n_rows, low_memory=False, **options) as pieces:
            while True:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield _with_dates(piece, text_format)


def _csv_options(path: Path, text_columns: Sequence[str], text_format: TextFormat) -> dict[str, Any]:
    """Return how pandas reads a CSV file that has different names in its header."""
    head = look_at(path, text_format)
    twice = sorted({name for name in head.names if head.names.count(name) > 1})
    if twice:
        raise InputError(f"two columns of {str(path)!r} are called {twice[0]!r}: rename one")
    found = head.format
    return {
        "sep": found.delimiter or ",",
        "decimal": found.decimal or ".",
        "encoding": found.encoding,
        "compression": compression_of(path),
        "skiprows": found.skipped,
        "keep_default_na": False,
        "na_values": ["", *found.missing],
        "index_col": False,
        "dtype": {name: str for name in text_columns if name in head.names},
    }


def _with_dates(frame: Any, text_format: TextFormat | None) -> Any:
    """Return a frame with its dates written as the standard has it, where it is given what comes first."""
    if text_format is None or text_format.dates is None:
        return frame
    dates = DateFormat(text_format.dates)
    for name in frame.columns[[kind.kind in "OUT" for kind in frame.dtypes]]:
        days = {text: dates.read(text) for text in frame[name].dropna().unique()}
        written = {text: dates.write(number) for text, number in days.items() if number == number}
        frame[name] = frame[name].replace(written) if written else frame[name]
    return frame


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a table is read into a sentence that names it."""
    import pandas as pd

    check_table(path)
    try:
        yield
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(not_in_encoding(path, error.encoding)) from error
    except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, pd.errors.ParserWarning) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{str(path)!r} cannot be read as a table: {reason}") from error


def write_table(frame: Any, path: Path) -> None:
    """Write a pandas frame as CSV (compressed or not) or Parquet, by the file's name."""
    check_table_name(path)
    with whole_file(path) as part:
        if is_named(path, CSV):
            frame.to_csv(part, index=False, sep="\t" if ".tsv" in path.name.lower() else ",")
        else:
            frame.to_parquet(part, index=False)
