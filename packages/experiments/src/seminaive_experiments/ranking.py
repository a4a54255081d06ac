"""Which of many models differ, over many tables: ranks, Friedman's test and what follows it.

Losses come as a table with one row per data set and one column per model; smaller is better. The
procedures after Friedman's test compare average ranks: under equality, the difference of two average
ranks over N tables and k models has standard error ``sqrt(k (k + 1) / (6 N))``.

Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
Garcia and Herrera, An extension on "Statistical comparisons of classifiers over multiple data sets" for
all pairwise comparisons, JMLR 9, 2008.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from seminaive.arrays import Booleans, Floats
from seminaive.errors import InputError
from seminaive_experiments.pairwise_tests import TestResult

MOST_MODELS_FOR_BERGMANN_HOMMEL = 9
"""Ten models have 115,975 exhaustive sets, and five times as many with each model more."""


def _losses(losses: Any) -> pd.DataFrame:
    """Check a table of losses: at least two models and two data sets, no gaps."""
    table = pd.DataFrame(losses).astype(float)
    if table.shape[0] < 2 or table.shape[1] < 2:
        raise InputError(
            f"expected at least two data sets (rows) and two models (columns), got {table.shape}."
        )
    if not np.isfinite(table.to_numpy()).all():
        raise InputError(
            "every model needs a finite loss on every data set: leave out the rows where a model failed."
        )
    return table


def average_ranks(losses: Any) -> pd.Series:
    """Average rank of each model over the data sets; 1 is best, ties share their ranks.

    >>> average_ranks({"a": [0.1, 0.2], "b": [0.3, 0.2]}).to_dict()
    {'a': 1.25, 'b': 1.75}
    """
    return _losses(losses).rank(axis=1).mean(axis=0)


def friedman_test(losses: Any) -> TestResult:
    """Friedman's chi-squared: whether all models are equal. Corrected for ties, as in scipy."""
    table = _losses(losses)
    if table.shape[1] < 3:
        raise InputError("Friedman's test needs at least three models; use wilcoxon_test for two.")
    if np.all(table.to_numpy() == table.to_numpy()[:, :1]):
        return TestResult(0.0, 1.0)
    result = stats.friedmanchisquare(*table.to_numpy().T)
    return TestResult(float(result.statistic), float(result.pvalue))


def iman_davenport_test(losses: Any) -> TestResult:
    """Iman and Davenport's F form of Friedman's test, which is less conservative.

    ``F = (N - 1) chi2 / (N (k - 1) - chi2)`` with k - 1 and (k - 1)(N - 1) degrees of freedom.
    """
    n_tables, n_models = _losses(losses).shape
    chi_squared = friedman_test(losses).statistic
    room = n_tables * (n_models - 1) - chi_squared
    statistic = np.inf if room <= 0 else (n_tables - 1) * chi_squared / room
    return TestResult(
        float(statistic), float(stats.f.sf(statistic, n_models - 1, (n_models - 1) * (n_tables - 1)))
    )


