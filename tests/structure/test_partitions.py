"""Partitions of features: the printed rules, by hand, by exhaustive search, and their limits."""

from itertools import chain, combinations, pairwise

import numpy as np
import pytest

from seminaive.statistics import PairwiseInformation
from seminaive.structure import (
    Partition,
    bias_variance_partition,
    bias_variance_path,
    dependence_partition,
    greedy_partition,
    mean_dependence,
)


def symmetric(pairs, n):
    matrix = np.eye(n)
    for (i, j), value in pairs.items():
        matrix[i, j] = matrix[j, i] = value
    return matrix


def subsets(n):
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


# Bias and variance


def test_mean_dependence_leaves_the_feature_itself_out():
    np.testing.assert_allclose(mean_dependence(symmetric({(0, 1): 0.4, (0, 2): 0.2}, 3)), [0.3, 0.2, 0.1])
    np.testing.assert_array_equal(mean_dependence(np.ones((1, 1))), [0.0])


def test_equation_1_8_decides():
    mean = np.array([0.5, 0.2, 0.01, 0.0])
    assert bias_variance_partition(mean, -np.log(0.2)).logistic == (0, 1)
    assert bias_variance_partition(mean, 0.0).logistic == ()
    assert bias_variance_partition(mean, np.inf).logistic == (0, 1, 2, 3)


def test_the_path_has_every_partition_once_and_each_starts_where_it_says():
    mean = np.random.default_rng(0).random(8) ** 3
    mean[3] = 0.0
    path = bias_variance_path(mean)
    assert len(path) == 9
    assert path[0][1].logistic == ()
    assert path[-1][0] == np.inf
    assert path[-1][1].generative == ()
    for (start, partition), (stop, _) in pairwise(path):
        middle = start + min(1.0, (stop - start) / 2)
        assert bias_variance_partition(mean, middle).logistic == partition.logistic


def test_a_partition_says_why():
    text = bias_variance_partition(np.array([0.3, 0.1]), 2.0).describe(["age", "weight"])
    assert text.splitlines() == [
        "logistic: age",
        "generative: weight",
        "  age to the logistic part: mean dependence 0.3, exp(-rate n) = 0.1353",
        "  weight to the generative part: mean dependence 0.1, exp(-rate n) = 0.1353",
    ]


# Dependence


def test_of_the_most_dependent_pair_the_one_moves_whose_second_dependence_is_larger():
    dependence = symmetric({(0, 1): 0.5, (1, 2): 0.3, (0, 2): 0.1, (0, 3): 0.06}, 4)
    found = dependence_partition(dependence, np.random.default_rng(0))
    # 1 has 0.3 beside 0's 0.1 and moves; then 0 and 2 (0.1): 0 has 0.06 beside 0; nothing is left above 0.05.
    assert [decision.feature for decision in found.trace] == [1, 0]
    assert found.generative == (2, 3)


def test_the_last_pair_and_ties_are_decided_by_the_generator():
    pair = symmetric({(0, 1): 0.5}, 2)
    moved = {dependence_partition(pair, np.random.default_rng(seed)).logistic for seed in range(20)}
    assert moved == {(0,), (1,)}
    tie = symmetric({(0, 1): 0.5, (0, 2): 0.01, (1, 2): 0.01}, 3)
    moved = {dependence_partition(tie, np.random.RandomState(seed)).logistic for seed in range(20)}
    assert moved == {(0,), (1,)}


@pytest.mark.parametrize("seed", range(10))
def test_no_dependent_pair_is_left_together(seed):
    rng = np.random.default_rng(seed)
    dependence = rng.random((12, 12)) ** 4
    dependence = np.maximum(dependence, dependence.T)
    found = dependence_partition(dependence, rng)
    rest = list(found.generative)
    assert rest
    assert (dependence[np.ix_(rest, rest)][~np.eye(len(rest), dtype=bool)] < 0.05).all()
    assert sorted(found.logistic + found.generative) == list(range(12))


