"""Recover the planted Markov boundary: chapter 3's protocol on generated records, ten seeds.

``python runs/veterans.py [seeds] [training rows] [test rows] [imputation]`` appends finished seeds to
reproductions/veterans.jsonl, and writes results/veterans.csv: edges, boundary and losses of each seed.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from seminaive.evaluate import run_repetitions
from seminaive_experiments.papers.diversion import judge

RESULTS = Path(__file__).parents[1] / "results"


def summary(records):
    """Return one row per seed: the boundary of the sparse network, and squared errors less its own."""
    rows = []
    for keys, of_part in records.groupby(["imputation", "n_train", "repetition"], sort=False):
        graph = of_part[(of_part["record"] == "graph") & (of_part["method"] == "l1-BN")].iloc[0]
        dense = of_part[(of_part["record"] == "graph") & (of_part["method"] == "BN")].iloc[0]
        losses = of_part[of_part["record"] == "loss"].set_index("method")
        rows.append(
            {
                **dict(zip(("imputation", "n_train", "seed"), keys, strict=True)),
                "edges": int(graph["n_edges"]),
                "dense edges": int(dense["n_edges"]),
                "lacks": int(graph["boundary_lacks"]),
                "extra": int(graph["boundary_extra"]),
                "boundary": graph["boundary"],
                **{f"MSE {method}": round(loss, 6) for method, loss in losses["MSE"].items()},
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    given = sys.argv[1:] + ["10", "200000", "100000", "chained"][len(sys.argv) - 1 :]
    seeds, n_train, n_test = map(int, given[:3])
    units = [
        {
            "n_train": n_train,
            "n_test": n_test,
            "n_validation": n_test,
            "repetition": seed,
            "seed": 0,
            "imputation": given[3],
        }
        for seed in range(seeds)
    ]
    records = run_repetitions(units, judge, path="reproductions/veterans.jsonl")
    found = summary(records)
    path = RESULTS / "veterans.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# command: python runs/veterans.py {' '.join(given)}\n")
        found.to_csv(file, index=False, lineterminator="\n")
    recovered = np.mean((found["lacks"] == 0) & (found["extra"] <= 1))
    print(found.drop(columns="boundary").to_string())
    print(f"planted boundary plus at most one: {recovered:.0%} of {len(found)} seeds")
