"""Compilation: mentioned once where it takes long, and a damaged cache is no obstacle."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import numpy as np
from seminaive.kernels import compilation, encoding
compilation.NOTICE_AFTER = {after}
compilation.sys.modules["seminaive"].__version__ = "{version}"
low, high = encoding.column_ranges(np.array([[3, 1], [2, 5]], np.int8))
assert (low.tolist(), high.tolist()) == ([2, 1], [3, 5])
print(sum(encoding.column_ranges.stats.cache_hits.values()))
"""

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")


def run(cache, after=100.0, version="1"):
    """Run the kernel in a new process with a cache of its own; return the hits and standard error."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(after=after, version=version)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout), done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return a filled cache, and what was said while it was filled."""
    cache = tmp_path_factory.mktemp("cache")
    hits, said = run(cache, after=0.05)
    assert hits == 0
    return cache, said


def test_long_compilation_is_mentioned_once(compiled):
    assert compiled[1].count("seminaive: compiling") == 1


def test_the_notice_comes_once_per_machine_and_version(compiled, tmp_path):
    cache = tmp_path / "copy"
    shutil.copytree(compiled[0], cache)
    for version, n_notices in (("1", 0), ("2", 1), ("2", 0)):
        for path in cache.rglob("*.nbi"):
            path.unlink()  # what it holds is compiled again
        hits, said = run(cache, after=0.05, version=version)
        assert (hits, said.count("seminaive: compiling")) == (0, n_notices)


def test_a_process_that_compiles_nothing_says_nothing(compiled):
    assert run(compiled[0], after=0.0) == (1, "")


def test_short_compilation_is_not_mentioned(tmp_path):
    assert run(tmp_path) == (0, "")


@pytest.mark.parametrize(
    ("ending", "garbage"),
    [("nbi", b"garbage"), ("nbi", b""), ("nbc", b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f")],
)
def test_a_damaged_cache_is_compiled_again(compiled, tmp_path, ending, garbage):
    cache = tmp_path / "copy"
    shutil.copytree(compiled[0], cache)
    damaged = list(cache.rglob(f"*.{ending}"))
    assert damaged
    for path in damaged:
        path.write_bytes(garbage)
    assert run(cache)[0] == 0
    assert run(cache)[0] == 1  # it was written again


def test_functions_without_a_module_are_compiled_beside_ours():
    import numba

    import seminaive.kernels.compilation  # noqa: F401 - it changes how numba finds its cache

    made = {}
    exec("def twice(x):\n    return 2 * x", {"__name__": None}, made)  # noqa: S102 - a function without a module
    assert made["twice"].__module__ is None
    assert numba.njit(made["twice"])(3) == 6


def test_kernels_are_compiled_from_a_large_frame():
    """Without it the compiler takes a tenth longer, which no other test would notice."""
    from seminaive.kernels import compilation
    from seminaive.kernels.path_newton import newton_path

    assert newton_path._compiler.pipeline_class is compilation.RoomyCompiler
    assert compilation._call.__code__.co_stacksize == compilation.FRAME_SIZE


# Where nothing can be written: a user without a home, and a package that only root may write to.


NOBODY = 65_534  # a user without a home on every Unix
# The right to read whatever root reads is kept, since Python itself may lie in root's home.
AS_NOBODY = (
    f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --bounding-set=-all,+dac_read_search "
    "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
).split()
as_root = getattr(os, "geteuid", lambda: 1)() == 0 and shutil.which("setpriv") is not None
needs_root = pytest.mark.skipif(not as_root, reason="only root runs a process as another user")


@pytest.fixture
def read_only_package(tmp_path):
    """Return a copy of the package that other users can read and not write, without compiled kernels."""
    import seminaive

    package = tmp_path / "site" / "seminaive"
    shutil.copytree(Path(seminaive.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def run_as_nobody(package, temporary, **environment):
    """Run the kernel as a user without a home; return the hits and standard error."""
    done = subprocess.run(
        [*AS_NOBODY, sys.executable, "-B", "-c", RUN.format(after=100.0, version="1")],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(package.parent),
            "HOME": "/nonexistent",
            "TMPDIR": str(temporary),
            **environment,
        },
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout), done.stderr


@needs_root
def test_a_user_without_a_home_compiles_once_in_a_folder_that_no_one_else_writes(read_only_package, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o1777)
    assert run_as_nobody(read_only_package, temporary) == (0, "")
    assert run_as_nobody(read_only_package, temporary) == (1, "")
    folder = temporary / f"seminaive-{NOBODY}"
    assert folder.stat().st_mode & 0o777 == 0o700


@needs_root
def test_without_a_safe_folder_kernels_are_compiled_and_it_is_said_once(read_only_package, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o1777)
    # Someone else was there first, and could put anything into it.
    (temporary / f"seminaive-{NOBODY}").mkdir()
    (temporary / f"seminaive-{NOBODY}").chmod(0o777)
    for _ in range(2):
        hits, said = run_as_nobody(read_only_package, temporary)
        assert (hits, said.count("compiled code cannot be kept")) == (0, 1)
    assert not any(temporary.rglob("*.nbi"))


@needs_root
@pytest.mark.parametrize("given", [True, False])
def test_a_cache_that_was_filled_before_is_read_although_read_only(read_only_package, tmp_path, given):
    cache = tmp_path / "cache"
    environment = {"NUMBA_CACHE_DIR": str(cache)} if given else {}
    code = RUN.format(after=100.0, version="1")
    subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={**os.environ, "PYTHONPATH": str(read_only_package.parent), "NUMBA_CACHE_DIR": "", **environment},
        cwd="/",
        check=True,
    )
    assert run_as_nobody(read_only_package, tmp_path, **environment) == (1, "")
