"""Tables on disk: CSV and Parquet in and out, and files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
import warnings
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CSV = (".csv", ".csv.gz")
PARQUET = (".parquet", ".pq")


def is_named(path: Path, endings: tuple[str, ...]) -> bool:
    """Tell whether a file's name ends in one of some endings."""
    return path.name.lower().endswith(endings)


def check_table_name(path: Path) -> None:
    """Refuse a file name that says neither CSV nor Parquet."""
    if not is_named(path, CSV + PARQUET):
        raise InputError(f"{str(path)!r} is neither .csv, .csv.gz nor .parquet: name the file by its format")


def read_table(path: Path, text_columns: Sequence[str] = ()) -> Any:
    """Read a CSV (gzipped or not) or Parquet file as a pandas frame; only an empty CSV cell is missing.

    ``text_columns`` of a CSV file are text even where all of their values look like numbers.
    """
    import pandas as pd

    check_table_name(path)
    with _readable(path):
        return _read_csv(path, text_columns) if is_named(path, CSV) else pd.read_parquet(path)


def _read_csv(path: Path, text_columns: Sequence[str]) -> Any:
    """Read a CSV file that has one field per column in every row, and different names in its header."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
        return pd.read_csv(path, **_csv_options(path, text_columns))


def _csv_options(path: Path, text_columns: Sequence[str]) -> dict[str, Any]:
    """Return how a CSV file is read, after a look at its header."""
    import pandas as pd

    header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0].tolist()
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"two columns of {str(path)!r} are called {twice[0]!r}: rename one")
    return {
        "keep_default_na": False,
        "na_values": [""],
        "index_col": False,
        "dtype": {name: str for name in text_columns if name in header},
    }


def csv_pieces(
    path: Path, n_rows: int, text_columns: Sequence[str] = (), dtype: Mapping[str, str] | None = None
) -> Iterator[Any]:
    """Yield a CSV file in frames of so many rows, read as `read_table` reads it.

    Each frame has types of its own unless ``dtype`` says which.
    """
    import pandas as pd

    with _readable(path):
        options = _csv_options(path, text_columns)
        if dtype is not None:
            options["dtype"] = dict(dtype)
        with pd.read_csv(path, chunksize=n_rows, low_memory=False, **options) as pieces:
            while True:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield piece


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a table is read into a sentence that names it."""
    import pandas as pd

    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    try:
        yield
    except (OSError, ValueError, EOFError, zlib.error, pd.errors.ParserWarning) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{str(path)!r} cannot be read as a table: {reason}") from error


def write_table(frame: Any, path: Path) -> None:
    """Write a pandas frame as CSV (gzipped or not) or Parquet, by the file's name."""
    check_table_name(path)
    with whole_file(path) as part:
        if is_named(path, CSV):
            frame.to_csv(part, index=False)
        else:
            frame.to_parquet(part, index=False)


def check_writable(path: Path) -> None:
    """Refuse, before any work, a path that cannot be written to."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {str(path.parent)!r} to write {path.name!r} into")
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: name a file in it")


def _default_mode() -> int:
    """Return the permissions that the process gives to new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to that becomes ``path`` at the end; a failure leaves what was there before."""
    check_writable(path)
    path = path.resolve()  # what a link points to is replaced, not the link
    if path.exists() and not path.is_file():
        yield path  # a pipe or a device is written to as it is
        return
    mode = path.stat().st_mode & 0o777 if path.exists() else _default_mode()
    # The whole name is the ending, so that writers that look at it still see the format.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=f".{path.name}")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(mode)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
