from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from seminaive.errors import InputError
from seminaive_experiments.ranking import (
    average_ranks,
    bergmann_hommel,
    compare_ranks,
    critical_difference,
    exhaustive_sets,
    friedman_test,
    holm,
    iman_davenport_test,
    nemenyi,
    pairwise_rank_tests,
)

# Garcia and Herrera (2008): average ranks of five classifiers over 30 data sets , and the
# adjusted p-values that they print to four decimals (values above one are capped here).
GARCIA_HERRERA_RANKS = pd.Series(
    {"C4.5": 63 / 30, "1-NN": 97.5 / 30, "NaiveBayes": 66 / 30, "Kernel": 130 / 30, "CN2": 93.5 / 30}
)
GARCIA_HERRERA = [
    # pair, p, Nemenyi, Holm, Bergmann-Hommel
    ("C4.5", "Kernel", 4.487e-8, 4.487e-7, 4.487e-7, 4.487e-7),
    ("NaiveBayes", "Kernel", 1.736e-7, 1.736e-6, 1.563e-6, 1.042e-6),
    ("Kernel", "CN2", 0.0029, 0.0288, 0.0230, 0.0115),
    ("C4.5", "1-NN", 0.0048, 0.0485, 0.0339, 0.0291),
    ("1-NN", "Kernel", 0.0080, 0.0796, 0.0478, 0.0319),
    ("1-NN", "NaiveBayes", 0.0101, 0.1011, 0.0506, 0.0319),
    ("C4.5", "CN2", 0.0128, 0.1276, 0.0511, 0.0383),
    ("NaiveBayes", "CN2", 0.0247, 0.2474, 0.0742, 0.0383),
    ("1-NN", "CN2", 0.7440, 1.0, 1.0, 1.0),
    ("C4.5", "NaiveBayes", 0.8065, 1.0, 1.0, 1.0),
]


def test_adjusted_p_values_reproduce_the_example_of_garcia_and_herrera():
    pairs = pairwise_rank_tests(GARCIA_HERRERA_RANKS, 30).pairs.set_index(["first", "second"])
    columns = ["p_value", "nemenyi", "holm", "bergmann_hommel"]
    for first, second, *printed in GARCIA_HERRERA:
        for value, expected in zip(pairs.loc[(first, second), columns], printed, strict=True):
            # Half of the last printed digit: four digits of small values, four decimals of others.
            half_a_digit = 0.00051 * expected if expected < 1e-4 else 0.000051
            assert value == pytest.approx(expected, abs=half_a_digit)


def _brute_force_sets(n_models):
    """Every subset of equalities that is closed: a = b and b = c force a = c."""
    pairs = list(combinations(range(n_models), 2))
    for members in range(1, 2 ** len(pairs)):
        equal = {pair for position, pair in enumerate(pairs) if members >> position & 1}
        closed = all(
            sum(pair in equal for pair in combinations(triple, 2)) != 2
            for triple in combinations(range(n_models), 3)
        )
        if closed:
            yield [position for position, pair in enumerate(pairs) if pair in equal]


def _brute_force_bergmann_hommel(p_values, n_models):
    sets = list(_brute_force_sets(n_models))
    raw = [
        max(len(members) * min(p_values[j] for j in members) for members in sets if pair in members)
        for pair in range(len(p_values))
    ]
    return [
        min(1.0, max(raw[other] for other in range(len(raw)) if p_values[other] <= p_values[pair]))
        for pair in range(len(raw))
    ]


