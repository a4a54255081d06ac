"""A refit keeps the edges that a penalty chose, and takes its shrinkage off."""

import numpy as np
import pytest

from seminaive.structure import SparseNetworks


@pytest.fixture
def networks():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 2000)
    b = np.where(rng.random(2000) < 0.6, a, rng.integers(0, 3, 2000))
    c = (rng.random(2000) < 0.5).astype(int)
    codes = np.column_stack([a, b, c]).astype(np.uint8)
    return codes, SparseNetworks(codes[None], (3, 3, 2))


def test_a_refit_keeps_the_edges_and_gives_the_frequencies_of_the_table(networks):
    codes, found = networks
    strength = 0.3 * found.largest_strength()
    sparse = found.network((0, 1, 2), strength)
    assert sparse.edges == ((0, 1),)
    relaxed = found.refitted(sparse, 1e-6 * strength)
    assert relaxed.edges == sparse.edges
    for value in range(3):
        shares = np.bincount(codes[codes[:, 0] == value, 1], minlength=3)
        shares = shares / shares.sum()
        np.testing.assert_allclose(relaxed.probabilities(1, {0: value}), shares, atol=1e-3)
        shrunk = sparse.probabilities(1, {0: value})
        assert shrunk[value] < shares[value] - 0.05


def test_a_refit_at_the_same_strength_is_the_same_network(networks):
    _, found = networks
    strength = 0.3 * found.largest_strength()
    sparse = found.network((0, 1, 2), strength)
    again = found.refitted(sparse, strength)
    np.testing.assert_allclose(again.probabilities(1, {0: 2}), sparse.probabilities(1, {0: 2}), atol=1e-4)
