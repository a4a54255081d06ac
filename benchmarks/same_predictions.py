"""Do two versions of the code predict the same? Every model, fitted as tightly as it goes and by default.

``python benchmarks/same_predictions.py fit FILE`` fits each model to seven small tables that need no files
and, where ``SEMINAIVE_DATA`` names the folder of the real tables, to at most 240 rows and 15 columns of 37 of
these. It keeps the probabilities of all rows, and what every search tried; run it once with each version on
PYTHONPATH. ``python benchmarks/same_predictions.py compare FILE OTHER`` prints the largest difference of each
model and which searches tried other things, and fails where a difference is above 1e-8 (``--same 0``: where
there is any).
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np

import seminaive
from seminaive_experiments.datasets import real_table

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "plugins"))
from seven_tables import seven_tables

# fmt: off
TABLES = (
    "abalone", "adult", "annealing", "audiology", "australian-credit", "autos", "balance-scale", "banknote",
    "blood-transfusion", "breast-cancer-ljubljana", "breast-cancer-wisconsin", "car", "chess-kr-vs-kp",
    "cmc", "congressional-voting", "credit-approval", "dermatology", "ecoli", "german-credit", "glass",
    "haberman", "heart-cleveland", "hepatitis", "horse-colic", "ilpd", "ionosphere", "iris", "lymphography",
    "mammographic-mass", "pima-diabetes", "primary-tumor", "sonar", "soybean", "tic-tac-toe", "vehicle",
    "wine", "zoo",
)
# fmt: on
ROWS, COLUMNS, CLASSES, SAME = 240, 15, 6, 1e-8
TIGHT = 1e-12
# Parameters of each fit. A ridge that counts lets logistic parts of separable classes end.
HYBRID = {"tol": TIGHT, "ridge": 1e-2}
FITS = {
    "naive Bayes": ("NaiveBayes", {}),
    "weighted": ("WeightedNaiveBayes", {"bins": "mdl"}),
    "attribute weights": ("AttributeWeightedNaiveBayes", {"tol": TIGHT}),
    "TAN": ("TreeAugmentedNaiveBayes", {}),
    "AnDE": ("AveragedDependenceEstimators", {}),
    "AnJE": ("AveragedJoinEstimators", {"order": 2}),
    "selective": ("SelectiveNaiveBayes", {}),
    "stagewise": ("ForwardStagewiseNaiveBayes", {}),
    "group": ("GroupRegularizedNaiveBayes", {}),
    "NBRLR": ("NaiveBayesLogisticRegression", {"tol": TIGHT}),
    "NBRLR, L2": ("NaiveBayesLogisticRegression", {"tol": TIGHT, "penalty": "l2"}),
    "NBRLR-CV": ("NaiveBayesLogisticRegressionCV", {"tol": 1e-10, "strengths": 8, "extend": False, "cv": 3}),
    "LR": ("HigherOrderLogisticRegression", {"order": 1, "tol": TIGHT, "solver": "newton"}),
    "LR^2": ("HigherOrderLogisticRegression", {"order": 2, "tol": TIGHT}),
    "LR, numbers": ("HigherOrderLogisticRegression", {"order": 1, "hierarchical": True, "tol": TIGHT}),
    "ALR": ("AcceleratedLogisticRegression", {"order": 1, "tol": TIGHT}),
    "LR-CV": ("HigherOrderLogisticRegressionCV", {"order": 1, "tol": TIGHT, "cv": 3}),
    "hybrid": ("HybridLogisticNaiveBayes", {**HYBRID, "cv": 3}),
    "hybrid, dependence": ("HybridLogisticNaiveBayes", {**HYBRID, "partition": "dependence"}),
    "hybrid, greedy": ("HybridLogisticNaiveBayes", {**HYBRID, "partition": "greedy"}),
    "hybrid, TAN": ("HybridLogisticNaiveBayes", {**HYBRID, "partition": "dependence", "generative": "tan"}),
    "SemiNaive": ("SemiNaive", {"tol": 1e-9, "cv": 3}),
    "network": ("SparseBayesianNetwork", {"tol": 1e-10, "strengths": [0.03]}),
}


def rows_of(name):
    """Return some rows of a table, of its most frequent classes, and which of them to fit."""
    table = real_table(name)
    kept = np.sort(np.random.default_rng(0).permutation(len(table.y))[:ROWS])
    X, y = table.X.iloc[kept, :COLUMNS].reset_index(drop=True), np.asarray(table.y)[kept]
    labels, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    used = np.isin(codes, np.argsort(-counts, kind="stable")[: min(CLASSES, len(labels))])
    X, y = X[used].reset_index(drop=True), y[used]
    return X, y, np.arange(len(y)) % 4 > 0


# By default these may end anywhere within their tolerance, and what they try depends on it.
DEFAULTS = {
    f"{name}, default": (model, {})
    for name, model in {
        "SemiNaive": "SemiNaive",
        "LR^2": "HigherOrderLogisticRegression",
        "LR-CV": "HigherOrderLogisticRegressionCV",
        "NBRLR-CV": "NaiveBayesLogisticRegressionCV",
        "hybrid": "HybridLogisticNaiveBayes",
        "attribute weights": "AttributeWeightedNaiveBayes",
        "selective": "SelectiveNaiveBayes",
        "stagewise": "ForwardStagewiseNaiveBayes",
    }.items()
}


def trials_of(model):
    """Return what a search tried and the loss of each trial, as one array; empty where nothing was tried."""
    results = getattr(model, "cv_results_", None) or {}
    columns = [np.asarray(values, dtype=float) for values in results.values() if np.size(values)]
    return (
        np.concatenate([values.reshape(len(values), -1) for values in columns], axis=1)
        if columns
        else np.empty(0)
    )


def fit(path):
    """Fit every model to every table, and keep the probabilities and the trials."""
    small = {name: (X, y, np.arange(len(y)) % 4 > 0) for name, (X, y) in seven_tables().items()}
    names = [*small, *(TABLES if "SEMINAIVE_DATA" in os.environ else ())]
    found = {}
    for name in names:
        X, y, train = small[name] if name in small else rows_of(name)
        for key, (model, options) in (FITS | DEFAULTS).items():
            fitted = getattr(seminaive, model)(**options).fit(X[train], y[train])
            found[f"{name} | {key}"] = fitted.predict_proba(X)
            found[f"{name} | {key} | trials"] = trials_of(fitted)
        print(name, flush=True)
        np.savez(path, **found)


def compare(path, other, same):
    """Print the largest difference of each model over the tables that both files have, and other trials."""
    one, two = np.load(path), np.load(other)
    both = sorted(set(one.files) & set(two.files))
    worst, other_trials = dict.fromkeys(FITS | DEFAULTS, (0.0, "")), []
    for name in both:
        table, key, *trials = name.split(" | ")
        if trials:
            alike = one[name].shape == two[name].shape and np.allclose(
                one[name], two[name], rtol=1e-6, equal_nan=True
            )
            other_trials += [] if alike else [f"{table} ({key})"]
        else:
            worst[key] = max(worst[key], (float(np.abs(one[name] - two[name]).max()), table))
    print(f"{len({name.split(' | ')[0] for name in both})} tables")
    for key, (difference, table) in worst.items():
        print(f"{key:26} {difference:8.1e} {table}")
    print("other trials:", ", ".join(other_trials) or "none")
    return max(difference for difference, _ in worst.values()) <= same


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=("fit", "compare"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--same", type=float, default=SAME, help="largest difference that counts as none")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.task == "fit":
        fit(*arguments.files)
    elif not compare(*arguments.files, arguments.same):
        raise SystemExit(f"a difference is above {arguments.same:g}")


if __name__ == "__main__":
    main()
