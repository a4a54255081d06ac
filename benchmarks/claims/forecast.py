"""Does the forecast of a learning curve hold? From n rows of each table to 4 n, resumable.

    python benchmarks/claims/forecast.py run [naive-bayes,logistic] [--samples 1]
    python benchmarks/claims/forecast.py report

Of every table of at least 400 rows, n of them (at most 400, so that 4 n and a test set are left) are forecast
from; classes with fewer than 12 rows among n are left out. Three fits to 4 n other draws, judged on the test
rows, are the truth. `run` appends to results/forecast/forecast.jsonl. `report` gives the share of tables
whose truth is within the 80 % band, and the mean absolute error of the forecast, of "no change" (the last
loss that was measured) and of "last slope" (the last doubling goes on).
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from seminaive.evaluate import learning_curve_forecast, log_loss, run_repetitions
from seminaive_experiments import real_table, real_table_names
from seminaive_experiments.rivals import RIVALS

sys.path.insert(0, str(Path(__file__).parent.parent))
from board_tables import REPEATED
from contenders import MODELS

RESULTS = Path(__file__).parent.parent / "results" / "forecast" / "forecast.jsonl"
MOST_ROWS, MOST_TEST_ROWS, FEWEST_ROWS = 400, 5000, 400
FEWEST_OF_CLASS, N_TRUTHS = 12, 3
NAMES = {"naive-bayes": MODELS["naive-bayes"], "logistic": RIVALS["sklearn-logistic-regression"]}


def usable(table):
    """Return the table without classes that are too rare, and n; None where too few rows are left."""
    n_rows = min(MOST_ROWS, int(0.75 * len(table.y)) // 4)
    counts = table.y.value_counts() if hasattr(table.y, "value_counts") else pd.Series(table.y).value_counts()
    kept = counts.index[counts * n_rows / len(table.y) >= FEWEST_OF_CLASS]
    rows = np.isin(table.y, kept)
    if len(kept) < 2 or rows.sum() < FEWEST_ROWS:
        return None
    return (
        table.X[rows].reset_index(drop=True),
        np.asarray(table.y)[rows],
        min(n_rows, int(0.75 * rows.sum()) // 4),
    )


def one(table, model, sample):
    """Forecast one table from n rows, and fit to 4 n."""
    found = usable(real_table(table))
    if found is None:
        return []
    X, y, n = found
    codes = np.unique(y, return_inverse=True)[1]
    every = np.arange(len(y))
    n_test = min(MOST_TEST_ROWS, len(y) - 4 * n)
    pool, test = train_test_split(every, test_size=n_test, stratify=codes, random_state=sample)

    def draw(size, seed):
        return (
            pool
            if size == len(pool)
            else train_test_split(pool, train_size=size, stratify=codes[pool], random_state=seed)[0]
        )

    rows = draw(n, 1000 * sample)
    made = NAMES[model]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forecast = learning_curve_forecast(made, X.iloc[rows], codes[rows], random_state=sample)
        truths = []
        for number in range(N_TRUTHS):
            train = draw(4 * n, 1000 * sample + 1 + number)
            said = clone(made).fit(X.iloc[train], codes[train]).predict_proba(X.iloc[test])
            truths.append(log_loss(codes[test], said))
    last = forecast.losses.iloc[-1]
    half = forecast.losses.iloc[-3]
    doubling = (last.log_loss - half.log_loss) / np.log2(last.n_train / half.n_train)
    at = forecast.forecast.iloc[-1]
    return [
        {
            "n": n,
            "true": float(np.mean(truths)),
            "forecast": float(at.log_loss),
            "low": float(at.low),
            "high": float(at.high),
            "no_change": float(last.log_loss),
            "last_slope": float(last.log_loss + doubling * np.log2(4 * n / last.n_train)),
        }
    ]


def report(found):
    """Print coverage and mean absolute errors, all and by model."""
    found = found.assign(covered=found.true.between(found.low, found.high), width=found.high - found.low)
    ways = ["forecast", "no_change", "last_slope"]
    for way in ways:
        found[way] = (found[way] - found.true).abs()
    groups = {**dict(list(found.groupby("model"))), "all": found}
    lines = {
        name: {"tables": len(lines_of), **lines_of[["covered", "width", *ways]].mean().to_dict()}
        | {f"median {way}": lines_of[way].median() for way in ways}
        for name, lines_of in groups.items()
    }
    print(pd.DataFrame.from_dict(lines, "index").to_string(float_format="%.4f"))
    better = {way: (found.forecast < found[way]).mean() for way in ways[1:]}
    print("nearer than: " + ", ".join(f"{way} {share:.0%}" for way, share in better.items()))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("models", nargs="?", default=",".join(NAMES))
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.command == "report":
        lines = pd.read_json(given.results, lines=True)
        report(
            pd.DataFrame(
                [{**u, **r} for u, records in zip(lines.unit, lines.records, strict=True) for r in records]
            )
        )
        return
    tables = [name for name in real_table_names() if name not in REPEATED]
    units = [
        {"table": table, "model": model, "sample": sample}
        for sample in range(given.samples)
        for model in given.models.split(",")
        for table in tables
    ]
    run_repetitions(units, one, path=given.results)


if __name__ == "__main__":
    main()
