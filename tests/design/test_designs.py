"""Laws of every design: adjoint, Gram matrix, squares, rows that add up, coefficients to scores and back."""

import numpy as np
import pytest

from seminaive import NaiveBayes
from seminaive.design.dense import DenseDesign
from seminaive.design.projected import ProjectedDesign
from seminaive.design.row_space import RowSpace
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.design.table_design import TableDesign
from seminaive.design.tied import TiedTerms
from seminaive.encode import TableEncoder


def mixed(n_rows=300, seed=0):
    """Three categories and two numbers with missing cells, encoded, and three classes."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, (n_rows, 3)), rng.normal(size=(n_rows, 2))]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    _, table = TableEncoder.learn(
        X, categorical_features=[0, 1, 2], missing="neutral", cut_rule=lambda *_: np.array([-0.5, 0.5])
    )
    return X, table, rng.integers(0, 3, n_rows)


def table_design(order=2, **options):
    _, table, _ = mixed()
    return TableDesign.of(table, np.ones(len(table)), 3, order=order, hierarchical=True, **options)


def row_space(order=2):
    _, table, _ = mixed()
    return RowSpace.of(table_design(order), table.codes)


def tied_terms():
    X, _, y = mixed()
    model = NaiveBayes(categorical_features=[0, 1, 2]).fit(X, y)
    return TiedTerms.of(model.scores_, model.encode(X))


def projected():
    _, table, _ = mixed()
    columns = SmoothColumns.of(table, np.ones(len(table))).with_all_pairs(3)
    return ProjectedDesign(columns, table, 3)


def matrix():
    return DenseDesign(dense(projected()))


DESIGNS = {
    "table": table_design,
    "row space": row_space,
    "tied": tied_terms,
    "projected": projected,
    "dense": matrix,
}


def n_columns(design):
    """Tied terms have one column of weights for all classes."""
    return (1, 3) if isinstance(design, TiedTerms) else (3, 3)


def dense(design):
    """Return X with one row per table row (and class, where classes share a column)."""
    columns, _ = n_columns(design)
    units = np.eye(design.n_coefficients)
    if columns == 1:
        return np.stack([design.scores(unit[:, None]).ravel() for unit in units], axis=1)
    return np.stack([design.scores(np.repeat(unit[:, None], 3, axis=1))[:, 0] for unit in units], axis=1)


@pytest.mark.parametrize("kind", DESIGNS)
def test_scores_and_adjoint_are_adjoint(kind):
    design = DESIGNS[kind]()
    rng = np.random.default_rng(1)
    columns, scores = n_columns(design)
    B, R = rng.normal(size=(design.n_coefficients, columns)), rng.normal(size=(design.n_rows, scores))
    left, right = np.vdot(design.scores(B), R), np.vdot(B, design.adjoint(R))
    assert left == pytest.approx(right, rel=1e-12)


@pytest.mark.parametrize("kind", DESIGNS)
def test_the_workspace_gives_the_same_products(kind):
    design = DESIGNS[kind]()
    columns, _ = n_columns(design)
    B = np.random.default_rng(2).normal(size=(design.n_coefficients, columns))
    space = design.workspace(columns)
    seen = space.score(B, lambda rows, scores: (rows.start, scores[0, 0]))
    np.testing.assert_allclose(space.values, design.scores(B), rtol=1e-12)
    assert seen[0][0] == 0
    np.testing.assert_allclose(space.adjoint(), design.adjoint(design.scores(B)), rtol=1e-12)


@pytest.mark.parametrize("kind", DESIGNS)
def test_gram_and_squares_equal_the_dense_product(kind):
    design = DESIGNS[kind]()
    row_weight = np.random.default_rng(3).random(design.n_rows)
    X = dense(design)
    weights = np.repeat(row_weight, len(X) // design.n_rows)
    expected = X.T @ (X * weights[:, None])
    # Sums of some hundred doubles in another order.
    np.testing.assert_allclose(design.gram(row_weight), expected, atol=1e-10 * np.abs(expected).max())
    some = np.arange(design.n_coefficients)[::3]
    np.testing.assert_allclose(
        design.gram(row_weight, some), expected[np.ix_(some, some)], atol=1e-10 * np.abs(expected).max()
    )
    _, scores = n_columns(design)
    squares = design.squared_adjoint(np.repeat(row_weight[:, None], scores, axis=1))
    np.testing.assert_allclose(squares[:, 0], np.diag(expected), rtol=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_table_design_equals_its_indicators(order):
    _, table, _ = mixed()
    design = table_design(order)
    coefficients = design.coefficients
    cells = coefficients.terms.cells(table.codes)
    indicators = (cells[:, :, None] == coefficients.cells).any(axis=1)
    np.testing.assert_array_equal(
        dense(design)[:, : 1 + len(coefficients.cells)], np.c_[np.ones(len(table)), indicators]
    )


def test_rows_split_in_blocks_add_up_to_the_whole():
    _, table, _ = mixed()
    whole = table_design()
    R = np.random.default_rng(4).normal(size=(len(table), 3))
    total = np.zeros((1 + whole.coefficients.terms.n_cells, 3))
    for rows in (slice(0, 100), slice(100, 300)):
        part = TableDesign.of(table.rows(rows), np.ones(len(R[rows])), 3, order=2, hierarchical=True)
        block = part.adjoint(R[rows])
        total[0] += block[0]
        total[1 + part.coefficients.cells] += block[1 : 1 + len(part.coefficients.cells)]
    found = whole.adjoint(R)
    np.testing.assert_allclose(total[0], found[0], atol=1e-10)
    cells = whole.coefficients.cells
    np.testing.assert_allclose(total[1 + cells], found[1 : 1 + len(cells)], atol=1e-10)


@pytest.mark.parametrize("most_dense_bytes", [0, 1 << 30])
def test_coefficients_become_additive_scores_of_the_same_value(monkeypatch, most_dense_bytes):
    from seminaive.design import coefficients as module

    monkeypatch.setattr(module, "MOST_DENSE_BYTES", most_dense_bytes)
    _, table, y = mixed()
    design = table_design()
    coefficients = design.coefficients
    B = np.random.default_rng(5).normal(size=(len(coefficients), 3))
    B[coefficients.fixed] = 0.0
    estimate = design.generative_estimate(y, np.ones(len(y)))
    scores = coefficients.to_scores(B, estimate.cell_weight.sum(axis=1))
    np.testing.assert_allclose(scores.joint_log_scores(table), design.scores(B), atol=1e-10)
