"""Terms are screened by their evidence in each training set; one left out is as if it were not there."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from seminaive import SemiNaive
from seminaive.design.smooth_columns import SmoothColumns, most_pair_features
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.screening import best_pairs, halvings, kept_terms, says_something
from seminaive.selection.split_rows import SplitRows
from seminaive.selection.term_evidence import (
    Residuals,
    evidence_for,
    evidence_for_columns,
    evidence_for_pairs,
)


def halves(n_rows):
    every = np.arange(n_rows)
    return [(every[every % 2 == k], every[every % 2 != k]) for k in range(2)]


def coded(X):
    return TableEncoder.learn(pd.DataFrame(X).add_prefix("x"), cut_rule=EqualFrequencyCuts(4))[1]


def test_evidence_is_that_of_a_normal_prior_of_one_coefficient():
    """With data z = b + noise of precision h, z is normal with a larger variance than if b were 0."""
    precision, variance, observed = 3.0, 0.7, 1.3
    found = evidence_for(np.array([precision * observed]), np.array([precision]), [variance])

    def log_density(z, spread):
        return -0.5 * (np.log(2 * np.pi * spread) + z**2 / spread)

    expected = log_density(observed, variance + 1 / precision) - log_density(observed, 1 / precision)
    np.testing.assert_allclose(found, [[expected]], rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_evidence_for_products_is_that_of_products_written_out(n_classes):
    rng = np.random.default_rng(n_classes)
    labels, weights = rng.integers(0, n_classes, 60), rng.uniform(0.5, 2, 60)
    left, right = rng.normal(size=(60, 3)), rng.normal(size=(60, 4))
    n_columns = 1 if n_classes == 2 else n_classes
    scores = [rng.normal(size=(60, n_columns)) for _ in range(3)]
    residuals = Residuals(SplitRows(None, labels, weights, n_classes, halves(60)), scores)
    written_out = np.einsum("ij,ik->ijk", left, right).reshape(60, -1)
    found = residuals.of_products(left, right, [0.1, 2.0])
    expected = residuals.of_products(np.ones((60, 1)), written_out, [0.1, 2.0])
    np.testing.assert_allclose(found, expected.reshape(2, 3, 3, 4).sum(axis=2), rtol=1e-10)


def test_held_out_rows_have_no_part_in_the_evidence_of_their_fold():
    rng = np.random.default_rng(0)
    table, labels, splits = coded(rng.normal(size=(80, 3))), rng.integers(0, 2, 80), halves(80)
    other = labels.copy()
    other[splits[0][1]] = rng.permutation(other[splits[0][1]])
    columns = SmoothColumns.of(table, np.ones(80))
    rows = [SplitRows(table, drawn, np.ones(80), 2, splits) for drawn in (labels, other)]
    first, second = (evidence_for_columns(columns, table, Residuals(part), [1.0]) for part in rows)
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.array_equal(first[1:], second[1:])


def test_the_pair_that_makes_the_classes_has_the_most_evidence():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 6))
    labels = (X[:, 1] * X[:, 4] + 0.5 * rng.normal(size=400) > 0).astype(int)
    table = coded(X)
    columns = SmoothColumns.of(table, np.ones(400))
    pairs = columns.all_pairs
    residuals = Residuals(SplitRows(table, labels, np.ones(400), 2, halves(400)))
    evidence = evidence_for_pairs(columns, table, residuals, pairs, [0.04, 1.0])
    assert [pairs[k] for k in evidence.argmax(axis=1)] == [(1, 4)] * 3


def test_halvings_are_nested_and_leave_out_what_has_no_evidence():
    evidence = np.array([[3.0, 0.0, 2.0, 5.0, 0.0, 1.0], [0.0, 0.0, 4.0, 1.0, 0.0, 0.0]])
    screens = halvings(evidence, 6)
    assert [screen.sum(axis=1).tolist() for screen in screens] == [[4, 2], [3, 2], [1, 1]]
    for wide, narrow in pairwise(screens):
        assert (wide | ~narrow).all()
    np.testing.assert_array_equal(np.flatnonzero(screens[-1][0]), [3])


def test_pairs_are_kept_by_rank_until_the_features_of_all_sets_are_too_many():
    evidence = np.array([[4.0, 3.0, -2.0, -np.inf], [1.0, 2.0, -np.inf, -np.inf]])
    n_kept = {most: best_pairs(evidence, [4, 4, 4, 4], most).sum(axis=1).tolist() for most in (7, 8, 12, 99)}
    assert n_kept == {7: [0, 0], 8: [2, 2], 12: [3, 2], 99: [3, 2]}


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_pairs_that_say_something_are_those_more_probable_than_not_under_their_share(share):
    """Scores are normal of variance 1, or of variance 26 for pairs that say something."""
    rng = np.random.default_rng(6)
    says = rng.random(20_000) < share
    scores = rng.normal(size=len(says)) * np.where(says, np.sqrt(26.0), 1.0)
    evidence = evidence_for(scores, np.ones_like(scores), [25.0])[0]
    found = says_something(evidence, np.ones(len(says), dtype=bool))
    bayes = evidence > np.log((1 - share) / share)
    assert np.mean(found != bayes) < 0.01
    assert np.mean(found[~says]) <= share / (1 - share)


def test_where_pairs_say_nothing_few_are_kept_and_where_all_do_all_are():
    rng = np.random.default_rng(7)
    scores = rng.normal(size=(200, 1000))
    everywhere = np.ones(1000, dtype=bool)
    evidence = evidence_for(scores, np.ones_like(scores), [0.5])[0]
    n_kept = [int(says_something(of_table, everywhere).sum()) for of_table in evidence]
    assert np.mean(n_kept) < 5
    assert np.mean(np.array(n_kept) == 0) > 0.4
    assert says_something(np.full(1000, 0.1), everywhere).all()
    assert not says_something(np.full(1000, 1e9), ~everywhere).any()
    np.testing.assert_array_equal(
        says_something(np.array([1e9, -1e9, 0.0]), everywhere[:3]), [True, False, False]
    )


def test_residuals_are_as_long_as_the_posterior_claims_however_closely_rows_are_fitted():
    """A planted pair stands out at the residuals of a close fit as it does at those of none."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 4))
    labels = (rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))).astype(int)
    table = coded(X)
    columns = SmoothColumns.of(table, np.ones(300))
    rows = SplitRows(table, labels, np.ones(300), 2)
    flat = np.zeros((300, 1))
    # Scores that draw each row's probability toward its label, whatever the columns say.
    close = np.where(labels == 1, 3.0, -3.0)[:, None]

    def evidence(scores):
        pairs = columns.all_pairs
        return evidence_for_pairs(columns, table, Residuals(rows, [scores]), pairs, [0.04, 1.0])[0]

    assert evidence(flat).argmax() == evidence(close).argmax() == 0
    assert evidence(close)[0] > 0


