"""The studies of the ALR paper run, resume, and say what the paper says where it can be said quickly."""

import numpy as np
import pandas as pd
import pytest

from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers.alr import convergence, initialisation, learning_curves, speed_ups
from seminaive_experiments.poker import poker_hands


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 4, (300, 4)), columns=list("abcd")).astype("category")
    y = (X["a"].cat.codes == X["b"].cat.codes).to_numpy() ^ (rng.random(300) < 0.2)
    return Dataset("small", X, y.astype(int))


def test_a_finished_study_is_read_and_not_run_again(small, tmp_path, monkeypatch):
    path = tmp_path / "passes.csv"
    first = convergence([small], path, orders=[1], max_iter=30)
    assert set(first["scaling"]) == {"none", "generative", "curvature"}
    monkeypatch.setattr("seminaive_experiments.papers.alr._fitted", None)
    pd.testing.assert_frame_equal(convergence([small], path, orders=[1], max_iter=30), first)


def test_speed_ups_are_ratios_of_passes(small, tmp_path):
    passes = convergence([small], tmp_path / "passes.csv", orders=[1], ridges=[1.0], max_iter=30)
    by_scaling = passes.set_index("scaling")["passes"]
    summary = speed_ups(passes).iloc[0]
    assert summary["curvature"] == pytest.approx(by_scaling["none"] / by_scaling["curvature"])


def test_a_generative_start_begins_lower_and_weights_of_averages_end_where_others_do(small, tmp_path):
    study = initialisation([small], tmp_path / "start.csv", orders=[2]).set_index("variant")
    assert study.loc["ALR (init)", "first"] < study.loc["ALR", "first"] == study.loc["ALR (J)", "first"]
    assert study.loc["ALR (J)", "last"] == pytest.approx(study.loc["ALR", "last"], rel=1e-3)


def test_a_study_goes_on_below_the_lines_that_say_where_it_comes_from(small, tmp_path):
    path = tmp_path / "passes.csv"
    path.write_text("# command: python study.py\n")
    study = convergence([small], path, orders=[1], ridges=[1.0], max_iter=5)
    again = convergence([small], path, orders=[1], ridges=[0.0, 1.0], max_iter=5)
    assert len(again) == 2 * len(study) == 6
    assert path.read_text().startswith("# command: python study.py\ndataset,order")


def test_pairs_learn_poker_hands_from_a_stream_and_singles_do_not():
    curves = learning_curves(poker_hands(8000), orders=(1, 2))
    last = curves[curves["rows_seen"] == 7000].set_index("order")["error"]
    assert last[2] < 0.45 < last[1]
