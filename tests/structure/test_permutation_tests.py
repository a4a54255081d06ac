"""The sequential permutation test: its p-values, when it stops, and that it is reproducible."""

import numpy as np
import pytest
from scipy.stats import permutation_test

from seminaive.structure import GaussianTests, SequentialPermutationTests, grow_shrink


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    z = rng.normal(size=200)
    x, y = z + rng.normal(size=200), z + rng.normal(size=200)
    return np.column_stack([x, y, z, rng.normal(size=200) + 0.12 * x])


def test_p_values_are_those_of_scipys_permutations(numbers):
    tests = SequentialPermutationTests(numbers, alpha=1.0, n_permutations=4000)
    found = tests(0, 3, ()).p_value

    def correlation(x, y, axis):
        return np.abs(((x - x.mean(axis, keepdims=True)) * (y - y.mean(axis, keepdims=True))).sum(axis))

    pair = numbers[:, 0] - numbers[:, 0].mean(), numbers[:, 3] - numbers[:, 3].mean()
    expected = permutation_test(
        pair, correlation, permutation_type="pairings", n_resamples=4000, alternative="greater", rng=0
    ).pvalue
    # Two estimates of one probability from 4,000 draws each.
    assert found == pytest.approx(expected, abs=4 * np.sqrt(2 * max(expected, 1e-3) / 4000))


def test_it_agrees_with_students_t_where_rows_are_normal(numbers):
    permuted, exact = SequentialPermutationTests(numbers), GaussianTests.of_columns(numbers)
    for target, candidate, given in ((0, 1, ()), (0, 1, (2,)), (0, 2, (1,)), (1, 3, ()), (0, 3, (2,))):
        assert permuted(target, candidate, given).dependent(0.05) == exact(
            target, candidate, given
        ).dependent(0.05)


def test_it_stops_when_the_answer_is_clear_and_answers_the_same_again(numbers):
    tests = SequentialPermutationTests(numbers)
    independent, dependent = tests(0, 1, (2,)), tests(0, 2, ())
    assert dependent.degrees_of_freedom == 5000  # permutations drawn
    assert dependent.p_value == pytest.approx(1 / 5001)
    assert independent.degrees_of_freedom < 5000
    assert independent.p_value > 0.05
    assert tests(0, 1, (2,)) == independent


def test_a_column_that_others_determine_is_independent_given_them(numbers):
    sums = np.column_stack([numbers, numbers[:, 0] + numbers[:, 1]])
    assert SequentialPermutationTests(sums)(2, 4, (0, 1)).p_value == 1.0


def test_rows_with_a_missing_cell_are_left_out_and_blankets_can_be_searched(numbers):
    holes = numbers.copy()
    holes[:20, 1] = np.nan
    tests = SequentialPermutationTests(holes)
    assert tests(0, 1, ()).n_rows == 180
    assert tests(0, 2, ()).n_rows == 200
    assert 2 in grow_shrink(tests, 0, range(1, 4)).members
