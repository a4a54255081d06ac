"""The smooth solvers agree with each other and certify what they found."""

import numpy as np
import pytest
from scipy.special import expit

from seminaive.solvers.conjugate_gradient import minimize_conjugate_gradient
from seminaive.solvers.curvature_pairs import CurvaturePairs
from seminaive.solvers.lbfgs import minimize_lbfgs
from seminaive.solvers.newton import minimize_newton


def logistic(n_rows=400, n_features=12, ridge=0.5, seed=0):
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n_rows, n_features)) * np.geomspace(0.1, 10, n_features)
    signs = np.where(rng.random(n_rows) < expit(design[:, 0] - design[:, -1]), 1.0, -1.0)

    def objective(z):
        margins = signs * (design @ z)
        value = np.logaddexp(0, -margins).sum() + 0.5 * ridge * z @ z
        return float(value), design.T @ (-signs * expit(-margins)) + ridge * z

    def hessian(z):
        p = expit(design @ z)
        return design.T @ (design * (p * (1 - p))[:, None]) + ridge * np.eye(n_features)

    return objective, hessian, np.zeros(n_features)


def solve(name, objective, hessian, start, **options):
    if name == "newton":
        return minimize_newton(objective, hessian, start, **options)
    minimize = {"lbfgs": minimize_lbfgs, "cg": minimize_conjugate_gradient}[name]
    return minimize(objective, start, **options)


@pytest.mark.parametrize("name", ["lbfgs", "cg", "newton"])
def test_the_certificate_is_the_gradient_relative_to_the_start(name):
    objective, hessian, start = logistic()
    result = solve(name, objective, hessian, start, tol=1e-8)
    assert result.converged
    value, gradient = objective(result.solution)
    assert result.objective == value
    first = np.linalg.norm(objective(start)[1])
    assert result.optimality == pytest.approx(np.linalg.norm(gradient) / first, rel=1e-6)
    assert result.optimality <= 1e-8


def test_all_solvers_find_the_same_minimum():
    problem = logistic()
    solutions = [solve(name, *problem, tol=1e-10).solution for name in ("lbfgs", "cg", "newton")]
    # A gradient of 1e-10 of the start's (about 1e3) over a smallest curvature of the ridge, 0.5.
    np.testing.assert_allclose(solutions[1], solutions[0], atol=1e-6)
    np.testing.assert_allclose(solutions[2], solutions[0], atol=1e-6)


@pytest.mark.parametrize("name", ["lbfgs", "cg", "newton"])
def test_stopping_early_is_not_called_converged(name):
    result = solve(name, *logistic(), tol=1e-12, max_iter=1)
    assert not result.converged
    assert result.optimality > 1e-12


@pytest.mark.parametrize("name", ["lbfgs", "cg", "newton"])
def test_history_never_rises_and_has_one_entry_per_pass(name):
    objective, hessian, start = logistic()
    calls = []

    def counted(z):
        calls.append(1)
        return objective(z)

    result = solve(name, counted, hessian, start, tol=1e-6)
    assert len(result.history) == result.passes == len(calls)
    assert (np.diff(result.history) <= 0).all()


@pytest.mark.parametrize("name", ["lbfgs", "cg", "newton"])
def test_an_optimal_start_needs_one_pass(name):
    objective, hessian, start = logistic()
    best = minimize_newton(objective, hessian, start, tol=1e-12).solution
    first = np.linalg.norm(objective(start)[1])
    result = solve(name, objective, hessian, best, tol=1e-9, reference=first)
    assert result.passes == 1
    assert result.n_iter == 0


def test_newton_leaves_flat_directions_alone():
    # f(a, b) depends on a - b only: the minimiser of least norm has a = -b.
    def objective(z):
        d = z[0] - z[1] - 2.0
        return float(np.cosh(d)), np.sinh(d) * np.array([1.0, -1.0])

    def hessian(z):
        return np.cosh(z[0] - z[1] - 2.0) * np.array([[1.0, -1.0], [-1.0, 1.0]])

    result = minimize_newton(objective, hessian, np.zeros(2), tol=1e-10)
    # Rounding, 1e-16, over the curvature of 1e-9 that flat directions are given.
    np.testing.assert_allclose(result.solution, [1.0, -1.0], atol=1e-6)


@pytest.mark.parametrize("solve", [None, lambda q: 3.0 * q])
def test_the_last_step_is_what_its_change_of_gradient_calls_for(solve):
    rng = np.random.default_rng(0)
    pairs = CurvaturePairs(memory=3)
    for _ in range(5):
        step = rng.normal(size=6)
        change = step * np.arange(1, 7) + 0.1 * rng.normal(size=6)
        pairs.add(step, change)
    assert len(pairs) == 3
    np.testing.assert_allclose(-pairs.direction(change, solve), step, atol=1e-12)


def test_a_step_along_which_the_slope_falls_is_not_remembered():
    pairs = CurvaturePairs(memory=3)
    pairs.add(np.ones(2), -np.ones(2))
    assert not pairs


def test_a_hessian_serves_four_newton_steps():
    objective, hessian, start = logistic()
    made = []

    def counted(z):
        made.append(1)
        return hessian(z)

    result = minimize_newton(objective, counted, start, tol=1e-10)
    assert result.converged
    assert len(made) == -(-result.n_iter // 4)


@pytest.mark.parametrize("minimize", [minimize_lbfgs, minimize_conjugate_gradient])
def test_the_first_step_is_tried_first(minimize):
    objective, _, start = logistic()
    places = []

    def watched(z):
        places.append(z)
        return objective(z)

    minimize(watched, start, max_iter=1, first_step=0.01)
    np.testing.assert_allclose(places[1], -0.01 * objective(start)[1])
