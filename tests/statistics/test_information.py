"""Information measures: against scipy and scikit-learn, and their limits."""

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import mutual_info_score

from seminaive.statistics import (
    conditional_mutual_information,
    entropy,
    mutual_information,
    normalized_conditional_mutual_information,
)


@pytest.fixture
def counts():
    return np.random.default_rng(0).integers(0, 9, (3, 4, 2)).astype(float)


def test_entropy_equals_scipys(counts):
    assert entropy(counts) == pytest.approx(scipy_entropy(counts.ravel()), rel=1e-12)


def test_mutual_information_equals_scikit_learns(counts):
    table = counts[..., 0]
    assert mutual_information(table) == pytest.approx(
        mutual_info_score(None, None, contingency=table), rel=1e-12
    )


def test_conditional_information_is_the_mean_within_classes(counts):
    weights = counts.sum(axis=(0, 1))
    within = [mutual_info_score(None, None, contingency=counts[..., c]) for c in range(2)]
    expected = np.average(within, weights=weights)
    assert conditional_mutual_information(counts) == pytest.approx(expected, rel=1e-12)


def test_copies_have_normalised_information_one_and_independent_features_zero():
    copies = np.zeros((3, 3, 2))
    copies[range(3), range(3)] = [[1, 4], [2, 5], [3, 6]]
    assert normalized_conditional_mutual_information(copies) == pytest.approx(1, rel=1e-12)
    independent = np.einsum("xc,yc->xyc", [[1, 2], [3, 4]], [[5, 6], [7, 8]]).astype(float)
    assert normalized_conditional_mutual_information(independent) == pytest.approx(0, abs=1e-12)


def test_a_constant_feature_and_no_counts_have_no_information():
    assert normalized_conditional_mutual_information(np.ones((1, 3, 2))) == 0
    assert conditional_mutual_information(np.zeros((2, 2, 2))) == 0
    assert entropy(np.array([7.0])) == 0
