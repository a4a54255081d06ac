"""The demo: its scenes hold what their lessons say, and it leaves a page and a calculator behind."""

from dataclasses import replace

import pytest

from seminaive import NaiveBayes
from seminaive_experiments import Experiment
from seminaive_experiments.demo import CALCULATOR, PAGE, few_rows, many_rows, run_demo
from seminaive_experiments.poker import poker_hands


@pytest.mark.parametrize("seed", [1, 2])
def test_with_few_rows_the_model_in_between_has_the_lowest_log_loss(seed):
    scene = few_rows()
    fast = {name: model for name, model in scene.models.items() if "forest" not in name}
    plan = replace(scene.plan, n_repeats=5)
    folds = Experiment(fast, [scene.dataset], plan, ("log_loss",), random_state=seed).run().folds
    assert folds.groupby("model")["log_loss"].mean().idxmin() == "SemiNaive"


def test_with_many_rows_pairs_have_the_lowest_log_loss():
    scene = many_rows()
    slow = ("SemiNaive", "scikit-learn random forest")
    small = replace(scene, models={name: m for name, m in scene.models.items() if name not in slow})
    loss = small.play().folds.groupby("model")["log_loss"].mean()
    assert loss.idxmin() == "HigherOrderLogisticRegression, pairs"
    assert loss.min() < 0.5 * loss["NaiveBayes"]


def test_a_model_that_fails_is_told(tmp_path, capsys):
    scene = few_rows()
    models = {"fine": NaiveBayes(), "broken": NaiveBayes(missing="unknown")}
    run_demo([replace(scene, models=models)], tmp_path)
    assert "broken failed in 10 of 10 folds" in capsys.readouterr().out


def test_the_page_and_the_terminal_tell_the_same_seconds(tmp_path, capsys):
    scene = few_rows()
    run_demo([replace(scene, models={"only": NaiveBayes()})], tmp_path)
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(" only"))
    assert f"<td>{line.split()[-1]}</td>" in (tmp_path / PAGE).read_text()


def test_the_demo_prints_its_scenes_and_writes_a_page_and_a_calculator(tmp_path, capsys):
    first = few_rows()
    first = replace(first, plan=replace(first.plan, n_repeats=1))
    scenes = [first, replace(many_rows(), dataset=poker_hands(1500))]
    run_demo(scenes, tmp_path)
    printed = capsys.readouterr().out
    page = (tmp_path / PAGE).read_text()
    for scene in scenes:
        assert scene.title in printed
        assert f"<p>{scene.lesson}</p>" in page
        assert f"<h2>{scene.dataset.name}</h2>" in page
        for name in scene.models:
            assert name in printed.replace("\n", " ") or len(name) > 20
    assert "failed" not in printed
    assert str(tmp_path / PAGE) in printed
    assert str(tmp_path / CALCULATOR) in printed
    assert "proline" in (tmp_path / CALCULATOR).read_text()
    assert "seminaive fit TABLE.csv" in printed
    assert "seminaive warm-up --models all" in printed
