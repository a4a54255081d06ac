"""Rubin's rules, by hand, by statsmodels and in the long run."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from statsmodels.imputation.mice import MICE

from seminaive import MultipleImputer, NaiveBayes, NaiveBayesLogisticRegression
from seminaive.errors import InputError
from seminaive.structure import PooledClassifier, complete, pool_estimates


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 600
    sky = rng.choice(["dry", "wet", "snow"], n, p=[0.5, 0.3, 0.2]).astype(object)
    heat = rng.normal(size=n) + (sky == "wet")
    y = rng.random(n) < 1 / (1 + np.exp(-(heat + (sky == "snow"))))
    X = pd.DataFrame({"sky": sky, "heat": heat})
    return X, X.mask(rng.random((n, 2)) < 0.25), np.where(y, "yes", "no")


def test_rubins_numbers_equal_a_hand_calculation():
    pooled = pool_estimates([1.0, 2.0, 6.0], [1.0, 2.0, 3.0])
    assert pooled.mean == 3
    assert pooled.between == 7  # (4 + 1 + 9) / 2
    assert pooled.within == 2
    assert pooled.total == pytest.approx(2 + 4 / 3 * 7)
    assert pooled.missing_information == pytest.approx((28 / 3) / (34 / 3))
    assert pooled.degrees_of_freedom == pytest.approx(2 * (34 / 28) ** 2)


def test_rubins_numbers_equal_those_of_statsmodels():
    rng = np.random.default_rng(0)
    params, spread = rng.normal(size=(5, 3)), rng.uniform(0.1, 1, (5, 3))
    fits = [
        SimpleNamespace(_results=SimpleNamespace(params=b, cov_params=lambda v=v: np.diag(v)), scale=1.0)
        for b, v in zip(params, spread, strict=True)
    ]
    model = object.__new__(MICE)
    model.results_list = fits
    model.exog_names, model.endog_names, model.model_class = ["a", "b", "c"], "y", sm.OLS
    theirs = model.combine()
    pooled = pool_estimates(params, spread)
    np.testing.assert_allclose(pooled.mean, theirs.params, rtol=1e-12)
    np.testing.assert_allclose(pooled.total, np.diag(theirs.cov_params()), rtol=1e-12)
    np.testing.assert_allclose(pooled.missing_information, theirs.frac_miss_info, rtol=1e-12)


def test_one_completion_and_no_variances():
    pooled = pool_estimates([[1.0, 2.0]])
    assert pooled.between.tolist() == [0, 0]
    assert pooled.total is pooled.missing_information is pooled.degrees_of_freedom is None
    with pytest.raises(InputError, match="one per completion"):
        pool_estimates([])
    with pytest.raises(InputError, match="do not belong"):
        pool_estimates([1.0, 2.0], [1.0])


def test_intervals_cover_the_truth_as_often_as_they_say():
    """The share of a column that is missing in 70 or 90 % of the rows, by class: 200 tables, 95 % intervals.

    Were the probabilities that draw the cells not drawn themselves, 70 % of the intervals would contain it.
    """
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        labels = rng.integers(0, 2, 300)
        x = (rng.random(300) < 0.2 + 0.6 * labels).astype(np.uint8)
        codes = np.where(rng.random(300) < 0.7 + 0.2 * labels, 2, x).astype(np.uint8)[:, None]
        means = complete(codes, labels, (2,), 10, rng, n_sweeps=1)[:, :, 0].mean(axis=1)
        pooled = pool_estimates(means, means * (1 - means) / 300)
        reach = t(pooled.degrees_of_freedom).ppf(0.975) * np.sqrt(pooled.total)
        covered += abs(pooled.mean - 0.5) < reach
    # Four standard errors of 200 intervals.
    assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200) < covered / 200


def test_standard_errors_equal_those_of_statsmodels(table):
    X, _, y = table
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    model = NaiveBayesLogisticRegression(strength=0, tol=3e-5).fit(X, y, sample_weight=weight)
    dummies = pd.DataFrame({"heat": X["heat"], "snow": X["sky"] == "snow", "wet": X["sky"] == "wet"})
    theirs = sm.GLM(
        (y == "yes").astype(float),
        sm.add_constant(dummies.astype(float)),
        family=sm.families.Binomial(),
        freq_weights=weight,
    ).fit(tol=1e-12)
    np.testing.assert_allclose(model.coefficients_, theirs.params, atol=1e-5)
    found = model.coefficient_covariance(X, weight)
    np.testing.assert_allclose(found, theirs.cov_params(), rtol=1e-4, atol=1e-8)
    with pytest.raises(InputError, match="fit with strength=0"):
        NaiveBayesLogisticRegression().fit(X, y).coefficient_covariance(X)


@pytest.mark.parametrize("average", ["probabilities", "scores"])
def test_a_whole_table_pools_to_one_fit(table, average):
    X, _, y = table
    single = NaiveBayesLogisticRegression(strength=0)
    model = PooledClassifier(single, imputer=MultipleImputer(3, random_state=0), average=average).fit(X, y)
    alone = single.fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-12)
    assert (model.between_variance(X) == 0).all()
    assert (model.coefficients_.between == 0).all()
    assert (model.coefficients_.missing_information == 0).all()
    np.testing.assert_allclose(model.coefficients_.mean, alone.coefficients_)
    np.testing.assert_allclose(model.coefficients_.total, np.diag(alone.coefficient_covariance(X)))
    assert np.isinf(model.coefficients_.degrees_of_freedom).all()


def test_missing_cells_widen_the_standard_errors(table):
    whole, X, y = table
    single = NaiveBayesLogisticRegression(strength=0)
    model = PooledClassifier(single, imputer=MultipleImputer(10, random_state=0)).fit(X, y)
    report = model.coefficients_report_
    assert report["coefficient"].tolist() == ["intercept", "heat", "sky=snow", "sky=wet"]
    full = np.sqrt(np.diag(single.fit(whole, y).coefficient_covariance(whole)))
    assert (report["standard_error"] > full).all()
    assert report["missing_information"].between(0.05, 0.6).all()
    assert (np.abs(report["mean"] - single.coefficients_) < 4 * report["standard_error"]).all()


def test_mean_of_scores_is_the_model_of_mean_coefficients(table):
    whole, X, y = table
    single = NaiveBayesLogisticRegression(strength=0)
    model = PooledClassifier(single, imputer=MultipleImputer(3, random_state=0), average="scores").fit(X, y)
    b = model.coefficients_.mean
    odds = b[0] + b[1] * whole["heat"] + b[2] * (whole["sky"] == "snow") + b[3] * (whole["sky"] == "wet")
    np.testing.assert_allclose(model.predict_proba(whole)[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-9)


def test_probabilities_are_means_and_vary_only_where_cells_are_missing(table):
    _, X, y = table
    model = PooledClassifier(NaiveBayes(), imputer=MultipleImputer(4, random_state=0)).fit(X, y)
    each = [
        fitted.predict_proba(completed)
        for fitted, completed in zip(model.estimators_, model.imputer_.completions(X), strict=True)
    ]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(each, axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.between_variance(X), np.var(each, axis=0, ddof=1), rtol=1e-12)
    known = X.notna().all(axis=1)
    assert model.between_variance(X)[~known].mean() > 10 * model.between_variance(X)[known].mean()
    assert model.score(X, y) > 0.6


def test_what_cannot_be_pooled_is_refused(table):
    X, _, y = table
    model = PooledClassifier(NaiveBayes(), imputer=MultipleImputer(2, random_state=0)).fit(X, y)
    with pytest.raises(AttributeError, match="no coefficients"):
        _ = model.coefficients_
    with pytest.raises(InputError, match="no additive scores"):
        PooledClassifier(LogisticRegression(), average="scores").fit(X, y)
    with pytest.raises(InputError, match="average is one of"):
        PooledClassifier(NaiveBayes(), average="votes").fit(X, y)


@parametrize_with_checks(
    [PooledClassifier(NaiveBayes(), imputer=MultipleImputer(2, n_sweeps=1, random_state=0))]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