@pytest.mark.parametrize("solver", [RowSpaceSolver, CoefficientSolver])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_term_without_relevance_is_as_if_it_were_not_there(solver, n_classes):
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(70, 4)), rng.integers(0, n_classes, 70)
    table = coded(X)
    columns = SmoothColumns.of(table, np.ones(70)).with_all_pairs(n_classes)
    kept = kept_terms(columns, np.array([[True, False, True, True]]))[0]
    rows = SplitRows(table, labels, np.ones(70), n_classes, halves(70))
    strengths = (1.0, 1.0, 25.0)

    def scores_of(columns, relevances):
        made = solver(columns, rows)
        prepared = made.prepare(relevances)
        fits = [*made.fit_folds(prepared, strengths, None, 1e-12, 100)]
        fits.append(made.fit_all(prepared, strengths, None, 1e-12, 100))
        return np.stack([fit.scores for fit in fits]), made.coefficients(
            [(1.0, prepared, strengths, fits[-1])]
        )

    masked, coefficients = scores_of(columns, np.tile(kept.astype(float), (3, 1)))
    expected, _ = scores_of(columns.only(kept), np.ones((3, int(kept.sum()))))
    np.testing.assert_allclose(masked, expected, atol=1e-6)
    assert not coefficients[1:][~np.repeat(kept, columns.sizes)].any()


def test_of_more_columns_than_rows_the_strong_one_is_found_and_few_are_used():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 200)), rng.integers(0, 2, 60)
    X[:, 7] += 2.5 * y
    model = SemiNaive(interactions=0).fit(X, y)
    used = model.columns_report_["used"].to_numpy()
    assert used[7]
    assert used.sum() < 100  # of the 4,000 pairs that there may be
    assert model.feature_importances_.argmax() == 7
    assert model.fit_share_ > 0.5


def test_of_more_pairs_than_can_have_terms_the_planted_one_comes_first():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 95))
    y = 1.5 * X[:, 20] * X[:, 60] + rng.logistic(size=600) > 0
    model = SemiNaive().fit(X, y)
    n_pairs = 95 * 94 // 2
    assert n_pairs > most_pair_features(2)
    assert model.n_pairs_considered_ == n_pairs
    assert model.interactions_.iloc[0][["first", "second"]].tolist() == ["x20", "x60"]
    assert len(model.interactions_) < n_pairs


def test_identifiers_among_too_many_pairs_have_none():
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(300, 91))).add_prefix("x")
    X["name"] = [f"n{k:03}" for k in range(150)] * 2
    y = X["x3"] * X["x8"] + rng.normal(size=300) > 0
    model = SemiNaive().fit(X, y)
    assert "name" not in {*model.interactions_["first"], *model.interactions_["second"]}
