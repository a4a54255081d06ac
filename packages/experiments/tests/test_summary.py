import numpy as np
import pandas as pd
import pytest

from seminaive.errors import InputError
from seminaive_experiments.pairwise_tests import corrected_resampled_t_test
from seminaive_experiments.summary import failures, fit_seconds, pairs_on_one_table, summarise


def _frame(seed=0, n_tables=6, models=("a", "b", "c"), n_folds=5):
    rng = np.random.default_rng(seed)
    rows = [
        (f"t{table}", model, fold, 80, 20, rng.uniform() + position / 4, "ok", "")
        for table in range(n_tables)
        for fold in range(n_folds)
        for position, model in enumerate(models)
    ]
    columns = ["dataset", "model", "fold", "n_train", "n_test", "loss", "status", "message"]
    return pd.DataFrame(rows, columns=columns)


def test_means_are_means_over_folds_in_the_order_of_the_results():
    frame = _frame(models=("z", "a"))
    summary = summarise(frame, "loss")
    assert summary.models == ["z", "a"]
    expected = frame.query("dataset == 't3' and model == 'a'")["loss"].mean()
    assert summary.mean.loc["t3", "a"] == pytest.approx(expected, abs=1e-12)


def test_standard_errors_are_those_of_the_corrected_t_test():
    frame = _frame(models=("a", "b"))
    summary = summarise(frame, "loss")
    fold_losses = frame.query("dataset == 't0' and model == 'a'")["loss"].to_numpy()
    test = corrected_resampled_t_test(fold_losses, np.zeros(5), n_train=80, n_test=20)
    assert summary.error.loc["t0", "a"] == pytest.approx(fold_losses.mean() / test.statistic, rel=1e-9)


def test_a_fold_that_waited_for_the_machine_does_not_make_a_model_slow():
    frame = _frame(n_tables=2, models=("a", "b"))
    assert fit_seconds(frame) is None
    quick = frame["dataset"].map({"t0": 1.0, "t1": 3.0})
    slow_once = (frame["model"] == "b") & (frame["fold"] == 0)
    timed = frame.assign(fit_seconds=quick.where(~slow_once, 1000.0))
    assert fit_seconds(timed).to_dict() == {"a": 2.0, "b": 2.0}
    assert fit_seconds(frame.assign(fit_seconds=np.nan)) is None


def test_a_plain_frame_of_three_columns_is_enough():
    frame = _frame()[["dataset", "model", "loss"]]
    summary = summarise(frame, "loss")
    group = frame.query("dataset == 't0' and model == 'a'")["loss"]
    assert summary.error.loc["t0", "a"] == pytest.approx(group.std() / np.sqrt(5), rel=1e-9)
    assert summary.pairs() is not None
    with pytest.raises(InputError, match="no 'loss'"):
        summarise(frame.drop(columns="loss"), "loss")


def test_groups_are_the_longest_runs_within_the_critical_difference():
    frame = _frame(n_tables=40)
    summary = summarise(frame, "loss")
    ranks, difference = summary.ranks().to_numpy(), summary.critical_difference()
    for start, end in summary.groups():
        assert ranks[end] - ranks[start] < difference
        assert start == 0 or ranks[end] - ranks[start - 1] >= difference
        assert end == len(ranks) - 1 or ranks[end + 1] - ranks[start] >= difference


def test_failed_folds_leave_means_and_are_counted_with_their_message():
    frame = _frame()
    bad = (frame["model"] == "b") & (frame["dataset"] == "t1") & (frame["fold"] < 2)
    frame.loc[bad, ["status", "message"]] = ["failed", "ValueError: no"]
    frame.loc[bad, "loss"] = np.nan
    (row,) = failures(frame).itertuples()
    assert (row.dataset, row.model, row.failed, row.folds, row.message) == ("t1", "b", 2, 5, "ValueError: no")
    summary = summarise(frame, "loss")
    assert summary.count.loc["t1", "b"] == 3
    assert np.isfinite(summary.mean.loc["t1", "b"])


