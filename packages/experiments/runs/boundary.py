"""Recover the planted Markov boundary by ``SparseBayesianNetwork().fit`` itself, ordering known and searched.

``python runs/boundary.py [seeds] [rows]`` appends finished fits to reproductions/boundary.jsonl, and
writes results/boundary.csv: edges, boundary and squared error on 100,000 later records of each fit.
"""

import sys
from pathlib import Path

import numpy as np

from seminaive import SparseBayesianNetwork
from seminaive.evaluate import run_repetitions
from seminaive_experiments.papers.veterans import LABEL, LAYERS, MARKOV_BOUNDARY, true_posterior, veterans

RESULTS = Path(__file__).parents[1] / "results"
LAYER_NAMES = [["class" if name == LABEL else name for name in names] for names in LAYERS]
ORDERINGS = {
    "known": {"order": [name for names in LAYER_NAMES for name in names]},
    "searched": {"layers": LAYER_NAMES},
}


def judge(n_rows, repetition, ordering):
    """Fit one table of records, and compare its boundary with the planted one."""
    records, later = veterans(n_rows, repetition), veterans(100_000, 1000 + repetition)
    model = SparseBayesianNetwork(cv=0.2, **ORDERINGS[ordering]).fit(records.X, records.y)
    boundary = set(model.markov_boundary_)
    sick = later.y == "Y"
    risks = {"MSE": model.predict_proba(later.X)[:, 1], "MSE truth": true_posterior(later.X)}
    yield {
        "edges": len(model.edges_),
        "refitted": model.refitted_,
        "lacks": len(MARKOV_BOUNDARY - boundary),
        "extra": len(boundary - MARKOV_BOUNDARY),
        "boundary": ", ".join(sorted(boundary)),
        **{name: round(float(np.mean((risk - sick) ** 2)), 6) for name, risk in risks.items()},
    }


if __name__ == "__main__":
    given = sys.argv[1:] + ["10", "200000"][len(sys.argv) - 1 :]
    seeds, n_rows = map(int, given)
    units = [
        {"n_rows": n_rows, "repetition": seed, "ordering": ordering}
        for seed in range(seeds)
        for ordering in ORDERINGS
    ]
    found = run_repetitions(units, judge, path="reproductions/boundary.jsonl")
    with (RESULTS / "boundary.csv").open("w", encoding="utf-8") as file:
        file.write(f"# command: python runs/boundary.py {' '.join(given)}\n")
        found.to_csv(file, index=False, lineterminator="\n")
    print(found.drop(columns="boundary").to_string())
    for ordering, of_ordering in found.groupby("ordering"):
        recovered = (of_ordering["lacks"] == 0) & (of_ordering["extra"] <= 1)
        print(
            f"{ordering}: planted boundary plus at most one in {recovered.sum()} of {len(of_ordering)} seeds"
        )
