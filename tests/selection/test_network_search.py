"""A path of networks ends where held-out losses have risen, and goes on where they fall."""

import numpy as np
import pytest

from seminaive.selection.network_search import (
    HeldOutRows,
    NetworkTable,
    SearchOptions,
    Strengths,
    _Losses,
    refit_is_better,
    search_path,
)

LAID = np.geomspace(1.0, 1e-3, 20)
OPTIONS = SearchOptions(None, None, 10, 1e-9, 100)


def walk(strengths, mean, error=0.01):
    """Return the strengths that are tried where a function of the strength is the mean loss."""
    losses, tried = _Losses(np.ones(1)), []
    while (strength := strengths.after(tried, losses)) is not None:
        tried.append(strength)
        losses.mean.append(mean(strength))
        losses.standard_error.append(error)
    return np.array(tried)


def test_a_path_ends_at_a_quarter_of_the_best_strength_where_the_loss_rises():
    tried = walk(Strengths(LAID, open=True), lambda strength: 0.2 + np.log(strength / LAID[5]) ** 2)
    assert tried[-1] <= 0.25 * LAID[5] < tried[-2]
    np.testing.assert_array_equal(tried, LAID[: len(tried)])


def test_equal_losses_are_no_reason_to_end():
    """Until the class has its first edge, the losses are those of the class shares."""
    late = walk(
        Strengths(LAID, open=True), lambda strength: 0.25 if strength > LAID[12] else 0.2 + (strength - 1e-3)
    )
    assert len(late) > 13


def test_losses_that_fall_lead_beyond_the_laid_strengths_and_twice_as_far_at_most():
    falling = walk(Strengths(LAID, open=True), lambda strength: 2.0 + 0.1 * np.log(strength))
    np.testing.assert_allclose(falling, np.geomspace(1.0, 1e-3 ** (39 / 19), 40))


def test_losses_that_have_fallen_and_stay_as_they_are_end_the_path():
    tried = walk(Strengths(LAID, open=True), lambda strength: 0.2 + 0.05 * min(strength / LAID[4], 1) ** 2)
    assert 5 < len(tried) < 20


def test_given_strengths_are_all_tried_and_no_other():
    assert len(walk(Strengths(LAID, open=False), lambda strength: -strength)) == 20
    assert len(walk(Strengths(LAID, open=False), lambda strength: strength)) == 20


def planted(n_rows=600, seed=0, missing=False):
    """Return a chain 0 -> 1 -> class -> 2."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 3, n_rows)
    second = np.where(rng.random(n_rows) < 0.5, first, rng.integers(0, 3, n_rows))
    label = (rng.random(n_rows) < 0.2 + 0.3 * second).astype(int)
    third = np.where(rng.random(n_rows) < 0.7, label, rng.integers(0, 2, n_rows))
    codes = np.column_stack([first, second, third, label]).astype(np.uint8)
    if missing:
        codes[::4, 1] = 3
    return NetworkTable(codes, (3, 3, 2, 2), None, (0, 0, 0, 0))


def parts(table):
    rows = np.arange(len(table.codes))
    split = (rows[rows % 3 > 0], rows[rows % 3 == 0])
    return HeldOutRows(table, split, 2, OPTIONS, np.random.default_rng(0), 1)


@pytest.mark.parametrize("order", [(0, 1, 3, 2), (2, 1, 3, 0)])
def test_nodes_before_the_class_do_not_change_the_losses_of_whole_rows(order):
    table = planted()
    quick, whole = parts(table), parts(table)
    whole.has_missing = True
    np.testing.assert_allclose(
        quick.squared_errors(order, 0.01), whole.squared_errors(order, 0.01), rtol=1e-12
    )
    assert quick.networks.n_iter < whole.networks.n_iter
    assert parts(planted(missing=True)).has_missing


def test_the_losses_of_a_path_are_those_of_networks_that_never_saw_the_rows():
    table = planted()
    held_out = parts(table)
    networks = table.sparse_networks(2, np.random.default_rng(0), OPTIONS)
    strengths = Strengths(np.array([0.05, 0.01]), open=False)
    said = []
    path, found, gap = search_path(
        networks, strengths, (0, 1, 3, 2), (0,) * 4, OPTIONS, [held_out], said.append
    )
    assert len(said) == len(found) == 2
    assert gap <= OPTIONS.tol
    train = table.rows(np.flatnonzero(np.arange(600) % 3 > 0))
    for place, strength in enumerate((0.05, 0.01)):
        own = train.sparse_networks(2, np.random.default_rng(0), OPTIONS)
        errors = held_out.rows.squared_errors(own.network(path.orders[place].tolist(), strength))
        assert path.loss[place] == pytest.approx(errors.mean(), abs=1e-6)
        assert path.standard_error[place] == pytest.approx(errors.std(ddof=1) / np.sqrt(200), abs=1e-6)


@pytest.mark.parametrize(("n_rows", "strength", "better"), [(3000, 0.1, True), (36, 0.03, False)])
def test_a_refit_is_taken_where_the_penalty_shrinks_too_much(n_rows, strength, better):
    table = planted(n_rows)
    held_out = parts(table)
    networks = table.sparse_networks(2, np.random.default_rng(0), OPTIONS)
    path, _, _ = search_path(
        networks,
        Strengths(np.array([strength]), open=False),
        (0, 1, 3, 2),
        (0,) * 4,
        OPTIONS,
        [held_out],
        lambda _: None,
    )
    assert refit_is_better([held_out], path, 0) is better
