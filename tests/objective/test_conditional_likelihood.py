"""One compiled pass equals the formulas, for every number of classes and both objectives."""

import numpy as np
import pytest
from scipy.special import log_softmax

from seminaive.design.fusion import FusedTerms
from seminaive.objective.conditional_likelihood import ConditionalLoss
from seminaive.statistics import Terms


def problem(n_classes, *, order=2, n_rows=3000, n_numbers=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    cardinalities = [2, 3, 5, 1, 4]
    codes = rng.integers(0, cardinalities, (n_rows, 5)).astype(np.uint8)
    numbers = rng.normal(size=(n_rows, n_numbers))
    labels = rng.integers(0, n_classes, n_rows)
    weights = rng.integers(0, 4, n_rows) * 0.5
    terms = Terms.up_to_order(cardinalities, order)
    fused = FusedTerms.of(codes, terms, **options.pop("fusion", {}))
    loss = ConditionalLoss(fused, numbers, labels, weights, n_classes, **options)
    coefficients = rng.normal(scale=0.3, size=loss.shape)
    return loss, coefficients, terms.cells(codes)


def plain(loss, coefficients, cells, objective):
    """Compute value and gradient by the formulas, from a matrix of indicators."""
    n_classes, observed = loss.n_classes, loss.fused.observed
    indicators = (cells[:, :, None] == observed).sum(axis=1)
    design = np.hstack([np.ones((len(cells), 1)), indicators, loss.numbers])
    scores = design @ coefficients
    if n_classes == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    truth = np.eye(n_classes)[loss.labels]
    weights = loss.row_weight
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
    loss, coefficients, cells = problem(n_classes, order=order, objective=objective)
    value, gradient = loss(coefficients)
    expected, expected_gradient = plain(loss, coefficients, cells, objective)
    # Sums of some thousand doubles in another order.
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("objective", ["log-likelihood", "squared-error"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_gradients_equal_finite_differences(n_classes, objective):
    loss, coefficients, _ = problem(n_classes, n_rows=60, order=1, objective=objective)
    _, gradient = loss(coefficients)
    step = 1e-5
    for position in np.ndindex(loss.shape):
        moved = np.zeros(loss.shape)
        moved[position] = step
        difference = (loss(coefficients + moved)[0] - loss(coefficients - moved)[0]) / (2 * step)
        # Rounding: 1e-16 times a loss of 100 over the step; curvature: the step squared.
        assert difference == pytest.approx(gradient[position], abs=1e-7)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_the_pass_does_not_depend_on_the_number_of_threads(n_classes):
    one, coefficients, _ = problem(n_classes, n_rows=40_000)
    two, _, _ = problem(n_classes, n_rows=40_000, n_threads=2)
    assert one(coefficients)[0] == two(coefficients)[0]
    assert np.array_equal(one(coefficients)[1], two(coefficients)[1])


def test_the_pass_does_not_depend_on_the_fusion_budget():
    unfused, coefficients, _ = problem(4, fusion={"cell_budget": 1})
    fused, _, _ = problem(4, fusion={"cell_budget": 10_000, "expansion_share": 1e9})
    assert len(fused.fused.groups) < len(unfused.fused.groups)
    np.testing.assert_allclose(fused(coefficients)[1], unfused(coefficients)[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_scores_beyond_the_range_of_exponentials_give_the_same_loss(n_classes):
    loss, coefficients, cells = problem(n_classes)
    value, gradient = loss(coefficients * 500)
    expected, expected_gradient = plain(loss, coefficients * 500, cells, "log-likelihood")
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-10, atol=1e-9)


def test_extreme_scores_give_finite_losses():
    for n_classes in (2, 3):
        loss, coefficients, _ = problem(n_classes)
        value, gradient = loss(coefficients * 1e6)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()
