"""How many passes do LR^n, ALR^n and our scaling need? Studies of papers/alr on real tables.

    SEMINAIVE_DATA=... python runs/alr_convergence.py

writes results/alr/passes.csv (L-BFGS and conjugate gradients) and starts.csv (Appendix B), one line per fit,
appended, so that it can be stopped, and the geometric means to results/alr/speed-ups.csv and
start-speed-ups.csv. Remove the files to measure again. Order 3 is left to tables of few columns, and to
L-BFGS.
"""

import argparse
import datetime as dt
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from seminaive_experiments.datasets import load_dataset
from seminaive_experiments.papers.alr import convergence, initialisation, speed_ups

RESULTS = Path(__file__).parents[1] / "results" / "alr"
COMMAND = "python runs/alr_convergence.py"
TABLES = [
    "tic-tac-toe",
    "german-credit",
    "cmc",
    "car",
    "chess-kr-vs-kp",
    "nursery",
    "splice",
    "segment",
    "magic",
    "adult",
]
MOST_COLUMNS_OF_TRIPLES = 21  # 1,330 triples


def origin(command):
    """Say where results come from, as lines of comment."""
    packages = " ".join(f"{name}={version(name)}" for name in ("seminaive", "numpy", "scipy", "numba"))
    today = dt.datetime.now(tz=dt.UTC).date()
    return f"# command: {command}\n# date: {today}; python {platform.python_version()}; {packages}\n"


def kept(name, command):
    """Return the path of a results file, begun with its origin where it is new."""
    path = RESULTS / name
    if not path.exists():
        path.write_text(origin(command), encoding="utf-8")
    return path


def write(frame, name, command):
    with (RESULTS / name).open("w", encoding="utf-8") as file:
        file.write(origin(command))
        frame.round(3).to_csv(file, index=False)
    print(frame.round(2).to_string(index=False), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    tables = [load_dataset(name) for name in TABLES]
    command = f"{COMMAND} --rows {options.rows}"
    for solver in ("lbfgs", "cg"):
        passes = convergence(tables, kept("passes.csv", command), solvers=(solver,), max_rows=options.rows)
        write(speed_ups(passes), "speed-ups.csv", command)
    narrow = [table for table in tables if table.X.shape[1] <= MOST_COLUMNS_OF_TRIPLES]
    passes = convergence(narrow, kept("passes.csv", command), orders=(3,), max_rows=options.rows)
    write(speed_ups(passes), "speed-ups.csv", command)
    initialisation(tables, kept("starts.csv", command), max_rows=options.rows)
    starts = initialisation(narrow, kept("starts.csv", command), orders=(3,), max_rows=options.rows)
    wide = np.log(starts.pivot_table(index=["dataset", "order"], columns="variant", values="passes"))
    ratios = pd.DataFrame({name: wide["ALR"] - wide[name] for name in ("ALR (init)", "ALR (J)")})
    write(np.exp(ratios.groupby("order").mean()).reset_index(), "start-speed-ups.csv", command)


if __name__ == "__main__":
    main()
