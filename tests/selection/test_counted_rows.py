"""Counts are dealt to folds as repeated rows are."""

import numpy as np
import pytest

from seminaive.selection import counted_rows
from seminaive.selection.counted_rows import deal, deal_to_folds
from seminaive.selection.folds import stratified_folds

COUNTS = np.array([40, 3, 1, 17, 9, 2])
LABELS = np.array([0, 0, 0, 1, 1, 2])


def test_every_copy_is_held_out_once_and_folds_are_even_in_every_class():
    dealt = deal_to_folds(COUNTS, LABELS, 5, np.random.default_rng(0))
    assert np.array_equal(dealt.sum(axis=1), COUNTS)
    assert np.ptp(dealt.sum(axis=0)) <= 1
    for label in range(3):
        assert np.ptp(dealt[label == LABELS].sum(axis=0)) <= 1


def test_dealt_counts_are_distributed_as_those_of_repeated_rows():
    generator, random = np.random.default_rng(0), np.random.RandomState(0)
    repeated = np.arange(len(COUNTS)).repeat(COUNTS)
    dealt, expected = [], []
    for _ in range(2000):
        dealt.append(deal_to_folds(COUNTS, LABELS, 5, generator)[:, 0])
        folds = stratified_folds(LABELS[repeated], 5, random)
        expected.append(np.bincount(repeated[folds == 0], minlength=len(COUNTS)))
    # Four standard errors of means and of variances.
    error = 4 * np.std(expected, axis=0) / np.sqrt(2000) + 1e-9
    assert (np.abs(np.mean(dealt, axis=0) - np.mean(expected, axis=0)) < 2 * error).all()
    assert np.var(dealt, axis=0) == pytest.approx(np.var(expected, axis=0), rel=0.25, abs=0.02)


def test_more_copies_than_can_be_drawn_exactly_are_dealt_evenly(monkeypatch):
    dealt = deal(np.array([3 * 10**14, 10**14]), [2 * 10**14, 2 * 10**14], np.random.default_rng(0))
    assert dealt.sum(axis=1).tolist() == [3 * 10**14, 10**14]
    assert dealt[:, 0] / dealt.sum(axis=1) == pytest.approx([0.5, 0.5], abs=1e-5)
    monkeypatch.setattr(counted_rows, "MOST_DRAWN_EXACTLY", 1)
    dealt = deal_to_folds(np.array([6000, 4000]), np.array([0, 1]), 4, np.random.default_rng(0))
    assert dealt.sum(axis=0) / 10_000 == pytest.approx(np.full(4, 0.25), abs=0.02)


def test_few_copies_of_many_rows_stay_few():
    n_rows = 200_000
    counts = np.random.default_rng(0).integers(1, 3, n_rows)
    dealt = deal_to_folds(counts, np.arange(n_rows) % 2, 5, np.random.default_rng(1))
    assert np.count_nonzero(dealt) <= counts.sum()
