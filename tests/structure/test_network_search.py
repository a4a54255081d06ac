"""A path of networks ends where held-out losses have risen, and goes on where they fall."""

from dataclasses import replace

import numpy as np
import pytest

from seminaive.selection.held_out import HeldOut
from seminaive.structure import network_folds
from seminaive.structure.network_folds import (
    PLAN,
    DecisionOptions,
    HeldOutNetworks,
    NetworkFold,
    strength_and_refit,
)
from seminaive.structure.network_search import NetworkStrengths, NetworkTable, SearchOptions, search_path

LAID = np.geomspace(1.0, 1e-3, 20)
OPTIONS = SearchOptions(None, None, 10, 1e-9, 100)


def walk(strengths, mean, error=0.01):
    """Return the strengths that are tried where a function of the strength is the mean loss."""
    held_out, tried = HeldOutNetworks(None, ()), []
    while (strength := strengths.after(tried, held_out)) is not None:
        tried.append(strength)
        held_out.mean.append(mean(strength))
        held_out.standard_error.append(error)
    return np.array(tried)


def test_a_path_ends_at_a_quarter_of_the_best_strength_where_the_loss_rises():
    tried = walk(NetworkStrengths(LAID, open=True), lambda strength: 0.2 + np.log(strength / LAID[5]) ** 2)
    assert tried[-1] <= 0.25 * LAID[5] < tried[-2]
    np.testing.assert_array_equal(tried, LAID[: len(tried)])


def test_equal_losses_are_no_reason_to_end():
    """Until the class has its first edge, the losses are those of the class shares."""
    late = walk(
        NetworkStrengths(LAID, open=True),
        lambda strength: 0.25 if strength > LAID[12] else 0.2 + (strength - 1e-3),
    )
    assert len(late) > 13


def test_losses_that_fall_lead_beyond_the_laid_strengths_and_twice_as_far_at_most():
    falling = walk(NetworkStrengths(LAID, open=True), lambda strength: 2.0 + 0.1 * np.log(strength))
    np.testing.assert_allclose(falling, np.geomspace(1.0, 1e-3 ** (39 / 19), 40))


def test_losses_that_have_fallen_and_stay_as_they_are_end_the_path():
    tried = walk(
        NetworkStrengths(LAID, open=True), lambda strength: 0.2 + 0.05 * min(strength / LAID[4], 1) ** 2
    )
    assert 5 < len(tried) < 20


def test_given_strengths_are_all_tried_and_no_other():
    assert len(walk(NetworkStrengths(LAID, open=False), lambda strength: -strength)) == 20
    assert len(walk(NetworkStrengths(LAID, open=False), lambda strength: strength)) == 20


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


def fold_of(table):
    """Hold every third row out."""
    rows = np.arange(len(table.codes))
    split = (rows[rows % 3 > 0], rows[rows % 3 == 0])
    labels = table.codes[:, -1].astype(np.int64)
    held_out = HeldOut.of(labels, np.ones(len(rows)), 2, [split])
    return HeldOutNetworks.of([table], held_out, [split], 2, OPTIONS, np.random.default_rng(0))


def path_of(table, strengths):
    """Return held-out rows, and the path of one ordering at some strengths."""
    held_out = fold_of(table)
    networks = table.sparse_networks(2, np.random.default_rng(0), OPTIONS)
    path, found, gap = search_path(
        networks, strengths, (0, 1, 3, 2), (0,) * 4, OPTIONS, held_out, lambda _: None
    )
    assert len(found) == len(path.strengths)
    assert gap <= OPTIONS.tol
    return held_out, path


@pytest.mark.parametrize("order", [(0, 1, 3, 2), (2, 1, 3, 0)])
def test_nodes_before_the_class_do_not_change_the_scores_of_whole_rows(order):
    table = planted()
    quick, whole = (fold_of(table).folds[0] for _ in range(2))
    whole.has_missing = True
    np.testing.assert_allclose(quick.scores(order, 0.01), whole.scores(order, 0.01), atol=1e-10)
    assert quick.networks.n_iter < whole.networks.n_iter
    assert isinstance(quick, NetworkFold)
    assert fold_of(planted(missing=True)).folds[0].has_missing


