"""Parameters between pooled and class-wise: both ends, the middle, and exponents from counts."""

import numpy as np
import pytest
from scipy.special import softmax

from seminaive import NaiveBayes
from seminaive.encode import TableEncoder
from seminaive.scores import Interpolation, class_shift_exponents
from seminaive.statistics import TableStatistics, Terms, TupleCounts


def interpolation_of(X, labels, **options):
    table = TableEncoder.learn(X)[1]
    return table, Interpolation.of(TableStatistics.of(table, labels, int(labels.max()) + 1), **options)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("variances", ["class", "pooled"])
def test_alpha_one_everywhere_is_naive_bayes(weather, smoothing, variances):
    X, y = weather
    naive = NaiveBayes(smoothing=smoothing, variances=variances).fit(X, y)
    labels = np.searchsorted(naive.classes_, y)
    table, ends = interpolation_of(X, labels, smoothing=smoothing, shared_variance=variances == "pooled")
    scores = ends.scores_at(np.ones(ends.n_features)).joint_log_scores(table)
    np.testing.assert_allclose(softmax(scores, axis=1), naive.predict_proba(X), atol=1e-12)


def test_alpha_zero_everywhere_is_the_class_prior(weather):
    X, y = weather
    labels = np.unique(y, return_inverse=True)[1]
    table, ends = interpolation_of(X, labels)
    scores = ends.scores_at(np.zeros(ends.n_features)).joint_log_scores(table)
    shares = np.bincount(labels) / len(labels)
    assert (softmax(scores, axis=1) == softmax(np.log(shares))).all()


def test_means_and_standard_deviations_are_mixed_before_the_logarithm():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 50)
    x = rng.normal(3 * labels, 1 + labels)
    _, ends = interpolation_of(x[:, None], labels)
    alpha, at = 0.3, np.array([-1.0, 0.0, 4.0])
    constant, linear, quadratic = ends.polynomials_at(np.array([alpha]))[0]
    z = (at - x.mean())[:, None]
    for c in range(2):
        mean = (1 - alpha) * x.mean() + alpha * x[labels == c].mean()
        deviation = (1 - alpha) * x.std() + alpha * x[labels == c].std()
        log_density = -np.log(deviation) - (at - mean) ** 2 / (2 * deviation**2)
        pooled = -np.log(x.std()) - (at - x.mean()) ** 2 / (2 * x.std() ** 2)
        ours = constant[c] + z[:, 0] * (linear[c] + z[:, 0] * quadratic[c])
        np.testing.assert_allclose(ours, log_density - pooled, atol=1e-12)


def test_distances_are_those_of_the_parameter_vectors():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 90)
    sky = rng.integers(0, 4, 90)
    x = rng.normal(labels)
    X = np.array([[str(s), v] for s, v in zip(sky, x, strict=True)], dtype=object)
    table = TableEncoder.learn(X, categorical_features=[0])[1]
    ends = Interpolation.of(TableStatistics.of(table, labels, 3), smoothing=0.0)
    counts = np.array([np.bincount(sky[labels == c], minlength=4) for c in range(3)]).T
    theta = counts / counts.sum(axis=0)
    pooled = counts.sum(axis=1) / counts.sum()
    means = np.array([x[labels == c].mean() for c in range(3)])
    deviations = np.array([x[labels == c].std() for c in range(3)])
    number = ((means - x.mean()) ** 2 + (deviations - x.std()) ** 2).sum() / x.var()
    expected = np.sqrt([((theta - pooled[:, None]) ** 2).sum(), number])
    np.testing.assert_allclose(ends.distances, expected, rtol=1e-12)


def test_exponents_follow_the_formula_and_leave_rows_of_no_evidence_out():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, (60, 2)).astype(np.uint8)  # code 3 of the first column is no evidence
    labels = rng.integers(0, 3, 60)
    counts = TupleCounts.of(codes, labels, Terms.singles([3, 4]), 3)
    expected = []
    for column, n_values in zip(codes.T, (3, 4), strict=True):
        joint = np.array([np.bincount(labels[column == v], minlength=3) for v in range(n_values)]) + 0.5
        moved = joint / joint.sum(axis=1, keepdims=True) - joint.sum(axis=0) / joint.sum()
        expected.append(np.sqrt((moved**2).sum()))
    np.testing.assert_allclose(class_shift_exponents(counts, 0.5), expected, rtol=1e-12)
