"""A weight says how much a row matters, never how many rows it is, in every model that searches by folds."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from seminaive import (
    AttributeWeightedNaiveBayes,
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    HigherOrderLogisticRegressionCV,
    HybridLogisticNaiveBayes,
    NaiveBayes,
    NaiveBayesLogisticRegressionCV,
    SelectiveNaiveBayes,
    SemiNaive,
    SparseBayesianNetwork,
    scale,
)
from seminaive.errors import WeightsWarning
from seminaive.models import smooth_rows
from seminaive.scale import searching

SEARCHING = {
    "stagewise": ForwardStagewiseNaiveBayes(),
    "selective": SelectiveNaiveBayes(),
    "group": GroupRegularizedNaiveBayes(strengths=10),
    "exponents": AttributeWeightedNaiveBayes(),
    "hybrid": HybridLogisticNaiveBayes(cv=4),
    "network": SparseBayesianNetwork(strengths=[0.1, 0.03, 0.01]),
    "network once": SparseBayesianNetwork(strengths=[0.1, 0.03, 0.01], cv=0.3),
    "semi-naive": SemiNaive(),
    "shrunken": NaiveBayesLogisticRegressionCV(strengths=10),
    "tuples": HigherOrderLogisticRegressionCV(),
}
OUT_OF_CORE = ["semi-naive", "shrunken", "tuples"]
N_ROWS = 120


def table_of(n_rows, seed):
    """Return four numbers and four categories, of which two say something about a class in four."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n_rows) for j in range(4)})
    for j in range(4):
        X[f"c{j}"] = np.array(list("abcd"))[rng.integers(0, 4, n_rows)]
    odds = X["x0"] + 0.8 * (X["c0"] == "a") - 1.3
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int)


def weights_of(kind, y, seed):
    """Return weights of rows as people have them."""
    rng = np.random.default_rng([7, seed])
    return {
        "survey": rng.integers(300, 2001, len(y)).astype(float),
        "one for all": np.full(len(y), 3.0),
        "classes": np.where(y == 1, 5.0, 1.0),
        "random": rng.exponential(size=len(y)) + 0.05,
    }[kind]


KINDS = ["survey", "one for all", "classes", "random"]


def fitted(name, X, y, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightsWarning)
        return clone(SEARCHING[name]).fit(X, y, sample_weight=weight)


def fitted_in_partitions(name, X, y, weight):
    frame = X.assign(y=y, weight=weight)
    data = scale.from_batches([frame[:70], frame[70:]], target="y", weight="weight")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeightsWarning)
        return scale.fit(clone(SEARCHING[name]), data)


def fresh_loss(model, kind):
    """Return the log loss of 4,000 other rows, weighted by class where the weights follow it."""
    X, y = table_of(4000, 1000)
    weight = weights_of(kind, y, 0) if kind == "classes" else None
    return log_loss(y, model.predict_proba(X)[:, 1], sample_weight=weight)


def assert_honest(fit, name, kind, seed):
    X, y = table_of(N_ROWS, seed)
    weight = weights_of(kind, y, seed)
    model, divided = fit(name, X, y, weight), fit(name, X, y, weight / weight.mean())
    loss = fresh_loss(model, kind)
    assert model.cv_log_loss_ >= 0.75 * loss
    assert loss <= 1.15 * fresh_loss(divided, kind)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SEARCHING)
def test_no_row_is_held_out_in_part(name, kind, seed):
    assert_honest(fitted, name, kind, seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OUT_OF_CORE)
def test_no_row_of_a_partition_is_held_out_in_part(name, kind, seed, monkeypatch):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", N_ROWS - 20)
    monkeypatch.setattr(searching, "MOST_SEARCHED", N_ROWS - 20)
    assert_honest(fitted_in_partitions, name, kind, seed)
