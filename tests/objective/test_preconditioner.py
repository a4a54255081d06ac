"""Preconditioners invert what they know."""

import numpy as np

from seminaive.design.coarse import CoarseSpace
from seminaive.objective.preconditioner import SubspacePreconditioner


def test_a_preconditioner_whose_directions_are_all_is_the_inverse():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(50, 4))
    weights = rng.random((50, 2))
    strength = rng.random(4)
    space = CoarseSpace(np.arange(4), np.zeros((4, 0)), lambda weight: design.T @ (design * weight[:, None]))
    inverse = SubspacePreconditioner.of_coarse_space(space, strength[:, None], 0.0, weights, np.ones((4, 6)))
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
    precondition = SubspacePreconditioner.of_coarse_space(
        space, np.ones((8, 1)), 2.0, rng.random((50, 1)), rng.random((8, 1))
    )
    matrix = np.hstack([precondition(column[:, None]) for column in np.eye(8)])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 0


def test_a_block_is_inverted_and_the_diagonal_elsewhere():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 2, 2))
    blocks = root @ root.transpose(0, 2, 1) + np.eye(2)
    members = [np.array(pair) for pair in ((0, 1), (1, 3), (2, 4), (3, 4))]
    diagonal = rng.uniform(1.0, 2.0, (5, 4, 1))
    hessians = [np.diag(diagonal[:, k, 0]) for k in range(4)]
    inverse_diagonal = 1.0 / diagonal
    for k, pair in enumerate(members):
        hessians[k][np.ix_(pair, pair)] = blocks[k]
        inverse_diagonal[pair, k] = 0.0
    parts = [(pair, np.linalg.inv(block).__matmul__) for pair, block in zip(members, blocks, strict=True)]
    precondition = SubspacePreconditioner.of_blocks(inverse_diagonal, parts)
    gradient = rng.normal(size=(5, 4, 3))
    expected = np.stack([np.linalg.solve(hessians[k], gradient[:, k]) for k in range(4)], axis=1)
    np.testing.assert_allclose(precondition(gradient), expected, atol=1e-12)