def test_a_table_on_which_a_model_always_failed_leaves_the_ranks():
    frame = _frame()
    frame.loc[(frame["model"] == "b") & (frame["dataset"] == "t1"), "loss"] = np.nan
    summary = summarise(frame, "loss")
    assert "t1" not in summary.complete.index
    assert summary.ranks().sum() == pytest.approx(1 + 2 + 3)
    counts, _ = summary.against("a", "c")
    assert counts.win + counts.draw + counts.loss == 6


def test_pairs_on_one_table_use_the_folds_that_both_finished():
    frame = _frame(n_tables=1, n_folds=8).assign(repetition=0)
    frame.loc[(frame["model"] == "b") & (frame["fold"] == 3), "loss"] = np.nan
    pairs = pairs_on_one_table(frame, "loss").set_index(["first", "second"])
    wide = frame.pivot_table(index="fold", columns="model", values="loss").dropna()
    expected = corrected_resampled_t_test(wide["a"], wide["b"], n_train=80, n_test=20)
    assert len(wide) == 7
    assert pairs.loc[("a", "b"), "p_value"] == pytest.approx(expected.p_value, rel=1e-12)
    assert np.all(pairs["holm"] >= pairs["p_value"])
    assert pairs_on_one_table(frame[frame["fold"] == 0], "loss").empty


def test_one_table_or_two_models_give_what_they_can():
    one = summarise(_frame(n_tables=1), "loss")
    assert one.pairs() is None
    assert one.groups() == []
    assert one.equality() is None
    two = summarise(_frame(models=("a", "b")), "loss")
    assert two.equality() is None
    assert two.pairs() is not None


def test_equal_mean_losses_are_draws_whatever_the_rounding_of_their_sums():
    losses = {"a": [0.1, 0.2, 0.3], "b": [0.2, 0.2, 0.2]}
    rows = [(t, model, fold, losses[model][fold]) for t in "xy" for model in losses for fold in range(3)]
    frame = pd.DataFrame(rows, columns=["dataset", "model", "fold", "loss"])
    assert frame.groupby("model")["loss"].mean().nunique() == 2
    summary = summarise(frame, "loss")
    assert summary.ranks().tolist() == [1.5, 1.5]
    counts, p_value = summary.against("a", "b")
    assert (counts.win, counts.draw, counts.loss, p_value) == (0, 2, 0, 1.0)


def test_folds_of_unequal_size_all_count_and_only_steps_make_a_learning_curve():
    rows = {"dataset": "t", "model": ["a", "b"] * 2, "loss": [0.1, 0.2, 0.3, 0.1], "fold": [0, 0, 1, 1]}
    folds = pd.DataFrame({**rows, "n_train": [70, 70, 100, 100], "n_test": 30, "repetition": 0})
    every = summarise(folds, "loss")
    assert every.count.loc["t"].tolist() == [2, 2]
    assert every.mean.loc["t"].tolist() == [0.2, 0.15]
    last = summarise(folds.assign(step=folds["fold"]), "loss")
    assert last.count.loc["t"].tolist() == [1, 1]
    assert last.mean.loc["t"].tolist() == [0.3, 0.1]


def test_a_score_compares_models_as_the_loss_that_it_leaves():
    frame = _frame()
    loss = frame.assign(zero_one=frame["loss"] / 2)
    right = frame.assign(accuracy=1 - frame["loss"] / 2)
    as_loss, as_score = summarise(loss, "zero_one"), summarise(right, "accuracy")
    assert as_score.ranks().to_dict() == as_loss.ranks().to_dict()
    assert as_score.order() == as_loss.order()
    assert as_score.against("a", "b") == as_loss.against("a", "b")
    assert as_score.best(as_score.mean.iloc[0]) == as_score.mean.iloc[0].max()
    one = [part.query("dataset == 't0'").assign(repetition=0) for part in (loss, right)]
    pairs = pairs_on_one_table(one[0], "zero_one"), pairs_on_one_table(one[1], "accuracy")
    np.testing.assert_allclose(pairs[0]["difference"], pairs[1]["difference"], atol=1e-12)
