"""What do large tables cost? Poker hands by rows, all of Covertype, order 3: time, memory, passes, error.

    SEMINAIVE_DATA=... python runs/alr_scale.py [question ...]

Each question runs in a process of its own, whose peak memory is reported, and appends one line to
results/alr/scale.csv; questions that are there already are left out.
"""

import csv
import datetime as dt
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from alr_convergence import RESULTS as FOLDER
from alr_convergence import kept
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from seminaive import HigherOrderLogisticRegression
from seminaive.errors import TooLargeError
from seminaive_experiments.datasets import load_dataset
from seminaive_experiments.poker import poker_hands

COMMAND = "python runs/alr_scale.py"
COLUMNS = [
    "question",
    "rows",
    "threads",
    "seconds",
    "processor_seconds",
    "passes",
    "gradient_norm",
    "test_error",
    "peak_MB",
    "date",
]


def fit(model, X, y, X_test, y_test):
    start, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    error = float((model.predict(X_test) != y_test).mean())
    return {
        "rows": len(y),
        "threads": getattr(model, "n_jobs", None) or 1,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "passes": getattr(model, "passes_", ""),
        "gradient_norm": f"{model.gradient_norm_:.1e}" if hasattr(model, "gradient_norm_") else "",
        "test_error": round(error, 4),
    }


def hands(n_rows, model=None):
    train, test = poker_hands(n_rows, random_state=1), poker_hands(50_000, random_state=2)
    if model is None:
        model = HigherOrderLogisticRegression(2, ridge=0.1, tol=1e-3)
        model.fit(test.X[:2000], test.y[:2000])  # compiles
    return fit(model, train.X, train.y, test.X, test.y)


def random_forest():
    from sklearn.ensemble import RandomForestClassifier

    # Suits and ranks as whole numbers, which a tree can cut into ranges.
    return hands(100_000, RandomForestClassifier(random_state=0))


def lightgbm():
    from lightgbm import LGBMClassifier

    return hands(100_000, LGBMClassifier(verbose=-1, n_jobs=1))


def covertype(order, n_jobs, max_iter):
    table = load_dataset("covertype")
    X = table.X.astype({name: np.float32 for name in table.X if table.X[name].dtype.kind == "f"})
    rows = np.arange(len(table.y))
    train, test = train_test_split(rows, test_size=20_000, random_state=0, stratify=table.y)
    model = HigherOrderLogisticRegression(
        order, bins=10, ridge=1.0, tol=1e-3, max_iter=max_iter, n_jobs=n_jobs
    )
    return fit(model, X.iloc[train], table.y[train], X.iloc[test], table.y[test])


def real_table(name, order):
    table = load_dataset(name)
    rows = np.arange(len(table.y))
    train, test = train_test_split(rows, test_size=0.3, random_state=0, stratify=table.y)
    model = HigherOrderLogisticRegression(order, ridge=1.0, tol=1e-2, max_iter=100)
    return fit(model, table.X.iloc[train], table.y[train], table.X.iloc[test], table.y[test])


QUESTIONS = {
    "poker, order 2, 10,000 rows": lambda: hands(10_000),
    "poker, order 2, 100,000 rows": lambda: hands(100_000),
    "poker, order 2, 1,000,000 rows": lambda: hands(1_000_000),
    "poker, random forest, 100,000 rows": random_forest,
    "poker, LightGBM, 100,000 rows": lightgbm,
    "adult, order 1": lambda: real_table("adult", 1),
    "adult, order 2": lambda: real_table("adult", 2),
    "adult, order 3": lambda: real_table("adult", 3),
    "letter, order 3": lambda: real_table("letter", 3),
    "all of covertype, order 2": lambda: covertype(2, 2, 1000),
    "all of covertype, order 3, 20 iterations": lambda: covertype(3, 2, 20),
}


def answer(question):
    try:
        line = QUESTIONS[question]()
    except TooLargeError as error:
        line = {"test_error": f"refused: {error}"}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    today = str(dt.datetime.now(tz=dt.UTC).date())
    return {"question": question, **line, "peak_MB": round(peak / 1024), "date": today}


def main(chosen):
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = kept("scale.csv", COMMAND)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    done = {line["question"] for line in csv.DictReader(lines)}
    for question in chosen or QUESTIONS:
        if question in done:
            continue
        command = [sys.executable, __file__, "--answer", question]
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        if out.returncode:
            print(question, "failed:", out.stderr[-500:], flush=True)
            continue
        line = json.loads(out.stdout.splitlines()[-1])
        with path.open("a", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if not lines:
                writer.writeheader()
            writer.writerow(line)
        lines.append(question)
        print(line, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        print(json.dumps(answer(sys.argv[2])))
    else:
        main(sys.argv[1:])
