"""The logistic regression of R's nnet: the coefficients at which its search ends, where no optimum exists."""

import numpy as np
import pandas as pd
import pytest

from seminaive import HybridLogisticNaiveBayes
from seminaive_experiments.papers.factor_hybrid import FactorHybrid
from seminaive_experiments.papers.multinom import MultinomRegression, minimize_variable_metric, multinom

# multinom(k ~ a + b, data, trace = FALSE) of nnet 7.3-18 in R 4.2.2, all columns being factors; rows of
# coef() are classes q and r, columns the intercept, a = v, a = w, b = y. The second case is separable.
ALMOST = ("uvwuvwuvwuvw", "xxyyxyxyyxxy", "pqrpqrpqpqrr")
SEPARABLE = ("uvwuvwuv", "xxyyxyxy", "pqrpqrpq")
OF_R = {
    ALMOST: [
        [-0.69304543, 22.141292, -12.610489, -10.528806],
        [-9.95508180, 30.710056, 33.031651, -21.978019],
    ],
    SEPARABLE: [
        [-13.105462, 26.3243063, -5.8752762, -1.4157904],
        [-14.204257, -6.1931567, 21.5457579, 3.7771879],
    ],
}


def scores_of(coefficients, a, b):
    columns = np.array([np.ones(len(a)), a == "v", a == "w", b == "y"], dtype=float)
    return np.vstack([np.zeros(len(a)), np.array(coefficients) @ columns]).T


@pytest.mark.parametrize("columns", list(OF_R))
def test_the_search_ends_where_that_of_r_ends(columns):
    a, b, k = (np.array(list(column)) for column in columns)
    X = pd.DataFrame({"a": a, "b": b}).astype("category")
    ours = np.log(FactorHybrid(rate=np.inf).fit(X, k).predict_proba(X))
    # R prints eight digits of scores up to 33.
    np.testing.assert_allclose(ours - ours[:, :1], scores_of(OF_R[columns], a, b), atol=1e-4)


def test_the_search_finds_the_minimum_of_a_quadratic_function():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5))
    hessian, minimum = root @ root.T + np.eye(5), rng.normal(size=5)

    def quadratic(x):
        return 1.0 + 0.5 * (x - minimum) @ hessian @ (x - minimum), hessian @ (x - minimum)

    found, value, n_iter = minimize_variable_metric(quadratic, np.zeros(5))
    assert value == pytest.approx(1.0, abs=1e-7)
    np.testing.assert_allclose(found, minimum, atol=1e-3)
    assert n_iter < 40


def test_where_an_optimum_exists_the_logistic_part_is_that_of_our_model(weather):
    X, y = weather
    X = X.select_dtypes(exclude="number").fillna("none").astype("category")
    plain = HybridLogisticNaiveBayes(partition=list(X.columns)).fit(X, y)
    ours = FactorHybrid(rate=np.inf).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), plain.predict_proba(X), atol=2e-4)


def test_rows_of_indicators_count_as_often_as_they_occur_and_numbers_stay_as_they_are():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    X = np.column_stack([np.ones(60), rng.integers(0, 2, 60)]).astype(float)
    plain = np.column_stack([X, 1e-12 * rng.normal(size=60)])  # no row repeats another
    np.testing.assert_allclose(multinom(X, labels, 3), multinom(plain, labels, 3)[:2], atol=1e-6)


@pytest.mark.parametrize("columns", list(OF_R))
def test_as_an_estimator_it_has_the_scores_of_r_and_takes_numbers_as_they_are(columns):
    a, b, k = (np.array(list(column)) for column in columns)
    expected = scores_of(OF_R[columns], a, b)
    factors = pd.DataFrame({"a": a, "b": b})
    # One of two levels as the number 1 is the same column of R's model matrix.
    for X in (factors, factors.assign(b=(b == "y").astype(float))):
        ours = np.log(MultinomRegression().fit(X, k).predict_proba(X))
        np.testing.assert_allclose(ours - ours[:, :1], expected, atol=1e-4)


def test_a_level_that_training_lacks_answers_like_the_reference_level():
    X = pd.DataFrame({"a": list("uuvvwwuvw"), "b": np.arange(9.0) % 4})
    model = MultinomRegression().fit(X, np.array(list("pqpqppqqp")))
    unseen, reference = X.assign(a="z"), X.assign(a="u")
    np.testing.assert_array_equal(model.predict_proba(unseen), model.predict_proba(reference))
