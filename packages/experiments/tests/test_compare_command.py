import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

from seminaive import NaiveBayes
from seminaive.cli import app
from seminaive.cli.catalogue import class_names
from seminaive.errors import InputError
from seminaive.evaluate import METRICS
from seminaive_experiments import Dataset, Experiment, GivenSplit, RepeatedKFold, Report, contenders, rivals
from seminaive_experiments.contenders import COMPARED, RIVALS, compared_models
from seminaive_experiments.rivals import RIVALS as RIVAL_MAKERS

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


def test_without_models_it_says_which_are_compared_how_long_and_how_to_take_others(table, monkeypatch):
    monkeypatch.setattr("seminaive_experiments.Experiment.run", _stop)
    with pytest.raises(InputError, match="stopped"):
        _run("compare", table, "--target", "churn", "-m", MODELS)
    shown = CliRunner().invoke(app, ["compare", str(table), "--target", "churn"])
    for word in (*compared_models(), "at most 300 s per table", "--time-limit", "--models"):
        assert word in shown.stderr


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
        (["iris", "-m", "naive-bayes", "--param", "smoothing=2"], "given as MODEL.name=value"),
        (["iris", "-m", "naive-bayes", "--param", "naive-bayes.luck=2"], "no parameter 'luck'"),
        (["iris", "-m", "naive-bayes", "--time-limit", "-1"], "--time-limit is 0 or more"),
        (["iris", "-m", "naive-bayes", "--drop", "luck"], "iris has no column 'luck'"),
        (["-", "--target", "y"], "standard input, and there is none"),
        (["iris", "-m", "naive-bayes", "--report", "nowhere/page.html"], "there is no folder 'nowhere'"),
    ],
)
def test_mistakes_are_explained(arguments, message):
    with pytest.raises(InputError, match=message):
        _run("compare", *arguments)


