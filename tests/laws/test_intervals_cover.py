"""Intervals hold the truth about as often as they say, in tables of which the truth is known."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from seminaive import NaiveBayes

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def intervals(monkeypatch):
    if sys.platform == "win32":
        pytest.skip("benchmarks fork processes")
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("intervals")


def mean_coverage(intervals, n_rows, classes, draws):
    """Return the mean over draws of each coverage, and of all planted effects."""
    found = [intervals.one_draw("planted", n_rows=n_rows, classes=classes, draw=draw)[0] for draw in draws]
    means = {name: float(np.mean([draw.get(name, np.nan) for draw in found])) for name in found[0]}
    names = (*intervals.LOADINGS, "left", "right", *intervals.NOISE)
    return means | {"effects": float(np.mean([means[name] for name in names]))}


def test_a_few_tables_of_300_rows_are_covered(intervals):
    found = mean_coverage(intervals, 300, 2, range(3))
    # Over 100 tables the shares are .976 and .974, with standard deviations of .016 and .029: a mean of three
    # is hardly ever more than three standard errors, .028 and .05, below.
    assert found["rows"] > 0.945
    assert found["effects"] > 0.92


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rows", "classes", "least"), [(100, 2, 0.89), (300, 2, 0.93), (300, 4, 0.93), (2000, 2, 0.93)]
)
def test_probabilities_and_effects_are_covered(intervals, n_rows, classes, least):
    """The aim is .92 to .98 of rows and .93 to .97 of effects, which 100 rows and four classes miss."""
    found = mean_coverage(intervals, n_rows, classes, range(200, 220 if n_rows < 2000 else 208))
    assert 0.92 < found["rows"] < 0.995
    assert found["effects"] > least
    assert all(found[name] > 0.97 for name in intervals.NOISE)


def test_naive_bayes_covers_what_it_assumes():
    """300 rows of two classes; standard errors over 40 tables are below .01."""
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    held = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, 600)
        code = (rng.random((600, 1)) > shares[labels].cumsum(axis=1)).sum(axis=1)
        number = labels + rng.normal(size=600)
        X = np.column_stack([np.array(["a", "b", "c"], dtype=object)[code], number.astype(object)])
        odds = np.log(shares[1] / shares[0])[code] + number - 0.5
        truth = 1 / (1 + np.exp(-odds))
        model = NaiveBayes().fit(X[:300], labels[:300])
        lower, upper = model.predict_interval(X[300:])
        held.append(((lower[:, 1] <= truth[300:]) & (truth[300:] <= upper[:, 1])).mean())
    assert 0.92 < np.mean(held) < 0.98
