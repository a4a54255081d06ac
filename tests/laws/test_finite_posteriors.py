"""A posterior is a probability for every finite row: scores saturate, they do not overflow."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from seminaive import (
    AttributeWeightedNaiveBayes,
    ForwardStagewiseNaiveBayes,
    GroupRegularizedNaiveBayes,
    NaiveBayes,
    SelectiveNaiveBayes,
    WeightedNaiveBayes,
)
from seminaive.errors import UnavailableError

# The largest numbers that a table may hold, and the smallest that are not zero.
FAR = [1e140, -1e140, 1e139, 1e100, -1e50, 0.0, np.nan, 5e-324]
KIN = [
    NaiveBayes(variances="class"),
    NaiveBayes(),
    WeightedNaiveBayes(),
    SelectiveNaiveBayes(),
    ForwardStagewiseNaiveBayes(),
    GroupRegularizedNaiveBayes(),
    AttributeWeightedNaiveBayes(),
]


def far_rows(X):
    """Return rows like the first one, whose numbers are as far away as a table may hold, or missing."""
    rows = X.iloc[[0] * len(FAR)].reset_index(drop=True)
    return rows.assign(**{name: FAR for name in X.columns if X[name].dtype.kind == "f"})


def check_posterior(model, X):
    """Ask for every kind of answer, compiled and not; none may be infinite, or take a warning to compute."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probabilities = model.predict_proba(X)
        decisions = model.decision_function(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(decisions).all()


def check_models(models, odd_table):
    for seed, model in models:
        X = odd_table(seed).X
        try:
            check_posterior(model, X)
            check_posterior(model, far_rows(X))
        except Exception as error:
            error.add_note(f"the table of seed {seed}, {model!r}")
            raise


def test_far_rows_have_a_posterior_whatever_the_table(classifier, odd_models, odd_table):
    check_models(odd_models(classifier, range(5)), odd_table)


@pytest.mark.slow
def test_far_rows_have_a_posterior_after_two_hundred_tables(classifier, odd_models, odd_table):
    check_models(odd_models(classifier, range(5, 200)), odd_table)


@pytest.mark.parametrize("model", KIN, ids=lambda model: f"{type(model).__name__}, {model.variances}")
@pytest.mark.parametrize("deviation", [1e-99, 1e-100, 1e-120, 1e-300, 1.0])
@pytest.mark.parametrize("offset", [0.0, 1e-90])
def test_deviations_of_any_size_have_a_posterior(model, deviation, offset):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = offset + rng.normal(y[:, None], 1.0, (90, 2)) * deviation
    model = clone(model).fit(X, y)
    few = np.array([[number, 0.0] for number in FAR])
    many = np.tile(few, (2000, 1))  # enough for the compiled pass
    check_posterior(model, few)
    check_posterior(model, many)
    np.testing.assert_array_equal(model.predict_proba(many)[: len(few)], model.predict_proba(few))


@pytest.mark.parametrize("floor", [1e-9, 1e-300, 5e-324, 1.0])
def test_any_floor_of_the_variances_gives_a_posterior(floor):
    y = np.arange(40) % 2
    X = np.where(y == 1, np.linspace(0, 0.3, 40), 0.0)[:, None]
    model = NaiveBayes(variances="class", variance_floor=floor).fit(X, y)
    check_posterior(model, np.array([[number] for number in FAR]))
    assert (model.predict(X[y == 1][1:]) == 1).all() or floor == 1.0


def test_a_saturated_class_does_not_hide_the_others():
    """A number far from a constant class still tells the other classes apart."""
    rng = np.random.default_rng(3)
    y = np.arange(300) % 3
    X = np.where(y == 0, 0.0, rng.normal(np.where(y == 1, 1.0, 3.0), 0.5))[:, None] * 1e-100
    model = NaiveBayes(variances="class").fit(X, y)
    assert model.predict([[1e-100], [3e-100], [0.0]]).tolist() == [1, 2, 0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_far_rows_have_an_interval(classifier, n_classes):
    if not hasattr(classifier, "predict_interval"):
        pytest.skip("not additive")
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    model = classifier().fit(rng.normal(y[:, None], 1.0, (60, 2)), y)
    far = [number for number in FAR if np.isfinite(number)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            lower, upper = model.predict_interval(np.column_stack([far, far[::-1]]))
        except UnavailableError:
            pytest.skip("not additive")
    assert ((lower >= 0) & (lower <= upper) & (upper <= 1)).all()
