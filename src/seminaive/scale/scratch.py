"""Arrays on a disk, for the time of a fit."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from seminaive.errors import InputError, TooLargeError
from seminaive.memory import GIGA, available_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

# What the system says of a disk, or of a user's share of it, that is full.
FULL = (errno.ENOSPC, errno.EDQUOT)
# Blocks that take a larger share of the memory available are written to a disk.
SHARE_OF_MEMORY = 0.25


def check_scratch(scratch: str | Path | None) -> None:
    """Refuse a folder for encoded rows that does not exist."""
    if scratch is not None and not Path(scratch).is_dir():
        raise InputError(f"scratch is an existing folder: there is no folder {str(scratch)!r}")


@contextmanager
def scratch_folder(scratch: str | Path | None, n_bytes: int) -> Iterator[str | None]:
    """Give a folder for blocks, which is removed at the end; None to keep them in memory.

    Parameters
    ----------
    scratch : path or None
        Where to make the folder. None is the system's folder for temporary files, if the blocks take more
        than a quarter of the memory available.
    """
    if scratch is None and n_bytes <= SHARE_OF_MEMORY * available_bytes():
        yield None
        return
    parent = Path(tempfile.gettempdir() if scratch is None else scratch)
    free = shutil.disk_usage(parent).free
    if n_bytes > free:
        raise _full(parent, n_bytes, free)
    with writing_to(parent):
        folder = tempfile.mkdtemp(dir=parent, prefix="seminaive-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class ArrayOnDisk:
    """An array in a file, mapped into memory while it is looked at, and no longer.

    Parameters
    ----------
    dtype : numpy dtype
    """

    path: str
    dtype: Any
    shape: tuple[int, ...]

    @classmethod
    def of(cls, path: Path, array: NDArray[Any]) -> ArrayOnDisk:
        """Write an array to a file.

        Its blocks are allocated first: writing to a mapped file on a full disk would end the process.
        """
        stored = cls(str(path), array.dtype, array.shape)
        with writing_to(path.parent, array.nbytes), path.open("xb") as file:
            _allocate(file.fileno(), array.nbytes)
        stored.open(writable=True)[...] = array
        return stored

    def open(self, *, writable: bool = False) -> NDArray[Any]:
        """Return the array, mapped into memory."""
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        return np.memmap(self.path, dtype=self.dtype, mode="r+" if writable else "r", shape=self.shape)


@dataclass(frozen=True)
class BlocksOnDisk:
    """Blocks of a partition in files, mapped into memory one after the other whenever they are gone through.

    The mapping is private to the process: a block may be taken for an ordinary one, and its file stays as it
    was written.
    """

    paths: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        return (joblib.load(path, mmap_mode="c") for path in self.paths)


def keep_blocks(made: Iterable[Any], folder: str | None, number: int) -> list[Any] | BlocksOnDisk:
    """Keep the blocks of a partition, by its number, in memory, or in files of a folder."""
    if folder is None:
        return list(made)
    paths = []
    for k, block in enumerate(made):
        path = Path(folder) / f"{number:06d}-{k:04d}"
        with writing_to(Path(folder)):
            joblib.dump(block, path)
        paths.append(str(path))
    return BlocksOnDisk(tuple(paths))


@contextmanager
def writing_to(folder: Path, n_bytes: int | None = None) -> Iterator[None]:
    """Turn a disk that is full, or cannot be written to, into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise _full(folder, n_bytes, shutil.disk_usage(folder).free) from error
        raise InputError(
            f"encoded rows cannot be written to {str(folder)!r}: {error.strerror or error}. Name another "
            "folder in scratch"
        ) from error


def _allocate(descriptor: int, n_bytes: int) -> None:
    if not n_bytes:
        return
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
    else:  # not on every system: there a full disk is noticed when the file grows
        os.truncate(descriptor, n_bytes)


def _full(folder: Path, needed: int | None, free: int) -> TooLargeError:
    size = "more" if needed is None else f"{needed / GIGA:.3g} GB"
    return TooLargeError(
        f"{str(folder)!r} has {free / GIGA:.3g} GB free, and {size} of encoded rows were to be written "
        "there: name a folder on a larger disk in scratch"
    )
