"""Bayesian networks: sums and draws over missing cells against brute-force enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from seminaive.errors import InputError
from seminaive.statistics.distinct import distinct_rows
from seminaive.structure import Network
from seminaive.structure import bayesian_network as network
from seminaive.structure.bayesian_network import topological_order
from seminaive.structure.elimination import eliminate

CARDINALITIES = (2, 3, 2, 2, 3, 2)


def random_network(seed, share=0.5):
    """Return a network of logistic conditionals under a random order of the nodes."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(CARDINALITIES)).tolist()
    children, features, tables = [], [], []
    for node in range(len(CARDINALITIES)):
        before = order[: order.index(node)]
        for parents in [(), *((parent,) for parent in before if rng.random() < share)]:
            children.append(node)
            features.append(parents)
            size = CARDINALITIES[node] * (CARDINALITIES[parents[0]] if parents else 1)
            tables.append(rng.normal(size=size))
    return Network(CARDINALITIES, tuple(order), tuple(children), tuple(features), np.concatenate(tables))


def joint_by_hand(net):
    """Multiply the conditional probabilities of every complete row by plain loops."""
    joint = np.zeros(net.cardinalities)
    for x in product(*map(range, net.cardinalities)):
        log = 0.0
        for node in range(net.n_nodes):
            scores = np.zeros(net.cardinalities[node])
            for term, term_parents in enumerate(net.features):
                if net.children[term] == node:
                    scores += net.table_of(term)[tuple(x[j] for j in term_parents)]
            log += scores[x[node]] - np.log(np.exp(scores).sum())
        joint[x] = np.exp(log)
    return joint


def given(joint, row, target):
    """Sum a joint table over the missing cells of a row."""
    index = tuple(
        slice(None) if node == target or code >= joint.shape[node] else int(code)
        for node, code in enumerate(row)
    )
    left = joint[index]
    free = [node for node, part in enumerate(index) if isinstance(part, slice)]
    summed = left.sum(axis=tuple(axis for axis, node in enumerate(free) if node != target))
    return summed / summed.sum()


def rows_with_missing(seed, n_rows=60, share=0.4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CARDINALITIES, (n_rows, len(CARDINALITIES)))
    return np.where(rng.random(codes.shape) < share, CARDINALITIES, codes).astype(np.uint8)


def posterior(net, codes, target):
    scores = net.joint_log_scores(codes, target)
    return np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_posterior_is_that_of_brute_force_enumeration(seed, share):
    net = random_network(seed)
    joint = joint_by_hand(net)
    codes = rows_with_missing(seed, share=share)
    for target in range(net.n_nodes):
        expected = [given(joint, row, target) for row in codes]
        np.testing.assert_allclose(posterior(net, codes, target), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_queries_by_elimination_are_those_of_enumeration(seed):
    net = random_network(seed)
    joint = joint_by_hand(net)
    for row in rows_with_missing(seed, n_rows=20, share=0.6):
        known = {node: int(code) for node, code in enumerate(row) if code < CARDINALITIES[node]}
        for target in range(net.n_nodes):
            left = {node: code for node, code in known.items() if node != target}
            np.testing.assert_allclose(net.probabilities(target, left), given(joint, row, target), atol=1e-12)
    assert net.probabilities(1, {1: 2}).tolist() == [0.0, 0.0, 1.0]


def test_beyond_the_limits_posteriors_are_averaged_over_draws(monkeypatch):
    net = random_network(1)
    joint = joint_by_hand(net)
    codes = rows_with_missing(1, n_rows=10, share=0.7)
    monkeypatch.setattr(network, "MOST_CONFIGURATIONS", 2)
    monkeypatch.setattr(network, "MOST_CELLS", 1)
    monkeypatch.setattr(network, "POSTERIOR_SWEEPS", 5000)
    expected = np.array([given(joint, row, 0) for row in codes])
    # Errors of means of 4,500 correlated draws; the same draws answer the same row in any company.
    np.testing.assert_allclose(posterior(net, codes, 0), expected, atol=0.03)
    np.testing.assert_array_equal(posterior(net, codes, 0)[3:4], posterior(net, codes[3:4], 0))
    known = {node: int(code) for node, code in enumerate(codes[3]) if code < CARDINALITIES[node] and node}
    np.testing.assert_allclose(net.probabilities(0, known), given(joint, codes[3], 0), atol=0.03)


@pytest.mark.parametrize("most", [4096, 2])
def test_draws_of_missing_cells_have_the_conditional_frequencies(most, monkeypatch):
    monkeypatch.setattr(network, "MOST_CONFIGURATIONS", most)
    net = random_network(2)
    joint = joint_by_hand(net)
    row = np.array([[2, 1, 2, 0, 3, 1]], dtype=np.uint8)
    drawn = net.draw_missing(np.repeat(row, 3000, axis=0), 2, np.random.default_rng(0)).reshape(-1, 6)
    assert (drawn[:, [1, 3, 5]] == [1, 0, 1]).all()
    cells = np.ravel_multi_index(drawn[:, [0, 2, 4]].astype(int).T, (2, 2, 3))
    expected = joint[:, 1, :, 0, :, 1].ravel()
    found = np.bincount(cells, minlength=12)
    assert stats.chisquare(found, expected / expected.sum() * len(cells)).pvalue > 1e-3


def test_samples_have_the_frequencies_of_the_joint_distribution():
    net = random_network(3)
    joint = joint_by_hand(net).ravel()
    sampled = net.sample(20_000, np.random.default_rng(0))
    found = np.bincount(np.ravel_multi_index(sampled.astype(int).T, CARDINALITIES), minlength=joint.size)
    assert stats.chisquare(found, joint * 20_000).pvalue > 1e-3


def test_tables_of_shares_are_a_network_too():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, (2, 3, 2), (200, 3))
    net = Network.of_parents(codes, [(), (0,), (0, 1)], (2, 3, 2))
    matching = codes[(codes[:, 0] == 1) & (codes[:, 1] == 2)]
    expected = ((matching[:, 2] == 0).sum() + 1) / (len(matching) + 2)
    np.testing.assert_allclose(net.probabilities(2, {0: 1, 1: 2})[0], expected)
    assert net.edges == ((0, 1), (0, 2), (1, 2))
    assert net.markov_boundary(0) == (1, 2)


def test_the_boundary_has_parents_children_and_the_childrens_parents():
    net = Network.of_parents(np.zeros((1, 5), int), [(), (0,), (1, 3), (), (2,)], (2,) * 5)
    assert net.markov_boundary(1) == (0, 2, 3)
    assert net.markov_boundary(3) == (1, 2)


def test_a_cycle_is_refused():
    with pytest.raises(InputError, match="cycle"):
        topological_order([(1,), (0,)])


def test_elimination_gives_up_beyond_its_limit():
    factors = [((0, 1), np.ones((3, 3))), ((1, 2), np.ones((3, 3)))]
    assert eliminate(factors, 0, 8) is None
    np.testing.assert_array_equal(eliminate(factors, 0, 9), [9.0, 9.0, 9.0])


def test_distinct_rows_of_many_columns_are_those_of_numpy():
    codes = np.random.default_rng(0).integers(0, 2, (50, 100))
    codes[25:] = codes[:25]
    distinct, place = distinct_rows(codes, [2] * 100)
    assert len(distinct) == 25
    np.testing.assert_array_equal(distinct[place], codes)
