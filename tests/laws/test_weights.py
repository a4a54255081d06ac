"""A weight says how much a row matters, never how many rows it is, in every model that searches by folds."""

import warnings

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
from seminaive.models.folded import FoldedRows
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


@pytest.mark.parametrize("name", SEARCHING)
def test_the_scale_of_weights_says_nothing(name):
    X, y = table_of(N_ROWS, 0)
    weight = weights_of("random", y, 0)
    plain = fitted(name, X, y, weight)
    for factor in (0.25, 1024.0):  # powers of two leave every bit of a quotient
        scaled = fitted(name, X, y, factor * weight)
        assert np.array_equal(scaled.predict_proba(X), plain.predict_proba(X))
        assert scaled.cv_log_loss_ == plain.cv_log_loss_
    scaled = fitted(name, X, y, 1000 * weight)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("name", OUT_OF_CORE)
def test_the_scale_of_weights_in_partitions_says_nothing(name, monkeypatch):
    monkeypatch.setattr(smooth_rows, "MOST_SEARCHED", N_ROWS - 20)
    monkeypatch.setattr(searching, "MOST_SEARCHED", N_ROWS - 20)
    X, y = table_of(N_ROWS, 0)
    weight = weights_of("random", y, 0)
    plain, twice, scaled = (fitted_in_partitions(name, X, y, c * weight) for c in (1, 2, 1000))
    assert np.array_equal(twice.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("name", SEARCHING)
def test_one_weight_for_all_is_none(name):
    X, y = table_of(N_ROWS, 0)
    plain, weighed = fitted(name, X, y, None), fitted(name, X, y, np.full(N_ROWS, 3.0))
    assert np.array_equal(weighed.predict_proba(X), plain.predict_proba(X))


GIVEN = {
    "smoothing": NaiveBayes(),
    "exponents": AttributeWeightedNaiveBayes(fit_share=1.0),
    "step": ForwardStagewiseNaiveBayes(criterion="aic"),
    "rate": HybridLogisticNaiveBayes(rate=1.0),
}


@pytest.mark.parametrize("name", GIVEN)
def test_with_given_strengths_whole_weights_equal_repeated_rows(name):
    X, y = table_of(N_ROWS, 0)
    times = np.random.default_rng(0).integers(1, 4, N_ROWS)
    weighed = clone(GIVEN[name]).fit(X, y, sample_weight=times.astype(float))
    repeated = clone(GIVEN[name]).fit(X.loc[X.index.repeat(times)], y.repeat(times))
    np.testing.assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_whole_weights_are_questioned_where_folds_choose():
    X, y = table_of(N_ROWS, 0)
    sentence = r"120 rows with whole weights of mean 3: .* repeat them: X.loc\[X.index.repeat\(w\)\]"
    with pytest.warns(WeightsWarning, match=sentence):
        AttributeWeightedNaiveBayes().fit(X, y, sample_weight=np.full(N_ROWS, 3.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AttributeWeightedNaiveBayes(fit_share=1.0).fit(X, y, sample_weight=np.full(N_ROWS, 3.0))
        AttributeWeightedNaiveBayes().fit(X, y, sample_weight=(np.arange(N_ROWS) > 9).astype(float))
        AttributeWeightedNaiveBayes().fit(X, y, sample_weight=np.full(N_ROWS, 1 / N_ROWS))


def test_a_row_of_more_weight_than_a_fold_is_told():
    X, y = table_of(N_ROWS, 0)
    weight = np.where(np.arange(N_ROWS) == 3, 60.5, 1.5)
    with pytest.warns(WeightsWarning, match="one row has 25% of all weight, more than one of 5 folds"):
        AttributeWeightedNaiveBayes().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("name", SEARCHING)
def test_equal_rows_are_fitted_as_one_and_drawn_one_by_one(name, monkeypatch):
    # The same search without merging; only the draws of a bootstrap differ.
    X, y = table_of(30, 0)
    X, y = X.loc[X.index.repeat(8)].reset_index(drop=True), y.repeat(8)
    merged = fitted(name, X, y, None)
    monkeypatch.setattr(FoldedRows, "merged", lambda folded: folded)
    single = fitted(name, X, y, None)
    # Rows with copies in training lose next to nothing, .009 in a network: draws move that by .0004.
    assert merged.cv_log_loss_ == pytest.approx(single.cv_log_loss_, rel=0.05, abs=0.001)
    np.testing.assert_allclose(merged.predict_proba(X), single.predict_proba(X), atol=0.03)
