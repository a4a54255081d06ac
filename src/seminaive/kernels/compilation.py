"""numba's compiler, with a notice where it takes long; damaged or read-only caches are no obstacle.

Kernels take ``njit`` from here, so that notice and repair are in place before the first of them is compiled.
"""

import gc
import multiprocessing
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile
from numba.core.compiler import Compiler

# Seconds of compilation, all kernels of the process together, after which it is mentioned, once.
NOTICE_AFTER = 2.0
NOTICE = "seminaive: compiling, which happens once per machine and version; later fits start at once\n"
NOT_KEPT = (
    "seminaive: compiled code cannot be kept in {folder} ({reason}), so that every process compiles again: "
    "set NUMBA_CACHE_DIR to a folder that can be written\n"
)


# Size in pointers of the frame that calls the compiler, 128 kB; Python allocates as much for further frames.
FRAME_SIZE = 1 << 14


class RoomyCompiler(Compiler):
    """numba's compiler on a stack without boundaries between chunks.

    Python keeps its frames in chunks of 16 kB, and most versions allocate and free a chunk at each call that
    crosses the end of one (github.com/python/cpython/issues/142183). numba compiles so deep that it spends a
    tenth of its time there. After a frame that needs a larger chunk, all further ones fit into that.
    """

    def compile_extra(self, func):
        """Compile a function from Python."""
        return _call(super().compile_extra, func)


def _call(function, argument):
    return function(argument)


_call.__code__ = _call.__code__.replace(co_stacksize=FRAME_SIZE)

njit = partial(numba.njit, pipeline_class=RoomyCompiler)


class CompilationNotice(event.Listener):
    """Says on standard error, once per machine and version, that kernels of this package are being compiled.

    A file beside the compiled kernels records that the notice was given; where no file can be written, it is
    given once per process.

    numba announces only what its cache does not hold, so that a process which compiles nothing pays nothing.
    A timer runs during compilation, so that the notice comes while one waits and not afterwards. The garbage
    collector pauses meanwhile: the compiler makes millions of small objects, nearly all of them in use to its
    end, and looking for cycles among them again and again is a seventh of its time.
    """

    def __init__(self):
        self.depth = 0
        self.seconds = 0.0
        self.started = 0.0
        self.timer = None
        self.collects = False

    def on_start(self, event):
        """Start the clock at the outermost kernel, and pause the garbage collector."""
        if not _is_ours(event):
            return
        self.depth += 1
        if self.depth == 1:
            self.collects = gc.isenabled()
            gc.disable()
        if self.depth == 1 and self.seconds < NOTICE_AFTER:
            self.started = time.monotonic()
            self.timer = threading.Timer(NOTICE_AFTER - self.seconds, self._tell, (_mark(event),))
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event):
        """Stop the clock, and let the garbage collector go on."""
        if not _is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer = None
            self.seconds += time.monotonic() - self.started

    def _tell(self, mark):
        self.seconds = float("inf")
        if mark is not None and mark.exists():
            return
        sys.stderr.write(NOTICE)
        sys.stderr.flush()
        if mark is not None:
            with suppress(OSError):
                mark.touch()


class CompiledKernels(event.Listener):
    """Counts the kernels of this package that are compiled, without those that they call."""

    def __init__(self):
        self.names = []
        self.depth = 0

    def on_start(self, event):
        """Count a kernel that is not part of another one."""
        if self.depth == 0 and _is_ours(event):
            self.names.append(event.data["dispatcher"].py_func.__name__)
        self.depth += 1

    def on_end(self, event):  # noqa: ARG002 - numba's interface
        """Leave a kernel."""
        self.depth -= 1


@contextmanager
def counted_compilation() -> Iterator[CompiledKernels]:
    """Count the kernels that are compiled meanwhile, without the notice: who counts them says so."""
    counted = CompiledKernels()
    before, _NOTICE.seconds = _NOTICE.seconds, float("inf")
    try:
        with event.install_listener("numba:compile", counted):
            yield counted
    finally:
        _NOTICE.seconds = before


