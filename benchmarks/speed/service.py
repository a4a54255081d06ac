"""A model in service: reasons against predictions, the smallest change of one row, shift against reading.

On adult, with missing cells, text and numbers: reasons of 100,000 rows, the smallest change of 50 rows that
are not predicted to earn more, and a million rows of a Parquet file. Needs SEMINAIVE_DATA.
"""

import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from seminaive import HigherOrderLogisticRegression, NaiveBayes, SemiNaive, explain
from seminaive.encode import read_table
from seminaive_experiments import load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, report

REASONED, CHANGED, SHIFTED, REPEATS = 100_000, 50, 1_000_000, 5
MODELS = {
    "SemiNaive": SemiNaive(),
    "order 2": HigherOrderLogisticRegression(order=2, hierarchical=True, tol=1e-2),
    "naive Bayes": NaiveBayes(),
}


def drawn(table, n_rows):
    return table.iloc[np.random.default_rng(0).integers(0, len(table), n_rows)].reset_index(drop=True)


def reason_questions(name, model, X):
    rows = drawn(X, REASONED)
    explain.reasons(model, rows)
    model.predict_proba(rows)
    ours, theirs = (
        best_time(lambda call=call: call(rows), REPEATS)
        for call in (lambda rows: explain.reasons(model, rows), model.predict_proba)
    )
    question = f"reasons of 100,000 rows of adult, {name}"
    yield Ratio(question, "predict_proba", ours, theirs, 3, smaller=True)


def change_questions(name, model, X):
    unlikely = np.flatnonzero(model.predict_proba(X)[:, 1] < 0.5)
    times = []
    for place in np.random.default_rng(0).choice(unlikely, CHANGED, replace=False):
        row = X.iloc[[place]]
        found = explain.smallest_change(model, row, model.classes_[1])
        assert found.is_proved
        times.append(best_time(lambda row=row: explain.smallest_change(model, row, model.classes_[1]), 2))
    for what, seconds in (("median of", np.median(times)), ("slowest of", max(times))):
        question = f"smallest change of one row of adult, {what} {CHANGED}, {name}"
        yield Ratio(question, "50 ms", 1000 * float(seconds), 50, 1, "ms", smaller=True)


def shift_questions(name, model, X, folder):
    path = folder / "rows.parquet"
    rows = drawn(X, SHIFTED)
    for column in rows:
        if isinstance(rows[column].dtype, pd.CategoricalDtype):
            rows[column] = rows[column].astype(object)
    rows.to_parquet(path)
    times = []
    for _ in range(REPEATS):
        began = process_time()
        read = read_table(path)
        middle = process_time()
        explain.shift(model, read)
        times.append((middle - began, process_time() - middle))
    reading, shifting = (min(seconds) for seconds in zip(*times, strict=True))
    question = f"shift of 1,000,000 rows of adult, {name}"
    yield Ratio(question, "reading them from Parquet", shifting, reading, 2, smaller=True)


def questions(folder):
    table = load_dataset("adult")
    for name, model in MODELS.items():
        model.fit(table.X, table.y)
        yield from reason_questions(name, model, table.X)
        yield from change_questions(name, model, table.X)
        yield from shift_questions(name, model, table.X, folder)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        report("service", list(questions(Path(temporary))), ["pandas", "pyarrow"])
