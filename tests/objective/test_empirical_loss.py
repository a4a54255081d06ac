"""One compiled pass equals the formulas, for every number of classes, both losses, and folds side by side."""

import numpy as np
import pytest
from scipy.special import log_softmax

from seminaive.design.coefficients import Coefficients
from seminaive.design.fusion import FusedTerms
from seminaive.design.row_space import RowSpace
from seminaive.design.table_design import TableDesign
from seminaive.design.tied import TiedTerms
from seminaive.objective.blocked_loss import BlockedLoss, TableBlock, class_sums
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.statistics import Terms


def problem(n_classes, *, order=2, n_rows=3000, n_numbers=2, seed=0, n_threads=1, fusion=None, **options):
    rng = np.random.default_rng(seed)
    cardinalities = [2, 3, 5, 1, 4]
    codes = rng.integers(0, cardinalities, (n_rows, 5)).astype(np.uint8)
    numbers = rng.normal(size=(n_rows, n_numbers))
    labels = rng.integers(0, n_classes, n_rows)
    weights = rng.integers(0, 4, n_rows) * 0.5
    terms = Terms.up_to_order(cardinalities, order)
    fused = FusedTerms.of(codes, terms, **(fusion or {}))
    ones = np.ones(n_numbers)
    coefficients = Coefficients(terms, fused.observed, 0 * ones, ones, n_classes)
    design = TableDesign(coefficients, fused, numbers, n_threads)
    loss = EmpiricalLoss(design, labels, weights, n_classes, **options)
    coefficients = rng.normal(scale=0.3, size=loss.shape)
    return loss, coefficients, terms.cells(codes)


def plain(loss, coefficients, cells, objective):
    """Compute value and gradient by the formulas, from a matrix of indicators."""
    n_classes, observed = loss.n_classes, loss.design.fused.observed
    indicators = (cells[:, :, None] == observed).sum(axis=1)
    design = np.hstack([np.ones((len(cells), 1)), indicators, loss.design.numbers])
    scores = design @ coefficients
    if n_classes == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    truth = np.eye(n_classes)[loss.labels]
    weights = loss.row_weights[0]
    posterior = np.exp(log_softmax(scores, axis=1))
    error = posterior - truth
    if objective == "log-likelihood":
        value = -(weights[:, None] * truth * log_softmax(scores, axis=1)).sum()
        residuals = error
    else:
        value = 0.5 * (weights * (error**2).sum(axis=1)).sum()
        residuals = posterior * (error - (posterior * error).sum(axis=1, keepdims=True))
    residuals = residuals * weights[:, None]
    return value, design.T @ (residuals[:, 1:] if n_classes == 2 else residuals)


