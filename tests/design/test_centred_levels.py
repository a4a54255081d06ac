"""A category of many levels: functions of its levels, never written out, in place of eigenfunctions."""

import numpy as np
import pytest
from scipy.special import expit

from seminaive.design import smooth_column
from seminaive.design.centred_levels import CentredLevels
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_column import eigenfunctions
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import TableEncoder
from seminaive.selection import coefficient_solver
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.split_rows import SplitRows

SHARES = np.array([0.5, 0.2, 0.2, 0.1])


@pytest.fixture
def levels():
    return CentredLevels(SHARES)


@pytest.fixture
def matrix():
    return np.vstack([np.eye(4) - SHARES, np.zeros(4)])


def test_products_are_those_of_the_matrix(levels, matrix):
    rng = np.random.default_rng(0)
    coefficients, sums = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(levels @ coefficients, matrix @ coefficients, atol=1e-15)
    np.testing.assert_allclose(levels.adjoint(sums), matrix.T @ sums, atol=1e-15)
    np.testing.assert_allclose(levels.squared_adjoint(sums), (matrix**2).T @ sums, atol=1e-15)
    rows = np.array([3, 4, 0, 0, 2])
    np.testing.assert_array_equal(levels.features(rows), matrix[rows])
    np.testing.assert_array_equal(levels.features(rows, np.array([2, 0])), matrix[rows][:, [2, 0]])
    assert levels.shape == matrix.shape


def test_the_prior_is_that_of_the_eigenfunctions(matrix):
    functions, _ = eigenfunctions(np.eye(4), SHARES, 0.0)
    np.testing.assert_allclose(functions @ functions.T, (matrix @ matrix.T)[:4, :4], atol=1e-14)


def probabilities(solver, patch, most, *, limits):
    """Return those of all rows, by fits in which categories of more than ``most`` levels have no matrix."""
    rng = np.random.default_rng(3)
    n_rows = 300
    few, codes = rng.integers(0, 3, n_rows), rng.integers(0, 12, n_rows)
    labels = (rng.random(n_rows) < expit(few - 1 + rng.normal(size=12)[codes])).astype(int)
    _, table = TableEncoder.learn(np.column_stack([few, codes]), categorical_features="all")
    patch.setattr(smooth_column, "N_BINS", most)
    for name, value in limits.items():
        patch.setattr(coefficient_solver, name, value)
    columns = SmoothColumns.of(table, np.ones(n_rows))
    assert isinstance(columns.columns[1].main, CentredLevels) == (most < 12)
    rows = np.arange(n_rows)
    splits = [(rows[rows % 3 != f], rows[rows % 3 == f]) for f in range(3)]
    made = solver(columns, SplitRows(table, labels, np.ones(n_rows), 2, splits))
    prepared = made.prepare(np.ones((4, columns.n_terms)))
    strengths = (0.5, 0.3, 5.0)
    fits = [
        *made.fit_folds(prepared, strengths, None, 1e-14, 200),
        made.fit_all(prepared, strengths, None, 1e-14, 200),
    ]
    degrees = made.evidence(prepared, [3], strengths, fits[3:])[1]
    return np.stack([expit(fit.scores) for fit in fits]), degrees


@pytest.mark.parametrize(
    "limits", [{}, {"MOST_EXACT": 5, "FEW_INVERTED": 6, "ENTRIES_PER_SCORE": 0}], ids=str
)
def test_both_ways_to_write_a_category_give_the_same_answers(monkeypatch, limits):
    decomposed, degrees = probabilities(CoefficientSolver, monkeypatch, 12, limits=limits)
    by_level, degrees_by_level = probabilities(CoefficientSolver, monkeypatch, 3, limits=limits)
    np.testing.assert_allclose(by_level, decomposed, rtol=0, atol=1e-6)
    np.testing.assert_allclose(degrees_by_level, degrees, rtol=1e-4 if not limits else 0.05, atol=0.02)
    by_rows, _ = probabilities(RowSpaceSolver, monkeypatch, 3, limits=limits)
    np.testing.assert_allclose(by_rows, decomposed, rtol=0, atol=1e-6)


def test_passes_over_pairs_of_a_category_of_many_levels_are_products_with_their_features(monkeypatch):
    monkeypatch.setattr(smooth_column, "N_BINS", 5)
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.choice(20, 400, p=np.arange(1, 21) / 210), rng.integers(0, 3, 400)])
    _, table = TableEncoder.learn(codes, categorical_features="all")
    columns = SmoothColumns.of(table, np.ones(400)).with_all_pairs(2)
    many, few = columns.columns
    assert np.count_nonzero(many.pair.any(axis=1)) == 5 < len(many.pair)
    pairs = many.pair_features(table)[:, :, None] * few.pair_features(table)[:, None]
    features = np.hstack(
        [np.ones((400, 1)), many.main_features(table), few.main_features(table), pairs.reshape(400, -1)]
    )
    design = ProjectedDesign(columns, table, 2)
    coefficients, residuals = rng.normal(size=(features.shape[1], 3)), rng.normal(size=(400, 3))
    np.testing.assert_allclose(design.scores(coefficients)[:, :3], features @ coefficients, atol=1e-12)
    np.testing.assert_allclose(design.adjoint(residuals), features.T @ residuals, atol=1e-11)
    np.testing.assert_allclose(design.squared_adjoint(residuals), (features**2).T @ residuals, atol=1e-11)
