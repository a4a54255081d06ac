"""The tree of Chow and Liu: against scipy's spanning trees."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from seminaive.models.spanning_tree import chow_liu_tree


@pytest.mark.parametrize("seed", range(20))
def test_the_tree_is_scipys_maximum_spanning_tree(seed):
    rng = np.random.default_rng(seed)
    information = rng.random((9, 9))
    information = information + information.T
    tree = chow_liu_tree(information, rng.random(9))
    found = minimum_spanning_tree(-information).tocoo()
    expected = {frozenset(edge) for edge in zip(found.row.tolist(), found.col.tolist(), strict=True)}
    assert {frozenset(edge) for edge in tree.edges} == expected
    assert sum(tree.information) == pytest.approx(-found.data.sum(), rel=1e-12)


def test_the_root_is_the_preferred_feature_and_parents_come_before_children():
    rng = np.random.default_rng(0)
    information = rng.random((7, 7))
    preference = rng.random(7)
    tree = chow_liu_tree(information + information.T, preference)
    assert tree.parents[int(preference.argmax())] == -1
    assert tree.parents.count(-1) == 1
    for parent, child in tree.edges:
        assert tree.order.index(parent) < tree.order.index(child)


def test_the_tree_does_not_depend_on_the_order_of_the_columns():
    rng = np.random.default_rng(1)
    information = rng.random((8, 8))
    information = information + information.T
    preference, order = rng.random(8), rng.permutation(8)
    tree = chow_liu_tree(information, preference)
    turned = chow_liu_tree(information[np.ix_(order, order)], preference[order])
    assert {(order[i], order[j]) for i, j in turned.edges} == set(tree.edges)


def test_edges_without_information_are_left_out():
    information = np.zeros((4, 4))
    information[0, 1] = information[1, 0] = 0.5
    information[2, 0] = information[0, 2] = 1e-17
    tree = chow_liu_tree(information, np.array([1.0, 2.0, 0.0, 3.0]))
    assert tree.parents == (1, -1, -1, -1)
    assert tree.describe(list("abcd")).splitlines() == [
        "d is a root",
        "b is a root",
        "b -> a: 0.5 nats",
        "c is a root",
    ]
