"""Time and memory of `SemiNaive` from Parquet.

    python benchmarks/scale_semi_naive.py covertype
    python benchmarks/scale_semi_naive.py numbers [rows] [columns]

Covertype (581,000 rows, 54 columns, 7 classes) is read from the folder that SEMINAIVE_DATA names; `numbers`
are drawn, 1,000,000 rows of 200 unless said otherwise: two classes by three of the columns and the product of
two others. The rows are written to files of 100,000 in the folder for temporary files, and fitted by a
process of its own, whose processor seconds and largest memory are printed; the bar is 4 GB.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from board_tables import read_table

from seminaive import SemiNaive, scale

FILE_ROWS = 100_000
ROWS, COLUMNS = 1_000_000, 200


def write(folder, number, columns, outcome):
    """Write some rows to a file."""
    table = pa.table({**columns, "outcome": pa.array([f"class {label}" for label in outcome.tolist()])})
    pq.write_table(table, Path(folder) / f"part-{number:04d}.parquet")


def write_covertype(folder):
    """Write covertype, a file after the other."""
    X, y = read_table("covertype", most_rows=None)
    for number, first in enumerate(range(0, len(y), FILE_ROWS)):
        rows = slice(first, first + FILE_ROWS)
        write(folder, number, {name: X[name].to_numpy()[rows] for name in X}, y[rows])


def write_numbers(folder, n_rows, n_columns):
    """Write drawn numbers, a file after the other."""
    rng = np.random.default_rng(0)
    for number, first in enumerate(range(0, n_rows, FILE_ROWS)):
        X = rng.normal(size=(min(FILE_ROWS, n_rows - first), n_columns))
        odds = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] ** 2 + X[:, 3] * X[:, 4]
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(int)
        write(folder, number, {f"x{j}": X[:, j] for j in range(n_columns)}, y)


def fit(folder):
    """Fit the files of a folder, and print what that takes."""
    start = time.process_time()
    model = scale.fit(SemiNaive(), scale.from_parquet(folder, target="outcome"))
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pairs = model.interactions_.head(3)[["first", "second"]].to_numpy().tolist()
    print(f"{seconds:.0f} s, {peak:.2f} GB, held-out log loss {model.cv_log_loss_:.4f}, first pairs {pairs}")


if __name__ == "__main__":
    kind, *given = sys.argv[1:]
    if kind == "fit":
        fit(given[0])
    else:
        with tempfile.TemporaryDirectory() as folder:
            if kind == "covertype":
                write_covertype(folder)
            else:
                write_numbers(folder, *(int(size) for size in given or (ROWS, COLUMNS)))
            subprocess.run([sys.executable, __file__, "fit", folder], check=True)
