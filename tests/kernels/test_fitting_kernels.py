"""Kernels of passes over the rows equal their NumPy formulas: fusion, losses, Gram matrices, descent."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from seminaive.kernels import compiled_log_loss, descent, hessian
from seminaive.kernels import fused_passes as fusion
from seminaive.kernels import vector_updates as conjugate_gradient


def grouped(n_rows=60, n_groups=6, cells_of_group=5, n_columns=4, seed=0):
    """Return cells (groups, rows), a table of all groups' cells, and values of the rows."""
    rng = np.random.default_rng(seed)
    cells = (
        rng.integers(0, cells_of_group, (n_groups, n_rows)) + cells_of_group * np.arange(n_groups)[:, None]
    )
    tables = rng.normal(size=(n_groups * cells_of_group, n_columns))
    return cells.astype(np.uint32), tables, rng.normal(size=(n_rows, n_columns))


@pytest.mark.parametrize("n_columns", [1, 4, 8])
@pytest.mark.parametrize("n_groups", [1, 4, 6])
@pytest.mark.parametrize("own_base", [False, True])
def test_gather_adds_a_cell_of_each_group_to_the_base(n_groups, n_columns, own_base):
    cells, tables, base = grouped(n_groups=n_groups, n_columns=n_columns)
    base = base if own_base else base[:1]
    scores = np.full((60, n_columns), np.nan)
    fusion.gather(cells, tables, base, 10, 50, scores)
    expected = base + tables[cells].sum(axis=0) if own_base else base[0] + tables[cells].sum(axis=0)
    np.testing.assert_allclose(scores[10:50], expected[10:50], rtol=1e-12)
    assert np.isnan(scores[:10]).all()


@pytest.mark.parametrize("n_columns", [1, 4, 8])
@pytest.mark.parametrize("groups", [(0, 6), (1, 6), (2, 3)])
def test_scatter_adds_each_row_to_its_cell_of_some_groups(groups, n_columns):
    cells, _, residuals = grouped(n_columns=n_columns)
    found, expected = np.zeros((30, n_columns)), np.zeros((30, n_columns))
    fusion.scatter(cells, residuals, *groups, found)
    for g in range(*groups):
        np.add.at(expected, cells[g], residuals)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 4])
def test_expanding_and_marginalising_are_adjoint(n_columns):
    rng = np.random.default_rng(1)
    members = rng.integers(0, 7, (5, 3)).astype(np.int32)
    parameters, gradient = rng.normal(size=(7, n_columns)), np.zeros((7, n_columns))
    fused = np.zeros((8, n_columns))
    fusion.expand(members, parameters, 2, fused)
    np.testing.assert_allclose(fused[2:7], parameters[members].sum(axis=1), rtol=1e-12)
    values = rng.normal(size=(8, n_columns))
    fusion.marginalise(members, values, 2, gradient)
    assert np.vdot(values[2:7], fused[2:7]) == pytest.approx(np.vdot(gradient, parameters), rel=1e-12)


def test_class_weights_fall_into_the_column_of_the_class():
    cells, _, _ = grouped()
    rng = np.random.default_rng(2)
    labels, weights = rng.integers(0, 3, 60), rng.random(60)
    found, expected = np.zeros((30, 4)), np.zeros((30, 4))
    fusion.scatter_classes(cells, labels, weights, found)
    for column in cells:
        np.add.at(expected, (column, labels), weights)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_joint_values_are_numbered_by_appearance():
    rng = np.random.default_rng(3)
    cells, column = rng.integers(0, 3, 40), rng.integers(0, 4, 40).astype(np.uint8)
    joint = np.empty(40, np.int64)
    first = fusion.join_column(cells, 3, column, 4, joint)
    keys = cells * 4 + column
    assert len(first) == len(np.unique(keys))
    assert (keys[first][joint] == keys).all()
    assert (np.diff(first) > 0).all()
    sizes = np.zeros(1, np.int64)
    fusion.joint_sizes(cells, 3, column[:, None], np.array([4]), np.array([True]), 100, sizes)
    assert sizes[0] == len(first)


def test_gains_count_the_terms_that_one_more_column_completes():
    columns = np.array([[0, -1], [0, 1], [1, 2], [2, 3]])
    gains = np.zeros(4, np.int64)
    complete = fusion.covering_gains(columns, np.ones(4, bool), np.array([True, False, True, False]), gains)
    assert complete == 1
    assert gains.tolist() == [0, 2, 0, 1]


def rows_of_scores(n_classes, scale=3.0, seed=0):
    rng = np.random.default_rng(seed)
    scores = scale * rng.normal(size=(700, n_classes))
    return scores, rng.integers(0, n_classes, 700), rng.random(700)


