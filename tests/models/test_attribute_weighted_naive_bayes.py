"""Exponents learned by conditional likelihood: limits, copies, optimality, an independent solver."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from seminaive import AttributeWeightedNaiveBayes, NaiveBayes
from seminaive.errors import InputError

# The exponents as they are learned, believed to the full.
whole = partial(AttributeWeightedNaiveBayes, fit_share=1)


def mixed_table(n_classes=2, n_rows=400, seed=0):
    """Two categories and two numbers about the class, one column of noise, some cells missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    noisy = np.where(rng.random((n_rows, 2)) < 0.6, y[:, None], rng.integers(0, n_classes, (n_rows, 2)))
    numbers = y[:, None] + rng.normal(scale=1.5, size=(n_rows, 2))
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    X = pd.DataFrame(
        {
            "a": noisy[:, 0].astype(str),
            "b": noisy[:, 1].astype(str),
            "noise": rng.integers(0, 4, n_rows).astype(str),
            "x": numbers[:, 0],
            "z": numbers[:, 1],
        }
    )
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_infinite_ridge_is_naive_bayes(n_classes):
    X, y = mixed_table(n_classes)
    model = whole(ridge=1e7).fit(X, y)
    # A gradient of some hundred over the ridge.
    np.testing.assert_allclose(model.exponents_, 1.0, atol=1e-4)
    naive = NaiveBayes(variances="class").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), naive.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_the_optimum_is_that_of_an_independent_solver(n_classes, ridge):
    X, y = mixed_table(n_classes)
    model = whole(ridge=ridge, tol=1e-5).fit(X, y)
    naive = NaiveBayes(variances="class").fit(X, y)
    parts = naive.scores_.breakdown(naive.encode(X))

    def objective(w):
        scores = parts[:, 0] + np.einsum("t,rtc->rc", w, parts[:, 1:])
        return -log_softmax(scores, axis=1)[np.arange(len(y)), y].sum() + 0.5 * ridge * ((w - 1) ** 2).sum()

    peer = minimize(objective, np.ones(5), method="L-BFGS-B", bounds=[(0, None)] * 5)
    assert model.objective_ == pytest.approx(objective(model.exponents_), rel=1e-10)
    assert model.objective_ <= peer.fun * (1 + 1e-8)
    assert model.gradient_norm_ <= 1e-5


def test_copies_of_a_feature_share_its_exponent():
    X, y = mixed_table()
    one = whole(ridge=1e-6).fit(X[["a", "x"]], y)
    copied = X[["a", "x"]].assign(copy=X["a"], again=X["a"])
    three = whole(ridge=1e-6).fit(copied, y)
    found = dict(zip(three.term_names_, three.exponents_, strict=True))
    alone = dict(zip(one.term_names_, one.exponents_, strict=True))
    assert found["a"] == pytest.approx(found["copy"], rel=1e-6)
    assert found["a"] + found["copy"] + found["again"] == pytest.approx(alone["a"], rel=1e-3)
    np.testing.assert_allclose(three.predict_proba(copied), one.predict_proba(X[["a", "x"]]), atol=1e-4)


def test_training_loss_is_never_above_that_of_naive_bayes():
    for seed in range(5):
        X, y = mixed_table(3, seed=seed)
        models = [whole(ridge=1.0).fit(X, y), NaiveBayes(variances="class").fit(X, y)]
        losses = [-model.predict_log_proba(X)[np.arange(len(y)), y].sum() for model in models]
        assert losses[0] <= losses[1] + 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ridge": -1}, "ridge is"),
        ({"variances": "own"}, "variances is one of"),
        ({"tol": 0}, "tol is"),
        ({"fit_share": 2}, "fit_share is 'cv' or a share"),
        ({"cv": 1}, "at least 2 folds"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    X, y = mixed_table(n_rows=50)
    with pytest.raises(InputError, match=message):
        AttributeWeightedNaiveBayes(**options).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_share_lies_between_the_class_shares_and_the_fit(n_classes):
    X, y = mixed_table(n_classes, n_rows=80)
    model = AttributeWeightedNaiveBayes().fit(X, y)
    assert 0 < model.fit_share_ < 1
    fit = whole().fit(X, y)
    np.testing.assert_array_equal(model.exponents_, fit.exponents_)
    shares = np.bincount(y) / len(y)
    mixed = fit.predict_proba(X) ** model.fit_share_ * shares ** (1 - model.fit_share_)
    np.testing.assert_allclose(model.predict_proba(X), mixed / mixed.sum(axis=1, keepdims=True), rtol=1e-10)
    nothing = AttributeWeightedNaiveBayes(fit_share=0).fit(X, y)
    np.testing.assert_allclose(nothing.predict_proba(X), np.tile(shares, (len(y), 1)), rtol=1e-12)


def test_classes_that_naive_bayes_separates_beyond_rounding_are_no_reason_to_warn():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(100, 3)), np.repeat([0, 1], 50)
    X[:, 0] += 12 * labels
    model = whole().fit(X, labels)  # warnings are errors here
    np.testing.assert_allclose(model.exponents_, 1.0, atol=1e-6)
    assert model.gradient_norm_ <= model.tol
