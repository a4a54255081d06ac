"""Preconditioners invert what they know."""

import numpy as np

from seminaive.design.coarse import CoarseSpace
from seminaive.objective.preconditioner import TwoLevelPreconditioner


def test_a_preconditioner_whose_directions_are_all_is_the_inverse():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(50, 4))
    weights = rng.random((50, 2))
    strength = rng.random(4)
    space = CoarseSpace(np.arange(4), np.zeros((4, 0)), lambda weight: design.T @ (design * weight[:, None]))
    inverse = TwoLevelPreconditioner.of(space, strength[:, None], 0.0, weights, np.ones((4, 6)))
    gradient = rng.normal(size=(4, 6))
    for column, step in enumerate(inverse(gradient).T):
        matrix = design.T @ (design * weights[:, [column % 2]]) + np.diag(strength)
        np.testing.assert_allclose(matrix @ step, gradient[:, column], rtol=1e-6)


def test_a_preconditioner_is_symmetric_and_positive():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(50, 6))
    lift = np.zeros((8, 2))
    lift[4:] = rng.normal(size=(4, 2))
    space = CoarseSpace(np.arange(4), lift, lambda weight: design.T @ (design * weight[:, None]))
    precondition = TwoLevelPreconditioner.of(
        space, np.ones((8, 1)), 2.0, rng.random((50, 1)), rng.random((8, 1))
    )
    matrix = np.hstack([precondition(column[:, None]) for column in np.eye(8)])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 0
