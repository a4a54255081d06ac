"""Coefficients of rows: the same scores as those of cells, also where cells are no evidence."""

import numpy as np
import pytest

from seminaive import HigherOrderLogisticRegression, HigherOrderLogisticRegressionCV
from seminaive.design.row_space import RowSpace
from seminaive.design.table_design import TableDesign


def table_with_gaps(n_rows=150, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n_rows, 4)).astype(float)
    y = ((X[:, 0] == X[:, 1]) + 2 * (X[:, 2] == 1) + (rng.random(n_rows) < 0.2)).astype(int) % n_classes
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def designs_with_gaps(order, missing):
    X, y = table_with_gaps()
    model = HigherOrderLogisticRegression(categorical_features="all", missing=missing)
    rows = model._encode_training(X, y, None)
    design = TableDesign.of(rows.table, rows.weights, 3, order=order, hierarchical=True)
    return design, RowSpace.of(design, rows.table.codes)


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_features_and_the_cells_they_stand_for_give_rows_the_same_scores(order, missing):
    design, space = designs_with_gaps(order, missing)
    assert design.fixed.any() == (missing == "neutral")
    coefficients = np.random.default_rng(1).normal(size=(space.n_coefficients, 3))
    expanded = space.expand(coefficients)
    assert not expanded[design.fixed].any()
    # Features whose products are below 1e-11 of the largest are dropped, and amplify rounding by 3e5.
    np.testing.assert_allclose(design.scores(expanded), space.scores(coefficients), atol=1e-8)
    np.testing.assert_allclose(space.compress(expanded), coefficients, atol=1e-8)


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_ridge_of_features_is_that_of_the_cells_they_stand_for(order, missing):
    design, space = designs_with_gaps(order, missing)
    coefficients = np.random.default_rng(1).normal(size=(space.n_coefficients, 3))
    expanded = space.expand(coefficients)
    of_space, cells = (np.minimum(orders, 2) for orders in (space.orders, design.orders))
    for kind in range(3):
        squares = (expanded[cells == kind] ** 2).sum()
        np.testing.assert_allclose((coefficients[of_space == kind] ** 2).sum(), squares, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", [2, 3])
def test_with_neutral_gaps_the_search_over_rows_finds_the_model_of_its_strengths(n_classes, order):
    X, y = table_with_gaps(n_classes=n_classes)
    options = {"order": order, "categorical_features": "all", "missing": "neutral", "tol": 1e-8}
    # One trial: an average of several has the strengths of none.
    given = {"first_ridges": (1.0,), "ridges": (5.0,), "number_shares": (1.0,), "generative_shares": (0.25,)}
    searched = HigherOrderLogisticRegressionCV(**options, **given).fit(X, y)
    plain = HigherOrderLogisticRegression(
        ridge=searched.ridge_, generative_share=searched.generative_share_, hierarchical=True, **options
    ).fit(X, y)
    assert searched.gradient_norm_ <= 1e-8
    assert plain.gradient_norm_ <= 1e-8
    assert searched.objective_ == pytest.approx(plain.objective_, rel=1e-8)
    expected = searched.fit_share_ * plain.scores_.tables
    np.testing.assert_allclose(searched.scores_.tables, expected, atol=1e-5)
