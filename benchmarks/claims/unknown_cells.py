"""How far answers about rows with unknown cells are from the mean of the answers over completions.

    python benchmarks/claims/unknown_cells.py run [--models SemiNaive,...] [--tables car] [--out FILE.csv]
    python benchmarks/claims/unknown_cells.py report [--out FILE.csv]

On the 20 tables of the board, at most 2,000 rows, a model is fitted to two thirds and asked about at most 400
of the others, of whose cells 0, 20, 40, 60 and 100 % are blanked out at random. Missing cells are neutral, as
otherwise a column that has some in training has learned what they say. A line has the log loss, that
of the class shares of training, the largest difference of a class's mean probability from its share and, up
to 60 %, the log loss of the mean over 30 completions of each row by cells of training rows drawn at random,
with the mean difference of the answers from it. `report` prints the means over the tables, in how many lines
each bar is missed, and these lines. The tables and SCHEMA.json lie in the folder that SEMINAIVE_DATA names.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from seminaive import (
    AttributeWeightedNaiveBayes,
    HigherOrderLogisticRegression,
    HybridLogisticNaiveBayes,
    NaiveBayesLogisticRegression,
    SemiNaive,
    WeightedNaiveBayes,
)

sys.path.insert(0, str(Path(__file__).parent.parent))
from board_tables import board_tables, load
from judged import log_loss
from study import listed

MODELS = {
    "SemiNaive": SemiNaive(),
    "NaiveBayesLogisticRegression": NaiveBayesLogisticRegression(),
    "HigherOrderLogisticRegression": HigherOrderLogisticRegression(order=2),
    "HybridLogisticNaiveBayes": HybridLogisticNaiveBayes(),
    "WeightedNaiveBayes": WeightedNaiveBayes(),
    "AttributeWeightedNaiveBayes": AttributeWeightedNaiveBayes(),
}
RESULTS = Path(__file__).parent.parent / "results" / "unknown_cells" / "lines.csv"
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
    X, y, rows, labels = parts(table)
    model = clone(MODELS[name]).set_params(missing="neutral").fit(X, y)
    shares = np.array([(y == label).mean() for label in model.classes_])
    labels = np.searchsorted(model.classes_, labels)
    rng = np.random.default_rng(1)
    donors = X.iloc[rng.integers(0, len(X), COMPLETIONS)]
    for blanked in BLANKED:
        blank = rng.random(rows.shape) < blanked
        proba = model.predict_proba(rows.mask(blank))
        line = {"model": name, "table": table, "blanked": blanked}
        line |= {"log_loss": log_loss(proba, labels), "of_shares": -np.log(shares[labels]).mean()}
        line["off_shares"] = np.abs(proba.mean(axis=0) - shares).max()
        line["share_error"] = np.sqrt(shares * (1 - shares) / len(labels)).max()
        line["loss_error"] = np.log(proba[np.arange(len(labels)), labels]).std() / np.sqrt(len(labels))
        if blanked < 1:
            whole = completed(model, rows, blank, donors)
            line |= {
                "completed_log_loss": log_loss(whole, labels),
                "off_completed": np.abs(proba - whole).mean(),
            }
        yield line


def missed(found):
    """Return which lines miss each bar, a frame of truth values.

    Averages over rows are noisy: those of a mean probability by two standard errors of the classes of the
    rows that are asked about, and log losses rise by less than two standard errors of their difference.
    """
    found = found.sort_values(["model", "table", "blanked"])
    before = found.groupby(["model", "table"]).log_loss.shift()
    return pd.DataFrame(
        {
            "all unknown, .02 off the shares": (found.blanked == 1) & (found.off_shares > 0.02),
            "mean probability .03 off the shares": found.off_shares > 0.03 + 2 * found.share_error,
            "log loss .01 above the shares": found.log_loss > found.of_shares + 0.01,
            "log loss falls": found.log_loss < before - 2 * found.loss_error,
            "40 %, .02 above completions": (found.blanked == 0.4)
            & (found.log_loss > found.completed_log_loss + 0.02),
        },
        index=found.index,
    )


def report(path):
    """Print the means over the tables, and what misses a bar."""
    found = pd.read_csv(path)
    means = found.drop(columns="table").groupby(["model", "blanked"]).mean()
    print(means.drop(columns=["share_error", "loss_error"]).round(3).to_string())
    misses = missed(found)
    print("\nlines that miss a bar, of", len(found))
    print(misses.groupby(found.model).sum().T.to_string())
    shown = ["model", "table", "blanked", "log_loss", "of_shares", "off_shares", "completed_log_loss"]
    print(found.loc[misses.any(axis=1), shown].round(3).to_string(index=False))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=["run", "report"])
    parser.add_argument("--models", type=listed, default=list(MODELS))
    parser.add_argument("--tables", type=listed, default=sorted(board_tables()))
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.verb == "run":
        warnings.simplefilter("ignore")
        given.out.parent.mkdir(parents=True, exist_ok=True)
        found = []
        for table in given.tables:
            for name in given.models:
                found += lines(name, table)
            print(table, flush=True)
            pd.DataFrame(found).to_csv(given.out, index=False, float_format="%.6g")
    report(given.out)


if __name__ == "__main__":
    main()
