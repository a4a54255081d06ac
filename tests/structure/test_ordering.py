"""Orderings by swaps of neighbours, and sparse networks from cached node problems."""

from itertools import permutations
from zlib import crc32

import numpy as np
import pytest

from seminaive.errors import InputError
from seminaive.structure import Network, SparseNetworks, search_order
from seminaive.structure.group_lasso_path import GroupLassoProblem, LabelCounts


def costs(seed=0, n_nodes=6):
    """Return an objective that falls by a random amount for every node that may be a parent."""
    gains = np.random.default_rng(seed).random((n_nodes, n_nodes))

    def objective(node, before):
        return 10.0 - sum(gains[node, other] for other in before)

    return objective


@pytest.mark.parametrize("seed", range(5))
def test_the_search_ends_where_no_swap_of_neighbours_is_better(seed):
    objective = costs(seed)

    def total(order):
        return sum(objective(node, frozenset(order[:place])) for place, node in enumerate(order))

    said = []
    found = search_order(objective, range(6), step=said.append)
    assert found.objective == pytest.approx(total(found.order))
    assert len(said) == found.n_swaps > 0
    for place in range(5):
        other = list(found.order)
        other[place], other[place + 1] = other[place + 1], other[place]
        assert total(other) >= found.objective - 1e-9
    best = min(total(order) for order in permutations(range(6)))
    assert best <= found.objective <= total(range(6))


def rugged(node, before):
    """Return a number between 0 and 1 that is another for every set of candidate parents."""
    return crc32(repr((24, node, sorted(before))).encode()) / 2**32


def test_a_recent_swap_is_not_swapped_back():
    """Here the fifth swap would undo an earlier one; a memory that is too short does not prevent it."""
    free, short, kept = (search_order(rugged, range(8), tabu=tabu) for tabu in (0, 1, 10))
    assert (free.n_swaps, short.n_swaps, kept.n_swaps) == (5, 5, 4)
    assert kept.objective > free.objective


def test_the_swap_that_lowers_the_objective_most_is_made_first():
    objective = costs(3)
    said = []
    search_order(objective, range(6), step=said.append)
    after = []
    for place in range(5):
        order = [*range(6)]
        order[place], order[place + 1] = order[place + 1], order[place]
        after.append(sum(objective(node, frozenset(order[:rank])) for rank, node in enumerate(order)))
    assert said[0] == f"objective {min(after):.6g}"
    start = sum(objective(node, frozenset(range(node))) for node in range(6))
    # An earlier swap lowers it, too, and is not the one made.
    assert any(total < start for total in after[: int(np.argmin(after))])


def test_layers_are_kept_and_only_the_searched_ones_change():
    objective = costs(1)
    layers = [0, 0, 0, 1, 1, 1]
    found = search_order(objective, range(6), layers=layers)
    assert [layers[node] for node in found.order] == layers
    half = search_order(objective, range(6), layers=layers, searched=frozenset({1}))
    assert half.order[:3] == (0, 1, 2)
    with pytest.raises(InputError, match="follow the layers"):
        search_order(objective, [3, 0, 1, 2, 4, 5], layers=layers)


def test_a_swap_asks_for_two_nodes_only():
    tried = []
    objective = costs(2)

    def remembered(node, before, known={}):  # noqa: B006 - a memory
        if (node, before) not in known:
            tried.append((node, before))
            known[node, before] = objective(node, before)
        return known[node, before]

    found = search_order(remembered, range(6))
    # Six nodes, five swaps at the start, and three swaps that are new after each one made.
    assert len(tried) <= 6 + 2 * 5 + 2 * 3 * found.n_swaps


CARDINALITIES = (2, 3, 2, 2)


def planted(n_rows=4000, seed=0):
    """Return rows of a chain 0 -> 1 -> 2, and a node apart."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, n_rows)
    second = np.where(rng.random(n_rows) < 0.4, 2 * first, rng.integers(0, 3, n_rows))
    third = np.where(rng.random(n_rows) < 0.5, second > 0, rng.integers(0, 2, n_rows))
    return np.column_stack([first, second, third, rng.integers(0, 2, n_rows)])


def test_a_network_has_the_group_lassos_of_its_nodes():
    codes = planted()
    networks = SparseNetworks(codes[None], CARDINALITIES, tol=1e-10)
    net = networks.network((0, 1, 2, 3), 0.02)
    assert isinstance(net, Network)
    assert net.edges == ((0, 1), (1, 2))
    table = LabelCounts.of(codes[:, :2], codes[:, 2], CARDINALITIES[:2], 2)
    alone = GroupLassoProblem([table], CARDINALITIES[:2]).solve(0.02, tol=1e-10)
    term = net.features.index((1,), net.children.index(2))
    np.testing.assert_allclose(net.table_of(term), alone.coefficients[0, 2:], atol=1e-6)
    assert networks.largest_gap((0, 1, 2, 3), 0.02) <= 1e-10


def test_warm_starts_and_dropped_problems_change_nothing(monkeypatch):
    codes = planted(1000)
    cold = SparseNetworks(codes[None], CARDINALITIES, tol=1e-11).network((3, 2, 1, 0), 0.005)
    warm = SparseNetworks(codes[None], CARDINALITIES, tol=1e-11)
    monkeypatch.setattr("seminaive.structure.sparse_network.KEPT_BYTES", 0)
    for strength in (0.1, 0.03):
        warm.search(strength, (0, 1, 2, 3))
        warm.forget(strength)
    np.testing.assert_allclose(warm.network((3, 2, 1, 0), 0.005).tables, cold.tables, atol=1e-4)
    assert warm.n_iter > 0


def test_the_largest_strength_leaves_no_edge_in_any_ordering():
    networks = SparseNetworks(planted(1000)[None], CARDINALITIES)
    largest = networks.largest_strength()
    for order in permutations(range(4)):
        assert not networks.network(order, largest).edges
    assert (
        networks.network((0, 1, 2, 3), 0.9 * largest).edges
        or networks.network((3, 2, 1, 0), 0.9 * largest).edges
    )


def test_nodes_that_are_complete_need_one_table():
    first = planted(1000)
    second = first.copy()
    second[::3, 3] = 1 - second[::3, 3]
    both = SparseNetworks(np.stack([first, second]), CARDINALITIES, tol=1e-10)
    one = SparseNetworks(first[None], CARDINALITIES, tol=1e-10)
    assert both.complete.tolist() == [True, True, True, False]
    before = frozenset({0, 1})
    assert both.solution(2, before, 0.01).objective == one.solution(2, before, 0.01).objective
    assert len(both.solution(2, before | {3}, 0.01).intercepts) == 2
