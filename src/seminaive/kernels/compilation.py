"""numba's compiler, with a notice where it takes long; damaged cache files are compiled again.

Kernels take ``njit`` from here, so that notice and repair are in place before the first of them is compiled.
"""

import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import Compiler

# Seconds of compilation, all kernels of the process together, after which it is mentioned, once.
NOTICE_AFTER = 2.0
NOTICE = "seminaive: compiling, which happens once per machine and version; later fits start at once\n"


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


def _compile_again_where_damaged():
    """Let numba take a cache file that cannot be read for an absent one, which is compiled and written again.

    numba has no public way to say so. Without these two methods, a damaged file would stop every fit until it
    is deleted by hand. Caches of other packages are left as they are.
    """

    def tolerant(method, instead):
        def read(self, *key):
            try:
                return method(self, *key)
            except Exception:
                if "kernels" not in self._cache_path:
                    raise
                return instead()

        return read

    for name, instead in (("_load_index", dict), ("load", lambda: None)):
        method = getattr(IndexDataCacheFile, name, None)
        if method is not None and method.__name__ != "read":
            setattr(IndexDataCacheFile, name, tolerant(method, instead))


_NOTICE = CompilationNotice()
event.register("numba:compile", _NOTICE)
_compile_again_where_damaged()