def test_the_losses_of_a_path_are_those_of_networks_that_never_saw_the_rows():
    table = planted()
    held_out, path = path_of(table, NetworkStrengths(np.array([0.05, 0.01]), open=False))
    train = table.rows(np.flatnonzero(np.arange(600) % 3 > 0))
    rows = table.rows(np.arange(0, 600, 3))
    labels = rows.codes[:, -1]
    for place, strength in enumerate((0.05, 0.01)):
        networks = train.sparse_networks(2, np.random.default_rng(0), OPTIONS)
        scores = rows.class_scores(networks.network(path.orders[place].tolist(), strength))[:, 0]
        np.testing.assert_allclose(held_out.scores[place][:, 0], scores, atol=1e-6)
        errors = (1 / (1 + np.exp(-scores)) - labels) ** 2
        assert path.loss[place] == pytest.approx(errors.mean(), abs=1e-6)
        assert path.standard_error[place] == pytest.approx(errors.std() / np.sqrt(200), abs=1e-6)


@pytest.mark.parametrize(("n_rows", "strength", "better"), [(3000, 0.1, True), (36, 0.03, False)])
def test_a_refit_is_taken_where_the_penalty_shrinks_too_much(n_rows, strength, better):
    held_out, path = path_of(planted(n_rows), NetworkStrengths(np.array([strength]), open=False))
    for refit, taken in (("auto", better), (True, True), (False, False)):
        options = DecisionOptions("min", refit, None)
        decision, refits = held_out.decide(path, 0, options, np.random.default_rng(0))
        assert refits is taken
        assert 0 <= decision.fit_share <= 1
    given, _ = held_out.decide(path, 0, DecisionOptions("min", "auto", 0.25), np.random.default_rng(0))
    assert given.fit_share == 0.25


def test_the_rule_takes_the_largest_strength_within_the_allowance_and_its_refit():
    losses = np.array([10.0, 4.0, 3.0, 3.5, 3.9])  # four strengths and the refit of the second
    assert strength_and_refit(4, 1, 0.0)(losses).argmax() == 2
    assert strength_and_refit(4, 1, 1.0)(losses).argmax() == 4
    assert strength_and_refit(4, 1, 1.0)(losses + np.eye(5)[4]).argmax() == 1
    assert strength_and_refit(4, 1, 1.0)(losses[:4]).argmax() == 1
    many = np.stack([losses, losses[[0, 2, 1, 3, 4]]])
    np.testing.assert_array_equal(strength_and_refit(4, 1, 0.0)(many).argmax(axis=1), [2, 1])


@pytest.mark.parametrize(
    "changes",
    [{"negligible": 0.002}, {"patience_share": 0.025}, {"patience": 30}],
    ids=str,
)
@pytest.mark.parametrize("n_rows", [150, 1500])
def test_a_path_that_is_ten_times_as_patient_chooses_the_same_strength(changes, n_rows, monkeypatch):
    strengths = NetworkStrengths(np.geomspace(0.3, 3e-4, 20), open=True)
    chosen = []
    for plan in (PLAN, replace(PLAN, **changes)):
        monkeypatch.setattr(network_folds, "PLAN", plan)
        _, path = path_of(planted(n_rows), strengths)
        chosen.append(path.strengths[path.choose("one-standard-error")])
    assert chosen[0] == chosen[1]


def test_ten_times_more_or_less_penalty_in_a_refit_hardly_moves_probabilities(monkeypatch):
    table = planted()
    found = []
    for relaxed in (1e-5, 1e-4, 1e-3):
        monkeypatch.setattr(network_folds, "PLAN", replace(PLAN, relaxed=relaxed))
        scores = fold_of(table).folds[0].refitted_scores((0, 1, 3, 2), 0.01)
        found.append(1 / (1 + np.exp(-scores)))
    assert np.abs(np.array(found) - found[1]).max() < 0.01
