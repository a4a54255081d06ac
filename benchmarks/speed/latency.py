"""One row at a time: predict_proba of every model, from an array and from a data frame, against scikit-learn.

The peer is scikit-learn's logistic regression behind a OneHotEncoder (and a StandardScaler for numbers). One
call takes less than a processor clock can tell, so that a question is a batch of calls.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import seminaive

sys.path.insert(0, str(Path(__file__).parent.parent))
from race import Ratio, best_time, race, report

ROWS, COLUMNS, CALLS = 3000, 14, 500
# Seconds that one row may take.
FROM_ARRAY, FROM_FRAME = 0.25e-3, 1e-3


def integers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (ROWS, COLUMNS))
    return X, (X[:, 0] + rng.integers(0, 4, ROWS) > 4).astype(int)


def mixed():
    """Return a frame of eight text columns and six numbers."""
    X, y = integers()
    rng = np.random.default_rng(1)
    columns = {f"c{j}": np.array(["a", "b", "c", "d", "e", "f"], object)[X[:, j]] for j in range(8)}
    columns |= {f"n{j}": X[:, j] + rng.normal(size=ROWS) for j in range(8, COLUMNS)}
    return pd.DataFrame(columns), y


def peer():
    return make_pipeline(
        make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include="number")),
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        ),
        LogisticRegression(max_iter=1000),
    )


def calls(model, row):
    def predict():
        for _ in range(CALLS):
            model.predict_proba(row)

    return predict


def questions():
    names = [
        name for name in seminaive.__all__ if name[0].isupper() and is_classifier(getattr(seminaive, name)())
    ]
    X, y = integers()
    frame, y_frame = mixed()
    coded_peer = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
    coded_peer.fit(X, y)
    frame_peer = peer().fit(frame, y_frame)
    for name in names:
        model = getattr(seminaive, name)
        coded = model(categorical_features="all").fit(X, y)
        ours = best_time(calls(coded, X[:1]), 3) / CALLS
        yield race(
            f"{name}: {CALLS} times one row of {COLUMNS} integers, array",
            "OneHotEncoder + LogisticRegression",
            calls(coded, X[:1]),
            calls(coded_peer, X[:1]),
            bar=1,
        )
        yield Ratio(f"{name}: one row, array", "0.25 ms", ours * 1e3, FROM_ARRAY * 1e3, 1, "ms", smaller=True)
        row = frame.iloc[[5]]
        fitted = model().fit(frame, y_frame)
        ours = best_time(calls(fitted, row), 3) / CALLS
        yield race(
            f"{name}: {CALLS} times one row of {COLUMNS} mixed columns, pandas",
            "ColumnTransformer(OneHotEncoder, StandardScaler) + LogisticRegression",
            calls(fitted, row),
            calls(frame_peer, row),
            bar=1,
        )
        yield Ratio(f"{name}: one row, pandas", "1 ms", ours * 1e3, FROM_FRAME * 1e3, 1, "ms", smaller=True)


if __name__ == "__main__":
    report("latency", list(questions()), ["scikit-learn", "pandas"])