def _mark(event):
    """Return the file that says that the notice was given, beside the compiled kernels of this version."""
    folder = getattr(getattr(event.data["dispatcher"], "_cache", None), "cache_path", None)
    # The package itself is no room below this one, and is there whenever one of its modules is.
    version = sys.modules["seminaive"].__version__
    return None if folder is None else Path(folder) / f"compiled-{version}.noticed"


def _is_ours(event):
    # A function that was made by `exec` has no module.
    module = getattr(getattr(event.data["dispatcher"], "py_func", None), "__module__", None)
    return (module or "").startswith("seminaive.")


# numba has no public way to add a place where compiled code may lie.
LOCATORS = "_locator_classes"


class LastLocator(getattr(CompileResultCacheImpl, LOCATORS)[0]):  # type: ignore[misc]
    """Where compiled kernels of this package lie if numba finds no folder that can be written.

    A folder that was filled before is read, as in a container whose image ran ``seminaive warm-up``. Without
    one, a folder of this user under the temporary directory is filled. Without that, too, nothing is kept.
    """

    def __init__(self, py_func, py_file):
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno
        subpath = self.get_suitable_cache_subpath(py_file)
        beside = Path(py_file).parent / "__pycache__"
        given = [Path(numba.config.CACHE_DIR) / subpath] if numba.config.CACHE_DIR else []
        index = f"*{py_func.__qualname__}-{self._lineno}.py*.nbi"
        folder = next((folder for folder in (*given, beside) if any(folder.glob(index))), None)
        temporary = _temporary_folder() if folder is None else None
        if temporary is not None:
            folder = temporary / subpath
            with suppress(OSError):
                folder.mkdir(exist_ok=True)
        self._cache_path = str(folder or beside)

    def ensure_cache_path(self):
        """Do nothing: a file that cannot be written is not kept."""

    @classmethod
    def from_function(cls, py_func, py_file):
        """Return the locator of a kernel of this package, None for other functions."""
        ours = (py_func.__module__ or "").startswith("seminaive.")
        return cls(py_func, py_file) if ours else None


def _temporary_folder():
    """Return a folder under the temporary directory that only this user can write to, or None.

    Cache files are pickles, which run code when they are read: a folder that others may have filled is none.
    """
    user = getattr(os, "getuid", lambda: 0)()  # where there is no such number, the directory is the user's
    try:
        folder = Path(tempfile.gettempdir()) / f"seminaive-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    private = os.name == "nt" or not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if stat.S_ISDIR(found.st_mode) and found.st_uid == user and private else None


def _go_on_without_a_cache():
    """Let numba take a cache file that cannot be read for an absent one, and do without one it cannot write.

    numba has no public way to say so. Without these methods, a damaged file would stop every fit until it is
    deleted by hand, and so would a full disk or a folder that is read-only. Caches of other packages are left
    as they are.
    """

    def tolerant(method, errors, instead):
        def access(self, *key):
            try:
                return method(self, *key)
            except errors as error:
                if "kernels" not in self._cache_path:
                    raise
                return instead(self._cache_path, error)

        return access

    for name, errors, instead in (
        ("_load_index", Exception, lambda *_: {}),
        ("load", Exception, lambda *_: None),
        ("save", OSError, lambda folder, error: _say_not_kept(folder, error.strerror)),
    ):
        method = getattr(IndexDataCacheFile, name, None)
        if method is not None and method.__name__ != "access":
            setattr(IndexDataCacheFile, name, tolerant(method, errors, instead))


@cache
def _say_not_kept(folder, reason):
    """Say once that a folder takes no cache files; processes that this one started leave it to this one."""
    if multiprocessing.parent_process() is None:
        sys.stderr.write(NOT_KEPT.format(folder=folder, reason=reason))
        sys.stderr.flush()


_NOTICE = CompilationNotice()
event.register("numba:compile", _NOTICE)
setattr(CompileResultCacheImpl, LOCATORS, [*getattr(CompileResultCacheImpl, LOCATORS), LastLocator])
_go_on_without_a_cache()
