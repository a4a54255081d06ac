"""Refuse, with the sizes, what the machine's memory cannot hold."""

from __future__ import annotations

from pathlib import Path

from seminaive.errors import TooLargeError

# Where the operating system does not tell.
ASSUMED_BYTES = 8 << 30
GIGA = 1e9


def available_bytes() -> int:
    """Return the memory that can be had without swapping."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return ASSUMED_BYTES


def refuse_beyond_memory(parts: dict[str, int], advice: str) -> None:
    """Raise `TooLargeError` where the parts, in bytes, add up to more than there is."""
    needed, available = sum(parts.values()), available_bytes()
    if needed > available:
        listed = "; ".join(f"{size / GIGA:.3g} GB for {what}" for what, size in parts.items())
        raise TooLargeError(
            f"the fit needs {needed / GIGA:.3g} GB and {available / GIGA:.3g} GB are available: {listed}. "
            f"To make it smaller, {advice}"
        )
