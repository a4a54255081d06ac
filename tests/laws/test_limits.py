"""Limits that choose the faster of two ways do not move a probability: fits by either way are compared."""

import numpy as np
import pandas as pd
import pytest

from seminaive import (
    HigherOrderLogisticRegression,
    HybridLogisticNaiveBayes,
    NaiveBayesLogisticRegression,
)
from seminaive.design import fusion
from seminaive.solvers import elastic_net_path, search_coordinates
from seminaive.structure import logistic_parts

TIGHT = 1e-10


def mixed(n_rows, n_classes):
    """Return two numbers and three categories, one of many levels, and classes that depend on them."""
    rng = np.random.default_rng(n_classes)
    numbers, levels = rng.normal(size=(n_rows, 2)), rng.integers(0, (3, 4, 60), (n_rows, 3))
    scores = np.column_stack([numbers, levels[:, 0] - 1.0])[:, :n_classes]
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    X = pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1]})
    return X.assign(**{f"c{k}": [f"level {code}" for code in codes] for k, codes in enumerate(levels.T)}), y


MODELS = {
    "NBRLR": NaiveBayesLogisticRegression(strength=2.0, tol=TIGHT),
    "ridge toward naive Bayes": NaiveBayesLogisticRegression(strength=2.0, penalty="l2", tol=TIGHT),
    "LR": HigherOrderLogisticRegression(1, tol=TIGHT),
    "hybrid": HybridLogisticNaiveBayes(partition=["a", "c0", "c2"], ridge=1e-2, tol=1e-8),
}
LIMITS = [
    ("NBRLR", elastic_net_path, {"WIDEST": 1}),
    ("ridge toward naive Bayes", elastic_net_path, {"WIDEST": 1}),
    ("LR", search_coordinates, {"MOST_COARSE": 0}),
    ("LR", fusion, {"FEW_ROWS": 0}),
    ("LR", fusion, {"FEW_ROWS": 0, "MOST_SLOTS": 0, "PLANNING_ROWS": 50}),
    ("hybrid", logistic_parts, {"MOST_FACTORED": 0}),
    ("hybrid", logistic_parts, {"MOST_COUPLED_CELLS": 0}),
    ("hybrid", logistic_parts, {"LEAST_ELIMINATED": 10**6}),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("name", "module", "limits"), LIMITS, ids=lambda value: "-".join(value) if isinstance(value, dict) else ""
)
def test_either_way_of_a_fit_has_the_same_probabilities(name, module, limits, n_classes, monkeypatch):
    X, y = mixed(300, n_classes)
    expected = MODELS[name].fit(X, y).predict_proba(X)
    for limit, value in limits.items():
        monkeypatch.setattr(module, limit, value)
    np.testing.assert_allclose(MODELS[name].fit(X, y).predict_proba(X), expected, rtol=0, atol=1e-6)