@pytest.mark.parametrize("scale", [3.0, 500.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_residuals_and_losses_equal_the_formulas(n_classes, scale):
    scores, labels, weights = rows_of_scores(n_classes, scale)
    if n_classes == 2:
        scores[:, 0] = 0.0
    p, truth = softmax(scores, axis=1), np.eye(n_classes)[labels]
    log_loss = -weights @ log_softmax(scores, axis=1)[np.arange(700), labels]
    error = p - truth
    squared = 0.5 * weights @ (error**2).sum(axis=1)
    slopes = weights[:, None] * p * (error - (p * error).sum(axis=1, keepdims=True))
    for kind, value, derivative in (
        ("log_loss", log_loss, weights[:, None] * error),
        ("squared_error", squared, slopes),
    ):
        if n_classes == 2:
            residuals = scores[:, 1].copy()
            found = getattr(compiled_log_loss, f"binary_{kind}_residuals")(residuals, labels, weights)
            expected = derivative[:, 1]
        else:
            residuals = np.zeros((700, -4 * (-n_classes // 4)))
            residuals[:, :n_classes] = scores
            found = getattr(compiled_log_loss, f"{kind}_residuals")(residuals, labels, weights, n_classes)
            residuals, expected = residuals[:, :n_classes], derivative
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(residuals, expected, rtol=1e-10, atol=1e-14)


def test_pair_counts_equal_products_of_indicators():
    rng = np.random.default_rng(5)
    n, weights = 50, rng.random(50)
    cells, other_cells = rng.integers(0, 4, n).astype(np.uint32), rng.integers(0, 3, n).astype(np.uint32)
    members, other = rng.permuted(np.tile(np.arange(6), (4, 1)), axis=1)[:, :2], np.array([[0], [1], [1]])
    members, other = members.astype(np.uint32), other.astype(np.uint32)
    A = np.zeros((n, 6))
    A[np.arange(n)[:, None], members[cells]] = 1.0
    B = np.zeros((n, 2))
    B[np.arange(n), other[other_cells][:, 0]] = 1.0
    block, table, spread = np.zeros((6, 2)), np.zeros((4, 2)), np.zeros((6, 2))
    hessian.cross_members(cells, members, other_cells, other, weights, block)
    np.testing.assert_allclose(block, A.T @ (B * weights[:, None]), atol=1e-12)
    hessian.cross_cells(cells, other_cells, other, weights, table)
    hessian.spread_members(members, table, spread)
    np.testing.assert_allclose(spread, block, atol=1e-12)
    totals, gram = np.zeros(4), np.zeros((6, 6))
    hessian.weigh_cells(cells, weights, totals)
    hessian.pair_members(members, totals, gram)
    np.testing.assert_allclose(gram, A.T @ (A * weights[:, None]), atol=1e-12)
    lower = np.zeros((6, 6))
    hessian.count_pairs(np.sort(members[cells], axis=1), weights, lower)
    np.testing.assert_allclose(lower + np.tril(lower, -1).T, gram, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_descent_takes_the_adagrad_steps_of_a_plain_loop(n_classes):
    rng = np.random.default_rng(6)
    k = 1 if n_classes == 2 else n_classes
    codes = rng.integers(0, 3, (12, 2)).astype(np.uint8)
    numbers, labels, weights = rng.normal(size=(12, 1)), rng.integers(0, n_classes, 12), rng.random(12)
    # Terms (0,) and (0, 1) over two columns of two values and no evidence.
    places = np.column_stack([1 + codes[:, 0], 1 + 3 + 3 * codes[:, 0] + codes[:, 1]]).astype(np.int64)
    shape = (1 + 12 + 1, k)
    strength, target, scale = rng.random(shape), rng.normal(size=shape), rng.random(shape)
    found, squares = rng.normal(size=shape), np.zeros(shape)
    expected, sums = found.copy(), squares.copy()
    descent.descend(places, numbers, labels, weights, 0.1, strength, target, scale, found, squares)
    for i in range(12):
        a, b = (int(code) for code in codes[i])
        visited = {0: 1.0, 1 + a: 1.0, 1 + 3 + 3 * a + b: 1.0, 13: numbers[i, 0]}
        s = sum(x * expected[p] for p, x in visited.items())
        s = np.array([0.0, s[0]]) if k == 1 else s
        residual = weights[i] * (softmax(s) - np.eye(n_classes)[labels[i]])
        residual = residual[1:] if k == 1 else residual
        for p, x in visited.items():
            g = x * residual + strength[p] * (expected[p] - target[p])
            sums[p] += g**2
            expected[p] -= 0.1 * scale[p] * g / np.sqrt(sums[p])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(squares, sums, rtol=1e-10)


def test_second_derivatives_of_the_softmax_loss_equal_the_formula():
    rng = np.random.default_rng(0)
    posterior = rng.dirichlet(np.ones(3), size=(6, 2))
    row_weight, scores = rng.random((6, 2)), rng.normal(size=(6, 8))
    weights = np.zeros((6, 8))
    weights[:, :6] = (row_weight[:, :, None] * posterior).reshape(6, 6)
    expected = np.zeros((6, 8))
    for f in range(2):
        block = slice(3 * f, 3 * f + 3)
        for i, p in enumerate(posterior[:, f]):
            expected[i, block] = row_weight[i, f] * (np.diag(p) - np.outer(p, p)) @ scores[i, block]
    compiled_log_loss.softmax_curvature(posterior, weights, scores)
    np.testing.assert_allclose(scores, expected, atol=1e-14)


def test_conjugate_gradient_updates_equal_the_formulas():
    rng = np.random.default_rng(7)
    a, b, c, d = rng.normal(size=(4, 5, 3, 2))
    step, products = rng.normal(size=3), np.empty(3)
    conjugate_gradient.dot_each(a, b, products)
    np.testing.assert_allclose(products, np.einsum("ifk,ifk->f", a, b), rtol=1e-12)
    solution, residual, direction = c.copy(), d.copy(), a.copy()
    conjugate_gradient.update_solution(step, a, b, solution, residual)
    np.testing.assert_allclose(solution, c + step[:, None] * a, rtol=1e-12)
    np.testing.assert_allclose(residual, d - step[:, None] * b, rtol=1e-12)
    conjugate_gradient.update_direction(step, b, direction)
    np.testing.assert_allclose(direction, b + step[:, None] * a, rtol=1e-12)
