"""Hill climbing on BIC: planted graphs, weights, and what is not allowed."""

import numpy as np
import pytest

from seminaive.structure import Network
from seminaive.structure.score_search import FamilyScores, bic_network, bic_parents


def collider(n_rows=4000, seed=0):
    """Return two causes, their noisy exclusive or and a noisy copy of it, and a column apart."""
    rng = np.random.default_rng(seed)
    first, second, apart = rng.integers(0, (2, 2, 3), (n_rows, 3)).T
    effect = (first | second) ^ (rng.random(n_rows) < 0.1)
    copied = effect ^ (rng.random(n_rows) < 0.1)
    return np.column_stack([first, second, effect, copied, apart]), (2, 2, 2, 2, 3)


def test_a_collider_and_its_effect_are_found():
    codes, cardinalities = collider()
    assert bic_parents(codes, cardinalities) == ((), (), (0, 1), (2,), ())


def test_family_scores_are_log_likelihood_less_half_log_n_per_parameter():
    codes, cardinalities = collider(500)
    scores = FamilyScores(codes, cardinalities, np.ones(500))
    expected = 0.0
    for parent in (0, 1):
        of_parent = codes[codes[:, 2] == parent, 3]
        counts = np.bincount(of_parent)
        expected += (counts * np.log(counts / counts.sum())).sum()
    assert scores(3, frozenset({2})) == pytest.approx(expected - 0.5 * np.log(500) * 2)


def test_integer_weights_equal_repeated_rows():
    codes, cardinalities = collider(600)
    weight = np.random.default_rng(1).integers(1, 4, 600)
    weighted = bic_network(codes, cardinalities, weight.astype(float))
    repeated = bic_network(np.repeat(codes, weight, axis=0), cardinalities)
    assert weighted.edges == repeated.edges
    np.testing.assert_allclose(weighted.tables, repeated.tables)


def test_forbidden_edges_are_absent():
    codes, cardinalities = collider()
    parents = bic_parents(codes, cardinalities, allowed=lambda start, end: start > end)
    assert all(parent > child for child, node_parents in enumerate(parents) for parent in node_parents)
    assert parents[0]


def test_no_single_change_raises_the_criterion():
    net = Network.of_parents(*collider(2000)[:1], [(), (0,), (0, 1), (1, 2), (3,)], (2, 2, 2, 2, 3))
    codes = net.sample(5000, np.random.default_rng(0)).astype(int)
    said = []
    parents = bic_parents(codes, net.cardinalities, step=said.append)
    scores = FamilyScores(codes, net.cardinalities, np.ones(len(codes)))
    for child in range(5):
        node_parents = frozenset(parents[child])
        assert all(
            scores(child, node_parents - {parent}) <= scores(child, node_parents) for parent in node_parents
        )
    assert said[-1] == f"{sum(map(len, parents))} edges"
