"""Is the cross-validated hierarchy the best default classifier in log loss? Mean ranks over real tables.

    SEMINAIVE_DATA=... python benchmarks/accuracy/alr_ranks.py

appends one line per table, size, split and method to results/alr/ranks-raw.csv, continues where it was
stopped, and writes the mean ranks to results/alr/ranks.csv. ``--again NAME`` forgets the lines of a method,
which is then run on the splits that the others are kept on. Training rows: 70 % of the table (at most
10,000), or 100, or 300; all the other rows (at most 20,000) test.
"""

import argparse
import csv
import datetime as dt
import json
import os
import platform
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from seminaive import HigherOrderLogisticRegressionCV

sys.path.insert(0, str(Path(__file__).parent.parent))
from peers.boosting_and_forests import make_rivals

TABLES = """
australian-credit heart-cleveland german-credit pima-diabetes breast-cancer-ljubljana
credit-approval ilpd hepatitis ionosphere vehicle
tic-tac-toe cmc mammographic-mass car blood-transfusion
balance-scale congressional-voting horse-colic liver-disorders-bupa haberman
glass chess-kr-vs-kp segment banknote bank-marketing-small
adult
nursery magic page-blocks bank-churn
""".split()  # noqa: SIM905 - a list would be 30 lines
SIZES = ["all", 100, 300]
RESULTS = Path(__file__).parent.parent / "results" / "alr"
COLUMNS = ["table", "size", "split", "method", "n_train", "log_loss", "error", "seconds"]


def load(name):
    folder = Path(os.environ["SEMINAIVE_DATA"])
    kinds = json.loads((folder / "SCHEMA.json").read_text())[name]
    frame = pd.read_csv(folder / f"{name}.csv.gz", keep_default_na=False, na_values=[""], low_memory=False)
    y = pd.factorize(frame.pop("class"), sort=True)[0]
    for column, kind in kinds.items():
        if kind == "categorical":
            frame[column] = frame[column].map(str, na_action="ignore").astype(object).astype("category")
        else:
            frame[column] = frame[column].astype(float)
    # A class needs rows on both sides of every split.
    kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 8))
    return frame[kept].reset_index(drop=True), pd.factorize(y[kept], sort=True)[0]


def run(X, y, size, split, wanted):
    n_train = min(int(0.7 * len(y)), 10_000) if size == "all" else size
    train, test = train_test_split(np.arange(len(y)), train_size=n_train, stratify=y, random_state=split)
    test = test[:20_000]
    n_classes = y.max() + 1
    for method, model in methods().items():
        if method not in wanted:
            continue
        start = time.process_time()
        model.fit(X.iloc[train], y[train])
        seconds = time.process_time() - start
        proba = np.full((len(test), n_classes), 0.0)
        proba[:, model.classes_] = model.predict_proba(X.iloc[test])
        proba = np.clip(proba, 1e-7, 1)
        proba /= proba.sum(axis=1, keepdims=True)
        yield {
            "method": method,
            "n_train": n_train,
            "log_loss": round(log_loss(y[test], proba, labels=range(n_classes)), 5),
            "error": round(float((proba.argmax(axis=1) != y[test]).mean()), 5),
            "seconds": round(seconds, 3),
        }


def methods():
    ours = {"HigherOrderLogisticRegressionCV": HigherOrderLogisticRegressionCV(order=2, hierarchical=True)}
    return ours | make_rivals()


def summarise():
    raw = pd.read_csv(RESULTS / "ranks-raw.csv")
    complete = raw.groupby(["table", "size", "split"])["method"].transform("size") == raw["method"].nunique()
    raw = raw[complete]
    means = raw.groupby(["size", "table", "method"])[["log_loss", "error", "seconds"]].mean().reset_index()
    for measure in ("log_loss", "error"):
        means[f"rank_{measure}"] = means.groupby(["size", "table"])[measure].rank()
    summary = means.groupby(["size", "method"]).agg(
        tables=("table", "size"),
        mean_rank_log_loss=("rank_log_loss", "mean"),
        mean_rank_error=("rank_error", "mean"),
        mean_log_loss=("log_loss", "mean"),
        median_seconds=("seconds", "median"),
        largest_seconds=("seconds", "max"),
    )
    summary = summary.round(3).reset_index().sort_values(["size", "mean_rank_log_loss"])
    versions = " ".join(
        f"{package}={version(package)}" for package in ("seminaive", "scikit-learn", "lightgbm", "numpy")
    )
    header = [
        "# command: python benchmarks/accuracy/alr_ranks.py --splits 3",
        f"# date: {dt.datetime.now(tz=dt.UTC).date()}; python {platform.python_version()}; {versions}",
        "# Ranks among five methods, means over tables; a table has the mean losses of its splits, which are",
        "# the same for all methods. Seconds of one thread.",
    ]
    with (RESULTS / "ranks.csv").open("w", newline="") as file:
        file.write("\n".join(header) + "\n")
        summary.to_csv(file, index=False, lineterminator="\n")
    print(summary.to_string(index=False))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--sizes", nargs="+", default=[str(size) for size in SIZES])
    parser.add_argument("--again", nargs="+", default=[], help="methods whose lines are forgotten first")
    parser.add_argument("--summarise", action="store_true")
    options = parser.parse_args()
    path = RESULTS / "ranks-raw.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    if options.summarise:
        return summarise()
    done = set()
    if path.exists():
        kept = pd.read_csv(path, dtype=str)
        kept = kept[~kept["method"].isin(options.again)]
        kept.to_csv(path, index=False, lineterminator="\n")
        done = set(map(tuple, kept[["table", "size", "split", "method"]].to_numpy()))
    else:
        path.write_text(",".join(COLUMNS) + "\n")
    warnings.simplefilter("ignore")
    for split in range(options.splits):
        for size in (size for size in SIZES if str(size) in options.sizes):
            for table in TABLES:
                wanted = [name for name in methods() if (table, str(size), str(split), name) not in done]
                if not wanted:
                    continue
                X, y = load(table)
                if size != "all" and size > 0.7 * len(y):
                    continue
                with threadpool_limits(1):
                    lines = [
                        {"table": table, "size": size, "split": split, **line}
                        for line in run(X, y, size, split, wanted)
                    ]
                with path.open("a") as file:
                    csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(lines)
                print(table, size, split, {line["method"]: line["log_loss"] for line in lines}, flush=True)
    return summarise()


if __name__ == "__main__":
    main()
