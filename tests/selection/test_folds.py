"""Folds: every class spread evenly, splits of all rows told in rows of positive weight."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedGroupKFold

from seminaive.selection.folds import (
    MOST_SETS,
    ROWS_HELD_OUT,
    draws_by_size,
    grouped_folds,
    grouped_sample,
    split_rows,
    stratified_folds,
    stratified_sample,
)


def test_classes_are_spread_evenly():
    labels = np.repeat([0, 1, 2], [50, 31, 9])
    folds = stratified_folds(labels, 4, np.random.RandomState(0))
    counts = np.array([np.bincount(folds[labels == c], minlength=4) for c in range(3)])
    assert (np.ptp(counts, axis=1) <= 1).all()
    assert np.ptp(np.bincount(folds)) <= 1


@pytest.mark.parametrize("n_rows", [1, 44, 89, 90])
def test_a_sample_has_the_wanted_size_and_the_share_of_every_class(n_rows):
    labels = np.repeat([0, 1, 2], [50, 31, 9])
    sample = stratified_sample(labels, n_rows, np.random.RandomState(0))
    assert len(np.unique(sample)) == n_rows
    assert (np.abs(np.bincount(labels[sample], minlength=3) - n_rows * np.array([50, 31, 9]) / 90) < 1).all()


def test_other_seeds_draw_other_samples():
    labels = np.repeat([0, 1, 2], [50, 31, 9])
    samples = [stratified_sample(labels, 44, np.random.RandomState(seed)) for seed in (0, 1)]
    assert not np.array_equal(*samples)


@pytest.mark.parametrize("cv", [3, [([0, 1, 2], [3, 4]), ([3, 4], [0, 1, 2])]])
def test_no_row_trains_and_is_held_out(cv):
    y = np.array([0, 1, 0, 1, 0])
    for train, held_out in split_rows(cv, y, y, None, 0):
        assert not np.intersect1d(train, held_out).size


def test_the_same_seed_deals_the_same_folds():
    y = np.arange(30) % 3
    first, second = (split_rows(5, y, y, None, 7) for _ in range(2))
    for (train, test), (train_again, test_again) in zip(first, second, strict=True):
        assert np.array_equal(train, train_again)
        assert np.array_equal(test, test_again)


def test_other_seeds_deal_other_folds():
    y = np.arange(30) % 3
    held_out = [np.concatenate([test for _, test in split_rows(5, y, y, None, seed)]) for seed in (7, 8)]
    assert not np.array_equal(*held_out)


def test_splits_of_all_rows_are_told_in_rows_of_positive_weight():
    y = np.array([0, 1, 0, 1, 0, 1])
    weight = np.array([1, 0, 1, 1, 1, 1])
    splits = split_rows([([0, 1, 2, 3], [4, 5])], y[weight > 0], y, weight, 0)
    assert [part.tolist() for part in splits[0]] == [[0, 1, 2], [3, 4]]


def spread(labels, folds, n_folds):
    """Return the sum over folds and classes of n_fc^2 / N_c: the smaller, the more even."""
    rows = np.array([np.bincount(labels[folds == f], minlength=labels.max() + 1) for f in range(n_folds)])
    return (rows**2 / rows.sum(axis=0)).sum()


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_whole_and_classes_are_spread_at_least_as_evenly_as_by_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, 400)
    labels = (rng.random(40) < 0.3)[groups] * 1 + (rng.random(400) < 0.1)
    folds = grouped_folds(labels, groups, 5, np.random.RandomState(seed))
    for group in range(40):
        assert np.unique(folds[groups == group]).size == 1
    other = np.empty(400, dtype=int)
    rule = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    for fold, (_, held_out) in enumerate(rule.split(labels, labels, groups)):
        other[held_out] = fold
    assert spread(labels, folds, 5) <= spread(labels, other, 5) * 1.02


def test_groups_of_one_row_each_are_stratified():
    labels = np.repeat([0, 1, 2], [50, 31, 9])
    folds = grouped_folds(labels, np.arange(90), 4, np.random.RandomState(0))
    rows = np.array([np.bincount(folds[labels == c], minlength=4) for c in range(3)])
    assert (np.ptp(rows, axis=1) <= 1).all()


@pytest.mark.parametrize("n_rows", [1, 30, 89])
def test_a_sample_of_groups_has_about_the_wanted_size(n_rows):
    groups = np.arange(90) // 3
    drawn = grouped_sample(groups, n_rows, np.random.RandomState(0))
    assert abs(drawn.sum() - min(max(n_rows, 3), 87)) <= 1
    assert all(np.unique(drawn[groups == group]).size == 1 for group in range(30))


# Several draws


def test_each_draw_holds_every_row_out_once_and_the_first_is_that_of_a_single_draw():
    y = np.arange(60) % 3
    splits = split_rows(4, y, y, None, 7, n_draws=3)
    assert len(splits) == 12
    for draw in range(3):
        held_out = np.concatenate([held for _, held in splits[4 * draw : 4 * draw + 4]])
        np.testing.assert_array_equal(np.sort(held_out), np.arange(60))
    for found, single in zip(splits, split_rows(4, y, y, None, 7), strict=False):
        np.testing.assert_array_equal(found[1], single[1])
    assert not np.array_equal(splits[0][1], splits[4][1])


@pytest.mark.parametrize("n_folds", [2, 3, 5, 10, 50])
@pytest.mark.parametrize("n_rows", [50, 77, 200, 300, 1000, 1999, 2000, 100_000])
def test_few_rows_are_drawn_often_and_many_once(n_rows, n_folds):
    n_draws = draws_by_size(n_rows, n_folds)
    assert n_draws >= 1
    assert n_draws == 1 or n_draws * n_folds <= MOST_SETS
    if n_rows >= ROWS_HELD_OUT:
        assert n_draws == 1
    if (n_draws + 1) * n_folds <= MOST_SETS:
        assert n_draws * n_rows >= ROWS_HELD_OUT


def test_leaving_one_row_out_is_done_once():
    y = np.arange(60) % 2
    assert len(split_rows(60, y, y, None, 0, n_draws=None)) == 60


def test_splits_of_a_splitter_are_taken_as_they_are():
    y = np.arange(60) % 2
    splits = split_rows(KFold(4), y, y, None, 0, n_draws=None)
    for (train, held_out), (train_given, held_given) in zip(splits, KFold(4).split(y), strict=True):
        np.testing.assert_array_equal(train, train_given)
        np.testing.assert_array_equal(held_out, held_given)
