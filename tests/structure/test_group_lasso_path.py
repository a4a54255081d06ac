"""The multinomial group lasso: a slow reference, the lasso, certificates, copies of a table, weights."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from seminaive.structure import group_lasso_path
from seminaive.structure.group_lasso_path import GroupLassoProblem, LabelCounts
from seminaive.structure.group_norm import GroupNorm

CARDINALITIES = (2, 3, 4, 2, 3)


def tables(n_labels, n_tables=1, n_rows=300, seed=0, cardinalities=CARDINALITIES):
    """Return codes, one array per table with a few cells of its own, and the labels."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, cardinalities, (n_rows, len(cardinalities)))
    scores = sum(rng.normal(size=(cardinalities[j], n_labels))[codes[:, j]] for j in (0, 2))
    labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    found = [codes]
    for _ in range(n_tables - 1):
        again = rng.random(codes.shape) < 0.2
        found.append(np.where(again, rng.integers(0, cardinalities, codes.shape), codes))
    return found, labels


def problem_of(found, labels, n_labels, cardinalities=CARDINALITIES, row_weight=None):
    counted = [LabelCounts.of(codes, labels, cardinalities, n_labels, row_weight) for codes in found]
    return GroupLassoProblem(counted, cardinalities)


def objective_by_hand(found, labels, n_labels, coefficients, intercepts, strength):
    """The objective of the module's docstring on dummy matrices."""
    n_tables, n_rows = len(found), len(labels)
    total = 0.0
    for codes, of_group, intercept in zip(found, coefficients, intercepts, strict=True):
        dummies = np.hstack([np.eye(k)[codes[:, j]] for j, k in enumerate(CARDINALITIES)])
        logs = log_softmax(intercept + dummies @ of_group, axis=1)
        total -= logs[np.arange(n_rows), labels].sum() / (n_rows * n_tables)
    ends = np.cumsum(CARDINALITIES)
    for levels, end in zip(CARDINALITIES, ends, strict=True):
        block = coefficients[:, end - levels : end]
        size = np.sqrt((levels - 1) * (n_labels - 1) * n_tables)
        total += strength / n_tables * size * np.linalg.norm(block)
    return total


def proximal_gradient(found, labels, n_labels, strength, n_steps=20_000):
    """Accelerated proximal gradient with restarts on dummy matrices: slow and plain."""
    n_tables, n_rows = len(found), len(labels)
    dummies = [np.hstack([np.eye(k)[codes[:, j]] for j, k in enumerate(CARDINALITIES)]) for codes in found]
    truth = np.eye(n_labels)[labels]
    starts = np.concatenate([[0], np.cumsum(CARDINALITIES)])
    factors = np.sqrt((np.diff(starts) - 1) * (n_labels - 1) / n_tables)
    norm = GroupNorm(starts, strength * factors)
    length = 2 * n_rows * n_tables / max(np.linalg.norm(x, 2) ** 2 + n_rows for x in dummies)
    now = np.zeros((n_tables, starts[-1] + 1, n_labels))
    ahead, momentum = now.copy(), 1.0
    for _ in range(n_steps):
        gradient = np.zeros_like(now)
        for d, x in enumerate(dummies):
            residual = (softmax(ahead[d, -1] + x @ ahead[d, :-1], axis=1) - truth) / (n_rows * n_tables)
            gradient[d, :-1], gradient[d, -1] = x.T @ residual, residual.sum(axis=0)
        new = ahead - length * gradient
        norms = norm.norms(new[:, :-1])
        kept = np.maximum(norms - length * norm.penalties, 0.0) / np.where(norms > 0, norms, 1.0)
        new[:, :-1] *= np.repeat(kept, np.diff(starts))[:, None]
        if np.sum((ahead - new) * (new - now)) > 0:  # restart where the momentum points uphill
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - now)
        if np.abs(new - now).max() < 1e-13:
            break
        now, momentum = new, following
    return objective_by_hand(found, labels, n_labels, new[:, :-1], new[:, -1], strength)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("n_tables", [1, 2])
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_the_objective_is_that_of_a_slow_reference(n_labels, n_tables, share):
    found, labels = tables(n_labels, n_tables)
    problem = problem_of(found, labels, n_labels)
    strength = share * problem.largest_strength
    solution = problem.solve(strength, tol=1e-11)
    ours = objective_by_hand(found, labels, n_labels, solution.coefficients, solution.intercepts, strength)
    assert solution.objective == pytest.approx(ours, abs=1e-12)
    assert abs(ours - proximal_gradient(found, labels, n_labels, strength)) < 1e-8


@pytest.mark.parametrize("n_labels", [2, 4])
def test_every_strength_of_a_path_is_certified(n_labels):
    found, labels = tables(n_labels, 2)
    problem = problem_of(found, labels, n_labels)
    path = problem.path(problem.largest_strength * np.geomspace(1, 1e-3, 12), tol=1e-8)
    assert all(-1e-12 <= solution.gap <= 1e-8 for solution in path)
    for solution in path[1::4]:
        tight = problem.solve(solution.strength, tol=1e-12)
        # The gap bounds the distance to the optimum.
        assert -1e-13 <= solution.objective - tight.objective <= solution.gap * problem.null_loss + 1e-13


