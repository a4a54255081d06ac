"""The kernels of the path solver against plain formulas and finite differences."""

import numpy as np
import pytest

from seminaive.kernels.shrink_design import Design, curvature, evaluate, exponentials
from seminaive.kernels.shrink_path import duality_gap
from seminaive.kernels.shrink_quadratic import minimise_quadratic
from seminaive.solvers import LinearDesign


def random_point(n_scores, n_rows=70, seed=0):
    """Return a design of numbers, codes and centres, its dense twin, and a random point."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 4, n_rows), rng.integers(0, 3, n_rows)])
    plain = LinearDesign.of(rng.normal(size=(n_rows, 2)), codes, [4, 3], [0, 2])
    centre = rng.normal(size=plain.n_coefficients)
    centre[0] = 0.0
    design = Design(plain.numbers, plain.places, plain.first_place, centre)
    dense = plain.scores(np.eye(plain.n_coefficients)) - centre
    coefficients = np.zeros((plain.n_coefficients + 1, n_scores))
    coefficients[:-1] = rng.normal(size=(plain.n_coefficients, n_scores))
    offset = rng.normal(size=(n_rows, n_scores))
    label = rng.integers(0, max(2, n_scores), n_rows)
    return design, dense, offset, label, rng.random(n_rows) * 3, coefficients


def evaluated(design, offset, label, row_weight, coefficients):
    probability = np.empty(offset.shape)
    g = np.empty(coefficients.shape)
    loss, odds, margin = evaluate(design, offset, label, row_weight, coefficients, probability, g)
    return loss, odds, margin, probability, g


@pytest.mark.parametrize("n_scores", [1, 3])
class TestEvaluation:
    def test_loss_and_probabilities_are_those_of_the_dense_formula(self, n_scores):
        design, dense, offset, label, row_weight, coefficients = random_point(n_scores)
        loss, odds, margin, probability, _ = evaluated(design, offset, label, row_weight, coefficients)
        scores = dense @ coefficients[:-1] + offset
        if n_scores == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        own = log_p[np.arange(len(label)), label]
        assert loss == pytest.approx(-(row_weight * own).sum(), rel=1e-12)
        assert odds == pytest.approx((row_weight * (np.exp(-own) - 1)).sum(), rel=1e-10)
        np.testing.assert_allclose(probability, np.exp(log_p)[:, -n_scores:], rtol=1e-10)
        rivals = scores.copy()
        rivals[np.arange(len(label)), label] = -np.inf
        margins = scores[np.arange(len(label)), label] - rivals.max(axis=1)
        assert margin == pytest.approx(margins.min(), rel=1e-10)

    def test_the_gradient_is_the_finite_difference_of_the_loss(self, n_scores):
        design, _, offset, label, row_weight, coefficients = random_point(n_scores)
        g = evaluated(design, offset, label, row_weight, coefficients)[4]
        step = 1e-6
        for index in np.ndindex(*coefficients[:-1].shape):
            up, down = coefficients.copy(), coefficients.copy()
            up[index] += step
            down[index] -= step
            difference = (
                evaluated(design, offset, label, row_weight, up)[0]
                - evaluated(design, offset, label, row_weight, down)[0]
            ) / (2 * step)
            # Central differences of step 1e-6: rounding of a loss near 100 leaves 1e-8.
            assert -g[index] == pytest.approx(difference, abs=1e-6)

    def test_the_curvature_is_the_finite_difference_of_the_gradient(self, n_scores):
        design, _, offset, label, row_weight, coefficients = random_point(n_scores)
        d = len(design.centre)
        probability = evaluated(design, offset, label, row_weight, coefficients)[3]
        rows = np.arange(d)
        gram = curvature(design, row_weight, probability, rows, np.arange(d + 1), np.ones(d))
        step = 1e-5
        for index in np.ndindex(d, n_scores):
            up, down = coefficients.copy(), coefficients.copy()
            up[index] += step
            down[index] -= step
            difference = (
                evaluated(design, offset, label, row_weight, down)[4]
                - evaluated(design, offset, label, row_weight, up)[4]
            )[:d] / (2 * step)
            own = gram[index[0] * n_scores + index[1]].reshape(d, n_scores)
            np.testing.assert_allclose(own, difference, atol=1e-6)

    def test_the_curvature_of_a_working_set_is_a_block_of_the_whole(self, n_scores):
        design, _, offset, label, row_weight, coefficients = random_point(n_scores)
        d = len(design.centre)
        probability = evaluated(design, offset, label, row_weight, coefficients)[3]
        whole = curvature(design, row_weight, probability, np.arange(d), np.arange(d + 1), np.ones(d))
        rows = np.array([0, 2, 3, 6])
        slot = np.full(d + 1, len(rows))
        slot[rows] = np.arange(len(rows))
        part = curvature(design, row_weight, probability, rows, slot, np.ones(d))
        kept = (rows[:, None] * n_scores + np.arange(n_scores)).ravel()
        np.testing.assert_allclose(part, whole[np.ix_(kept, kept)], rtol=1e-10, atol=1e-10)


def test_exponentials_agree_with_numpy_to_two_units_in_the_last_place():
    values = -np.concatenate([[0.0, 1e-300, 700.0, 708.0], np.random.default_rng(0).exponential(30, 200)])
    power, result = np.empty(len(values)), np.empty(len(values))
    exponentials(values, len(values), power, power.view(np.int64), result)
    np.testing.assert_allclose(result, np.exp(values), rtol=4.5e-16)
    deep = np.array([-1e4, -np.inf])
    exponentials(deep, 2, power, power.view(np.int64), result)
    np.testing.assert_allclose(result[:2], np.exp(-708.0), rtol=4.5e-16)


def test_a_quadratic_model_is_minimised_to_its_subgradient_conditions():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(30, 12))
    root[:, 1] = root[:, 0] + 1e-5 * rng.normal(size=30)  # nearly a copy: coordinate descent alone crawls
    gram = root.T @ root
    g, l1, l2 = rng.normal(size=12) * 10, np.full(12, 2.0), np.full(12, 0.1)
    x, u = np.zeros(12), g.copy()
    cycles = minimise_quadratic(gram, u, x, l1, l2, np.full(12, 1e-9), 500, np.empty((12, 12)))
    np.testing.assert_allclose(u, g - gram @ x, atol=1e-7)
    pull = u - l2 * x
    still = x == 0
    assert still.any()
    assert (np.abs(pull[still]) <= 2.0 + 1e-8).all()
    np.testing.assert_allclose(pull[~still], 2.0 * np.sign(x[~still]), atol=1e-7)
    assert cycles < 50


def test_the_gap_is_the_difference_of_the_objectives_at_a_feasible_dual_point():
    design, dense, offset, label, row_weight, coefficients = random_point(1)
    _, odds, _, probability, g = evaluated(design, offset, label, row_weight, coefficients)
    strength = 0.9999 * np.abs(g[:-1]).max()
    l1 = np.full((len(design.centre), 1), strength)
    bound = duality_gap(coefficients, g, l1, np.zeros_like(l1), odds, 0.0)
    scale = min(1.0, strength / np.abs(g[:-1]).max())
    theta = scale * row_weight * (label - probability[:, 0])
    q = label - theta / row_weight
    entropy = row_weight * (q * np.log(q) + (1 - q) * np.log1p(-q))
    dual = -theta @ offset[:, 0] - entropy.sum()
    score = dense @ coefficients[:-1, 0] + offset[:, 0]
    primal = (row_weight * (np.logaddexp(0, score) - label * score)).sum()
    primal += strength * np.abs(coefficients[:-1]).sum()
    exact = primal - dual
    # The bound has the curvature of the dual at its largest: second order in 1e-4.
    assert exact <= bound <= exact * 1.001