def test_the_cutoff_may_be_a_test_and_some_features_may_be_logistic_from_the_start():
    dependence = symmetric({(0, 1): 0.5, (2, 3): 0.4, (0, 2): 0.01}, 4)
    related = dependence == 0.4
    found = dependence_partition(dependence, np.random.default_rng(0), related=related)
    assert found.logistic == (2,)
    started = dependence_partition(dependence, np.random.default_rng(0), logistic=[1])
    assert started.logistic == (1, 2)


def test_features_that_repeat_each_other_are_separated():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    x = rng.integers(0, 3, 500)
    codes = np.column_stack([x, x, rng.integers(0, 3, 500)]).astype(np.uint8)
    dependence = PairwiseInformation.of(codes, y, (3, 3, 3), 2).normalized
    assert dependence_partition(dependence, rng).generative in ((0, 2), (1, 2))


# Greedy


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("n", [1, 3, 6])
def test_greedy_equals_exhaustive_search_where_gains_add_up(n, forward):
    gains = np.random.default_rng(n).normal(size=n)

    def accuracy(logistic):
        return 0.5 + 0.01 * gains[list(logistic)].sum()

    best = max(subsets(n), key=accuracy)
    assert greedy_partition(n, accuracy, forward=forward).logistic == best


@pytest.mark.parametrize("n", [4, 6])
def test_greedy_equals_exhaustive_search_where_gains_saturate(n):
    # A matroid's rank plus weights: the first feature of each pair counts, its twin adds nothing.
    gains = np.arange(n, 0, -1) / 100

    def accuracy(logistic):
        return 0.5 + sum(max((gains[j] for j in logistic if j // 2 == pair), default=0) for pair in range(n))

    best = max(accuracy(subset) for subset in subsets(n))
    assert accuracy(greedy_partition(n, accuracy).logistic) == best


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_greedy_never_lowers_the_accuracy_and_stops_where_no_move_raises_it(seed, forward):
    table = dict(zip(subsets(5), np.random.default_rng(seed).random(32), strict=True))
    found = greedy_partition(5, table.__getitem__, forward=forward)
    start = tuple(range(5)) if forward else ()
    assert table[found.logistic] >= table[start]
    accuracies = [decision.value for decision in found.trace]
    assert accuracies == sorted(accuracies)
    logistic = set(found.logistic)
    moves = [logistic - {j} for j in logistic] if forward else [logistic | {j} for j in found.generative]
    assert all(table[tuple(sorted(move))] <= table[found.logistic] for move in moves)


def test_a_partition_lists_both_parts_in_order():
    assert Partition.of_logistic({3, 1}, 5) == Partition((1, 3), (0, 2, 4))


def test_a_dependence_equal_to_the_cutoff_separates_a_pair():
    matrix = symmetric({(0, 1): 0.25, (0, 2): 0.1}, 3)
    generator = np.random.default_rng(0)
    assert dependence_partition(matrix, generator, cutoff=0.25).logistic == (0,)
    assert dependence_partition(matrix, generator, cutoff=np.nextafter(0.25, 1)).logistic == ()


def test_features_that_moved_are_no_third_feature_of_a_later_pair():
    # 0 moves first. Of the pair 2 and 3, 2 depends most on 0, which has left, and 3 more on 1.
    matrix = symmetric({(0, 1): 0.9, (0, 2): 0.8, (1, 2): 0.1, (1, 3): 0.3, (2, 3): 0.5}, 4)
    found = dependence_partition(matrix, np.random.default_rng(0), cutoff=0.4)
    assert [decision.feature for decision in found.trace] == [0, 3]


def test_a_move_that_leaves_the_accuracy_as_it_is_is_not_made():
    for forward in (False, True):
        assert greedy_partition(3, lambda _part: 0.5, forward=forward).trace == ()
