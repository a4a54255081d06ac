"""The parameters of the elastic net, laid out over the coefficients."""

import numpy as np
import pytest

from seminaive.errors import InputError
from seminaive.objective.penalties import ElasticNet, scaled_factors

SHAPE = (5, 2)


def test_factors_multiply_the_strength_and_leave_a_free_intercept_alone():
    factors = np.arange(5.0)
    net = ElasticNet(factors=factors, penalize_intercept=False)
    expected = np.repeat(factors[:, None], 2, axis=1)
    np.testing.assert_array_equal(net.factors_of(SHAPE), expected)
    np.testing.assert_array_equal(ElasticNet(penalize_intercept=False).factors_of(SHAPE)[0], 0.0)
    np.testing.assert_array_equal(ElasticNet().factors_of(SHAPE), 1.0)


def test_a_standardised_penalty_is_that_of_the_standardised_columns():
    rng = np.random.default_rng(1)
    deviations, factors = np.array([1.0, 0.1, 2.0, 30.0, 1.0]), rng.random(SHAPE)
    B = rng.normal(size=SHAPE)
    l1, l2 = scaled_factors(factors, deviations)
    on_standardised = B * deviations[:, None]
    np.testing.assert_allclose(l1 * np.abs(B), factors * np.abs(on_standardised), rtol=1e-13)
    np.testing.assert_allclose(l2 * B**2, factors * on_standardised**2, rtol=1e-13)


def test_bad_input_is_refused_with_a_sentence():
    with pytest.raises(InputError, match=r"l1_share is a share, from 0 .* got 2.0"):
        ElasticNet(l1_share=2.0)
    with pytest.raises(InputError, match="l1_share is a share"):
        ElasticNet(l1_share=np.nan)
    with pytest.raises(InputError, match="target must be finite and of shape"):
        ElasticNet(target=np.ones(3)).target_of(SHAPE)
    with pytest.raises(InputError, match="cannot be negative"):
        ElasticNet(factors=-np.ones(5)).factors_of(SHAPE)
