"""What it costs to repeat the rows of a table of counts: equal rows of a fold are fitted as one.

    python benchmarks/speed/repeated_rows.py [--rows 1000000] [--kinds 200] [model ...]

Prints the seconds of a fit to the rows; `NaiveBayes` only reads and counts them.
"""

import argparse
import time

import numpy as np
import pandas as pd

from seminaive import (
    AttributeWeightedNaiveBayes,
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    HigherOrderLogisticRegressionCV,
    HybridLogisticNaiveBayes,
    NaiveBayes,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
    SemiNaive,
    SparseBayesianNetwork,
)

MODELS = {
    "NaiveBayes": NaiveBayes(),
    "SemiNaive": SemiNaive(),
    "NaiveBayesLogisticRegressionCV": NaiveBayesLogisticRegressionCV(),
    "HigherOrderLogisticRegressionCV": HigherOrderLogisticRegressionCV(),
    "AttributeWeightedNaiveBayes": AttributeWeightedNaiveBayes(),
    "ForwardStagewiseNaiveBayes": ForwardStagewiseNaiveBayes(),
    "SelectiveNaiveBayes": SelectiveNaiveBayes(),
    "GroupRegularizedNaiveBayes": GroupRegularizedNaiveBayes(strengths=10),
    "HybridLogisticNaiveBayes": HybridLogisticNaiveBayes(),
    "SparseBayesianNetwork": SparseBayesianNetwork(strengths=[0.1, 0.03, 0.01]),
}


def table_of_counts(n_rows: int, n_kinds: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return rows of five categories, half of them of each class, and how many rows each stands for."""
    rng = np.random.default_rng(0)
    half = pd.DataFrame({f"c{j}": rng.integers(0, 4, n_kinds // 2).astype(str) for j in range(5)})
    X = pd.concat([half, half], ignore_index=True)
    counts = rng.multinomial(n_rows, rng.dirichlet(np.full(len(X), 0.7)))
    return X, np.repeat([0, 1], len(half)), np.maximum(counts, 1)


def main() -> None:
    """Time each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kinds", type=int, default=200)
    parser.add_argument("models", nargs="*", metavar="model")
    arguments = parser.parse_args()
    X, y, counts = table_of_counts(arguments.rows, arguments.kinds)
    repeated, labels = X.loc[X.index.repeat(counts)], y.repeat(counts)
    for name in arguments.models or MODELS:
        MODELS[name].fit(X, y)  # compiles
        begin = time.perf_counter()
        MODELS[name].fit(repeated, labels)
        print(f"{name:32} {time.perf_counter() - begin:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
