"""The kernels of the path solver against plain formulas and finite differences."""

import numpy as np
import pytest
from numba import njit

from seminaive.design.reference import ReferenceDesign
from seminaive.kernels import path_certificate, path_elastic_net, path_gram, path_pass
from seminaive.kernels.path_problem import (
    GAP,
    LOSS,
    MARGIN,
    OBJECTIVE,
    ODDS,
    RESIDUAL,
    WIDTH,
    PathDesign,
    Penalty,
    Problem,
    Rules,
    new_model,
    new_point,
    new_softmax,
    new_work,
)


# Parts of other kernels have no entry from Python of their own.
@njit
def evaluate(design, problem, work, softmax, point):
    path_pass.evaluate(design, problem, work, softmax, point)


@njit
def weighted_gram(design, problem, work, softmax, model):
    path_gram.weighted_gram(design, problem, work, softmax, model)


@njit
def certify(design, rules, penalty, point):
    path_certificate.certify(design, rules, penalty, point)


@njit
def minimise_quadratic(gram, q, u, x, l1, l2, tol, max_cycles, active, step, factor, n_scores, softmax):
    return path_elastic_net.minimise_quadratic(
        gram, q, u, x, l1, l2, tol, max_cycles, active, step, factor, n_scores, softmax
    )


@njit
def exponentials(values, size, result):
    path_pass.exponentials(values, size, result)


