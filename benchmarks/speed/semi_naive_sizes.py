"""Processor seconds and peak memory of `SemiNaive` on tables of many rows or many columns.

    python benchmarks/speed/semi_naive_sizes.py                     all sizes, kept in benchmarks/results
    python benchmarks/speed/semi_naive_sizes.py wide categories     these sizes, printed only

`wide` are 300 rows of 2,000 drawn numbers, `categories` 60 rows of 150 drawn categories, `rows` 1,000,000
rows of 10 numbers and 10 categories, `5-classes` to `30-classes` 5,000 rows of 10 numbers, normal about a
centre of each class: each is fitted twice in memory, since the first fit may load or compile kernels, and
the faster one counts. `covertype` (581,012 rows, 54 columns, 7 classes; from the folder that
SEMINAIVE_DATA names) and `numbers` (1,000,000 rows of 200 drawn numbers) are written to Parquet files of
100,000 rows and fitted once from there, with encoded rows on the disk. Every size has a process to itself.
With SEMINAIVE_BENCH=short, tables have a fiftieth of their rows, but not less than 60.
"""

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from seminaive import SemiNaive, scale

sys.path.insert(0, str(Path(__file__).parent.parent))
from board_tables import read_table
from race import SHORT, best_time, keep

FILE_ROWS = 100_000
FEWEST_ROWS = 60
GIGABYTE = 2**30


@dataclass(frozen=True)
class Size:
    """A table, and the bars that a fit to it is held against.

    Parameters
    ----------
    n_rows, n_numbers, n_categories, n_classes : int
        Of a drawn table; covertype is read.
    seconds, gigabytes : float or None
        The most that is allowed.
    from_parquet : bool
    """

    table: str
    n_rows: int
    n_numbers: int = 0
    n_categories: int = 0
    n_classes: int = 2
    seconds: float | None = None
    gigabytes: float | None = None
    from_parquet: bool = False


SIZES = {
    "wide": Size("300 x 2,000 numbers", 300, n_numbers=2000, seconds=10),
    "categories": Size("60 x 150 categories", 60, n_categories=150, seconds=10),
    "rows": Size("1,000,000 x 20 (10 numbers, 10 categories)", 1_000_000, 10, 10, seconds=23),
    **{
        f"{n_classes}-classes": Size(
            f"5,000 x 10 numbers, {n_classes} classes", 5000, 10, n_classes=n_classes
        )
        for n_classes in (5, 10, 20, 30)
    },
    "covertype": Size("covertype, 581,012 x 54, from Parquet", 581_012, gigabytes=4, from_parquet=True),
    "numbers": Size("1,000,000 x 200 numbers, from Parquet", 1_000_000, 200, gigabytes=4, from_parquet=True),
}


def drawn(rng, n_rows, size):
    """Draw columns and classes."""
    numbers = rng.normal(size=(n_rows, size.n_numbers))
    codes = rng.integers(0, 4, size=(n_rows, size.n_categories))
    if size.n_classes > 2:
        y = np.arange(n_rows) % size.n_classes
        numbers += rng.normal(size=(size.n_classes, size.n_numbers))[y]
    else:
        # Three columns matter by themselves, and two others by their product.
        x = numbers if size.n_numbers else codes - 1.5
        odds = x[:, 0] - x[:, 1] + 0.5 * x[:, 2] ** 2 + x[:, 3] * x[:, 4]
        y = (rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int)
    levels = np.array(["a", "b", "c", "d"])
    columns = {f"x{j}": numbers[:, j] for j in range(size.n_numbers)}
    columns |= {f"c{j}": levels[codes[:, j]] for j in range(size.n_categories)}
    return columns, y


def pieces(name, n_rows):
    """Yield the rows of a table as columns and classes, a file's worth at a time."""
    if name == "covertype":
        X, y = read_table("covertype", most_rows=n_rows)
        for first in range(0, len(y), FILE_ROWS):
            rows = slice(first, first + FILE_ROWS)
            yield {column: X[column].to_numpy()[rows] for column in X}, y[rows]
    else:
        rng, size = np.random.default_rng(0), SIZES[name]
        for first in range(0, n_rows, FILE_ROWS):
            yield drawn(rng, min(FILE_ROWS, n_rows - first), size)


def write(name, n_rows, folder):
    """Write a table to Parquet files."""
    for number, (columns, y) in enumerate(pieces(name, n_rows)):
        outcome = pa.array([f"class {label}" for label in y.tolist()])
        pq.write_table(pa.table({**columns, "outcome": outcome}), folder / f"part-{number:04d}.parquet")


def fit(name, n_rows, folder):
    """Fit a table, from the files of a folder or in memory; print processor seconds and gigabytes."""
    if SIZES[name].from_parquet:
        data = scale.from_parquet(folder / "rows", target="outcome")
        start = process_time()
        model = scale.fit(SemiNaive(), data, scratch=folder)
        seconds = process_time() - start
    else:
        parts = [pd.DataFrame(columns).assign(outcome=y) for columns, y in pieces(name, n_rows)]
        X = pd.concat(parts, ignore_index=True)
        y, model = X.pop("outcome"), SemiNaive()
        seconds = best_time(lambda: model.fit(X, y), 2)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIGABYTE
    print(json.dumps({"seconds": seconds, "gigabytes": peak, "log_loss": float(model.cv_log_loss_)}))


def measured(name):
    """Fit a table in a process of its own; return what is known of that fit."""
    size = SIZES[name]
    n_rows = max(size.n_rows // 50, FEWEST_ROWS) if SHORT else size.n_rows
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for step in ["write", "fit"] if size.from_parquet else ["fit"]:
            (folder / "rows").mkdir(exist_ok=True)
            command = [sys.executable, __file__, "--step", step, name, str(n_rows), str(folder)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def line(name):
    """Measure a size; print and return its line of the table."""
    size, found = SIZES[name], measured(name)
    bars = {what: getattr(size, what) for what in ("seconds", "gigabytes")}
    missed = any(bar is not None and found[what] > bar for what, bar in bars.items())
    verdict = "" if not any(bars.values()) else "no" if missed else "yes"
    row = [size.table]
    for what, bar in bars.items():
        row += [f"{found[what]:.3g}", "" if bar is None else f"{bar:g}"]
    row += [verdict, f"{found['log_loss']:.4f}"]
    print(
        f"{row[0]}: {row[1]} s (bar {row[2] or 'none'}), {row[3]} GB (bar {row[4] or 'none'}), "
        f"reached: {verdict or 'no bar'}; held-out log loss {row[6]}",
        flush=True,
    )
    return row


HEADS = [
    "fit of SemiNaive",
    "processor seconds",
    "at most (s)",
    "peak memory (GB)",
    "at most (GB)",
    "reached",
    "held-out log loss",
]


def main(names):
    rows = [line(name) for name in names or SIZES]
    if not names:
        keep("semi_naive_sizes", HEADS, rows, ("pyarrow",))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        step, name, n_rows, folder = sys.argv[2:]
        if step == "write":
            write(name, int(n_rows), Path(folder) / "rows")
        else:
            fit(name, int(n_rows), Path(folder))
    else:
        main(sys.argv[1:])
