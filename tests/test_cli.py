"""The command line: files in, files out, and a sentence with exit code 1 for what goes wrong."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, SemiNaive, cli


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "seminaive", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.fixture
def table(tmp_path, weather):
    X, y = weather
    path = tmp_path / "weather.csv"
    X.assign(play=y).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_fit_and_predict_equal_the_library(seminaive, tmp_path, weather, ending):
    X, y = weather
    frame = X.assign(play=y)
    path, model, out = tmp_path / f"table.{ending}", tmp_path / "model", tmp_path / f"out.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    assert seminaive("fit", path, "--target", "play", "--out", model)[0] == 0
    assert seminaive("predict", model, path, "--out", out)[0] == 0
    written = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out)
    expected = SemiNaive().fit(X, y)
    assert (written["prediction"] == expected.predict(X)).all()
    names = [f"probability_{label}" for label in expected.classes_]
    np.testing.assert_allclose(written[names], expected.predict_proba(X), rtol=1e-12)


def test_parameters_and_weights_reach_the_model(seminaive, tmp_path, weather):
    X, y = weather
    weight = np.random.default_rng(0).random(len(y))
    X.assign(play=y, w=weight).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["--model", "naive-bayes", "--param", "smoothing=0.25", "--param", "variances=class"]
    arguments += ["--weight", "w"]
    code, _, _ = seminaive("fit", tmp_path / "t.csv", "--target", "play", "--out", tmp_path / "m", *arguments)
    assert code == 0
    _, out, _ = seminaive("predict", tmp_path / "m", tmp_path / "t.csv")
    expected = NaiveBayes(smoothing=0.25, variances="class").fit(X, y, sample_weight=weight)
    printed = np.array([line.split(",")[1:] for line in out.splitlines()[1:]], float)
    np.testing.assert_allclose(printed, expected.predict_proba(X), rtol=1e-10)


def test_chunks_of_a_long_table_come_in_order(seminaive, tmp_path, table, monkeypatch):
    monkeypatch.setattr(cli, "CHUNK", 33)
    seminaive("fit", table, "--target", "play", "--out", tmp_path / "m")
    code, _, _ = seminaive("predict", tmp_path / "m", table, "--out", tmp_path / "p.csv")
    X = pd.read_csv(table)
    model = SemiNaive().fit(X.drop(columns="play"), X["play"])
    assert code == 0
    assert (pd.read_csv(tmp_path / "p.csv")["prediction"] == model.predict(X.drop(columns="play"))).all()


def test_refusals_are_sentences_with_exit_code_one_and_leave_no_file(seminaive, tmp_path, table):
    out = tmp_path / "model"
    joined = ["fit", table, "--target", "play", "--model", "averaged-join-estimators"]
    for arguments, message in [
        (["fit", table, "--target", "nope", "--out", out], "there is no column 'nope'"),
        (["fit", tmp_path / "none.csv", "--target", "x", "--out", out], "there is no file"),
        (["fit", table, "--target", "play", "--model", "oracle", "--out", out], "choose one of"),
        (["fit", table, "--target", "play", "--param", "a=1", "--out", out], "no parameter 'a'"),
        (["fit", table, "--target", "play", "--param", "a", "--out", out], "name=value"),
        (["fit", table, "--target", "play", "--param", "smoothing=-1", "--out", out], "smoothing"),
        (["fit", table, "--target", "play", "--out", tmp_path / "none" / "m"], "no folder"),
        (["fit", table, "--target", "play", "--param", "smoothing=abc", "--out", out], "smoothing"),
        ([*joined, "--param", "order=99999999999999999999", "--out", out], "order is the number of features"),
        ([*joined, "--param", f"order={'9' * 5000}", "--out", out], "order is the number of features"),
        ([*joined, "--param", "order=null", "--out", out], "order is the number of features"),
        (["fit", table, "--target", "play", "--param", "smoothing=1e400", "--out", out], "smoothing"),
        (["fit", table, "--target", "play", "--param", "priors=abc", "--out", out], "priors"),
        (["fit", table, "--target", "play", "--param", "categorical_features=5", "--out", out], "from_dtype"),
        (["fit", table, "--target", "play", "--weight", "sky", "--out", out], "sample_weight"),
        (["fit", table, "--target", "play", "--out", tmp_path], "is a folder"),
        (["predict", table, table], "not a saved model"),
        (["predict", tmp_path / "none", table], "there is no file"),
    ]:
        code, printed, error = seminaive(*arguments)
        assert code == 1, arguments
        assert message in error
        assert "Traceback" not in error + printed
        assert error.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["weather.csv"]


def test_a_failed_predict_leaves_no_file(seminaive, tmp_path, table):
    seminaive("fit", table, "--target", "play", "--out", tmp_path / "m")
    pd.read_csv(table).drop(columns="sky").to_csv(tmp_path / "short.csv", index=False)
    code, _, error = seminaive("predict", tmp_path / "m", tmp_path / "short.csv", "--out", tmp_path / "p.csv")
    assert code == 1
    assert "lacks ['sky']" in error
    code, _, error = seminaive("predict", tmp_path / "m", table, "--out", tmp_path / "p.txt")
    assert code == 1
    assert "neither .csv" in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "short.csv", "weather.csv"]


def test_a_table_that_cannot_be_read_is_named(seminaive, tmp_path):
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"not parquet")
    code, _, error = seminaive("fit", path, "--target", "x", "--out", tmp_path / "m")
    assert code == 1
    assert "cannot be read as a table" in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,y\n1,2,p,0\n2,3,q,0\n", "Length of header"),
        ("a,a,y\n1,2,p\n2,3,q\n", "called 'a'"),
        ("", "No columns"),
        ("a,y\n", "at least one row"),
    ],
)
def test_a_csv_file_that_is_no_table_is_refused(seminaive, tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    code, _, error = seminaive("fit", path, "--target", "y", "--out", tmp_path / "m")
    assert code == 1
    assert message in error
    path.with_suffix(".csv.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"broken" * 9)
    assert seminaive("fit", path.with_suffix(".csv.gz"), "--target", "y", "--out", tmp_path / "m")[0] == 1


def test_text_that_looks_like_numbers_is_text_where_training_had_text(seminaive, tmp_path):
    (tmp_path / "t.csv").write_text("code,y\n1,p\n2,q\nx,p\n2,q\n")
    (tmp_path / "new.csv").write_text("code\n1\n2\n")
    assert seminaive("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m")[0] == 0
    code, out, _ = seminaive("predict", tmp_path / "m", tmp_path / "new.csv")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["p", "q"]


def test_a_device_is_written_to_and_a_link_is_followed(seminaive, tmp_path, table):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    assert seminaive("fit", table, "--target", "play", "--out", link)[0] == 0
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert seminaive("predict", link, table)[0] == 0
    assert seminaive("fit", table, "--target", "play", "--out", "/dev/null")[0] == 0
    assert not Path("/dev/null").is_file()


def test_the_installed_command_runs(tmp_path):
    done = run("--version", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("seminaive ")
    assert run("unknown").returncode == 2
