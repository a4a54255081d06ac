"""How much memory may be taken: checked before every large allocation, to refuse too much with a sentence.

The answer is the least of what the machine has available, what the control groups of the process (version 2
or 1, each group and all groups above it) still allow, and what its limit on address space (``ulimit -v``)
leaves.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from seminaive.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")
# Where the operating system does not tell.
ASSUMED_BYTES = 8 << 30
# What is smaller than this is taken without asking: reading the limits would take longer than the work.
SMALL_BYTES = 16 << 20
GIGA = 1e9
# A file that takes a larger share of the memory available is read in pieces: as a frame it is several times
# as large as on the disk.
SHARE_OF_MEMORY = 0.1


def available_bytes(proc: Path = PROC, cgroups: Path = CGROUPS) -> int:
    """Return how many bytes may be taken: without swapping, and without passing any limit of the process.

    Parameters
    ----------
    proc, cgroups : Path
        Where Linux shows processes and control groups. On other systems 8 GB are assumed, less where a limit
        on address space is set.
    """
    machine = _machine(proc)
    limits = [ASSUMED_BYTES if machine is None else machine, *_control_groups(proc, cgroups)]
    space = _address_space(proc)
    if space is not None:
        limits.append(space)
    return max(0, min(limits))


def refuse_beyond_memory(parts: Mapping[str, int], advice: str) -> None:
    """Raise `TooLargeError` where the parts, in bytes, add up to more than may be taken.

    Parameters
    ----------
    parts : mapping of str to int
        What is going to be allocated: a name, as it is shown to the user, and a number of bytes.
    advice : str
        What makes it smaller, as an order: "lower the order or drop columns".
    """
    needed = sum(parts.values())
    if needed < SMALL_BYTES:
        return
    available = available_bytes()
    if needed > available:
        listed = "; ".join(f"{size / GIGA:.3g} GB for {what}" for what, size in parts.items())
        raise TooLargeError(
            f"the fit needs {needed / GIGA:.3g} GB and {available / GIGA:.3g} GB are available: {listed}. "
            f"To make it smaller, {advice}"
        )


def is_large(path: Path) -> bool:
    """Tell whether a table is a folder, or a file that may not fit in memory."""
    return path.is_dir() or (path.is_file() and path.stat().st_size > SHARE_OF_MEMORY * available_bytes())


def _machine(proc: Path) -> int | None:
    """Return what the machine has available without swapping, or None where it does not tell."""
    for name, kilobytes in _fields(proc / "meminfo"):
        if name == "MemAvailable:":
            return kilobytes * 1024
    return None


def _address_space(proc: Path) -> int | None:
    """Return what the limit on address space leaves, or None where there is no limit."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    pages = _read(proc / "self" / "statm").split()
    mapped = int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0
    return limit - mapped


def _control_groups(proc: Path, cgroups: Path) -> Iterator[int]:
    """Yield what each limited control group above the process still allows, in both versions."""
    for line in _read(proc / "self" / "cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0" and not controllers:
            yield from _groups_above(cgroups, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            yield from _groups_above(
                cgroups / "memory",
                path,
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )


def _groups_above(mount: Path, path: str, limit_file: str, usage_file: str, cache: str) -> Iterator[int]:
    """Yield what a group, and every group above it, still allows; the page cache can be taken back.

    Inside a container the path may be that of the host; then the mount is the group of the container.
    """
    folders = [folder for folder in path.split("/") if folder not in ("", ".", "..")]
    for depth in range(len(folders), -1, -1):
        group = mount.joinpath(*folders[:depth])
        limit, usage = _read(group / limit_file).strip(), _read(group / usage_file).strip()
        if not limit.isdigit() or not usage.isdigit():  # "max", or a group that does not exist here
            continue
        reclaimable = sum(size for name, size in _fields(group / "memory.stat") if name == cache)
        yield int(limit) - int(usage) + reclaimable


def _read(path: Path) -> str:
    """Return the text of a file, empty where it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _fields(path: Path) -> Iterator[tuple[str, int]]:
    """Yield name and number of each line of a file such as meminfo."""
    for line in _read(path).splitlines():
        parts = line.split()
        if len(parts) >= 2 and parts[1].isdigit():
            yield parts[0], int(parts[1])
