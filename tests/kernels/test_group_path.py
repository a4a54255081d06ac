"""Slopes of the group path against finite differences of the log likelihood."""

import numpy as np
import pytest

from seminaive.kernels import feature_lines as group_path


def central_difference(function, a, step=1e-5):
    return (function(a + step) - function(a - step)) / (2 * step)


@pytest.mark.parametrize("a", [0.01, 0.3, 0.99])
def test_slopes_of_categories_are_derivatives_of_the_log_likelihood(a):
    rng = np.random.default_rng(0)
    counts, lift = rng.integers(0, 9, (4, 3)).astype(float), rng.uniform(0.1, 3, (4, 3))

    def log_likelihood(alpha):
        return float((counts * np.log((1 - alpha) + alpha * lift)).sum())

    slope, curvature = group_path.table_slope(counts, lift, a)
    assert slope == pytest.approx(central_difference(log_likelihood, a), rel=1e-6)
    differences = central_difference(lambda alpha: group_path.table_slope(counts, lift, alpha)[0], a)
    assert curvature == pytest.approx(differences, rel=1e-6)


@pytest.mark.parametrize("a", [0.01, 0.3, 0.99])
def test_slopes_of_numbers_are_derivatives_of_the_normal_log_likelihood(a):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, 60)
    x = rng.normal(labels, 1 + labels)
    x -= x.mean()
    groups = [x[labels == c] for c in range(3)]
    shift, deviation = np.array([g.mean() for g in groups]), np.array([g.std() for g in groups])
    weight = np.array([len(g) for g in groups], dtype=float)

    def log_likelihood(alpha):
        total = 0.0
        for group, mean, spread in zip(groups, shift, deviation, strict=True):
            sigma = (1 - alpha) * x.std() + alpha * spread
            total += (-np.log(sigma) - (group - alpha * mean) ** 2 / (2 * sigma**2)).sum()
        return total

    slope = group_path.number_slope(weight, shift, deviation, x.std(), a)
    assert slope == pytest.approx(central_difference(log_likelihood, a), rel=1e-5, abs=1e-4)
