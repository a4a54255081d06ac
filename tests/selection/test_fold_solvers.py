"""The two solvers of SemiNaive: the same answers whichever is faster, and honest certificates."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax

from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_columns import SmoothColumns
from seminaive.encode import EqualFrequencyCuts, TableEncoder
from seminaive.selection import class_preconditioner, coefficient_solver
from seminaive.selection.coefficient_solver import CoefficientSolver
from seminaive.selection.row_space_solver import RowSpaceSolver
from seminaive.selection.split_rows import SplitRows
from seminaive.solvers import row_space_system

STRENGTHS = (0.5, 0.3, 5.0)


def problem(n_classes, n_splits=2, n_rows=180):
    """Return the parts of a solver: numbers and a category, the first class being rare."""
    rng = np.random.default_rng(n_classes)
    numbers = rng.normal(size=(n_rows, 3))
    category = rng.integers(0, 4, n_rows)
    drawn = np.column_stack([numbers[:, 0] - 3, numbers[:, 1] ** 2, category - 1.0])[:, :n_classes]
    labels = (drawn + rng.gumbel(size=drawn.shape)).argmax(axis=1)
    X = pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "c": numbers[:, 2], "d": category.astype(str)})
    _, table = TableEncoder.learn(X, cut_rule=EqualFrequencyCuts(4))
    weights = rng.uniform(0.5, 2.0, n_rows)
    columns = SmoothColumns.of(table, weights).with_all_pairs(n_classes)
    rows = np.arange(n_rows)
    splits = [(rows[rows % 5 != f], rows[rows % 5 == f]) for f in range(n_splits)]
    return columns, SplitRows(table, labels, weights, n_classes, splits)


def prepared_by(solver, parts):
    made = solver(*parts)
    relevances = np.random.default_rng(5).uniform(0.2, 3.0, (parts[1].n_sets, parts[0].n_terms))
    return made, made.prepare(relevances)


def posterior_of(scores):
    return expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1)


def fits_of(solver, parts, tol=1e-7):
    made, prepared = prepared_by(solver, parts)
    fits = made.fit_folds(prepared, STRENGTHS, None, tol, 200)
    return [*fits, made.fit_all(prepared, STRENGTHS, None, tol, 200)]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_solvers_give_the_same_probabilities(n_classes):
    parts = problem(n_classes)
    for by_rows, by_coefficients in zip(
        *(fits_of(e, parts) for e in (RowSpaceSolver, CoefficientSolver)), strict=True
    ):
        # A limit of rows chooses between the solvers, and must not be seen in an answer.
        np.testing.assert_allclose(
            posterior_of(by_rows.scores), posterior_of(by_coefficients.scores), rtol=0, atol=1e-6
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equal_rows_are_fitted_as_one_whichever_folds_they_are_in(n_classes):
    columns, rows = problem(n_classes)
    twice = np.append(np.arange(rows.n_rows), np.arange(0, rows.n_rows, 2))
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(twice))
    every = np.arange(len(twice))
    splits = [(every[every % 3 != f], every[every % 3 == f]) for f in range(2)]
    rows = SplitRows(rows.table.rows(twice), rows.labels[twice], weight, n_classes, splits)
    assert len(rows.merged().labels) == len(twice) * 2 // 3
    parts = columns, rows
    for by_rows, merged in zip(
        *(fits_of(e, parts) for e in (RowSpaceSolver, CoefficientSolver)), strict=True
    ):
        np.testing.assert_allclose(posterior_of(by_rows.scores), posterior_of(merged.scores), atol=1e-6)
    made, prepared = prepared_by(CoefficientSolver, parts)
    apart, also_prepared = prepared_by(CoefficientSolver, (columns, replace_by_distinct(rows)))
    found, expected = (
        solver.evidence(ready, [0, 1, 2], STRENGTHS, fits_of(CoefficientSolver, (columns, solver.rows)))
        for solver, ready in ((made, prepared), (apart, also_prepared))
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equal_rows_with_offsets_are_fitted_as_one(n_classes):
    columns, rows = problem(n_classes)
    rng = np.random.default_rng(1)
    twice = rng.permutation(np.append(np.arange(rows.n_rows), np.arange(0, rows.n_rows, 2)))
    every = np.arange(len(twice))
    splits = [(every[every % 3 != f], every[every % 3 == f]) for f in range(2)]
    rows = SplitRows(rows.table.rows(twice), rows.labels[twice], np.ones(len(twice)), n_classes, splits)
    offsets = [rng.normal(size=(twice.max() + 1, rows.n_columns))[twice] for _ in range(3)]

    def scores_of(rows):
        made = CoefficientSolver(columns, rows).around(offsets)
        prepared = made.prepare(np.ones((rows.n_sets, columns.n_terms)))
        fits = made.fit_folds(prepared, STRENGTHS, None, 1e-14, 500)
        return [fit.scores for fit in (*fits, made.fit_all(prepared, STRENGTHS, None, 1e-14, 500))]

    for merged, apart in zip(scores_of(rows), scores_of(replace_by_distinct(rows)), strict=True):
        np.testing.assert_allclose(posterior_of(merged), posterior_of(apart), atol=1e-6)


def test_a_sample_of_merged_rows_holds_as_much_of_each_kind_as_rows_that_are_drawn():
    _, rows = problem(2)
    n, most = rows.n_rows, rows.n_rows // 2
    # One kind has a third of the rows, wherever it stands among the others.
    for heavy in range(8):
        copies = np.where(np.arange(n) == heavy, n // 2, 1)
        index = np.random.default_rng(heavy).permutation(np.repeat(np.arange(n), copies))
        merged = SplitRows(rows.table.rows(index), rows.labels[index], np.ones(len(index)), 2).merged()
        kinds, share = merged.evenly_spaced(most)
        assert len(kinds) < len(merged)
        weight = merged.row_weight[kinds] * share
        drawn = merged.kind[:: -(-len(index) // most)]
        np.testing.assert_allclose(weight, np.bincount(drawn)[kinds])
        of_heavy = weight[kinds == merged.kind[np.flatnonzero(index == heavy)[0]]].sum()
        # Five standard errors of the share in a random order.
        assert abs(of_heavy / len(drawn) - 1 / 3) < 5 * np.sqrt(2 / 9 / len(drawn))


def replace_by_distinct(rows):
    """Return the same rows, none of which equals another, by digits of numbers that no function sees."""
    numbers = rows.table.numbers * (1 + 1e-12 * np.arange(rows.n_rows)[:, None])
    made = replace(rows, table=replace(rows.table, numbers=numbers))
    assert len(made.merged()) == rows.n_rows
    return made


@pytest.mark.parametrize(
    "limits",
    [
        {"MOST_DENSE": 0},
        {"MOST_EXACT": 1},
        {"FEW_INVERTED": 9, "ENTRIES_PER_SCORE": 0},
        {"SAMPLED_ROWS": 60},
    ],
    ids=lambda limits: next(iter(limits)),
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_limits_of_the_solver_of_coefficients_leave_its_fits_as_they_are(n_classes, limits, monkeypatch):
    parts = problem(n_classes)
    expected = fits_of(CoefficientSolver, parts)
    for name, limit in limits.items():
        monkeypatch.setattr(coefficient_solver, name, limit)
    for fit, other in zip(fits_of(CoefficientSolver, parts), expected, strict=True):
        np.testing.assert_allclose(posterior_of(fit.scores), posterior_of(other.scores), rtol=0, atol=1e-6)


def test_the_certificate_of_all_rows_does_not_depend_on_an_earlier_fit_of_a_single_fold():
    columns, rows = problem(2, n_splits=1)
    # A fold of a few rows has a Hessian unlike that of all rows.
    train, held_out = rows.splits[0]
    parts = (columns, replace(rows, splits=[(held_out, train)]))
    found = []
    for with_fold in (False, True):
        made, prepared = prepared_by(CoefficientSolver, parts)
        start = np.full((made.design.n_coefficients, 1), 0.01)
        if with_fold:
            made.fit_folds(prepared, STRENGTHS, [start], 1e-6, 100)
        found.append(made.fit_all(prepared, STRENGTHS, start, 1e-6, 100))
    assert found[0].fit.optimality == found[1].fit.optimality
    np.testing.assert_array_equal(found[0].coefficients, found[1].coefficients)


@pytest.mark.parametrize("solver", [RowSpaceSolver, CoefficientSolver])
def test_folds_are_fitted_as_closely_as_the_tolerance_says(solver):
    parts = problem(3)
    closest = fits_of(solver, parts)[0].scores
    errors = [np.abs(fits_of(solver, parts, tol)[0].scores - closest).max() for tol in (1e-1, 1e-3, 1e-5)]
    # The share of the objective that is left falls by 1e-4, distances by the root of it.
    assert errors[1] < 0.1 * errors[0]
    assert errors[2] < 0.1 * errors[1]


@pytest.mark.parametrize("limits", [{"MANY_ROWS": 10**6}, {"MANY_ROWS": 0, "NEGLIGIBLE": 10.0}], ids=str)
def test_the_size_of_blocks_leaves_the_fits_in_the_row_space_as_they_are(limits, monkeypatch):
    parts = problem(3)
    expected = fits_of(RowSpaceSolver, parts)
    for name, limit in limits.items():
        monkeypatch.setattr(row_space_system, name, limit)
    for fit, other in zip(fits_of(RowSpaceSolver, parts), expected, strict=True):
        np.testing.assert_allclose(posterior_of(fit.scores), posterior_of(other.scores), rtol=0, atol=1e-6)


def let_classes_have_hessians(monkeypatch, *, factored):
    """Let passes over the rows seem slow, so that many entries of blocks for each class are worth it."""
    monkeypatch.setattr(coefficient_solver, "MOST_DENSE", 0)
    monkeypatch.setattr(class_preconditioner, "ENTRIES_PER_GATHER", 10**6)
    monkeypatch.setattr(ProjectedDesign, "n_gathers", 10**6 if factored else 1)


@pytest.mark.parametrize("factored", [True, False], ids=["coefficient space", "row space"])
def test_fits_from_a_start_are_those_of_the_row_space(factored, monkeypatch):
    let_classes_have_hessians(monkeypatch, factored=factored)
    parts = problem(3, n_rows=300)
    by_rows, prepared = prepared_by(RowSpaceSolver, parts)
    expected = by_rows.fit_folds(prepared, STRENGTHS, None, 1e-14, 200)
    made, prepared = prepared_by(CoefficientSolver, parts)
    inverted = set()
    name = "_coefficient_space_inverse" if factored else "_row_space_inverse"
    invert = getattr(class_preconditioner, name)
    monkeypatch.setattr(class_preconditioner, name, lambda *given: inverted.add(name) or invert(*given))
    starts = np.random.default_rng(2).normal(0, 0.1, (len(parts[1].splits), made.design.n_coefficients, 3))
    # Not all classes' coefficients add up to 0: the ridge is to see to that.
    found = made.fit_folds(prepared, STRENGTHS, list(starts), 1e-14, 200)
    for fit, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(posterior_of(fit.scores), posterior_of(other.scores), rtol=0, atol=1e-6)
        np.testing.assert_allclose(fit.coefficients[1:].sum(axis=1), 0.0, atol=1e-6)
    assert inverted == {name}


def test_conjugate_gradients_take_fewer_products_than_with_one_hessian_of_all_classes(monkeypatch):
    let_classes_have_hessians(monkeypatch, factored=False)
    columns, rows = problem(3, n_rows=400)
    # Eight classes along one number: each is possible in a small part of the rows only.
    numbers = rows.table.numbers
    labels = np.digitize(numbers[:, 0] + 0.1 * numbers[:, 1], np.linspace(-1.5, 1.5, 7))
    made, prepared = prepared_by(CoefficientSolver, (columns, replace(rows, labels=labels, n_classes=8)))
    starts = [fit.warm_start for fit in made.fit_folds(prepared, STRENGTHS, None, 1e-4, 200)]
    weaker = tuple(0.1 * strength for strength in STRENGTHS)
    apart = made.fit_folds(prepared, weaker, starts, 1e-4, 200)[0].fit.passes
    monkeypatch.setattr(CoefficientSolver, "_has_class_hessians", False)
    together = made.fit_folds(prepared, weaker, starts, 1e-4, 200)[0].fit.passes
    assert apart < 0.7 * together
