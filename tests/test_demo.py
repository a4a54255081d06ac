"""The demo: its scenes hold what their lessons say, and it leaves a page behind."""

from dataclasses import replace

from seminaive.demo import few_rows, many_rows, run_demo
from seminaive.papers.generators import poker_hands


def test_few_rows_favour_naive_bayes():
    error = few_rows().play().folds.groupby("model")["zero_one"].mean()
    assert error["NaiveBayes"] < error["scikit-learn logistic regression"]


def test_a_model_that_fails_is_told(tmp_path, capsys):
    scene = few_rows()
    broken = replace(scene, models={"broken": scene.models["NaiveBayes"].set_params(missing="unknown")})
    run_demo([broken], tmp_path / "page.html")
    assert "broken failed in 10 of 10 folds" in capsys.readouterr().out


def test_the_demo_prints_its_scenes_and_writes_a_page(tmp_path, capsys):
    scene = few_rows()
    plan = replace(scene.plan, n_repeats=1)
    small = [replace(scene, plan=plan), replace(many_rows(), dataset=poker_hands(1500))]
    run_demo(small, tmp_path / "page.html")
    printed = capsys.readouterr().out
    assert "HigherOrderLogisticRegressionCV" in printed
    assert "failed" not in printed
    assert "seminaive compare" in printed
    assert "<html" in (tmp_path / "page.html").read_text()