@pytest.mark.parametrize("objective", ["log-likelihood", "squared-error"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 9])
def test_the_fused_pass_equals_the_plain_formulas(n_classes, order, objective):
    loss, coefficients, cells = problem(n_classes, order=order, loss=objective)
    value, gradient = loss(coefficients)
    expected, expected_gradient = plain(loss, coefficients, cells, objective)
    # Sums of some thousand doubles in another order.
    assert value.item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("objective", ["log-likelihood", "squared-error"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_gradients_equal_finite_differences(n_classes, objective):
    loss, coefficients, _ = problem(n_classes, n_rows=60, order=1, loss=objective)
    _, gradient = loss(coefficients)
    step = 1e-5
    for position in np.ndindex(loss.shape):
        moved = np.zeros(loss.shape)
        moved[position] = step
        difference = (loss(coefficients + moved)[0] - loss(coefficients - moved)[0]) / (2 * step)
        # Rounding: 1e-16 times a loss of 100 over the step; curvature: the step squared.
        assert difference.item() == pytest.approx(gradient[position], abs=1e-7)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_the_pass_does_not_depend_on_the_number_of_threads(n_classes):
    one, coefficients, _ = problem(n_classes, n_rows=40_000)
    two, _, _ = problem(n_classes, n_rows=40_000, n_threads=2)
    assert one(coefficients)[0] == two(coefficients)[0]
    assert np.array_equal(one(coefficients)[1], two(coefficients)[1])


def test_the_pass_does_not_depend_on_the_fusion_budget():
    unfused, coefficients, _ = problem(4, fusion={"cell_budget": 1})
    fused, _, _ = problem(4, fusion={"cell_budget": 10_000, "expansion_share": 1e9})
    assert len(fused.design.fused.groups) < len(unfused.design.fused.groups)
    np.testing.assert_allclose(fused(coefficients)[1], unfused(coefficients)[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_scores_beyond_the_range_of_exponentials_give_the_same_loss(n_classes):
    loss, coefficients, cells = problem(n_classes)
    value, gradient = loss(coefficients * 500)
    expected, expected_gradient = plain(loss, coefficients * 500, cells, "log-likelihood")
    assert value.item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-9)


def test_extreme_scores_give_finite_losses():
    for n_classes in (2, 3):
        loss, coefficients, _ = problem(n_classes)
        value, gradient = loss(coefficients * 1e6)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


# Several weightings side by side


def weightings(n_classes, **options):
    """Return a loss of three weightings, one loss for each, coefficients and an offset for all."""
    loss, _, _ = problem(n_classes, n_rows=400)
    rng = np.random.default_rng(1)
    row_weights = rng.integers(0, 3, (3, 400)).astype(float)
    k = loss.shape[1]
    coefficients, offset = rng.normal(size=(loss.shape[0], 3 * k)), rng.normal(size=(400, 3 * k))
    joint = EmpiricalLoss(loss.design, loss.labels, row_weights, n_classes, offset=offset, **options)
    alone = [
        EmpiricalLoss(loss.design, loss.labels, row_weight, n_classes, offset=part)
        for row_weight, part in zip(row_weights, np.split(offset, 3, axis=1), strict=True)
    ]
    return joint, alone, coefficients


@pytest.mark.parametrize("keep_scores", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_weightings_side_by_side_equal_one_after_the_other(n_classes, keep_scores):
    joint, alone, coefficients = weightings(n_classes, keep_scores=keep_scores)
    for shift in (0.0, 1.0, 1.0):  # the last time, scores come from memory if they are kept
        values, gradient = joint(coefficients + shift)
        parts = np.split(coefficients + shift, 3, axis=1)
        expected = [one(part) for one, part in zip(alone, parts, strict=True)]
        np.testing.assert_allclose(values, [value.item() for value, _ in expected], rtol=1e-12)
        np.testing.assert_allclose(gradient, np.hstack([part for _, part in expected]), atol=1e-9)
        posteriors = [one.posterior(part)[:, 0] for one, part in zip(alone, parts, strict=True)]
        expected = np.stack(posteriors, axis=1)
        np.testing.assert_allclose(joint.posterior(coefficients + shift), expected, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_hessian_products_and_diagonals_equal_the_hessian(n_classes):
    joint, alone, coefficients = weightings(n_classes)
    direction = np.random.default_rng(2).normal(size=coefficients.shape)
    product = joint.hessian_product(coefficients)(direction)
    diagonal = joint.curvature(joint.row_curvature(coefficients))
    parts = (np.split(array, 3, axis=1) for array in (coefficients, direction, product, diagonal))
    for one, coefficients_, along, found, squares in zip(alone, *parts, strict=True):
        hessian = one.hessian(coefficients_)
        np.testing.assert_allclose(found.ravel(), hessian @ along.ravel(), atol=1e-8)
        np.testing.assert_allclose(squares.ravel(), np.diag(hessian), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_of_the_penalised_loss_equal_finite_differences(n_classes):
    joint, _, coefficients = weightings(n_classes)
    rng = np.random.default_rng(3)
    ridge = Ridge(rng.random((len(coefficients), 1)), rng.normal(size=coefficients.shape))
    objective = PenalisedLoss(joint, ridge)
    z = coefficients.reshape(len(coefficients), 3, -1)
    direction = rng.normal(size=z.shape)
    step = 1e-5
    (ahead, rising), (behind, falling) = objective(z + step * direction), objective(z - step * direction)
    slopes = np.einsum("rfc,rfc->f", objective(z)[1], direction)
    np.testing.assert_allclose(slopes, (ahead - behind) / (2 * step), rtol=1e-6)
    product = objective.hessian_product(z)(direction)
    np.testing.assert_allclose(product, (rising - falling) / (2 * step), atol=1e-5 * np.abs(product).max())


@pytest.mark.parametrize("strength", [0.0, 2.5])
@pytest.mark.parametrize("target", [0.0, 0.7])
def test_a_penalised_loss_is_the_loss_plus_the_formula_of_the_ridge(strength, target):
    loss, coefficients, _ = problem(3)
    strengths = strength * np.arange(len(coefficients), dtype=float)[:, None]
    away = coefficients - target
    expected, gradient = loss(coefficients)
    value, found = PenalisedLoss(loss, Ridge(strengths, target))(coefficients)
    np.testing.assert_allclose(value, expected + (strengths * away**2).sum() / 2, rtol=1e-13)
    np.testing.assert_allclose(found, gradient + strengths * away, rtol=1e-13)


def test_products_in_the_row_space_are_right_to_half_the_digits():
    loss, _, _ = problem(3, n_rows=200)
    codes = np.random.default_rng(0).integers(0, [2, 3, 5, 1, 4], (200, 5)).astype(np.uint8)
    space = RowSpace.of(loss.design, codes)
    rows = EmpiricalLoss(space, loss.labels, loss.row_weights, 3)
    at, along = np.random.default_rng(1).normal(size=(2, *rows.shape))
    hessian = rows.hessian(at)
    found = rows.hessian_product(at)(along).ravel()
    np.testing.assert_allclose(found, hessian @ along.ravel(), atol=1e-4 * np.abs(found).max())


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", ["log-likelihood", "squared-error"])
def test_rows_split_in_blocks_have_the_loss_and_gradient_of_the_whole(n_classes, name):
    whole, coefficients, _ = problem(n_classes)
    loss = EmpiricalLoss(whole.design, whole.labels, whole.row_weights, n_classes, loss=name)
    design = loss.design
    blocks = [
        [
            TableBlock(
                np.ascontiguousarray(design.fused.cells[:, rows]),
                design.fused.offsets,
                design.numbers[rows],
                loss.labels[rows],
                loss.row_weights[0, rows],
            )
            for rows in together
        ]
        for together in ([slice(0, 700)], [slice(700, 1200), slice(1200, 3000)])
    ]
    no_cells = np.empty((len(design.fused.cells), 0), np.uint32)
    empty = TableDesign(design.coefficients, design.fused.with_cells(no_cells), design.numbers[:0])
    blocked = BlockedLoss(
        empty,
        lambda work, *given: (work(block, *given) for block in blocks),
        loss.squared_columns(),
        n_classes,
        name,
    )
    for _ in range(2):  # the second pass finds the arrays of the first
        value, gradient = blocked(coefficients)
        expected, expected_gradient = loss(coefficients)
        scale = np.abs(expected_gradient).max()
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-13, atol=1e-13 * scale)
    if name == "log-likelihood":
        columns = design.coefficients.first_order
        np.testing.assert_allclose(blocked.gram(columns), loss.gram(columns), rtol=1e-12, atol=1e-9)
        hessian, expected = blocked.hessian(coefficients), loss.hessian(coefficients)
        np.testing.assert_allclose(hessian, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
        along = np.random.default_rng(0).normal(size=blocked.shape)
        product = loss.hessian_product(coefficients)(along)
        # Products that only steer a search have the digits of single floats.
        found = blocked.hessian_product(coefficients)(along)
        np.testing.assert_allclose(found, product, atol=1e-5 * np.abs(product).max())
    parts = [class_sums(block, n_classes) for block in blocks]
    tables, class_weight, squares = (a + b for a, b in zip(*parts, strict=True))
    estimate = design.generative_estimate(loss.labels, loss.row_weights[0])
    summed = empty.estimate_of(tables, class_weight)
    np.testing.assert_allclose(summed.cell_weight, estimate.cell_weight, rtol=1e-13)
    np.testing.assert_allclose(squares, loss.squared_columns()[-len(squares) :, 0], rtol=1e-13)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_of_tied_weights_equal_finite_differences(n_classes):
    rng = np.random.default_rng(0)
    k = 1 if n_classes == 2 else n_classes
    design = TiedTerms(rng.normal(size=(4, 200, k)))
    offset = rng.normal(size=(200, k))
    loss = EmpiricalLoss(design, rng.integers(0, n_classes, 200), rng.random(200), n_classes, offset=offset)
    at, step = rng.random((4, 1)), 1e-5
    assert loss.shape == (4, 1)
    _, gradient = loss(at)
    hessian = loss.hessian(at)
    for j, unit in enumerate(np.eye(4)):
        (ahead, rising), (behind, falling) = (loss(at + sign * step * unit[:, None]) for sign in (1, -1))
        assert (ahead - behind).item() / (2 * step) == pytest.approx(gradient[j, 0], rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(hessian[:, j], (rising - falling)[:, 0] / (2 * step), rtol=1e-5)