@pytest.mark.parametrize("n_models", [3, 4, 5])
def test_bergmann_hommel_equals_brute_force(n_models):
    rng = np.random.default_rng(n_models)
    for _ in range(20):
        p_values = rng.uniform(size=n_models * (n_models - 1) // 2) ** 4
        np.testing.assert_allclose(
            bergmann_hommel(p_values), _brute_force_bergmann_hommel(p_values, n_models), rtol=1e-14
        )


@pytest.mark.parametrize("n_models", [2, 3, 4, 5])
def test_exhaustive_sets_equal_brute_force(n_models):
    ours = {tuple(np.flatnonzero(members)) for members in exhaustive_sets(n_models)}
    assert ours == {tuple(members) for members in _brute_force_sets(n_models)}


def test_the_number_of_exhaustive_sets_is_the_bell_number_less_one():
    bell = [2, 5, 15, 52, 203, 877, 4140, 21147]
    assert [len(exhaustive_sets(n)) + 1 for n in range(2, 10)] == bell


@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
@settings(deadline=None)
def test_bergmann_hommel_lies_between_the_raw_p_value_and_holm(seed, n_models):
    p_values = np.random.default_rng(seed).uniform(size=n_models * (n_models - 1) // 2) ** 3
    adjusted = bergmann_hommel(p_values)
    assert np.all(adjusted >= p_values)
    assert np.all(adjusted <= holm(p_values) + 1e-15)


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_holm_equals_that_of_statsmodels(size):
    p_values = np.random.default_rng(size).uniform(size=size) ** 2
    np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], rtol=1e-12)


def _losses(seed, n_tables=12, n_models=4):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        rng.integers(1, 9, size=(n_tables, n_models)) / 10 + np.arange(n_models) / 10,
        columns=list("abcdefghi"[:n_models]),
    )


@pytest.mark.parametrize("seed", range(3))
def test_friedman_equals_that_of_scipy(seed):
    losses = _losses(seed)
    expected = stats.friedmanchisquare(*losses.to_numpy().T)
    assert friedman_test(losses).p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_iman_davenport_is_the_two_way_analysis_of_variance_of_the_ranks(seed):
    ranks = stats.rankdata(_losses(seed), axis=1)
    n_tables, n_models = ranks.shape
    between = n_tables * np.sum((ranks.mean(axis=0) - ranks.mean()) ** 2) / (n_models - 1)
    residual = ranks - ranks.mean(axis=0) - ranks.mean(axis=1, keepdims=True) + ranks.mean()
    within = np.sum(residual**2) / ((n_models - 1) * (n_tables - 1))
    assert iman_davenport_test(_losses(seed)).statistic == pytest.approx(between / within, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_nemenyi_equals_that_of_scikit_posthocs(seed):
    losses = _losses(seed)
    expected = scikit_posthocs.posthoc_nemenyi_friedman(losses.to_numpy())
    np.testing.assert_allclose(nemenyi(losses), expected, atol=1e-6)  # their range has 1e-6 of error


def test_critical_difference_equals_demsars_table():
    # Demsar (2006), Table 5a: q_0.05 = 2.343, 2.569 and 3.164 for 3, 4 and 10 models.
    for n_models, quantile in [(3, 2.343), (4, 2.569), (10, 3.164)]:
        expected = quantile * np.sqrt(n_models * (n_models + 1) / (6 * 14))
        assert critical_difference(n_models, 14) == pytest.approx(expected, abs=1e-3)


def test_ranks_do_not_change_under_increasing_transformations_of_the_loss():
    losses = _losses(5)
    pd.testing.assert_series_equal(average_ranks(losses), average_ranks(np.exp(losses)))


def test_any_frame_of_losses_can_be_compared():
    outcome = compare_ranks({"good": [0.1, 0.1, 0.2, 0.1] * 4, "bad": [0.3, 0.2, 0.4, 0.3] * 4})
    assert outcome.ranks.to_dict() == {"good": 1.0, "bad": 2.0}
    assert outcome.pairs["bergmann_hommel"].item() < 0.001


def test_more_models_than_can_be_enumerated_get_holm_only_or_a_sentence():
    losses = _losses(0, n_models=9).assign(j=0.5)
    assert "bergmann_hommel" not in compare_ranks(losses).pairs
    with pytest.raises(InputError, match="use Holm"):
        exhaustive_sets(10)
    with pytest.raises(InputError, match="all pairs"):
        bergmann_hommel([0.1, 0.2])


def test_gaps_and_lonely_models_are_refused():
    with pytest.raises(InputError, match="finite loss"):
        average_ranks({"a": [0.1, np.nan], "b": [0.1, 0.2]})
    with pytest.raises(InputError, match="two models"):
        average_ranks({"a": [0.1, 0.2]})
    with pytest.raises(InputError, match="three models"):
        friedman_test({"a": [0.1, 0.2], "b": [0.2, 0.1]})
