"""Quadratic functions of nonnegative variables, against SciPy's active-set method."""

import numpy as np
import pytest
from scipy.optimize import nnls

from seminaive.solvers.nonnegative_quadratic import minimize_quadratic


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_of_a_quadratic_function_is_that_of_nonnegative_least_squares(seed):
    rng = np.random.default_rng(seed)
    features, target = rng.normal(size=(60, 30)), rng.normal(size=60)
    matrix, linear = features.T @ features, -features.T @ target
    found = minimize_quadratic(matrix, linear, rng.random(30) < 0.5)
    np.testing.assert_allclose(found, nnls(features, target)[0], atol=1e-10)


def test_the_answer_does_not_depend_on_the_guess():
    rng = np.random.default_rng(0)
    # Neighbours are all but equal, so that exchanges of many at once may cycle.
    features = np.cumsum(rng.normal(size=(200, 80)), axis=1)
    matrix, linear = features.T @ features, rng.normal(size=80)
    guesses = [np.zeros(80, bool), np.ones(80, bool), *(rng.random((5, 80)) < 0.5)]
    answers = [minimize_quadratic(matrix, linear, guess) for guess in guesses]
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], atol=1e-8 * np.abs(answers[0]).max())


def test_variables_without_curvature_stay_at_zero():
    matrix = np.diag([2.0, 0.0, 1.0])
    found = minimize_quadratic(matrix, np.array([-4.0, -1.0, 3.0]), np.ones(3, bool))
    np.testing.assert_allclose(found, [2.0, 0.0, 0.0])