def test_files_are_written_before_anything_is_shown(table, tmp_path, monkeypatch):
    def broken(_):
        raise InputError("the terminal is gone")

    monkeypatch.setattr("seminaive_experiments.Report.terminal", broken)
    with pytest.raises(InputError, match="terminal is gone"):
        _run("compare", table, "--target", "churn", "-m", "class-shares", "--csv", tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 10


def test_without_models_about_eight_are_compared_that_a_user_would_pick(monkeypatch):
    installed = {"interpret": None, "catboost": None, "lightgbm": object()}
    monkeypatch.setattr("seminaive_experiments.contenders.find_spec", installed.get)
    assert compared_models() == [*COMPARED, "lightgbm"]
    assert len(COMPARED) == 8
    assert set(COMPARED) <= {*class_names(), *RIVALS}


def test_parameters_weights_and_dropped_columns_reach_the_models(table, monkeypatch):
    frame = pd.read_csv(table).assign(number=range(200), weight=np.arange(200) % 3)
    frame.to_csv(table, index=False)
    caught = {}

    def experiment(models, datasets, *_, **__):
        caught.update(models=models, dataset=datasets[0])
        raise InputError("stopped")

    monkeypatch.setattr("seminaive_experiments.Experiment", experiment)
    options = ["--drop", "number", "--weight", "weight", "--param", "naive-bayes.smoothing=0.5"]
    with pytest.raises(InputError, match="stopped"):
        _run("compare", table, "--target", "churn", *options)
    assert caught["models"]["naive-bayes"].smoothing == 0.5
    assert list(caught["dataset"].X.columns) == ["age", "job"]
    assert caught["dataset"].weight.tolist() == frame["weight"].tolist()


def test_integer_weights_equal_repeated_rows_in_fits_and_losses(table):
    frame, rows, weight = pd.read_csv(table), np.arange(200), np.arange(200) % 3
    X, y, more = (
        frame[["age", "job"]].astype({"job": str}),
        frame["churn"].to_numpy(),
        np.repeat(rows, weight),
    )
    tables = [
        Dataset("churn", X, y, rows[120:], weight),
        Dataset("churn", X.iloc[more], y[more], np.flatnonzero(more >= 120)),
    ]
    models = {"ours": NaiveBayes(), "pipeline": RIVAL_MAKERS["sklearn-logistic-regression"]()}
    # The scaler of the pipeline takes no weights, so that only the losses of our model are equal.
    weighted, repeated = (
        Experiment(models, [table], GivenSplit(), tuple(METRICS)).run().folds for table in tables
    )
    assert (weighted["status"] == "ok").all()
    for name in METRICS:
        assert weighted[name][0] == pytest.approx(repeated[name][0], rel=1e-9)


def test_a_model_without_row_weights_fails_where_there_are_some(table):
    frame = pd.read_csv(table)
    data = Dataset("churn", frame[["age"]].fillna(0), frame["churn"].to_numpy(), weight=np.ones(200))
    folds = Experiment({"neighbours": KNeighborsClassifier()}, [data], RepeatedKFold(2)).run().folds
    assert folds["message"].str.contains("takes no row weights").all()


@pytest.mark.parametrize("name", COMPARED)
def test_every_rival_takes_strings_gaps_and_unseen_values(table, name):
    frame = pd.read_csv(table)
    train, test = frame[:150], frame[150:].assign(job="astronaut")
    if name in RIVALS:
        model = RIVAL_MAKERS[name]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(train[["age", "job"]], train["churn"])
        assert np.isfinite(model.predict_proba(test[["age", "job"]])).all()


def test_a_time_limit_leaves_whole_splits_and_a_file_that_goes_on(tmp_path):
    models = {name: RIVAL_MAKERS[name]() for name in ("class-shares", "sklearn-logistic-regression")}
    experiment = Experiment(models, ["iris"], RepeatedKFold(5, 2))
    cut = experiment.run(tmp_path / "r", time_limit=0.05).folds
    assert len(cut) < 20
    if cut["model"].nunique() == 2:
        assert (cut.groupby(["repetition", "fold"]).size() == 2).all()
    assert len(experiment.run(tmp_path / "r").folds) == 20
    experiment.run(tmp_path / "whole")
    assert (tmp_path / "r").read_bytes() == (tmp_path / "whole").read_bytes()


def test_the_time_limit_is_told_where_it_cut_a_comparison_short(table):
    shown = _run("compare", table, "--target", "churn", "-m", MODELS, "--time-limit", "0.0001")
    assert "time for 1 of 3 models only" in shown.stdout
    shown = _run("compare", table, "--target", "churn", "-m", "naive-bayes", "--time-limit", "0.0001")
    assert "time for 1 of 10 splits" in shown.stdout


def test_no_name_is_broken_at_80_columns_and_positions_are_ranks(table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ["class-shares", "naive-bayes-logistic-regression-cv", "sklearn-logistic-regression"]
    shown = _run("compare", table, "--target", "churn", "-m", ",".join(names), "--folds", "2")
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    ranked = [line.split()[:2] for line in lines if line.split()[1:2] and line.split()[1] in names]
    best_first = [name for _, name in ranked[:3]]
    assert best_first[-1] == "class-shares"
    assert ranked[:3] == [[str(place + 1), name] for place, name in enumerate(best_first)]
    for title in ("log loss", "±", "Brier", "accuracy", "AUC", "F1", "seconds"):
        assert any(title in line for line in lines)


def test_curves_that_are_drawn_together_have_different_colours(tmp_path):
    names = [name for name in class_names() if name != "semi-naive"][:11]
    folds = pd.DataFrame(
        [("churn", name, fold, 0.5 - 0.01 * place) for place, name in enumerate(names) for fold in (0, 1)],
        columns=["dataset", "model", "fold", "log_loss"],
    )
    Report.of_frame(folds, ("log_loss",)).write_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    colours = dict(re.findall(r"--m(\d+):(#\w+)", page.split("@media")[0]))
    keys = set(re.findall(r"background:var\(--m(\d+)\)", page))
    assert len({colours[key] for key in keys}) == len(keys) == 11
    assert f"</span>1 {names[-1]}<" in page  # the best is number 1


def test_a_table_is_as_wide_as_the_terminal_is_now(monkeypatch):
    monkeypatch.setattr("rich._console", None)  # as in a new process; rich keeps its first console
    for width in (200, 100, 150):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = _run("reproduce", "--list").stdout.splitlines()
        assert width - 50 < max(map(len, shown)) <= width


def test_rivals_and_measures_of_the_command_line_are_those_of_the_library():
    assert set(RIVALS) == set(rivals.RIVALS)
    assert set(contenders.MEASURES) == set(METRICS)
