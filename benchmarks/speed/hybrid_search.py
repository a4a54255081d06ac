"""Time the search of the hybrid model's partition beside one logistic regression on all features."""

import sys
from functools import partial
from pathlib import Path

import numpy as np

from seminaive import HybridLogisticNaiveBayes
from seminaive_experiments.papers.dissertation import categorical_table

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, report

# Tables of chapter 1 with many rows, features or classes; needs SEMINAIVE_DATA.
TABLES = (
    "Magic Gamma Telescope",
    "Mushroom",
    "Abalone",
    "Car Evaluation",
    "Statlog Vehicle Silhouettes",
    "Hypothyroid",
)


def searches():
    """Yield the time of a fit whose rate is cross-validated, in fits of all features: at most 3 (p + 1)."""
    for name in TABLES:
        table = categorical_table(name, 0)
        fit = partial(_fit, table)
        fit("cv")
        # Measured in turns; the smallest of each counts.
        times = [(best_time(partial(fit, "cv"), 1), best_time(partial(fit, np.inf), 3)) for _ in range(2)]
        ours, one = (min(column) for column in zip(*times, strict=True))
        n_features = table.X.shape[1]
        question = f"bias-variance search, {name} ({len(table.y):,} x {n_features})"
        bar = 3 * (n_features + 1)
        yield Ratio(question, "one logistic regression on all features", ours, one, bar, smaller=True)


def _fit(table, rate):
    return HybridLogisticNaiveBayes(rate=rate).fit(table.X, table.y)


if __name__ == "__main__":
    report("hybrid_search", list(searches()), ["scikit-learn", "scipy"])