def critical_difference(n_models: int, n_tables: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of average ranks: ``q_alpha sqrt(k (k + 1) / (6 N))``.

    ``q_alpha`` is the quantile of the studentised range, divided by the root of 2.
    """
    if n_models < 2 or n_tables < 1 or not 0 < alpha < 1:
        raise InputError(
            "expected two models or more, a table or more and alpha in (0, 1), got "
            f"{n_models}, {n_tables} and {alpha}."
        )
    quantile = stats.studentized_range.ppf(1 - alpha, n_models, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_models * (n_models + 1) / (6 * n_tables)))


def nemenyi(losses: Any) -> pd.DataFrame:
    """Nemenyi's test of all pairs by the studentised range: a square table of p-values."""
    table = _losses(losses)
    ranks = average_ranks(table).to_numpy()
    n_tables, n_models = table.shape
    error = np.sqrt(n_models * (n_models + 1) / (6 * n_tables))
    distance = np.abs(ranks[:, None] - ranks[None, :]) / error * np.sqrt(2)
    p_values = stats.studentized_range.sf(distance, n_models, np.inf)
    np.fill_diagonal(p_values, 1.0)
    return pd.DataFrame(p_values, index=table.columns, columns=table.columns)


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's step-down adjustment of any p-values, not above 1.

    The i-th smallest of m is multiplied by ``m - i + 1``, and no adjusted value is below the one before.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(adjusted, 1.0)


def exhaustive_sets(n_models: int) -> Booleans:
    """All sets of pairwise equalities that can be true at once while all others are false.

    Such a set is a partition of the models into groups of equals: the pairs inside the groups. So the
    partitions are enumerated, not the subsets of pairs: 21,147 instead of 2^36 for nine models.

    Returns
    -------
    ndarray of shape (n_sets, n_pairs)
        One row per partition with at least one pair; pairs in the order of ``itertools.combinations``.

    Examples
    --------
    Three models: all equal, or one pair equal.

    >>> exhaustive_sets(3).astype(int)
    array([[1, 1, 1],
           [1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    if not 2 <= n_models <= MOST_MODELS_FOR_BERGMANN_HOMMEL:
        raise InputError(
            f"exhaustive sets are computed for 2 to {MOST_MODELS_FOR_BERGMANN_HOMMEL} models, got "
            f"{n_models}: use Holm's procedure, or compare fewer models."
        )
    # A partition is a list of group numbers in which each new number is one more than the largest
    # before it; grow all of them by one model at a time.
    groups = np.zeros((1, 1), dtype=np.int8)
    for _ in range(n_models - 1):
        choices = groups.max(axis=1) + 2
        parent = np.repeat(np.arange(len(groups)), choices)
        first_child = np.cumsum(choices) - choices
        joined = np.arange(len(parent)) - np.repeat(first_child, choices)
        groups = np.column_stack([groups[parent], joined.astype(np.int8)])
    left, right = np.array(list(combinations(range(n_models), 2))).T
    sets: Booleans = groups[:, left] == groups[:, right]
    return sets[sets.any(axis=1)]


def bergmann_hommel(p_values: npt.ArrayLike) -> Floats:
    """Bergmann and Hommel's adjustment of the p-values of all pairs of up to nine models, not above 1.

    The adjusted value of a pair is the largest ``|I| min_{j in I} p_j`` over the exhaustive sets I that
    contain it, and not below that of a pair with a smaller p-value (as Garcia and Herrera print them).
    It is the most powerful of the usual procedures for all pairs.

    Parameters
    ----------
    p_values : array of shape (n_pairs,)
        In the order of ``itertools.combinations`` of the models.
    """
    p = _p_values(p_values)
    n_models = round((1 + float(np.sqrt(1 + 8 * len(p)))) / 2)
    if n_models * (n_models - 1) // 2 != len(p):
        raise InputError(
            f"expected the p-values of all pairs of k models, k (k - 1) / 2 of them, got {len(p)}."
        )
    sets = exhaustive_sets(n_models)
    bound = sets.sum(axis=1) * np.where(sets, p, np.inf).min(axis=1)
    largest = np.where(sets, bound[:, None], 0.0).max(axis=0)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(largest[order])
    return np.minimum(adjusted, 1.0)


def _p_values(p_values: npt.ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0 or not np.all((p >= 0) & (p <= 1)):
        raise InputError("expected a list of p-values between 0 and 1.")
    return p


@dataclass(frozen=True)
class PairwiseRankTests:
    """Every pair of models: difference of average ranks and p-values, raw and adjusted.

    Attributes
    ----------
    ranks : Series
        Average rank of each model; 1 is best.
    pairs : DataFrame
        One row per pair: ``first``, ``second``, ``z``, ``p_value``, ``nemenyi`` (Bonferroni over all
        pairs, as Garcia and Herrera use the name), ``holm`` and, for up to nine models,
        ``bergmann_hommel``.
    """

    ranks: pd.Series
    pairs: pd.DataFrame


def pairwise_rank_tests(ranks: pd.Series, n_tables: int) -> PairwiseRankTests:
    """All pairwise z tests of average ranks over ``n_tables`` data sets, with adjusted p-values."""
    if len(ranks) < 2 or n_tables < 1:
        raise InputError(f"expected two models and a table or more, got {len(ranks)} and {n_tables}.")
    n_models = len(ranks)
    error = np.sqrt(n_models * (n_models + 1) / (6 * n_tables))
    names = list(combinations(ranks.index, 2))
    left, right = np.array(list(combinations(range(n_models), 2))).T
    z = np.abs(ranks.to_numpy()[left] - ranks.to_numpy()[right]) / error
    p_value = 2 * stats.norm.sf(z)
    pairs = pd.DataFrame(
        {
            "first": [first for first, _ in names],
            "second": [second for _, second in names],
            "z": z,
            "p_value": p_value,
            "nemenyi": np.minimum(p_value * len(p_value), 1.0),
            "holm": holm(p_value),
        }
    )
    if n_models <= MOST_MODELS_FOR_BERGMANN_HOMMEL:
        pairs["bergmann_hommel"] = bergmann_hommel(p_value)
    return PairwiseRankTests(ranks, pairs)


def compare_ranks(losses: Any) -> PairwiseRankTests:
    """Compare all pairs of models by their average ranks over a table of losses."""
    table = _losses(losses)
    return pairwise_rank_tests(average_ranks(table), len(table))
