"""Fits under shapes: certified minima, the same in both solvers, and no freedom where nothing can move."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize, nnls
from scipy.special import expit

from seminaive.design.shape_constraints import ShapeConstraints
from seminaive.design.shaped_columns import Shape, with_shapes
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.selection import coefficient_solver
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.shaped_coefficient_solver import ShapedCoefficientSolver
from seminaive.selection.shaped_row_space_solver import ShapedRowSpaceSolver
from seminaive.selection.split_rows import SplitRows

STRENGTHS = (0.5, 0.3, 5.0)
SOLVERS = [ShapedRowSpaceSolver, ShapedCoefficientSolver]
# By the columns' positions: the rows contradict most of these.
MIXES = {
    "rising": (2, {0: Shape("increasing", 1)}),
    "both": (2, {0: Shape("decreasing", 1), 1: Shape("concave", 1)}),
    "bent": (2, {1: Shape("convex", 1), 2: Shape("linear")}),
    "classes": (3, {0: Shape("increasing", 1), 2: Shape("decreasing", 2)}),
}


def problem(n_classes, shapes, n_rows=180):
    """Return the parts of a solver: three numbers, the first with missing cells, and a category."""
    rng = np.random.default_rng(0)
    numbers = np.round(rng.normal(size=(n_rows, 3)), 1)
    drawn = np.column_stack(
        [np.full(n_rows, -0.3), np.sin(2 * numbers[:, 0]) + numbers[:, 1] ** 2, numbers[:, 2]]
    )[:, :n_classes]
    labels = (drawn + rng.gumbel(size=drawn.shape)).argmax(axis=1)
    X = pd.DataFrame(numbers, columns=list("abc"))
    X.iloc[::17, 0] = np.nan
    X["d"] = rng.integers(0, 3, n_rows).astype(str)
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4))
    weights = rng.uniform(0.5, 2.0, n_rows)
    columns = with_shapes(
        SmoothColumns.of(table, weights), table.schema, lambda _: (table, weights), shapes, {}
    )
    rows = np.arange(n_rows)
    splits = [(rows[rows % 5 != f], rows[rows % 5 == f]) for f in range(2)]
    return columns.with_all_pairs(n_classes), SplitRows(table, labels, weights, n_classes, splits)


def fits_of(solver, parts, relevances=None, tol=1e-14):
    made = solver(*parts)
    if relevances is None:
        relevances = np.random.default_rng(5).uniform(0.2, 3.0, (3, parts[0].n_terms))
    prepared = made.prepare(relevances)
    fits = made.fit_folds(prepared, STRENGTHS, None, tol, 200)
    return made, prepared, [*fits, made.fit_all(prepared, STRENGTHS, None, tol, 200)]


def matrix_of(constraints):
    """Return the inequalities as a matrix of flat coefficients."""
    return np.stack([constraints.adjoint(unit).ravel() for unit in np.eye(len(constraints))])


def penalised(made, prepared):
    """Return the objective of all rows as a function of flat coefficients."""
    strength = made._strength(prepared[-1].relevances, STRENGTHS)[:, None]
    objective = PenalisedLoss(made._all, Ridge(np.repeat(strength, made.n_columns, axis=1)))

    def evaluate(flat):
        values, gradient = objective(flat.reshape(-1, made.n_columns))
        return float(values.sum()), gradient.ravel()

    return evaluate


@pytest.mark.parametrize("mix", MIXES)
def test_both_solvers_give_the_same_fits_and_evidence(mix):
    parts = problem(*MIXES[mix])
    by_rows, by_coefficients = (fits_of(solver, parts) for solver in SOLVERS)
    for row_fit, fit in zip(by_rows[2], by_coefficients[2], strict=True):
        np.testing.assert_allclose(row_fit.scores, fit.scores, rtol=0, atol=1e-5)
        assert row_fit.fit.optimality <= 1e-7
        assert fit.fit.optimality <= 1e-7
    coefficients = by_rows[0].coefficients([(1.0, by_rows[1], STRENGTHS, by_rows[2][-1])])
    np.testing.assert_allclose(coefficients, by_coefficients[2][-1].coefficients, rtol=0, atol=1e-5)
    found = [
        made.evidence(prepared, range(3), STRENGTHS, fits)
        for made, prepared, fits in (by_rows, by_coefficients)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-3)


@pytest.mark.parametrize("mix", MIXES)
def test_the_optimality_conditions_hold_with_multipliers_that_are_not_negative(mix):
    parts = problem(*MIXES[mix])
    made, prepared, fits = fits_of(ShapedCoefficientSolver, parts)
    _, gradient = penalised(made, prepared)(fits[-1].coefficients.ravel())
    multipliers, residual = nnls(matrix_of(made.constraints).T, gradient, maxiter=10_000)
    slacks = made.constraints.slacks(fits[-1].coefficients)
    assert residual <= 1e-5
    assert multipliers @ np.abs(slacks) <= 1e-6
    assert slacks.min() >= -1e-11
    # The rows contradict the shapes: something is held back.
    assert multipliers.max() > 0.1


@pytest.mark.parametrize("mix", ["both", "classes"])
def test_no_other_solver_finds_a_lower_value_that_obeys(mix):
    parts = problem(*MIXES[mix], n_rows=60)
    made, prepared, fits = fits_of(ShapedCoefficientSolver, parts)
    evaluate, rows = penalised(made, prepared), matrix_of(made.constraints)
    other = minimize(
        evaluate,
        np.zeros(rows.shape[1]),
        jac=True,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda flat: rows @ flat, "jac": lambda _: rows},
        options={"maxiter": 300, "ftol": 1e-10},
    )
    assert evaluate(fits[-1].coefficients.ravel())[0] <= other.fun + 1e-6


@pytest.mark.parametrize(
    "limits", [{"FEW_INVERTED": 9, "ENTRIES_PER_SCORE": 0, "MOST_EXACT": 1}, {"MOST_DENSE": 0}]
)
@pytest.mark.parametrize("mix", ["both", "classes"])
def test_limits_of_the_solver_of_coefficients_leave_its_fits_as_they_are(mix, limits, monkeypatch):
    parts = problem(*MIXES[mix])
    expected = fits_of(ShapedCoefficientSolver, parts)[2]
    for name, limit in limits.items():
        monkeypatch.setattr(coefficient_solver, name, limit)
    made, prepared, fits = fits_of(ShapedCoefficientSolver, parts)
    for fit, other in zip(fits, expected, strict=True):
        np.testing.assert_allclose(fit.scores, other.scores, rtol=0, atol=1e-5)
    assert np.isfinite(made.evidence(prepared, range(3), STRENGTHS, fits)).all()


@pytest.mark.parametrize(
    "pair", [(RowSpaceSolver, ShapedRowSpaceSolver), (CoefficientSolver, ShapedCoefficientSolver)]
)
def test_shapes_that_hold_anyway_change_nothing(pair):
    columns, rows = problem(2, {2: Shape("increasing", 1)})
    parts = (columns, replace(rows, labels=(rows.table.numbers[:, 2] > 0).astype(np.int64)))
    # A ridge of curves so strong that only slopes are left.
    relevances = np.ones((3, columns.n_terms))
    relevances[:, columns.groups == 1] = 1e-6
    free, shaped = (fits_of(solver, parts, relevances) for solver in pair)
    for fit, other in zip(free[2], shaped[2], strict=True):
        np.testing.assert_allclose(fit.scores, other.scores, rtol=0, atol=1e-5)
    found = [made.evidence(prepared, range(3), STRENGTHS, fits) for made, prepared, fits in (free, shaped)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_column_that_is_not_in_the_model_has_no_coefficients(solver):
    parts = problem(*MIXES["both"])
    relevances = np.ones((3, parts[0].n_terms))
    relevances[:, [0, 3]] = 0.0
    made, prepared, fits = fits_of(solver, parts, relevances)
    coefficients = made.coefficients([(1.0, prepared, STRENGTHS, fits[-1])])
    assert not coefficients[1].any()
    assert not coefficients[4 : 4 + parts[0].sizes[3]].any()
    degrees = made.evidence(prepared, range(3), STRENGTHS, fits)[1]
    np.testing.assert_allclose(degrees[:, [0, 3]], 0.0, atol=1e-9)


def test_degrees_of_freedom_are_those_in_the_subspace_of_the_equalities():
    parts = problem(*MIXES["both"])
    made, prepared, fits = fits_of(ShapedCoefficientSolver, parts)
    rows = matrix_of(made.constraints)
    equal = made.constraints.slacks(fits[-1].coefficients) < 1e-9
    inside = null_space(rows[equal])
    posterior = expit(fits[-1].scores[:, 0])
    features = made.design.scores(np.eye(rows.shape[1]))
    hessian = features.T @ (features * (made.rows.row_weight * posterior * (1 - posterior))[:, None])
    ridge = np.diag(made._strength(prepared[-1].relevances, STRENGTHS))
    covariance = inside @ np.linalg.inv(inside.T @ (hessian + ridge) @ inside) @ inside.T
    expected = np.add.reduceat(
        np.einsum("ij,ji->i", hessian, covariance)[1:], np.cumsum([0, *parts[0].sizes[:-1]])
    )
    degrees = made.evidence(prepared, [2], STRENGTHS, fits[-1:])[1][0]
    # The slope of the first column and the curve of the second, all of whose coefficients have a shape.
    np.testing.assert_allclose(degrees[[0, 4]], expected[[0, 4]], atol=1e-5)
    assert degrees[4] < 0.5 * CoefficientSolver.evidence(made, prepared, [2], STRENGTHS, fits[-1:])[1][0, 4]


def test_the_start_need_not_obey():
    parts = problem(*MIXES["both"])
    made, prepared, fits = fits_of(ShapedCoefficientSolver, parts)
    start = np.random.default_rng(0).normal(size=fits[-1].coefficients.shape)
    again = made.fit_all(prepared, STRENGTHS, start, 1e-14, 200)
    np.testing.assert_allclose(again.coefficients, fits[-1].coefficients, rtol=0, atol=1e-5)


def test_inequalities_of_one_column_can_be_left_out():
    columns, *_ = problem(*MIXES["both"])
    constraints = ShapeConstraints.of(columns, 2)
    assert set(constraints.without(0).owners.tolist()) == {1}
    assert not constraints.without(0).adjoint(np.ones(len(constraints.without(0))))[:4].any()
