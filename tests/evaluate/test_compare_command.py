import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from seminaive.cli import app
from seminaive.cli.catalogue import RIVALS, class_names
from seminaive.errors import InputError

MODELS = "naive-bayes,sklearn-logistic-regression,class-shares"


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    age, job = rng.integers(20, 70, size=200).astype(float), rng.choice(["cook", "clerk", ""], size=200)
    age[:10] = np.nan
    churn = np.where(
        np.nan_to_num(age, nan=40) + 10 * (job == "cook") + rng.normal(0, 8, 200) > 45, "yes", "no"
    )
    path = tmp_path / "churn.csv"
    pd.DataFrame({"age": age, "job": job, "churn": churn}).to_csv(path, index=False)
    return path


def _run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_a_csv_with_strings_and_gaps_becomes_a_table_a_file_and_a_page(table, tmp_path):
    page, csv = tmp_path / "out.html", tmp_path / "out.csv"
    shown = _run("compare", table, "--target", "churn", "-m", MODELS, "--report", page, "--csv", csv)
    assert shown.exit_code == 0
    for name in ("log loss", "Brier", "accuracy", "AUC", "F1"):
        assert name in shown.output
    folds = pd.read_csv(csv)
    assert folds["model"].unique().tolist() == MODELS.split(",")
    assert (folds["status"] == "ok").all()
    assert len(folds) == 3 * 5 * 2
    assert folds.groupby("model")["accuracy"].mean()["naive-bayes"] > 0.65
    assert "Bias against variance" in page.read_text()


def test_a_table_of_one_class_is_refused_with_what_to_do(table):
    pd.read_csv(table).assign(churn="yes").to_csv(table, index=False)
    with pytest.raises(InputError, match=r"every row is of the class yes.* another column"):
        _run("compare", table, "--target", "churn", "-m", MODELS)


def test_without_models_it_says_that_all_are_compared_and_how_to_take_fewer(table, monkeypatch):
    monkeypatch.setattr("seminaive.evaluate.Experiment.run", _stop)
    with pytest.raises(InputError, match="stopped"):
        _run("compare", table, "--target", "churn", "-m", MODELS)
    shown = CliRunner().invoke(app, ["compare", str(table), "--target", "churn"])
    assert f"all {len(class_names()) + len(RIVALS)} models" in shown.stderr
    assert "--models" in shown.stderr


def _stop(*_, **__):
    raise InputError("stopped")


def test_a_results_file_is_continued(table, tmp_path):
    arguments = [
        "compare",
        table,
        "iris",
        "--target",
        "churn",
        "-m",
        "naive-bayes",
        "--results",
        tmp_path / "r",
    ]
    assert _run(*arguments).exit_code == 0
    before = (tmp_path / "r").read_bytes()
    assert _run(*arguments).exit_code == 0
    assert (tmp_path / "r").read_bytes() == before
    assert json.loads(before.splitlines()[0])["datasets"].keys() == {"churn", "iris"}


def test_a_learning_curve_is_drawn(tmp_path):
    arguments = ["compare", "iris", "-m", "naive-bayes", "-m", "class-shares", "--learning-curve"]
    assert _run(*arguments, "--report", tmp_path / "page.html").exit_code == 0
    assert "Learning curves" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["iris", "-m", "oracle"], r"no model 'oracle': choose among .*naive-bayes"),
        (["churn.csv", "-m", "naive-bayes"], "there is no file"),
        (["iris", "-m", "naive-bayes", "--metrics", "luck"], "no metric 'luck'"),
        (["iris", "-m", "naive-bayes", "--report", "nowhere/page.html"], "there is no folder 'nowhere'"),
    ],
)
def test_mistakes_are_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        _run("compare", *arguments)


def test_files_are_written_before_anything_is_shown(table, tmp_path, monkeypatch):
    def broken(_):
        raise InputError("the terminal is gone")

    monkeypatch.setattr("seminaive.evaluate.Report.terminal", broken)
    with pytest.raises(InputError, match="terminal is gone"):
        _run("compare", table, "--target", "churn", "-m", "class-shares", "--csv", tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 10


def test_without_models_ours_and_those_of_scikit_learn_are_compared(monkeypatch):
    asked = {}

    class Caught(Exception):  # noqa: N818 - ends the command where the experiment would begin
        pass

    def experiment(models, *_, **__):
        asked.update(models)
        raise Caught

    monkeypatch.setattr("seminaive.evaluate.Experiment", experiment)
    with pytest.raises(Caught):
        _run("compare", "iris")
    assert set(asked) == {*class_names(), *RIVALS}


def test_the_terminal_keeps_names_apart_at_80_columns(table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ["naive-bayes-logistic-regression", "naive-bayes-logistic-regression-cv"]
    shown = _run("compare", table, "--target", "churn", "-m", ",".join(names), "--folds", "2")
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "…" not in shown.stdout
    lines = shown.stdout.splitlines()
    head = next(place for place, line in enumerate(lines) if "Brier" in line)
    lines, end = lines[head:], lines[head].index("log loss")
    written = "".join(line[4:end].strip() for line in lines if line.startswith((" 1 ", " 2 ", "    ")))
    assert sorted(written.replace("naive-bayes", " naive-bayes").split()) == ["model", *names]


def test_a_table_is_as_wide_as_the_terminal_is_now(monkeypatch):
    monkeypatch.setattr("rich._console", None)  # as in a new process; rich keeps its first console
    for width in (200, 100, 150):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = _run("reproduce", "--list").stdout.splitlines()
        assert width - 50 < max(map(len, shown)) <= width
