"""Race naive Bayes on large tables, in chunks and in a new process, against scikit-learn."""

import os
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import CategoricalNB

from seminaive import NaiveBayes

sys.path.insert(0, str(Path(__file__).parent.parent))
from peers.scikit_learn_nb import encoded_nb, mixed_nb
from race import Ratio, best_time, race, report

ROWS, COLUMNS = 1_000_000, 20


def integers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    return (rng.integers(0, 8, (ROWS, COLUMNS)) + y[:, None] * rng.integers(0, 3, COLUMNS)), y


def large_integers():
    X, y = integers()
    coded = X.astype(np.uint8)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(COLUMNS)]).astype("category")
    ours, theirs = NaiveBayes(categorical_features="all"), encoded_nb()
    yield race(
        "fit 1,000,000 x 20 small integers, encoding included",
        "OrdinalEncoder + CategoricalNB",
        lambda: ours.fit(X, y),
        lambda: theirs.fit(X, y),
        bar=5,
    )
    yield race(
        "fit 1,000,000 x 20 codes (uint8 array)",
        "CategoricalNB alone",
        lambda: ours.fit(coded, y),
        lambda: CategoricalNB().fit(coded, y),
        bar=20,
    )
    yield race(
        "fit 1,000,000 x 20 codes (pandas categoricals)",
        "OrdinalEncoder + CategoricalNB",
        lambda: ours.fit(frame, y),
        lambda: theirs.fit(frame, y),
        bar=20,
    )
    ours.fit(X, y)
    fitted = CategoricalNB().fit(X, y)
    yield race(
        "predict_proba of 1,000,000 x 20 small integers",
        "CategoricalNB alone",
        lambda: ours.predict_proba(X),
        lambda: fitted.predict_proba(X),
        bar=3,
    )
    in_chunks(X, y)
    turns = [(best_time(lambda: in_chunks(X, y), 1), best_time(lambda: ours.fit(X, y), 1)) for _ in range(8)]
    chunks, whole = (min(times) for times in zip(*turns, strict=True))
    yield Ratio("partial_fit in 100 chunks", "one fit of ours", chunks, whole, 1.5, smaller=True)
    yield memory(X, y)


def in_chunks(X, y):
    model = NaiveBayes(categorical_features="all")
    for start in range(0, ROWS, ROWS // 100):
        rows = slice(start, start + ROWS // 100)
        model.partial_fit(X[rows], y[rows], classes=[0, 1])


def memory(X, y):
    """Return the peak of what numpy and Python allocate during fit, beside one byte per code."""
    tracemalloc.start()
    NaiveBayes(categorical_features="all").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    codes = ROWS * COLUMNS
    return Ratio("peak extra memory of that fit", "the codes", peak / 1e6, codes / 1e6, 2, "MB", smaller=True)


def mixed_strings():
    rng = np.random.default_rng(1)
    n = 500_000
    y = rng.integers(0, 2, n)
    columns = {}
    for j in range(20):
        values = np.array([f"value {k}" for k in range(3 + 2 * j)], object)
        column = values[(rng.integers(0, len(values), n) + y) % len(values)]
        if j % 4 == 0:
            column[rng.random(n) < 0.02] = None
        columns[f"c{j}"] = column
    X = pd.DataFrame(columns)
    ours, theirs = NaiveBayes(), mixed_nb(list(X.columns))
    yield race(
        "fit 500,000 x 20 pandas strings with missing cells",
        "ColumnTransformer(OrdinalEncoder) + CategoricalNB",
        lambda: ours.fit(X, y),
        lambda: theirs.fit(X, y),
        bar=2,
        rounds=1,
    )


FIRST_FIT = """
from time import process_time
import sklearn, numpy as np
start = process_time()
from seminaive import NaiveBayes
imported = process_time() - start
rng = np.random.default_rng(0)
X = np.empty((1500, 5), object)
X[:, :3] = rng.choice(["a", "b", "c"], (1500, 3))
X[:, 3:] = rng.normal(size=(1500, 2))
y = rng.integers(0, 2, 1500)
start = process_time()
NaiveBayes(categorical_features=[0, 1, 2]).fit(X, y)
print(imported, process_time() - start)
"""


def starting_up():
    """Return the cost of the import, and of the first fit with an empty and with a warm cache."""
    with tempfile.TemporaryDirectory() as cache:
        runs = [first_fit(cache) for _ in range(4)]
    imported = min(seconds for seconds, _ in runs)
    yield Ratio(
        "from seminaive import NaiveBayes, after sklearn", "one second", imported, 1.0, 0.15, smaller=True
    )
    yield Ratio("first fit of a process, nothing compiled", "one second", runs[0][1], 1.0, 6, smaller=True)
    warm = min(seconds for _, seconds in runs[1:])
    yield Ratio("first fit of a process, warm cache", "one second", warm, 1.0, 1, smaller=True)


def first_fit(cache):
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FIT],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, fitted = map(float, done.stdout.split())
    return imported, fitted


if __name__ == "__main__":
    questions = [row for part in (large_integers, mixed_strings, starting_up) for row in part()]
    report("naive_bayes", questions, ["scikit-learn", "pandas"])
