"""Odd training tables, drawn by a seed, and models fitted to them: for laws over all classifiers."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from seminaive.errors import ColumnsWarning, WeightsWarning

MOST_ROWS = 80


@dataclass(frozen=True)
class OddTable:
    """A training table, its labels, and weights or None."""

    X: pd.DataFrame
    y: np.ndarray
    sample_weight: np.ndarray | None


def numbers(rng, y):
    """Return a column of numbers: any size, with ties, constant in one class, offset, or with gaps."""
    n = len(y)
    drawn = [
        lambda: rng.normal(y, 1.0),
        lambda: rng.normal(size=n),
        lambda: rng.normal(y, 1.0) * 10.0 ** rng.integers(-320, 138),
        lambda: np.exp(rng.normal(0.0, 40.0, n)),
        lambda: np.where(y == y[0], 0.0, rng.uniform(0, 0.3, n)),
        lambda: np.full(n, rng.choice([0.0, 3.0, -1e-300, 1e139])),
        lambda: rng.poisson(2.0, n).astype(float),
        lambda: 1e8 + rng.integers(0, 3, n) * 1e-6,
        lambda: np.where(np.arange(n) == 0, 1e139, 1e-100 * rng.normal(size=n)),
        lambda: np.where(rng.random(n) < 0.9, 0.0, rng.normal(y, 1.0)),
    ]
    column = drawn[rng.integers(len(drawn))]()
    if rng.random() < 0.3:
        column[rng.random(n) < rng.choice([0.1, 0.9, 1.0], p=[0.6, 0.3, 0.1])] = np.nan
    return column


def categories(rng, y):
    """Return a column of text, booleans or objects, perhaps one value only, perhaps with missing cells."""
    n = len(y)
    n_values = int(rng.choice([1, 2, 3, 8, n]))
    codes = (rng.integers(0, n_values, n) + y * rng.integers(0, 2)) % n_values
    if n_values == 2 and rng.random() < 0.5:
        return codes.astype(bool)
    column = np.array([f"value {code}" for code in codes], dtype=object)
    if rng.random() < 0.3:
        column[rng.random(n) < 0.2] = None
    return column


def table_of(seed):
    """Return the table of a seed: 8 to 80 rows, 1 to 4 columns, 2 to 4 classes."""
    rng = np.random.default_rng([20, seed])
    n, n_classes = int(rng.integers(8, MOST_ROWS + 1)), int(rng.integers(2, 5))
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    made = [
        numbers(rng, y) if rng.random() < 0.65 else categories(rng, y) for _ in range(int(rng.integers(1, 5)))
    ]
    if all(pd.isna(column).all() for column in made):
        made[0] = rng.normal(size=n)
    X = pd.DataFrame({f"c{j}": column for j, column in enumerate(made)})
    kind = rng.integers(4)
    weight = None if kind > 1 else rng.integers(1, 5, n).astype(float) if kind else rng.random(n) + 1e-3
    return OddTable(X, np.array(["a", "b", "c", "d"])[y] if rng.random() < 0.5 else y, weight)


@cache
def fitted_to(classifier, seed, *, stream=False):
    """Return a model fitted to the table of a seed, at once or as a stream of two chunks."""
    table = table_of(seed)
    model = classifier()
    with warnings.catch_warnings():
        for expected in (ConvergenceWarning, ColumnsWarning, WeightsWarning):
            warnings.simplefilter("ignore", expected)
        if not stream:
            return model.fit(table.X, table.y, sample_weight=table.sample_weight)
        half, weight = len(table.y) // 2, table.sample_weight
        for rows in (slice(half), slice(half, None)):
            row_weight = None if weight is None else weight[rows]
            model.partial_fit(
                table.X[rows], table.y[rows], classes=np.unique(table.y), sample_weight=row_weight
            )
    return model


@pytest.fixture
def odd_table():
    """Return the function that gives the table of a seed."""
    return table_of


@pytest.fixture
def odd_models():
    """Return a function that yields seeds and models of a classifier, after fits and after streams."""

    def models(classifier, seeds):
        for seed in seeds:
            for stream in (False, True) if hasattr(classifier, "partial_fit") else (False,):
                yield seed, fitted_to(classifier, seed, stream=stream)

    return models
