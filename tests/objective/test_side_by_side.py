"""Losses side by side equal each loss alone; their products equal its Hessian; preconditioners invert."""

import numpy as np
import pytest

from seminaive.design.fusion import FusedTerms
from seminaive.objective.conditional_likelihood import ConditionalLoss
from seminaive.objective.preconditioner import CoarseSpace
from seminaive.objective.side_by_side import SideBySideLoss, SideBySideObjective
from seminaive.statistics import Terms


def losses(n_classes, n_rows=400, seed=0):
    """Return a loss, three weightings of its rows, coefficients and an offset for each."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 3, 4], (n_rows, 3)).astype(np.uint8)
    fused = FusedTerms.of(codes, Terms.up_to_order([2, 3, 4], 2))
    labels = rng.integers(0, n_classes, n_rows)
    loss = ConditionalLoss(fused, rng.normal(size=(n_rows, 2)), labels, np.ones(n_rows), n_classes)
    row_weights = rng.integers(0, 3, (3, n_rows)).astype(float)
    width = loss.shape[1]
    coefficients = rng.normal(size=(loss.shape[0], 3 * width))
    return loss, row_weights, coefficients, rng.normal(size=(n_rows, 3 * width))


def each_alone(loss, row_weights, offset):
    """Return a loss per weighting."""
    parts = np.split(offset, len(row_weights), axis=1)
    return [
        ConditionalLoss(loss.fused, loss.numbers, loss.labels, weights, loss.n_classes, offset=own)
        for weights, own in zip(row_weights, parts, strict=True)
    ]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_side_by_side_equals_one_after_the_other(n_classes):
    loss, row_weights, coefficients, offset = losses(n_classes)
    joint = SideBySideLoss(loss, row_weights, offset)
    alone = each_alone(loss, row_weights, offset)
    for shift in (0.0, 1.0, 1.0):  # the last time from memory
        values, gradient = joint.each(coefficients + shift)
        parts = np.split(coefficients + shift, 3, axis=1)
        expected = [one(own) for one, own in zip(alone, parts, strict=True)]
        np.testing.assert_allclose(values, [value for value, _ in expected], rtol=1e-12)
        np.testing.assert_allclose(gradient, np.hstack([part for _, part in expected]), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_products_with_the_curvature_equal_those_with_the_hessian(n_classes):
    loss, row_weights, coefficients, offset = losses(n_classes)
    joint = SideBySideLoss(loss, row_weights, offset)
    direction = np.random.default_rng(1).normal(size=coefficients.shape)
    product = joint.curvature_product(coefficients)(direction)
    diagonal = joint.curvature(joint.row_curvature(coefficients))
    parts = (np.split(array, 3, axis=1) for array in (coefficients, direction, product, diagonal))
    for one, own, along, found, squares in zip(each_alone(loss, row_weights, offset), *parts, strict=True):
        hessian = one.hessian(own)
        np.testing.assert_allclose(found.ravel(), hessian @ along.ravel(), atol=1e-8)
        np.testing.assert_allclose(squares.ravel(), np.diag(hessian), atol=1e-8)


def test_products_of_numbers_alone_are_right_to_half_the_digits():
    loss, row_weights, _, _ = losses(3)
    fused = FusedTerms(
        np.empty(0, np.int64), np.empty((0, 400), np.uint32), np.zeros(1, np.int64), (), (), ()
    )
    plain = ConditionalLoss(fused, loss.numbers, loss.labels, loss.row_weight, 3)
    joint = SideBySideLoss(plain, row_weights)
    at, along = np.random.default_rng(1).normal(size=(2, *joint.shape))
    found = joint.curvature_product(at)(along)
    for number, weights in enumerate(row_weights):
        columns = slice(3 * number, 3 * number + 3)
        hessian = plain.reweighted(weights).hessian(at[:, columns])
        np.testing.assert_allclose(found[:, columns].ravel(), hessian @ along[:, columns].ravel(), rtol=1e-4)


def test_the_gradient_of_the_objective_equals_finite_differences():
    loss, row_weights, coefficients, offset = losses(3)
    joint = SideBySideLoss(loss, row_weights, offset)
    rng = np.random.default_rng(2)
    strength, target = rng.random(len(coefficients)), rng.normal(size=coefficients.shape)
    objective = SideBySideObjective(joint, strength, target, lambda gradient: gradient)
    z = coefficients.reshape(len(coefficients), 3, 3)
    direction = rng.normal(size=z.shape)
    _, gradient = objective(z)
    step = 1e-5
    ahead, behind = objective(z + step * direction)[0], objective(z - step * direction)[0]
    slopes = np.einsum("rfc,rfc->f", gradient, direction)
    np.testing.assert_allclose(slopes, (ahead - behind) / (2 * step), rtol=1e-6)
    change = objective(z + step * direction)[1] - objective(z - step * direction)[1]
    product = objective.curvature_product(z)(direction)
    np.testing.assert_allclose(product, change / (2 * step), atol=1e-5 * np.abs(product).max())


def test_a_preconditioner_whose_directions_are_all_is_the_inverse():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(50, 4))
    weights = rng.random((50, 2))
    strength = rng.random(4)
    space = CoarseSpace(np.arange(4), np.zeros((4, 0)), lambda own: design.T @ (design * own[:, None]))
    inverse = space.preconditioner(strength, 0.0, weights, np.ones((4, 6)))
    gradient = rng.normal(size=(4, 6))
    for column, step in enumerate(inverse(gradient).T):
        matrix = design.T @ (design * weights[:, [column % 2]]) + np.diag(strength)
        np.testing.assert_allclose(matrix @ step, gradient[:, column], rtol=1e-6)


def test_a_preconditioner_is_symmetric_and_positive():
    rng = np.random.default_rng(0)
    design = rng.normal(size=(50, 6))
    lift = np.zeros((8, 2))
    lift[4:] = rng.normal(size=(4, 2))
    space = CoarseSpace(np.arange(4), lift, lambda own: design.T @ (design * own[:, None]))
    precondition = space.preconditioner(np.ones(8), 2.0, rng.random((50, 1)), rng.random((8, 1)))
    matrix = np.hstack([precondition(column[:, None]) for column in np.eye(8)])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
    assert np.linalg.eigvalsh(matrix).min() > 0
