"""Operations on additive scores: what each does to the score, and that a breakdown adds up exactly."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax
from scipy.stats import norm

from seminaive.encode import TableEncoder
from seminaive.scores import (
    AdditiveScores,
    CurveTerms,
    NumericTerms,
    gaussian_terms,
    laplace_tables,
    m_estimate_tables,
)
from seminaive.scores.kind import TermKind
from seminaive.statistics import Moments, TableStatistics, Terms, TupleCounts

# Terms of the scores that `make` returns: three tables, two polynomials, two curves.
N_TERMS = 7


def make(seed, *, n_classes=3, n_rows=50):
    """Return random scores with all kinds of terms over a table with unseen codes and missing numbers."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, 5), object)
    X[:, 0] = rng.choice(["a", "b", "c"], n_rows)
    X[:, 1] = rng.choice(["u", "v"], n_rows)
    X[:, 2] = rng.choice(["r", "s"], n_rows)
    X[:, 3:] = rng.normal(size=(n_rows, 2))
    encoder, _ = TableEncoder.learn(X, categorical_features=[0, 1, 2])
    X[::7, 0], X[::5, 3] = "unseen", None
    table = encoder.encode(X)
    terms = Terms(((0,), (1,), (0, 1)), table.cardinalities)
    numeric = NumericTerms(
        (0, 1),
        rng.normal(size=2),
        rng.normal(size=(2, 4, n_classes)),
        np.array([-np.inf, -1.0]),
        np.array([np.inf, 0.5]),
    )
    curves = CurveTerms.of(
        [
            (0, np.sort(rng.normal(size=5)), rng.normal(size=(5, n_classes)), rng.normal(size=n_classes)),
            (1, [0.25], rng.normal(size=(1, n_classes)), rng.normal(size=n_classes)),
        ]
    )
    tables = rng.normal(size=(terms.n_cells, n_classes))
    return AdditiveScores(rng.normal(size=n_classes), terms, tables, numeric, curves), table


def added_in_order(parts):
    total = parts[:, 0]
    for part in range(1, parts.shape[1]):
        total = total + parts[:, part]
    return total


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([1, 2, 50, 130]))
def test_a_breakdown_adds_up_to_the_score_to_the_last_bit(seed, n_classes, n_rows):
    scores, table = make(seed, n_classes=n_classes, n_rows=n_rows)
    assert (added_in_order(scores.breakdown(table)) == scores.joint_log_scores(table)).all()


@pytest.mark.parametrize("n_classes", [2, 3, 13])
def test_compiled_scores_are_the_same_to_the_last_bit(monkeypatch, n_classes):
    scores, table = make(0, n_classes=n_classes)
    monkeypatch.setattr(TermKind, "compiles", lambda *_: True)
    assert (added_in_order(scores.breakdown(table)) == scores.joint_log_scores(table)).all()


def test_scaling_multiplies_each_term():
    scores, table = make(1)
    weights = np.array([0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.0])
    parts, scaled = scores.breakdown(table), scores.scale(weights).breakdown(table)
    np.testing.assert_allclose(scaled[:, 1:], parts[:, 1:] * weights[:, None], rtol=1e-13, atol=1e-14)


@given(st.sets(st.integers(0, N_TERMS - 1)))
def test_restricting_equals_scaling_the_others_by_zero(kept):
    scores, table = make(2)
    weights = [float(term in kept) for term in range(N_TERMS)]
    expected = scores.scale(weights).joint_log_scores(table)
    restricted = scores.restrict(sorted(kept))
    assert restricted.n_terms == len(kept)
    np.testing.assert_allclose(restricted.joint_log_scores(table), expected, atol=1e-12)


def test_centring_keeps_the_posterior_and_balances_the_classes():
    scores, table = make(3)
    centred = scores.centre()
    np.testing.assert_allclose(
        softmax(centred.joint_log_scores(table), axis=1), softmax(scores.joint_log_scores(table), axis=1)
    )
    np.testing.assert_allclose(centred.breakdown(table).sum(axis=2), 0, atol=1e-12)


