"""A pair with one unseen half falls back on what its known half says, in every model with pairs."""

import numpy as np
import pytest
from sklearn.base import clone

from seminaive import (
    AcceleratedLogisticRegression,
    AveragedDependenceEstimators,
    AveragedJoinEstimators,
    HigherOrderLogisticRegression,
    HigherOrderLogisticRegressionCV,
)

UNSEEN = 99
DISCRIMINATIVE = [
    HigherOrderLogisticRegression(order=2, hierarchical=False),
    HigherOrderLogisticRegression(order=2, hierarchical=True),
    AcceleratedLogisticRegression(order=2),
    AcceleratedLogisticRegression(order=2, pull_to_generative=1.0),
    HigherOrderLogisticRegressionCV(order=2),
]


def telling_pair(n_rows=600, n_classes=2, seed=0):
    """Return two columns, the first of which tells the class, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    first = np.where(rng.random(n_rows) < 0.8, y, rng.integers(0, n_classes, n_rows))
    return np.column_stack([first, rng.integers(0, 3, n_rows)]), y


def streamed(model, X, y):
    for rows in np.array_split(np.arange(len(y)), 4):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return model


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", DISCRIMINATIVE, ids=str)
def test_the_cell_is_the_training_weighted_mean_over_its_row(model, n_classes):
    X, y = telling_pair(n_classes=n_classes)
    weight = np.random.default_rng(1).uniform(0.5, 3.5, len(y))
    model = clone(model).set_params(categorical_features="all").fit(X, y, sample_weight=weight)
    scores = model.scores_
    term = scores.terms.features.index((0, 1))
    table = scores.tables[scores.terms.block(term)].reshape(*scores.terms.shape(term), n_classes)
    for value in range(n_classes):
        weights = np.bincount(X[X[:, 0] == value, 1], weight[X[:, 0] == value], minlength=3)
        np.testing.assert_allclose(table[value, 3], weights @ table[value, :3] / weights.sum(), atol=1e-12)
    weights = np.bincount(3 * X[:, 0] + X[:, 1], weight, minlength=3 * n_classes)
    everywhere = weights @ table[:n_classes, :3].reshape(-1, n_classes) / weights.sum()
    np.testing.assert_allclose(table[n_classes, 3], everywhere, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("model", "stream"),
    [
        *((model, False) for model in DISCRIMINATIVE),
        *((model, True) for model in DISCRIMINATIVE[:-1]),
        (AveragedJoinEstimators(order=2), False),
        (AveragedJoinEstimators(order=2), True),
        (AveragedJoinEstimators(order=2, estimates="laplace"), False),
        (AveragedDependenceEstimators(order=1), False),
    ],
    ids=str,
)
def test_the_known_half_still_tells_the_class(model, stream, n_classes):
    X, y = telling_pair(n_classes=n_classes)
    model = clone(model).set_params(categorical_features="all")
    model = streamed(model, X, y) if stream else model.fit(X, y)
    rows = np.column_stack([np.arange(n_classes), np.full(n_classes, UNSEEN)])
    assert (model.predict(rows) == np.arange(n_classes)).all()
    assert (model.predict_proba(rows).max(axis=1) > 1.2 / n_classes).all()


@pytest.mark.parametrize("missing", ["value", "neutral"])
def test_joins_count_the_other_columns_as_if_the_unseen_one_were_not_there(missing):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (300, 2)).astype(object), rng.integers(0, 2, 300)
    X[::5, 1] = None
    pair = AveragedJoinEstimators(order=2, missing=missing, categorical_features="all").fit(X, y)
    single = AveragedJoinEstimators(order=1, missing=missing, categorical_features="all").fit(X[:, :1], y)
    rows = np.array([[0, UNSEEN], [1, UNSEEN], [2, UNSEEN]], dtype=object)
    np.testing.assert_allclose(
        pair.predict_log_proba(rows), single.predict_log_proba(rows[:, :1]), atol=1e-12
    )


def test_values_that_were_seen_but_never_met_stay_at_zero():
    X = np.array([[0, 0], [1, 1]] * 50)
    model = HigherOrderLogisticRegression(order=2, categorical_features="all").fit(X, X[:, 0])
    table = model.scores_.tables[model.scores_.terms.block(0)].reshape(3, 3, 2)
    assert (table[0, 1] == 0).all()
    # The mean of one cell, up to the rounding of a product and a quotient.
    np.testing.assert_allclose(table[0, 2], table[0, 0], rtol=1e-14)
