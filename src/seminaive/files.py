"""Files by name and as a whole: which tables can be read, and writing that leaves a whole file or none.

Nothing heavy is imported here, so that the command line can refuse a name at once.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from seminaive.errors import InputError, SeminaiveError, UnwritableError

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPRESSED = ("", ".gz", ".bz2", ".xz", ".zip")
CSV = tuple(f"{kind}{packed}" for kind in (".csv", ".tsv") for packed in COMPRESSED)
PARQUET = (".parquet", ".pq")
# Endings of Python's pickles, which run code when they are loaded; a saved model is none.
PICKLES = (".pkl", ".pickle", ".joblib")
# Characters of a name that a file has while it is written; file systems allow 255 bytes.
ENDING = 20


def is_named(path: Path, endings: tuple[str, ...]) -> bool:
    """Tell whether a file name has one of the endings, in any case."""
    return path.name.lower().endswith(endings)


def is_there(path: Path) -> bool:
    """Tell whether there is a file or folder; a name that none can have, a very long one, has none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def check_table_name(path: Path) -> None:
    """Refuse a file name that says neither CSV nor Parquet."""
    if not is_named(path, CSV + PARQUET):
        raise InputError(
            f"{str(path)!r} is neither .csv, .tsv (also .gz, .bz2, .xz, .zip) nor .parquet: name the file by "
            "its format"
        )


def check_table(path: Path) -> None:
    """Refuse a table whose name says no format that can be read, or that does not exist."""
    check_table_name(path)
    if not is_there(path):
        raise InputError(f"there is no file {str(path)!r}")


def check_model_name(path: Path) -> None:
    """Refuse a file name for a saved model that promises a pickle."""
    if is_named(path, PICKLES):
        raise InputError(
            f"{str(path)!r} is named like a pickle, and a saved model is none: it is plain data that "
            f"seminaive.load_model reads and runs no code. Name it {path.with_suffix('.model').name!r}, for "
            "instance"
        )


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
def writing(path: Path) -> Iterator[None]:
    """Say what could not be written, and why, where a system refuses to write."""
    try:
        yield
    except SeminaiveError:
        raise
    except OSError as error:
        raise UnwritableError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a path to write to that becomes ``path`` at the end; a failure leaves what was there before."""
    with writing(path):
        check_writable(path)
        path = path.resolve()  # what a link points to is replaced, not the link
        if path.exists() and not path.is_file():
            yield path  # a pipe or a device is written to as it is
            return
        mode = path.stat().st_mode & 0o777 if path.exists() else _default_mode()
        # Writers look at the ending for the format; more of a long name would be too much with what is added.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=f".{path.name[-ENDING:]}")
        os.close(handle)
        part = Path(name)
        try:
            yield part
            part.chmod(mode)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def write_text(path: str | Path, text: str) -> Path:
    """Write a text, whole or not at all, with the same line ends everywhere."""
    path = Path(path)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return path
