"""Kernels of low-rank tables and of piecewise-linear curves equal their NumPy formulas."""

import numpy as np
import pytest

from seminaive.kernels import projection


def two_terms(n_columns, seed=0):
    """Return described terms (a pair of 4 by 3 codes, then 5 codes alone), functions and coefficients."""
    rng = np.random.default_rng(seed)
    left, right, single = rng.normal(size=(4, 2)), rng.normal(size=(3, 3)), rng.normal(size=(5, 2))
    functions = np.concatenate([np.ones(1), left.ravel(), right.ravel(), single.ravel()])
    terms = np.array([[1, 4, 2, 9, 3, 3, 1, 0], [18, 5, 2, 0, 1, 1, 7, 12]])
    return terms, functions, rng.normal(size=(9, n_columns)), (left, right, single)


@pytest.mark.parametrize("n_columns", [1, 4, 8])
def test_expanding_gives_products_of_functions_and_coefficients(n_columns):
    terms, functions, coefficients, (left, right, single) = two_terms(n_columns)
    tables = np.full((17, n_columns), np.nan)
    projection.expand_pairs(terms, functions, coefficients, tables)
    pair = np.einsum("aq,qrc,br->abc", left, coefficients[1:7].reshape(2, 3, -1), right)
    np.testing.assert_allclose(tables[:12], pair.reshape(12, -1), rtol=1e-12)
    np.testing.assert_allclose(tables[12:], single @ coefficients[7:], rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 4, 8])
def test_projecting_is_adjoint_to_expanding(n_columns):
    terms, functions, coefficients, _ = two_terms(n_columns)
    tables, found = np.zeros((17, n_columns)), np.zeros_like(coefficients)
    projection.expand_pairs(terms, functions, coefficients, tables)
    values = np.random.default_rng(1).normal(size=tables.shape)
    projection.project_pairs(terms, functions, values, found)
    assert np.vdot(values, tables) == pytest.approx(np.vdot(found, coefficients), rel=1e-12)
    assert (found[0] == 0).all()


@pytest.mark.parametrize("n_columns", [1, 4, 8])
def test_curves_are_interpolated_and_their_adjoint_spreads(n_columns):
    rng = np.random.default_rng(2)
    n, d, start = 2 * projection.ROWS + 50, projection.CURVES + 2, 30
    x, knots = rng.uniform(-1, 6, (d, start + n)), np.arange(5.0)
    clipped = x.clip(0, 4)
    levels = np.minimum(clipped.astype(np.uint8), 4)
    along = clipped - levels
    values, starts = rng.normal(size=(6 * d, n_columns)), np.arange(0, 6 * d, 6)
    scores = np.ones((n, n_columns))
    projection.interpolate(levels, along, starts, values, start, scores)
    curves = [
        np.stack([np.interp(of_curve[start:], knots, v[first : first + 5]) for v in values.T], axis=1)
        for of_curve, first in zip(x, starts, strict=True)
    ]
    np.testing.assert_allclose(scores, 1 + sum(curves), atol=1e-13)
    residuals, sums = rng.normal(size=(n, n_columns)), np.zeros_like(values)
    of_rows = levels[:, start:].copy(), along[:, start:].copy()
    projection.spread_to_knots(*of_rows, starts, residuals, 0, d - 1, sums)
    assert not sums[6 * (d - 1) :].any()  # what another thread may write
    projection.spread_to_knots(*of_rows, starts, residuals, d - 1, d, sums)
    assert np.vdot(sums, values) == pytest.approx(np.vdot(residuals, scores - 1), rel=1e-10)
