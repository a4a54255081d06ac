import numpy as np
import pandas as pd
import pytest

from seminaive.errors import InputError
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.resampling import (
    FIVE_BY_TWO,
    GivenSplit,
    Prequential,
    RepeatedHoldout,
    RepeatedKFold,
)

TABLE = Dataset("t", pd.DataFrame({"x": np.arange(60)}), np.repeat(["a", "b"], [40, 20]))
RULES = [RepeatedKFold(5, 2), FIVE_BY_TWO, RepeatedHoldout(0.1, 7), Prequential(10, 2.0, 3)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_training_and_test_rows_never_overlap(rule):
    for split in rule.splits(TABLE, 0):
        assert np.intersect1d(split.train, split.test).size == 0
        assert len(split.train) > 0
        assert len(split.test) > 0


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_same_seed_gives_the_same_splits_and_another_gives_others(rule):
    once, again, other = (rule.splits(TABLE, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a.test, b.test) for a, b in zip(once, again, strict=True))
    assert not all(np.array_equal(a.test, b.test) for a, b in zip(once, other, strict=True))


def test_every_row_is_tested_once_per_repetition_and_classes_keep_their_shares():
    splits = RepeatedKFold(4, 3).splits(TABLE, 0)
    for repetition in range(3):
        tested = np.concatenate([s.test for s in splits if s.repetition == repetition])
        assert sorted(tested) == list(range(60))
    assert all(np.sum(TABLE.y[split.test] == "b") == 5 for split in splits)


def test_five_by_two_trains_on_half_of_the_rows_ten_times():
    splits = FIVE_BY_TWO.splits(TABLE, 0)
    assert len(splits) == 10
    assert all(len(split.train) == 30 for split in splits)


def test_a_rare_class_neither_stops_nor_warns():
    rare = Dataset("rare", TABLE.X, np.array(["once"] + ["a"] * 59))
    assert len(RepeatedKFold(10).splits(rare, 0)) == 10
    all_different = Dataset("names", TABLE.X, np.arange(60))
    assert len(RepeatedKFold(10).splits(all_different, 0)) == 10


def test_a_learning_curve_doubles_its_training_rows_and_tests_the_next_ones():
    steps = [s for s in Prequential(10, 2.0, 1).splits(TABLE, 0) if s.repetition == 0]
    assert [len(s.train) for s in steps] == [10, 20, 40]
    assert [len(s.test) for s in steps] == [10, 20, 20]
    np.testing.assert_array_equal(np.concatenate([steps[0].train, steps[0].test]), steps[1].train)


def test_given_test_rows_are_used_as_they_are():
    given = Dataset("given", TABLE.X, TABLE.y, np.array([3, 4]))
    (split,) = GivenSplit().splits(given, 0)
    assert split.test.tolist() == [3, 4]
    assert len(split.train) == 58


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (RepeatedKFold(1), "two folds"),
        (RepeatedKFold(61), "cannot make 61 folds"),
        (RepeatedHoldout(1.0), r"\(0, 1\)"),
        (GivenSplit(), "brings no test rows"),
        (Prequential(60), "leave none to test"),
        (Prequential(10, 1.0), "growth above 1"),
    ],
    ids=repr,
)
def test_impossible_plans_are_refused(rule, message):
    with pytest.raises(InputError, match=message):
        rule.splits(TABLE, 0)


@pytest.mark.parametrize(
    ("rule", "labels"), [(RepeatedHoldout(), ["a"]), (RepeatedHoldout(stratified=True), ["a", "b", "b", "b"])]
)
def test_a_table_too_small_to_hold_rows_out_is_refused(rule, labels):
    table = Dataset("tiny", pd.DataFrame({"x": range(len(labels))}), np.array(labels))
    with pytest.raises(InputError, match=f"tiny: its {len(labels)} rows cannot be cut"):
        rule.splits(table, 0)
