"""Time ours and a peer in turns, in one process, and write the ratios down.

Times are processor seconds of the process: with one thread they are the seconds on the clock of an idle
machine, and other work on the machine does not count.

A ratio is the peer's best time over ours, so that more is better; a bar is the least ratio asked for. For
shares (memory, start-up) it is ours over the peer's, and a bar is the most that was allowed. What has no peer
is held against a limit, a quantity such as "50 ms".

With SEMINAIVE_BENCH=short everything is timed once: the figures are rough, and show that a benchmark runs.
SEMINAIVE_BENCH_RESULTS names another folder for the results.
"""

from __future__ import annotations

import csv
import datetime as dt
import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import seminaive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FOLDER = Path(__file__).resolve().parent
RESULTS = Path(os.environ.get("SEMINAIVE_BENCH_RESULTS", FOLDER / "results"))
SHORT = os.environ.get("SEMINAIVE_BENCH") == "short"
NUMBER = r"a|one|two|three|four|five|[\d.e-]+"
QUANTITY = re.compile(rf"({NUMBER}) ?(seconds?|s|ms|ns|gigabytes?|[KMG]B|)( of one core)?")


@dataclass(frozen=True)
class Ratio:
    """One question, its answer and the bar it was held against.

    Parameters
    ----------
    question, peer : str
    ours, theirs : float
        In ``unit``.
    bar : float
        Least ratio asked for; where ``smaller`` is set, the most allowed.
    unit : str
    smaller : bool
        Whether the ratio is ours over theirs, to be kept small.
    """

    question: str
    peer: str
    ours: float
    theirs: float
    bar: float
    unit: str = "s"
    smaller: bool = False

    @property
    def ratio(self) -> float:
        """Return theirs over ours, or ours over theirs where that should be small."""
        return self.ours / self.theirs if self.smaller else self.theirs / self.ours

    @property
    def reached(self) -> bool:
        """Tell whether the bar was reached."""
        return self.ratio <= self.bar if self.smaller else self.ratio >= self.bar


def is_limit(peer: str) -> bool:
    """Tell whether what ours is held against is a quantity, such as 50 ms, and not another program."""
    return QUANTITY.fullmatch(peer.strip()) is not None


def best_time(call: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several timings, in seconds."""
    times = []
    for _ in range(1 if SHORT else repeats):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def race(
    question: str,
    peer: str,
    ours: Callable,
    theirs: Callable,
    *,
    bar: float,
    repeats: int = 3,
    rounds: int = 2,
) -> Ratio:
    """Time both in turns, after a first call of ours that may compile."""
    ours()
    times = [(best_time(ours, repeats), best_time(theirs, 1)) for _ in range(1 if SHORT else rounds)]
    return Ratio(question, peer, min(t for t, _ in times), min(t for _, t in times), bar)


def script() -> str:
    """Return the path from this folder to the script that was started, or the name of one from elsewhere."""
    path = Path(sys.argv[0]).resolve()
    return path.relative_to(FOLDER).as_posix() if path.is_relative_to(FOLDER) else path.name


def report(name: str, rows: Sequence[Ratio], packages: Sequence[str], arguments: str = "") -> None:
    """Print the ratios, and write them to ``results/<name>.csv`` with command, versions and date."""
    for row in rows:
        sign = "<=" if row.smaller else ">="
        mark = "reached" if row.reached else "MISSED"
        print(
            f"{row.question}: {row.ratio:.2f} (bar {sign} {row.bar:g}, {mark}); "
            f"ours {row.ours:.4g} {row.unit}, {row.peer} {row.theirs:.4g} {row.unit}",
            flush=True,
        )
    keep(
        name,
        ["question", "peer", "ours", "theirs", "unit", "ratio", "bar", "reached"],
        [
            [
                row.question,
                row.peer,
                f"{row.ours:.4g}",
                f"{row.theirs:.4g}",
                row.unit,
                f"{row.ratio:.3g}",
                f"{'<=' if row.smaller else '>='} {row.bar:g}",
                "yes" if row.reached else "no",
            ]
            for row in rows
        ],
        packages,
        arguments,
    )


def keep(
    name: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    packages: Sequence[str] = (),
    arguments: str = "",
    remark: str | None = None,
) -> None:
    """Write a table to ``results/<name>.csv`` under its command, the day, versions, and a remark."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    libraries = " ".join(f"{package}={version(package)}" for package in ("numpy", "numba", *packages))
    versions = f"seminaive={seminaive.__version__} {libraries}"
    header = [
        f"# command: python benchmarks/{script()} {arguments}".rstrip(),
        f"# date: {dt.datetime.now(tz=dt.UTC).date()}; python {platform.python_version()}; {versions}",
        f"# threads: {os.environ.get('NUMBA_NUM_THREADS', 'default')}; cores: {os.cpu_count()}",
        *([f"# {remark}"] if remark else []),
    ]
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        file.write("\n".join(header) + "\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows(rows)
