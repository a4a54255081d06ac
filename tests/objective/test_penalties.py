"""Laws of the elastic net: values by hand, proximal steps as minima, gaps that vanish at the optimum only."""

import numpy as np
import pytest

from seminaive.errors import InputError
from seminaive.objective.penalties import ElasticNet

SHAPE = (5, 2)


def random_penalty(l1_share, seed=0):
    rng = np.random.default_rng(seed)
    target, factors = rng.normal(size=SHAPE), rng.random(SHAPE)
    net = ElasticNet(target=target, l1_share=l1_share, factors=factors, penalize_intercept=False)
    return net.at(3.0, SHAPE), target, factors, rng


@pytest.mark.parametrize("l1_share", [0.0, 0.4, 1.0])
class TestElasticNet:
    def test_the_value_is_that_of_the_formula(self, l1_share):
        penalty, target, factors, rng = random_penalty(l1_share)
        B = rng.normal(size=SHAPE)
        factors[0] = 0.0
        away = B - target
        expected = 3.0 * (factors * (l1_share * np.abs(away) + (1 - l1_share) / 2 * away**2)).sum()
        assert penalty.value(B) == pytest.approx(expected, rel=1e-13)
        assert penalty.value(target) == 0.0

    def test_no_other_point_is_better_than_the_proximal_step(self, l1_share):
        penalty, _, _, rng = random_penalty(l1_share)
        B, length = 2.0 * rng.normal(size=SHAPE), 0.7

        def cost(other):
            return np.square(other - B).sum() / (2 * length) + penalty.value(other)

        step = penalty.proximal_step(B, length)
        assert all(cost(step + scale * rng.normal(size=SHAPE)) > cost(step) for scale in (1e-4, 1e-2, 1.0))
        np.testing.assert_array_equal(step[0], B[0])  # the intercept is free

    def test_the_gap_is_zero_where_the_derivatives_are_a_subgradient_and_positive_elsewhere(self, l1_share):
        penalty, target, _, rng = random_penalty(l1_share)
        B = rng.normal(size=SHAPE)
        B[2] = target[2]
        away = B - target
        subgradient = penalty.l1 * np.sign(away) + penalty.l2 * away
        assert penalty.gap(B, subgradient) == pytest.approx(0.0, abs=1e-12)
        other = 0.9 * subgradient
        other[0] = 0.0
        assert penalty.gap(B, other) > 1e-6
        assert penalty.gap(B, subgradient + 0.1) > 1e-6  # a free intercept with a derivative: infinite

    def test_a_standardised_penalty_is_that_of_the_standardised_columns(self, l1_share):
        rng = np.random.default_rng(1)
        deviations = np.array([1.0, 0.1, 2.0, 30.0, 1.0])
        B, target = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
        ours = ElasticNet(target, l1_share, standardize=True).at(2.0, SHAPE, deviations)
        scaled = ElasticNet(target * deviations[:, None], l1_share).at(2.0, SHAPE)
        assert ours.value(B) == pytest.approx(scaled.value(B * deviations[:, None]), rel=1e-13)


def test_bad_input_is_refused_with_a_sentence():
    with pytest.raises(InputError, match=r"l1_share is a share, from 0 .* got 2.0"):
        ElasticNet(l1_share=2.0)
    with pytest.raises(InputError, match="l1_share is a share"):
        ElasticNet(l1_share=np.nan)
    with pytest.raises(InputError, match="target must be finite and of shape"):
        ElasticNet(target=np.ones(3)).at(1.0, SHAPE)
    with pytest.raises(InputError, match="cannot be negative"):
        ElasticNet(factors=-np.ones(5)).at(1.0, SHAPE)
    with pytest.raises(InputError, match="needs the columns' standard deviations"):
        ElasticNet(standardize=True).at(1.0, SHAPE)
