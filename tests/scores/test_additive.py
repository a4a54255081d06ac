"""Operations on additive scores: what each does to the score, and that a breakdown adds up exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import norm

from seminaive.encode import TableEncoder
from seminaive.scores import AdditiveScores, NumericTerms, gaussian_terms, laplace_tables, m_estimate_tables
from seminaive.statistics import Moments, TableStatistics, Terms, TupleCounts


def make(seed, *, n_classes=3, n_rows=50, pairs=False):
    """Return random scores over a random table with unseen codes and missing numbers."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 4), object)
    X[:, 0] = rng.choice(["a", "b", "c"], n_rows)
    X[:, 1] = rng.choice(["u", "v"], n_rows)
    X[:, 2:] = rng.normal(size=(n_rows, 2))
    encoder, _ = TableEncoder.learn(X, categorical_features=[0, 1])
    X[::7, 0], X[::5, 2] = "unseen", None
    table = encoder.encode(X)
    features = ((0,), (1,), (0, 1)) if pairs else ((0,), (1,))
    terms = Terms(features, table.cardinalities)
    numeric = NumericTerms((0, 1), rng.normal(size=2), rng.normal(size=(2, 4, n_classes)))
    tables = rng.normal(size=(terms.n_cells, n_classes))
    return AdditiveScores(rng.normal(size=n_classes), terms, tables, numeric), table


@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_a_breakdown_adds_up_to_the_score_to_the_last_bit(seed, n_classes, pairs):
    scores, table = make(seed, n_classes=n_classes, pairs=pairs)
    parts = scores.breakdown(table)
    total = parts[:, 0]
    for part in range(1, parts.shape[1]):
        total = total + parts[:, part]
    assert (total == scores.joint_log_scores(table)).all()


def test_scaling_multiplies_each_term():
    scores, table = make(1, pairs=True)
    weights = np.array([0.0, 1.0, 2.0, -1.0, 0.5])
    parts, scaled = scores.breakdown(table), scores.scale(weights).breakdown(table)
    np.testing.assert_allclose(scaled[:, 1:], parts[:, 1:] * weights[:, None], rtol=1e-13)


def test_restricting_equals_scaling_the_others_by_zero():
    scores, table = make(2, pairs=True)
    kept = scores.restrict([0, 2, 4]).joint_log_scores(table)
    np.testing.assert_allclose(kept, scores.scale([1, 0, 1, 0, 1]).joint_log_scores(table), atol=1e-12)


def test_centring_keeps_the_posterior_and_balances_the_classes():
    scores, table = make(3, pairs=True)
    centred = scores.centre()
    np.testing.assert_allclose(
        softmax(centred.joint_log_scores(table), axis=1), softmax(scores.joint_log_scores(table), axis=1)
    )
    np.testing.assert_allclose(centred.breakdown(table).sum(axis=2), 0, atol=1e-12)


def test_interpolating_goes_from_the_one_to_the_other():
    first, table = make(4)
    other = AdditiveScores(first.prior + 1, first.terms, first.tables * 2, first.numeric)
    for share in (0.0, 0.3, 1.0):
        expected = (1 - share) * first.joint_log_scores(table) + share * other.joint_log_scores(table)
        np.testing.assert_allclose(
            first.interpolate(other, share).joint_log_scores(table), expected, rtol=1e-12
        )


def test_adding_adds_the_scores():
    scores, table = make(5, pairs=True)
    left, right = scores.restrict([0, 3]), scores.restrict([1, 2, 4])
    expected = left.joint_log_scores(table) + right.joint_log_scores(table)
    np.testing.assert_allclose((left + right).joint_log_scores(table), expected, rtol=1e-12)


def test_operations_refuse_scores_that_do_not_fit():
    scores, _ = make(6)
    with pytest.raises(ValueError, match="weights"):
        scores.scale([1.0])
    with pytest.raises(ValueError, match="different terms"):
        scores.interpolate(scores.restrict([0]), 0.5)
    other, _ = make(6, pairs=True)
    with pytest.raises(ValueError, match="differently coded"):
        scores + AdditiveScores.of_tables(other.prior, Terms.singles([9, 9]), np.zeros((20, 3)))


def test_smoothed_tables_are_their_formulas():
    codes = np.array([[0], [0], [1], [3]], np.uint8)  # 3 is no evidence
    counts = TupleCounts.of(codes, np.array([0, 0, 1, 1]), Terms.singles([3]), 2)
    laplace = np.exp(laplace_tables(counts, 1.0))
    np.testing.assert_allclose(laplace, [[3 / 5, 1 / 4], [1 / 5, 2 / 4], [1 / 5, 1 / 4], [1, 1]])
    m = np.exp(m_estimate_tables(counts, 2.0))
    np.testing.assert_allclose(
        m[:3], [[(2 + 2 / 3) / 4, (2 / 3) / 3], [(2 / 3) / 4, (1 + 2 / 3) / 3], [1 / 6, 2 / 9]]
    )


def test_class_variance_terms_are_normal_densities():
    rng = np.random.default_rng(7)
    numbers, labels = rng.normal(size=(60, 1)), np.arange(60) % 2
    terms = gaussian_terms(Moments.of(numbers, labels, 2), pooled=False, variance_floor=0.0)
    expected = [
        norm.logpdf(numbers[:, 0], x.mean(), x.std()) for x in (numbers[labels == c, 0] for c in (0, 1))
    ]
    np.testing.assert_allclose(terms.contribution(0, numbers), np.transpose(expected), rtol=1e-10)


def test_pooled_variance_terms_have_the_log_odds_of_normal_densities():
    rng = np.random.default_rng(8)
    numbers, labels = rng.normal(size=(60, 1)), np.arange(60) % 2
    parts = [numbers[labels == c, 0] for c in (0, 1)]
    sigma = np.sqrt(sum(((x - x.mean()) ** 2).sum() for x in parts) / 60)
    terms = gaussian_terms(Moments.of(numbers, labels, 2), pooled=True, variance_floor=0.0)
    log_odds = np.subtract(*(norm.logpdf(numbers[:, 0], x.mean(), sigma) for x in parts))
    contribution = terms.contribution(0, numbers)
    np.testing.assert_allclose(contribution[:, 0] - contribution[:, 1], log_odds, rtol=1e-10)
    assert (terms.coefficients[:, 3] == 0).all()


def test_a_class_without_a_number_takes_the_overall_one():
    numbers, labels = np.array([[1.0], [3.0], [np.nan]]), np.array([0, 0, 1])
    for pooled in (True, False):
        terms = gaussian_terms(Moments.of(numbers, labels, 2), pooled=pooled, variance_floor=1e-9)
        contribution = terms.contribution(0, numbers[:2])
        np.testing.assert_allclose(contribution[:, 0], contribution[:, 1])


def test_tables_without_coded_columns_or_numbers_have_scores():
    X = np.array([[1.0], [2.0], [4.0]])
    _, table = TableEncoder.learn(X)
    statistics = TableStatistics.of(table, np.array([0, 1, 1]), 2)
    assert laplace_tables(statistics.counts, 1.0).shape == (0, 2)
