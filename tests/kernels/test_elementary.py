import numpy as np
from numba import njit

from seminaive.kernels.elementary import exponential, take_logarithms


@njit
def exponentiate(x):
    for i in range(len(x)):
        x[i] = exponential(x[i])


def test_exponential_is_within_three_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([[0.0, -700.0, 700.0], -rng.exponential(1.0, 20_000), rng.uniform(-700, 700, 20_000)])
    result = x.copy()
    exponentiate(result)
    np.testing.assert_allclose(result, np.exp(x), rtol=3 * np.finfo(float).eps)
    assert result[0] == 1.0


def test_exponential_of_hugely_negative_numbers_is_negligible():
    x = np.array([-709.0, -1e4, -1e300, -np.inf])
    exponentiate(x)
    assert (x > 0).all()
    assert (x < 1e-307).all()


def test_logarithm_is_within_three_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([[1.0], 1 + rng.exponential(1e-3, 20_000), rng.uniform(1, 1000, 20_000), [1e300]])
    result = x.copy()
    take_logarithms(result)
    np.testing.assert_allclose(result, np.log(x), rtol=3 * np.finfo(float).eps)
    assert result[0] == 0.0
