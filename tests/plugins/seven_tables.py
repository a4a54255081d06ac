"""Seven small tables that need no files: what laws of fits and comparisons of versions are run on.

Three come with scikit-learn (wine, iris, breast cancer with 60 and with 200 rows, ten digits of 64 pixels),
two are drawn: numbers with categories, and eight categories.
"""

import numpy as np
import pandas as pd
from sklearn import datasets


def _drawn(load, n_rows, seed=0):
    """Return some rows of a table of scikit-learn."""
    X, y = load(return_X_y=True, as_frame=True)
    kept = np.sort(np.random.default_rng(seed).permutation(len(y))[:n_rows])
    return X.iloc[kept].reset_index(drop=True), y.to_numpy()[kept]


def _mixed(n_rows=300):
    """Return two numbers, one of them skewed, and two categories, of which one shifts the odds."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n_rows),
            "income": rng.lognormal(3, 1, n_rows),
            "city": rng.choice(list("abcd"), n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
        }
    )
    y = np.where(X["age"] + 5 * (X["sex"] == "f") + rng.normal(0, 8, n_rows) > 52, "yes", "no")
    return X, y


def _categories(n_rows=150):
    """Return eight categories of two to five levels; two of them decide together, one alone."""
    rng = np.random.default_rng(1)
    columns = {f"c{j}": rng.integers(0, 2 + j % 4, n_rows) for j in range(8)}
    odds = 2.0 * ((columns["c0"] + columns["c1"]) % 2) + 1.5 * (columns["c3"] == 0) - 1.5
    y = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-odds)), "yes", "no")
    return pd.DataFrame({name: values.astype(str) for name, values in columns.items()}), y


def seven_tables():
    """Return X and y of each table by name."""
    return {
        "wine": _drawn(datasets.load_wine, 178),
        "iris": _drawn(datasets.load_iris, 150),
        "bc60": _drawn(datasets.load_breast_cancer, 60),
        "bc200": _drawn(datasets.load_breast_cancer, 200),
        "mixed": _mixed(),
        "cats": _categories(),
        "digits": _drawn(datasets.load_digits, 150),
    }