def test_the_largest_strength_is_where_the_first_group_enters():
    found, labels = tables(3, 2)
    problem = problem_of(found, labels, 3)
    assert not problem.solve(problem.largest_strength).coefficients.any()
    assert problem.solve(0.999 * problem.largest_strength, tol=1e-10).coefficients.any()


def test_groups_enter_and_leave_in_all_tables_together_and_sum_to_zero():
    found, labels = tables(3, 3)
    problem = problem_of(found, labels, 3)
    solution = problem.solve(0.3 * problem.largest_strength, tol=1e-10)
    ends = np.cumsum(CARDINALITIES)
    blocks = [solution.coefficients[:, end - k : end] for k, end in zip(CARDINALITIES, ends, strict=True)]
    present = [[bool(row.any()) for row in block] for block in blocks]
    assert all(len(set(row)) == 1 for row in present)
    assert len({row[0] for row in present}) == 2
    for block in blocks:
        np.testing.assert_allclose(block.sum(axis=1), 0, atol=1e-10)
        np.testing.assert_allclose(block.sum(axis=2), 0, atol=1e-10)


def test_with_two_levels_and_two_labels_it_is_the_lasso_on_signs():
    binary = (2,) * 6
    found, labels = tables(2, cardinalities=binary)
    problem = problem_of(found, labels, 2, binary)
    strength = 0.2 * problem.largest_strength
    solution = problem.solve(strength, tol=1e-12)
    # The block of a column is [[a, -a], [-a, a]]: log odds 2 a x for a sign x, and norm 2 |a|.
    ours = solution.coefficients[0, 1::2, 1] - solution.coefficients[0, 1::2, 0]
    lasso = LogisticRegression(
        l1_ratio=1, C=1 / (len(labels) * strength), solver="saga", tol=1e-12, max_iter=100_000, random_state=0
    ).fit(2.0 * found[0] - 1, labels)
    np.testing.assert_allclose(ours, lasso.coef_[0], atol=1e-5)
    assert 0 < (ours != 0).sum() < 6


def test_copies_of_a_table_have_the_solution_of_one():
    found, labels = tables(3)
    one, three = problem_of(found, labels, 3), problem_of(found * 3, labels, 3)
    strength = 0.2 * one.largest_strength
    assert three.largest_strength == pytest.approx(one.largest_strength, rel=1e-12)
    single, triple = one.solve(strength, tol=1e-12), three.solve(strength, tol=1e-12)
    assert triple.objective == pytest.approx(single.objective, abs=1e-12)
    for solution in triple.coefficients:
        np.testing.assert_allclose(solution, single.coefficients[0], atol=1e-5)


def test_integer_weights_equal_repeated_rows():
    found, labels = tables(3)
    weight = np.random.default_rng(1).integers(1, 4, len(labels))
    weighted = problem_of(found, labels, 3, row_weight=weight.astype(float))
    repeated = problem_of([np.repeat(found[0], weight, axis=0)], np.repeat(labels, weight), 3)
    strength = 0.1 * weighted.largest_strength
    np.testing.assert_array_equal(
        weighted.solve(strength).coefficients, repeated.solve(strength).coefficients
    )


def test_separable_labels_have_a_finite_solution():
    codes = np.tile(np.arange(3), 20)[:, None]
    problem = problem_of([codes], codes[:, 0], 3, (3,))
    solution = problem.solve(1e-4 * problem.largest_strength)
    assert solution.gap < 1e-6
    assert np.abs(solution.coefficients).max() < 20


def test_directions_of_many_labels_apart_lead_to_the_same_solution(monkeypatch):
    found, labels = tables(4)
    problem = problem_of(found, labels, 4)
    strength = 0.1 * problem.largest_strength
    together = problem.solve(strength, tol=1e-9)
    monkeypatch.setattr(group_lasso_path, "MOST_JOINT", 0)
    apart = problem.solve(strength, tol=1e-9)
    assert apart.gap < 1e-9
    assert apart.objective == pytest.approx(together.objective, abs=1e-8)


def test_a_column_of_one_level_says_nothing():
    found, labels = tables(2)
    with_constant = [np.column_stack([found[0], np.zeros(len(labels), int)])]
    problem = problem_of(with_constant, labels, 2, (*CARDINALITIES, 1))
    solution = problem.solve(0.01 * problem.largest_strength)
    assert solution.gap < 1e-6
    assert not solution.coefficients[:, -1].any()


@pytest.mark.parametrize("weight", [1.0, 1e-9, 1e9])
def test_columns_that_are_independent_of_the_label_have_no_strength_to_enter_at(weight):
    cells = [(a, b, label) for a in range(3) for b in range(2) for label in range(2)]
    counts = [(3, 4, 10)[a] * (7, 5)[b] * (3, 8)[label] * weight / 7 for a, b, label in cells]
    codes, labels = np.array(cells)[:, :2], np.array(cells)[:, 2]
    problem = problem_of([codes], labels, 2, (3, 2), np.array(counts))
    assert problem.largest_strength == 0.0
    assert not problem.solve(0.0).coefficients.any()
