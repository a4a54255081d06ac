"""Numbers as bins or as normal densities: losses of selective and weighted naive Bayes on real tables.

Needs SEMINAIVE_DATA. Two splits of each table that has at least two numbers and at most 100 columns, 30 % of
its rows held out, 4,000 rows at most. Writes results/naive_bins.csv.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, zero_one_loss
from sklearn.model_selection import StratifiedShuffleSplit

from seminaive import SelectiveNaiveBayes, WeightedNaiveBayes
from seminaive_experiments.datasets import real_table, real_table_names

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import keep

MOST_COLUMNS, MOST_ROWS, FEWEST_OF_A_CLASS = 100, 4000, 5


def sample(name):
    """Return at most 4,000 rows of a table, without classes of fewer than five rows."""
    data = real_table(name)
    kept = np.random.default_rng(0).permutation(len(data.y))[:MOST_ROWS]
    kept = kept if len(data.y) > MOST_ROWS else np.arange(len(data.y))
    classes, counts = np.unique(data.y[kept], return_counts=True)
    kept = kept[np.isin(data.y[kept], classes[counts >= FEWEST_OF_A_CLASS])]
    return data.X.iloc[kept].reset_index(drop=True), data.y[kept]


def losses(model, X, y, train, test):
    model.fit(X.iloc[train], y[train])
    probability = np.clip(model.predict_proba(X.iloc[test]), 1e-15, 1.0)
    answers = model.classes_[probability.argmax(axis=1)]
    return log_loss(y[test], probability, labels=model.classes_), zero_one_loss(y[test], answers)


def main():
    warnings.simplefilter("ignore")
    found = []
    for name in real_table_names():
        X, y = sample(name)
        if X.select_dtypes("number").shape[1] < 2 or X.shape[1] > MOST_COLUMNS:
            continue
        for train, test in StratifiedShuffleSplit(2, test_size=0.3, random_state=0).split(X, y):
            for cls in (SelectiveNaiveBayes, WeightedNaiveBayes):
                for bins in ("mdl", None):
                    binned = losses(cls(bins=bins), X, y, train, test)
                    found.append((name, f"{cls.__name__}(bins={bins!r})", *binned))
    frame = pd.DataFrame(found, columns=["table", "model", "log loss", "0-1 loss"])
    by_table = frame.groupby(["model", "table"]).mean().reset_index("table", drop=True)
    by_table["log loss"] = np.log(by_table["log loss"])
    means = by_table.groupby("model").mean()
    means["log loss"] = np.exp(means["log loss"])
    print(means)
    rows = [[model, *(f"{value:.3f}" for value in values)] for model, values in means.iterrows()]
    remark = f"{frame.table.nunique()} tables; geometric mean of the log loss, mean of the 0-1 loss"
    keep("naive_bins", ["model", *means.columns], rows, remark=remark)


if __name__ == "__main__":
    main()
