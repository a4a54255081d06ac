"""Compare the accuracy of tree-augmented naive Bayes with pyAgrum's by 10-fold cross-validation.

Both see the same codes: numbers are cut by description length on the whole table, a missing cell is a value.
Needs pyAgrum, and SEMINAIVE_DATA.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from seminaive import NaiveBayes, TreeAugmentedNaiveBayes
from seminaive.encode import TableEncoder, encode_target, mdl_cuts
from seminaive_experiments import load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))
from peers.pyagrum_tan import PyAgrumTAN
from race import keep

TABLES = ("car", "nursery", "mushroom", "congressional-voting", "balance-scale", "pima-diabetes", "vehicle")


def accuracies(codes, labels):
    """Return the accuracy of each fold and model."""
    found = {"TAN": [], "pyAgrum": [], "naive Bayes": []}
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(codes, labels):
        models = (
            TreeAugmentedNaiveBayes(categorical_features="all"),
            PyAgrumTAN(),
            NaiveBayes(categorical_features="all"),
        )
        for name, model in zip(found, models, strict=True):
            predicted = model.fit(codes[train], labels[train]).predict(codes[test])
            found[name].append((predicted == labels[test]).mean())
    return {name: np.array(values) for name, values in found.items()}


if __name__ == "__main__":
    heads = ["table", "rows", "TAN", "pyAgrum", "naive Bayes", "standard error of TAN - pyAgrum"]
    rows = []
    for name in TABLES:
        table = load_dataset(name)
        labels = encode_target(table.y, "benchmark").labels
        codes = TableEncoder.learn(table.X, cut_rule=mdl_cuts, labels=labels)[1].codes.astype(np.int64)
        found = accuracies(codes, labels)
        error = (found["TAN"] - found["pyAgrum"]).std() / np.sqrt(10)
        means = (f"{values.mean():.4f}" for values in found.values())
        rows.append([name, len(labels), *means, f"{error:.4f}"])
        print(*rows[-1], flush=True)
    keep("tan_accuracy", heads, rows, ["pyagrum"])
