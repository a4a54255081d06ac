"""How many passes do LR^n, ALR^n and our scaling need? Studies of papers/alr on real tables.

    SEMINAIVE_DATA=... python benchmarks/alr_convergence.py

writes results/alr/passes.csv and starts.csv (one line per fit, appended, so that it can be stopped), and the
geometric means to results/alr/speed-ups.csv.
"""

import argparse
from pathlib import Path

import numpy as np

from seminaive.evaluate.datasets import load_dataset
from seminaive.papers.alr import convergence, initialisation, speed_ups

RESULTS = Path(__file__).parent.parent / "results" / "alr"
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    tables = [load_dataset(name) for name in TABLES]
    passes = convergence(tables, RESULTS / "passes.csv", max_rows=options.rows)
    summary = speed_ups(passes)
    summary.round(3).to_csv(RESULTS / "speed-ups.csv", index=False)
    print(summary.round(2).to_string(index=False))
    starts = initialisation(tables, RESULTS / "starts.csv", max_rows=options.rows)
    wide = starts.pivot_table(index=["dataset", "order"], columns="start", values="passes")
    ratio = np.exp(np.log(wide["zero"] / wide["generative"]).groupby("order").mean())
    print("times fewer passes from AnJE than from zero, by order:", ratio.round(2).to_dict())


if __name__ == "__main__":
    main()