@given(st.sets(st.integers(0, N_TERMS - 1)))
def test_adding_adds_the_scores(kept):
    scores, table = make(5)
    left = scores.restrict(sorted(kept))
    right = scores.restrict(sorted(set(range(N_TERMS)) - kept))
    expected = left.joint_log_scores(table) + right.joint_log_scores(table)
    both = left + right
    assert both.n_terms == N_TERMS
    np.testing.assert_allclose(both.joint_log_scores(table), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        (both + scores).joint_log_scores(table),
        expected + scores.joint_log_scores(table),
        rtol=1e-12,
        atol=1e-12,
    )


@given(
    # numpy's slope between knots 1e-308 apart is infinite.
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9, unique_by=lambda knot: round(knot, 6)),
    st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=9),
    st.integers(0, 1000),
)
def test_a_curve_equals_numpys_interpolation(knots, numbers, seed):
    knots = np.sort(knots)
    values = np.random.default_rng(seed).normal(size=(len(knots), 2))
    curve = CurveTerms.of([(0, knots, values, [7.0, 8.0])])
    x = np.array([*numbers, *knots, np.nan])
    expected = np.column_stack([np.interp(x, knots, column) for column in values.T])
    expected[-1] = [7.0, 8.0]
    # numpy multiplies a slope, which rounds by the curve's height.
    np.testing.assert_allclose(curve.at(x[:, None])[:, 0], expected, atol=1e-12 * np.abs(values).max())


def test_curves_of_many_rows_are_those_of_single_rows():
    rng = np.random.default_rng(0)
    curves = CurveTerms.of(
        [
            (j, np.sort(rng.normal(size=n)), rng.normal(size=(n, 2)), [7.0, 8.0])
            for j, n in enumerate((1, 5, 9))
        ]
    )
    numbers = rng.normal(size=(200, 3))
    numbers[:20] = curves.knots[rng.integers(0, 15, (20, 3))]
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    single = np.concatenate([curves.at(row[None]) for row in numbers])
    assert (curves.at(numbers) == single).all()


def test_a_clipped_polynomial_is_constant_beyond_its_range():
    coefficients = np.array([[[9.0], [1.0], [2.0], [3.0]]])
    terms = NumericTerms((0,), np.array([0.5]), coefficients, np.array([-1.0]), np.array([2.0]))
    x = np.array([-5.0, -1.0, 0.0, 2.0, 1e9, np.nan])
    z = np.clip(x, -1, 2) - 0.5
    expected = np.where(np.isnan(x), 9.0, 1 + 2 * z + 3 * z**2)
    np.testing.assert_allclose(terms.at(x[:, None])[:, 0, 0], expected, rtol=1e-15)


def test_kinds_without_terms_are_not_asked(monkeypatch):
    scores, table = make(7)
    expected = scores.restrict([0, 1, 2]).joint_log_scores(table)
    for kind in (NumericTerms, CurveTerms):
        for method in ("contributions", "add_compiled", "add_uncompiled"):
            monkeypatch.setattr(kind, method, None)
    tables_only = scores.restrict([0, 1, 2])
    assert (tables_only.joint_log_scores(table) == expected).all()
    assert tables_only.breakdown(table).shape == (50, 4, 3)


def test_operations_refuse_scores_that_do_not_fit():
    scores, _ = make(6)
    with pytest.raises(ValueError, match="weights"):
        scores.scale([1.0])
    with pytest.raises(ValueError, match="differently coded"):
        scores + AdditiveScores.of_tables(scores.prior, Terms.singles([9, 9]), np.zeros((20, 3)))


def broken(scores, kind, **fields):
    return replace(scores, **{kind: replace(getattr(scores, kind), **fields)})


def with_number(array, value):
    changed = array.copy()
    changed.flat[-1] = value
    return changed