def random_point(n_scores, n_rows=70, seed=0):
    """Return a design of numbers, codes and centres, its dense twin, a problem, and random coefficients."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 4, n_rows), rng.integers(0, 3, n_rows)])
    plain = ReferenceDesign.of(rng.normal(size=(n_rows, 2)), codes, [4, 3], [0, 2])
    size = plain.n_coefficients + 1
    centre = rng.normal(size=size)
    centre[[0, -1]] = 0.0
    design = PathDesign(plain.numbers, plain.places, plain.first_place, centre)
    dense = plain.scores(np.eye(plain.n_coefficients)) - centre[:-1]
    coefficients = rng.normal(size=(plain.n_coefficients, n_scores))
    factor = np.ones(n_scores * size)
    problem = Problem(
        rng.normal(size=n_scores * n_rows),
        rng.integers(0, max(2, n_scores), n_rows),
        rng.random(n_rows) * 3,
        factor,
        factor,
        1.0,
    )
    return design, dense, problem, coefficients


def evaluated(design, problem, coefficients):
    """Return the point at the coefficients (d, K), its probabilities (n, K) and derivatives (d, K)."""
    n_scores = coefficients.shape[1]
    point = new_point(n_scores * len(design.centre))
    point.x[:] = np.vstack([coefficients, np.zeros((1, n_scores))]).T.ravel()
    work = new_work(len(problem.label), n_scores)
    evaluate(design, problem, work, new_softmax(n_scores), point)
    g = point.g.reshape(n_scores, -1)[:, :-1].T
    return point, work.probability.reshape(n_scores, -1).T, g


def second_derivatives(design, problem, probability, columns):
    """Return the second derivatives over some coefficients, K side by side."""
    n_rows, size = len(problem.label), len(design.centre)
    n_scores = len(probability) // n_rows
    model = new_model(design, n_scores, n_scores * size)
    model.slot[:] = len(columns)
    model.slot[columns] = np.arange(len(columns))
    model.state[WIDTH] = len(columns)
    width = len(columns) * n_scores
    model.position[:width] = (columns[:, None] + np.arange(n_scores) * size).ravel()
    work = new_work(n_rows, n_scores)
    work.probability[:] = probability
    weighted_gram(design, problem, work, new_softmax(n_scores), model)
    return model.gram[:width, :width]


# One chunk, and several of which the last is short.
@pytest.mark.parametrize("n_rows", [70, 600])
@pytest.mark.parametrize("n_scores", [1, 3])
class TestEvaluation:
    def test_loss_and_probabilities_are_those_of_the_dense_formula(self, n_scores, n_rows):
        design, dense, problem, coefficients = random_point(n_scores, n_rows)
        point, probability, _ = evaluated(design, problem, coefficients)
        label, row_weight = problem.label, problem.row_weight
        scores = dense @ coefficients + problem.offset.reshape(n_scores, -1).T
        if n_scores == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        log_p = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        of_label = log_p[np.arange(len(label)), label]
        assert point.facts[LOSS] == pytest.approx(-(row_weight * of_label).sum(), rel=1e-12)
        assert point.facts[ODDS] == pytest.approx((row_weight * (np.exp(-of_label) - 1)).sum(), rel=1e-10)
        np.testing.assert_allclose(probability, np.exp(log_p)[:, -n_scores:], rtol=1e-10)
        rivals = scores.copy()
        rivals[np.arange(len(label)), label] = -np.inf
        margins = scores[np.arange(len(label)), label] - rivals.max(axis=1)
        assert point.facts[MARGIN] == pytest.approx(margins.min(), rel=1e-10)

    def test_the_gradient_is_the_finite_difference_of_the_loss(self, n_scores, n_rows):
        design, _, problem, coefficients = random_point(n_scores, n_rows)
        point, _, g = evaluated(design, problem, coefficients)
        assert (point.g.reshape(n_scores, -1)[:, -1] == 0).all()
        step = 1e-5
        for index in np.ndindex(*coefficients.shape):
            up, down = coefficients.copy(), coefficients.copy()
            up[index] += step
            down[index] -= step
            difference = (
                evaluated(design, problem, up)[0].facts[LOSS]
                - evaluated(design, problem, down)[0].facts[LOSS]
            ) / (2 * step)
            # Central differences of step 1e-5: the rounding of 600 losses that sum to a few thousand, 1e-11,
            # over the step; third derivatives, a few hundred, times 1e-10 are less.
            assert -g[index] == pytest.approx(difference, abs=2e-6)

    def test_the_curvature_is_the_finite_difference_of_the_gradient(self, n_scores, n_rows):
        design, _, problem, coefficients = random_point(n_scores, n_rows)
        d = len(coefficients)
        probability = evaluated(design, problem, coefficients)[1].T.ravel()
        gram = second_derivatives(design, problem, probability, np.arange(d))
        gram = gram.reshape(d, n_scores, d, n_scores)
        step = 1e-5
        for index in np.ndindex(d, n_scores):
            up, down = coefficients.copy(), coefficients.copy()
            up[index] += step
            down[index] -= step
            difference = (evaluated(design, problem, down)[2] - evaluated(design, problem, up)[2]) / (
                2 * step
            )
            # Central differences of step 1e-5: third derivatives times 1e-10, rounding 1e-16 / 1e-5.
            np.testing.assert_allclose(gram[index], difference, atol=1e-6)

    def test_the_curvature_of_a_working_set_is_a_block_of_the_whole(self, n_scores, n_rows):
        design, _, problem, coefficients = random_point(n_scores, n_rows)
        d = len(coefficients)
        probability = evaluated(design, problem, coefficients)[1].T.ravel()
        whole = second_derivatives(design, problem, probability, np.arange(d))
        columns = np.array([0, 2, 3, 6])
        part = second_derivatives(design, problem, probability, columns)
        kept = (columns[:, None] * n_scores + np.arange(n_scores)).ravel()
        np.testing.assert_allclose(part, whole[np.ix_(kept, kept)], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_scores", [1, 3])
def test_many_categories_have_the_curvature_of_their_dense_columns(n_scores):
    rng = np.random.default_rng(2)
    n_rows, n_categories = 300, 40
    codes = rng.integers(0, n_categories, (n_rows, 2))
    plain = ReferenceDesign.of(rng.normal(size=(n_rows, 1)), codes, [n_categories] * 2)
    d = plain.n_coefficients
    design = PathDesign(plain.numbers, plain.places, plain.first_place, np.zeros(d + 1))
    probability = rng.dirichlet(np.ones(max(2, n_scores)), n_rows)[:, :n_scores]
    row_weight = rng.random(n_rows)
    none = np.zeros(n_scores * (d + 1))
    problem = Problem(none, np.zeros(n_rows, dtype=np.int64), row_weight, none, none, 1.0)
    gram = second_derivatives(design, problem, probability.T.ravel(), np.arange(d))
    dense = plain.scores(np.eye(d))
    blocks = np.einsum("nc,ce->nce", probability, np.eye(n_scores))
    blocks -= np.einsum("nc,ne->nce", probability, probability)
    expected = np.einsum("n,nce,ni,nj->icje", row_weight, blocks, dense, dense, optimize=True)
    expected = expected.reshape(d * n_scores, -1)
    seen = expected.diagonal() > 0
    # The ridge is 1e-10 of the diagonal.
    np.testing.assert_allclose(gram[np.ix_(seen, seen)], expected[np.ix_(seen, seen)], atol=1e-8)


def test_exponentials_agree_with_numpy_to_two_units_in_the_last_place():
    values = -np.concatenate([[0.0, 1e-300, 700.0, 708.0], np.random.default_rng(0).exponential(30, 200)])
    result = np.empty(len(values))
    exponentials(values, len(values), result)
    np.testing.assert_allclose(result, np.exp(values), rtol=4.5e-16)
    deep = np.array([-1e4, -np.inf])
    exponentials(deep, 2, result)
    np.testing.assert_allclose(result[:2], np.exp(-708.0), rtol=4.5e-16)


def test_a_quadratic_model_is_minimised_to_its_subgradient_conditions():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(30, 12))
    root[:, 1] = root[:, 0] + 1e-5 * rng.normal(size=30)  # nearly a copy: coordinate descent alone crawls
    gram = root.T @ root
    g, l1, l2 = rng.normal(size=12) * 10, np.full(12, 2.0), np.full(12, 0.1)
    x, u = np.zeros(12), g.copy()
    tol, active, step, factor = (
        np.full(12, 1e-9),
        np.empty(12, dtype=np.int64),
        np.empty(12),
        np.empty((12, 12)),
    )
    cycles = minimise_quadratic(gram, 12, u, x, l1, l2, tol, 500, active, step, factor, 1, None)
    np.testing.assert_allclose(u, g - gram @ x, atol=1e-7)
    pull = u - l2 * x
    still = x == 0
    assert still.any()
    assert (np.abs(pull[still]) <= 2.0 + 1e-8).all()
    np.testing.assert_allclose(pull[~still], 2.0 * np.sign(x[~still]), atol=1e-7)
    assert cycles < 50


def test_the_gap_is_the_difference_of_the_objectives_at_a_feasible_dual_point():
    design, dense, problem, coefficients = random_point(1)
    point, probability, g = evaluated(design, problem, coefficients)
    label, row_weight = problem.label, problem.row_weight
    strength = 0.9999 * np.abs(g).max()
    penalty = Penalty(np.full(len(point.x), strength), np.zeros(len(point.x)))
    certify(design, Rules(1e-6, 1e-6, 1, 0.0, 0.0, 1, 1, 0.0, 0.0), penalty, point)
    scale = min(1.0, strength / np.abs(g).max())
    theta = scale * row_weight * (label - probability[:, 0])
    q = label - theta / row_weight
    entropy = row_weight * (q * np.log(q) + (1 - q) * np.log1p(-q))
    dual = -theta @ problem.offset - entropy.sum()
    score = dense @ coefficients[:, 0] + problem.offset
    primal = (row_weight * (np.logaddexp(0, score) - label * score)).sum()
    primal += strength * np.abs(coefficients).sum()
    assert point.facts[OBJECTIVE] == pytest.approx(primal, rel=1e-12)
    assert point.facts[RESIDUAL] == pytest.approx(
        np.abs(g - strength * np.sign(coefficients)).max(), rel=1e-12
    )
    exact = primal - dual
    # The bound has the curvature of the dual at its largest: second order in 1e-4.
    assert exact <= point.facts[GAP] <= exact * 1.001
