"""How far answers about rows with unknown cells are from the mean of the answers over completions.

    python benchmarks/unknown_cells.py [--models SemiNaive,...] [--tables car,adult] [--out unknown.csv]

On the 20 tables of the board, at most 2,000 rows, a model is fitted to two thirds and asked about at most 400
of the others, of whose cells 0, 20, 40, 60 and 100 % are blanked out at random. A line has the log loss, that
of the class shares of training, the largest difference of a class's mean probability from its share and, up
to 60 %, the log loss of the mean over 30 completions of each row by cells of training rows drawn at random,
with the mean difference of the answers from it. At the end the means over the tables are printed. The tables
and SCHEMA.json lie in the folder that SEMINAIVE_DATA names.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from board_tables import board_tables, load
from judged import log_loss
from study import listed

from seminaive import (
    AttributeWeightedNaiveBayes,
    HigherOrderLogisticRegression,
    HybridLogisticNaiveBayes,
    NaiveBayesLogisticRegression,
    SemiNaive,
    WeightedNaiveBayes,
)

MODELS = {
    "SemiNaive": SemiNaive(),
    "NaiveBayesLogisticRegression": NaiveBayesLogisticRegression(),
    "HigherOrderLogisticRegression": HigherOrderLogisticRegression(order=2),
    "HybridLogisticNaiveBayes": HybridLogisticNaiveBayes(),
    "WeightedNaiveBayes": WeightedNaiveBayes(),
    "AttributeWeightedNaiveBayes": AttributeWeightedNaiveBayes(),
}
MOST_ROWS, MOST_TESTED, COMPLETIONS = 2000, 400, 30
BLANKED = (0.0, 0.2, 0.4, 0.6, 1.0)


def parts(table, seed=0):
    """Return training rows and their classes, and other rows of these classes and theirs."""
    X, y = load(table)
    kept = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    train, test = np.split(kept, [2 * len(kept) // 3])
    test = test[np.isin(y[test], y[train])][:MOST_TESTED]
    return X.iloc[train], y[train], X.iloc[test], y[test]


def completed(model, X, blank, donors):
    """Return the mean of the answers where the cells of each donor fill the blanks of all rows."""
    total = 0.0
    for k in range(len(donors)):
        cells = {name: X[name].mask(blank[:, j], donors[name].iloc[k]) for j, name in enumerate(X)}
        total = total + model.predict_proba(pd.DataFrame(cells).astype(X.dtypes))
    return total / len(donors)


def lines(name, table):
    """Yield one line for each share of blanks."""
    X, y, asked, labels = parts(table)
    model = MODELS[name].fit(X, y)
    shares = np.array([(y == label).mean() for label in model.classes_])
    labels = np.searchsorted(model.classes_, labels)
    rng = np.random.default_rng(1)
    donors = X.iloc[rng.integers(0, len(X), COMPLETIONS)]
    for blanked in BLANKED:
        blank = rng.random(asked.shape) < blanked
        proba = model.predict_proba(asked.mask(blank))
        line = {"model": name, "table": table, "blanked": blanked}
        line |= {"log_loss": log_loss(proba, labels), "of_shares": -np.log(shares[labels]).mean()}
        line["off_shares"] = np.abs(proba.mean(axis=0) - shares).max()
        if blanked < 1:
            whole = completed(model, asked, blank, donors)
            line |= {
                "completed_log_loss": log_loss(whole, labels),
                "off_completed": np.abs(proba - whole).mean(),
            }
        yield line


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=listed, default=list(MODELS))
    parser.add_argument("--tables", type=listed, default=sorted(board_tables()))
    parser.add_argument("--out")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for table in given.tables:
        for name in given.models:
            found += lines(name, table)
        print(table, flush=True)
        if given.out:
            pd.DataFrame(found).to_csv(given.out, index=False)
    means = pd.DataFrame(found).drop(columns="table").groupby(["model", "blanked"]).mean()
    print(means.round(3).to_string())


if __name__ == "__main__":
    main()