BREAKS = {
    "prior of another length": lambda s: replace(s, prior=s.prior[:2]),
    "prior that is not finite": lambda s: replace(s, prior=with_number(s.prior, np.nan)),
    "too few cells": lambda s: replace(s, tables=s.tables[:-1]),
    "a cell that is infinite": lambda s: replace(s, tables=with_number(s.tables, np.inf)),
    "columns in the wrong order": lambda s: replace(
        s, terms=Terms(((0,), (1,), (1, 0)), s.terms.cardinalities)
    ),
    "a column twice": lambda s: replace(s, terms=Terms(((0,), (1,), (1, 1)), s.terms.cardinalities)),
    "a column many times": lambda s: replace(s, terms=Terms(((0,) * 70,), s.terms.cardinalities)),
    "no column": lambda s: replace(s, terms=Terms(((),), s.terms.cardinalities), tables=s.tables[:1]),
    "a column beyond the table": lambda s: replace(
        s, terms=Terms(((0,), (1,), (0, 3)), s.terms.cardinalities)
    ),
    "other cardinalities": lambda s: replace(s, terms=Terms(s.terms.features, (3, 2, 9))),
    "a number beyond the table": lambda s: broken(s, "numeric", features=(0, 2)),
    "a coefficient that is not finite": lambda s: broken(
        s, "numeric", coefficients=with_number(s.numeric.coefficients, np.nan)
    ),
    "an empty range": lambda s: broken(s, "numeric", low=np.array([0.0, 3.0])),
    "a range that is not a number": lambda s: broken(s, "numeric", low=np.array([0.0, np.nan])),
    "a centre beyond all numbers": lambda s: broken(s, "numeric", centres=np.full(2, 1e200)),
    "a square that overflows": lambda s: broken(
        s, "numeric", coefficients=np.full(s.numeric.coefficients.shape, 1e20)
    ),
    "a range at infinity": lambda s: broken(s, "numeric", low=np.full(2, np.inf), high=np.full(2, np.inf)),
    "a range beyond all numbers": lambda s: broken(
        s, "numeric", low=np.full(2, 1e200), high=np.full(2, np.inf)
    ),
    "knots that do not increase": lambda s: broken(s, "curves", knots=s.curves.knots[::-1].copy()),
    "a knot twice": lambda s: broken(s, "curves", knots=s.curves.knots[[0, 0, 2, 3, 4, 5]]),
    "a curve without knots": lambda s: broken(s, "curves", starts=(0, 6, 6)),
    "values that are not finite": lambda s: broken(s, "curves", values=with_number(s.curves.values, np.inf)),
    "a curve of a number beyond the table": lambda s: broken(s, "curves", features=(0, 9)),
}


@pytest.mark.parametrize("name", BREAKS)
def test_scores_whose_parts_do_not_belong_together_are_refused(name):
    scores, table = make(8)
    shape = (table.cardinalities, table.numbers.shape[1], 3)
    scores.check_fits(*shape)
    with pytest.raises(ValueError, match="do not fit"):
        BREAKS[name](scores).check_fits(*shape)


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
    np.testing.assert_allclose(terms.at(numbers)[:, 0], np.transpose(expected), rtol=1e-10)


def test_pooled_variance_terms_have_the_log_odds_of_normal_densities():
    rng = np.random.default_rng(8)
    numbers, labels = rng.normal(size=(60, 1)), np.arange(60) % 2
    parts = [numbers[labels == c, 0] for c in (0, 1)]
    sigma = np.sqrt(sum(((x - x.mean()) ** 2).sum() for x in parts) / 60)
    terms = gaussian_terms(Moments.of(numbers, labels, 2), pooled=True, variance_floor=0.0)
    log_odds = np.subtract(*(norm.logpdf(numbers[:, 0], x.mean(), sigma) for x in parts))
    contribution = terms.at(numbers)[:, 0]
    np.testing.assert_allclose(contribution[:, 0] - contribution[:, 1], log_odds, rtol=1e-10)
    assert (terms.coefficients[:, 3] == 0).all()


def test_a_class_without_a_number_takes_the_overall_one():
    numbers, labels = np.array([[1.0], [3.0], [np.nan]]), np.array([0, 0, 1])
    for pooled in (True, False):
        terms = gaussian_terms(Moments.of(numbers, labels, 2), pooled=pooled, variance_floor=1e-9)
        contribution = terms.at(numbers[:2])[:, 0]
        np.testing.assert_allclose(contribution[:, 0], contribution[:, 1])


def test_tables_without_coded_columns_or_numbers_have_scores():
    X = np.array([[1.0], [2.0], [4.0]])
    _, table = TableEncoder.learn(X)
    statistics = TableStatistics.of(table, np.array([0, 1, 1]), 2)
    assert laplace_tables(statistics.counts, 1.0).shape == (0, 2)
