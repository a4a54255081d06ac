"""The score test of independence, and what a search believes by it."""

import numpy as np
import pandas as pd
import pytest

from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.selection import score_test as module
from seminaive.selection.belief import belief
from seminaive.selection.score_test import combined, score_test


def columns_of(n_rows=120, seed=0, wanted=None):
    """Return the smooth columns of three numbers and two categories, and their table."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    X["d"], X["e"] = rng.choice(list("xyz"), (2, n_rows))
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4))
    return SmoothColumns.of(table, np.ones(n_rows), 3, wanted), table


def p_value(columns, table, labels, weights=None):
    weights = np.ones(len(labels)) if weights is None else weights
    return score_test(columns, table, labels, weights, int(labels.max()) + 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_statistic_and_moments_are_sums_over_different_rows(n_classes):
    columns, table = columns_of(30)
    rng = np.random.default_rng(1)
    residuals = rng.normal(size=(30, n_classes - 1))
    features = columns.columns[0].main_features(table)
    features -= features.mean(axis=0)
    kernel = features @ features.T
    statistic = squares = cubes = 0.0
    for i in range(30):
        for j in range(30):
            if i != j:
                statistic += kernel[i, j] * residuals[i] @ residuals[j]
                squares += kernel[i, j] ** 2
                others = [k for k in range(30) if k not in (i, j)]
                cubes += kernel[i, j] * kernel[j, others] @ kernel[others, i]
    # Copies that share the kernel are more features than rows.
    for own in (features, np.tile(features, 31) / np.sqrt(31)):
        np.testing.assert_allclose(module._of_features(own, residuals), [statistic, squares, cubes])
    found = module._of_kernel(kernel.astype(np.float32), residuals)
    np.testing.assert_allclose(found, [statistic, squares, cubes], rtol=1e-4)


@pytest.mark.parametrize("wanted", [None, [(0, 1), (0, 3), (2, 4)]])
def test_kernel_of_pairs_equals_that_of_their_features(wanted):
    columns, table = columns_of(wanted=wanted)
    functions = [column.pair_features(table) for column in columns.columns]
    expected = sum(
        (functions[j] @ functions[j].T) * (functions[k] @ functions[k].T) for j, k in columns.pairs
    )
    np.testing.assert_allclose(module._pair_kernel(columns, table), expected, atol=1e-4)


def assert_about_uniform_where_small(p_values):
    """Compare shares below three levels by three standard errors; large p-values have no part in a belief."""
    found = np.array(p_values)
    for level in (0.02, 0.05, 0.1):
        assert abs((found <= level).mean() - level) <= 3 * np.sqrt(level * (1 - level) / len(found))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_p_values_of_noise_are_about_uniform_where_they_are_small(n_classes):
    columns, table = columns_of()
    rng = np.random.default_rng(2)
    assert_about_uniform_where_small(
        [p_value(columns, table, rng.integers(0, n_classes, 120)) for _ in range(200)]
    )


@pytest.mark.parametrize("column", [0, 3])
def test_p_values_of_one_term_are_those_of_permuted_labels(column):
    columns, table = columns_of()
    rng = np.random.default_rng(3)
    features = columns.columns[column].main_features(table)
    features -= features.mean(axis=0)
    labels = np.arange(120) % 2
    tails = []
    for _ in range(1000):
        residuals = module._residuals(rng.permutation(labels), np.ones(120), 2)
        tails.append(module._tail(module._of_features(features, residuals), 1))
    assert_about_uniform_where_small(tails)


@pytest.mark.parametrize("n_rows", [400, 2500])
def test_a_slope_a_curve_a_table_and_a_pair_are_noticed(n_rows):
    columns, table = columns_of(n_rows)
    numbers, codes = table.numbers, table.codes
    rng = np.random.default_rng(4)
    for signal in (
        numbers[:, 0],
        numbers[:, 1] ** 2 - 1,
        3.0 * (codes[:, -1] == 0) - 1,
        numbers[:, 0] * numbers[:, 2],
    ):
        labels = (rng.random(n_rows) < 1 / (1 + np.exp(-2 * signal))).astype(int)
        assert p_value(columns, table, labels) < 0.01


def test_names_of_classes_and_scale_of_weights_do_not_matter():
    columns, table = columns_of()
    labels = np.random.default_rng(5).integers(0, 3, 120)
    weights = np.random.default_rng(6).uniform(0.5, 2.0, 120)
    expected = p_value(columns, table, labels, weights)
    assert p_value(columns, table, 2 - labels, weights) == pytest.approx(expected, rel=1e-6)
    assert p_value(columns, table, labels, 7 * weights) == pytest.approx(expected, rel=1e-6)


def test_combined_p_values():
    assert combined([0.03]) == pytest.approx(0.03)
    assert combined([0.2, 0.2, 0.2]) == pytest.approx(0.2)
    # The smallest of many counts about as often as there are p-values.
    assert combined([1e-6] + [0.5] * 9) == pytest.approx(1e-5, rel=1e-3)
    assert combined([]) == 1.0


def test_belief_grows_with_gain_and_with_evidence_against_independence():
    gains = [belief(z, lambda: 0.05, 100) for z in (1.4, 1.6, 2.5, 4.0)]
    assert gains == sorted(gains)
    tests = [belief(1.6, lambda p=p: p, 100) for p in (0.9, 0.2, 0.05, 0.001)]
    assert tests == sorted(tests)
    rows = [belief(2.0, lambda: 0.05, n) for n in (10_000, 1000, 100)]
    assert rows == sorted(rows)  # what is there shows the more clearly, the more rows there are
    assert tests[0] < 0.5 < 0.9 < belief(3.0, lambda: 1e-4, 100)


def test_a_gain_that_may_be_chance_is_believed_only_where_the_test_is_significant():
    assert belief(1.49, lambda: 0.004, 100) == 0.0
    assert 0.5 < belief(0.1, lambda: 0.002, 100) < belief(1.49, lambda: 0.002, 100) < 1


def test_neither_the_lack_of_a_gain_nor_a_clear_one_asks_for_the_test():
    def refuse():
        raise AssertionError("the test was asked for")

    assert belief(0.0, refuse, 100) == belief(-2.0, refuse, 100) == 0.0
    assert belief(6.0, refuse, 100) == belief(np.inf, refuse, 100) == 1.0
