"""What does the cross-validated hierarchy cost? Against LightGBM on adult, and on tables under 1,000 rows.

    SEMINAIVE_DATA=... python benchmarks/speed/alr_search_time.py

Processor time on one thread, compilation left out by a first small fit; the best of eight fits each, taken in
turns, and of two on the small tables.
"""

import os
import sys
import warnings
from pathlib import Path

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from seminaive import HigherOrderLogisticRegressionCV

sys.path.insert(0, str(Path(__file__).parent.parent))
from accuracy.alr_ranks import TABLES, load
from race import Ratio, best_time, report


def main():
    warnings.simplefilter("ignore")
    for name in ("heart-cleveland", "cmc"):  # compile: two classes and three, few rows and many
        HigherOrderLogisticRegressionCV().fit(*load(name))
    X, y = load("adult")
    X, _, y, _ = train_test_split(X, y, train_size=10_000, stratify=y, random_state=0)
    times = [
        (
            best_time(lambda: HigherOrderLogisticRegressionCV().fit(X, y), 1),
            best_time(lambda: LGBMClassifier(verbose=-1, n_jobs=1).fit(X, y), 1),
        )
        for _ in range(8)
    ]
    ours, theirs = (min(column) for column in zip(*times, strict=True))
    rows = [Ratio("search and fit, adult, 10,000 rows", "LightGBM", ours, theirs, 5, smaller=True)]
    manifest = pd.read_csv(Path(os.environ["SEMINAIVE_DATA"]) / "MANIFEST.tsv", sep="\t")
    small = manifest[(manifest["rows"] < 1000) & manifest["name"].isin([*TABLES, "vowel", "sonar"])]["name"]
    for name in small:
        table = load(name)
        seconds = best_time(lambda table=table: HigherOrderLogisticRegressionCV().fit(*table), 2)
        question = f"search and fit, {name}, {len(table[1])} rows, {table[1].max() + 1} classes"
        rows.append(Ratio(question, "1 s", seconds, 1.0, 2, smaller=True))
    report("alr_search_time", rows, ["scikit-learn", "lightgbm"])


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
