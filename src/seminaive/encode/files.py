"""Tables on disk: CSV and Parquet in and out, and files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

CSV = (".csv", ".csv.gz")
PARQUET = (".parquet", ".pq")


def _is_named(path: Path, endings: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(endings)


def check_table_name(path: Path) -> None:
    """Refuse a file name that says neither CSV nor Parquet."""
    if not _is_named(path, CSV + PARQUET):
        raise InputError(f"{str(path)!r} is neither .csv, .csv.gz nor .parquet: name the file by its format")


def read_table(path: Path) -> Any:
    """Read a CSV (gzipped or not) or Parquet file as a pandas frame; only an empty CSV cell is missing."""
    import pandas as pd

    check_table_name(path)
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    try:
        if _is_named(path, CSV):
            return pd.read_csv(path, keep_default_na=False, na_values=[""])
        return pd.read_parquet(path)
    except (OSError, ValueError, EOFError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{str(path)!r} cannot be read as a table: {reason}") from error


def write_table(frame: Any, path: Path) -> None:
    """Write a pandas frame as CSV (gzipped or not) or Parquet, by the file's name."""
    check_table_name(path)
    with whole_file(path) as part:
        if _is_named(path, CSV):
            frame.to_csv(part, index=False)
        else:
            frame.to_parquet(part, index=False)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to that becomes ``path`` at the end; a failure leaves what was there before."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {str(path.parent)!r} to write {path.name!r} into")
    # The whole name is the ending, so that writers that look at it still see the format.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=f".{path.name}")
    os.close(handle)
    part = Path(name)
    try:
        yield part
        umask = os.umask(0)
        os.umask(umask)
        part.chmod(0o666 & ~umask)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
