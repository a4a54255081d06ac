"""The command line: files in, files out, and a sentence with exit code 1 for what goes wrong."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import seminaive as package
from seminaive import NaiveBayes, SemiNaive, evaluate, models, structure
from seminaive.cli import catalogue
from seminaive.errors import ColumnsWarning

QUICK = ("--model", "naive-bayes", "--no-estimate")


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "seminaive", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.fixture
def table(tmp_path, weather):
    X, y = weather
    path = tmp_path / "weather.csv"
    X.assign(play=y).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "ending", ["csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zip", "tsv", "tsv.gz", "parquet"]
)
def test_fit_and_predict_equal_the_library(seminaive, tmp_path, weather, ending):
    X, y = weather
    frame = X.assign(play=y)
    path, model, out = tmp_path / f"table.{ending}", tmp_path / "model", tmp_path / f"out.{ending}"
    sep = "\t" if "tsv" in ending else ","
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False, sep=sep)
    assert seminaive("fit", path, "--target", "play", "--out", model, *QUICK)[0] == 0
    assert seminaive("predict", model, path, "--out", out)[0] == 0
    written = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out, sep=sep)
    expected = NaiveBayes().fit(X, y)
    assert (written["prediction"] == expected.predict(X)).all()
    names = [f"probability_{label}" for label in expected.classes_]
    np.testing.assert_allclose(written[names], expected.predict_proba(X), rtol=1e-12)


def test_parameters_and_weights_reach_the_model(seminaive, tmp_path, weather):
    X, y = weather
    weight = np.random.default_rng(0).random(len(y))
    X.assign(play=y, w=weight).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["--model", "naive-bayes", "--param", "smoothing=0.25", "--param", "variances=class"]
    arguments += ["--weight", "w", "--no-estimate"]
    code, _, _ = seminaive("fit", tmp_path / "t.csv", "--target", "play", "--out", tmp_path / "m", *arguments)
    assert code == 0
    _, out, _ = seminaive("predict", tmp_path / "m", tmp_path / "t.csv")
    expected = NaiveBayes(smoothing=0.25, variances="class").fit(X, y, sample_weight=weight)
    printed = np.array([line.split(",")[1:] for line in out.splitlines()[1:]], float)
    np.testing.assert_allclose(printed, expected.predict_proba(X), rtol=1e-10)


def test_chunks_of_a_long_table_come_in_order(seminaive, tmp_path, table, monkeypatch):
    monkeypatch.setattr("seminaive.cli.fit_commands.CHUNK", 33)
    seminaive("fit", table, "--target", "play", "--out", tmp_path / "m", "--no-estimate")
    code, _, _ = seminaive("predict", tmp_path / "m", table, "--out", tmp_path / "p.csv")
    X = pd.read_csv(table)
    model = SemiNaive().fit(X.drop(columns="play"), X["play"])
    assert code == 0
    assert (pd.read_csv(tmp_path / "p.csv")["prediction"] == model.predict(X.drop(columns="play"))).all()


def test_refusals_are_sentences_with_exit_code_one_and_leave_no_file(seminaive, tmp_path, table):
    out = tmp_path / "model"
    joined = ["fit", table, "--target", "play", "--model", "averaged-join-estimators"]
    for arguments, message in [
        (["fit", table, "--target", "nope", "--out", out], "has no column 'nope'"),
        (["fit", tmp_path / "none.csv", "--target", "x", "--out", out], "there is no file"),
        (["fit", table, "--target", "play", "--model", "oracle", "--out", out], "choose among"),
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
        (["fit", table, "--target", "play", "--out", tmp_path / "m.pkl"], "named like a pickle"),
        (["fit", table, "--target", "play", "--sep", ";;", "--out", out], "one character"),
        (["fit", table, "--target", "play", "--encoding", "klingon", "--out", out], "no encoding"),
        (["fit", table, "--target", "play", "--drop", "sun", "--out", out], "no column 'sun'"),
        (["score", table, "--truth", "play"], "no column 'prediction'"),
        (["score", table, "--truth", "was"], "no column 'was'"),
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
    seminaive("fit", table, "--target", "play", "--out", tmp_path / "m", *QUICK)
    pd.read_csv(table).drop(columns="sky").to_csv(tmp_path / "short.csv", index=False)
    code, _, error = seminaive("predict", tmp_path / "m", tmp_path / "short.csv", "--out", tmp_path / "p.csv")
    assert code == 1
    assert "lacks 'sky'" in error
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
        ("", "is empty"),
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
    assert seminaive("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", *QUICK)[0] == 0
    code, out, _ = seminaive("predict", tmp_path / "m", tmp_path / "new.csv")
    assert code == 0
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["p", "q"]


def test_a_device_is_written_to_and_a_link_is_followed(seminaive, tmp_path, table):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    assert seminaive("fit", table, "--target", "play", "--out", link, *QUICK)[0] == 0
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert seminaive("predict", link, table)[0] == 0
    assert seminaive("fit", table, "--target", "play", "--out", "/dev/null", *QUICK)[0] == 0
    assert not Path("/dev/null").is_file()


def test_fit_tells_how_columns_were_read_and_what_to_expect(seminaive, tmp_path, weather):
    X, y = weather
    X = X.assign(id=[f"K{row}" for row in range(len(X))])
    X.assign(play=y).to_csv(tmp_path / "t.csv", index=False)
    arguments = ("fit", tmp_path / "t.csv", "--target", "play", "--out", tmp_path / "m")
    code, out, err = seminaive(*arguments, "--model", "naive-bayes")
    assert code == 0
    for column in X:
        assert column in out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsWarning)
        expected = evaluate.estimate_losses(
            NaiveBayes(), pd.read_csv(tmp_path / "t.csv").drop(columns="play"), y
        )
    assert f"log loss {expected.log_loss:.4f}" in out
    assert "column 'id' has" in err
    assert "--drop COLUMN" in err
    code, out, err = seminaive(*arguments, *QUICK, "--drop", "id")
    assert "log loss" not in out
    assert err == ""


def test_an_estimate_that_cannot_be_made_is_no_failure(seminaive, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n2,q\n")
    arguments = (
        "fit",
        tmp_path / "t.csv",
        "--target",
        "y",
        "--out",
        tmp_path / "m",
        "--model",
        "naive-bayes",
    )
    code, out, _ = seminaive(*arguments)
    assert code == 0
    assert "no estimate of the loss: one class only" in out


def test_a_spreadsheets_csv_is_read_as_people_expect(seminaive, tmp_path, weather):
    X, y = weather
    frame = X.assign(play=y)
    path, plain = tmp_path / "excel.csv", tmp_path / "plain.csv"
    frame.to_csv(plain, index=False)
    text = "sep=;\n" + frame.to_csv(index=False, sep=";", decimal=",")
    path.write_text(text, encoding="utf-8-sig")
    for table in (path, plain):
        assert seminaive("fit", table, "--target", "play", "--out", table.with_suffix(""), *QUICK)[0] == 0
    _, expected, _ = seminaive("predict", plain.with_suffix(""), plain)
    for model, table in ((path.with_suffix(""), path), (plain.with_suffix(""), path)):
        assert seminaive("predict", model, table)[1] == expected


def test_cells_that_are_said_to_be_missing_are_missing(seminaive, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "1,p\n2,q\nNA,p\n?,q\n" * 3)
    fit = ("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", *QUICK)
    assert "categorical" in seminaive(*fit)[1]
    code, out, _ = seminaive(*fit, "--na-values", "NA,?")
    assert code == 0
    assert "numeric" in out
    assert "missing: empty and 'NA', '?'" in out


def test_a_wrong_delimiter_is_pointed_at(seminaive, tmp_path):
    (tmp_path / "t.csv").write_text("a^Play\n1^p\n2^q\n")
    fit = ("fit", tmp_path / "t.csv", "--target", "Play", "--out", tmp_path / "m", *QUICK)
    code, _, error = seminaive(*fit)
    assert code == 1
    assert "--sep names another delimiter" in error
    assert seminaive(*fit, "--sep", "^")[0] == 0
    assert "Did you mean 'Play'?" in seminaive(*fit, "--sep", "^", "--target", "play")[2]


def test_a_file_in_another_encoding_is_pointed_at(seminaive, tmp_path):
    (tmp_path / "t.csv").write_bytes("a,Größe\nä,p\nö,q\n".encode("cp1252"))
    fit = ("fit", tmp_path / "t.csv", "--target", "Größe", "--out", tmp_path / "m", *QUICK)
    code, _, error = seminaive(*fit)
    assert code == 1
    assert "--encoding cp1252" in error
    assert seminaive(*fit, "--encoding", "cp1252")[0] == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_kept_columns_stand_before_the_predictions_and_are_scored(seminaive, tmp_path, weather, ending):
    X, y = weather
    frame = X.assign(play=y, number=range(len(y)))
    path, out = tmp_path / f"t.{ending}", tmp_path / f"p.{ending}"
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    seminaive("fit", path, "--target", "play", "--out", tmp_path / "m", *QUICK, "--drop", "number")
    code, printed, _ = seminaive("predict", tmp_path / "m", path, "--out", out, "--keep", "number,play")
    assert code == 0
    assert f"wrote {out}: {len(y):,} rows with the columns number, play, prediction" in printed
    written = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out)
    assert written["number"].tolist() == frame["number"].tolist()
    code, printed, _ = seminaive("score", out, "--truth", "play")
    assert code == 0
    expected = float((written["prediction"] == y).mean())
    assert f"{expected:.3f}" in next(line for line in printed.splitlines() if "accuracy" in line)
    seminaive("predict", tmp_path / "m", path, "--out", out, "--all")
    written = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out)
    assert written.columns[: frame.shape[1]].tolist() == frame.columns.tolist()
    code, _, error = seminaive("predict", tmp_path / "m", out, "--all")
    assert code == 1
    assert "and so have the predictions" in error


def test_labels_that_are_numbers_are_scored_with_rows_left_out(seminaive, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "1,0\n2,1\n" * 10)
    seminaive("fit", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m", *QUICK)
    (tmp_path / "new.csv").write_text("a,y\n1,0\n2,1\n2,\n")  # with a gap, pandas writes 0.0 and 1.0
    seminaive("predict", tmp_path / "m", tmp_path / "new.csv", "--out", tmp_path / "p.csv", "--all")
    code, printed, _ = seminaive("score", tmp_path / "p.csv", "--truth", "y")
    assert code == 0
    assert "2 rows; 1 without 'y' left out" in printed
    assert "1.000" in next(line for line in printed.splitlines() if "accuracy" in line)


def test_the_help_of_fit_lists_every_model_with_a_sentence(seminaive):
    rooms = (models, structure)
    classifiers = {name for room in rooms for name in room.__all__ if hasattr(getattr(room, name), "predict")}
    assert set(catalogue.class_names().values()) == classifiers - {"EditedModel", "PooledClassifier"}
    _, out, _ = seminaive("fit", "--help")
    for name in catalogue.class_names():
        assert name in out
        assert catalogue.sentence_of(name).split()[0] in out
        model = getattr(package, catalogue.class_names()[name])()
        assert set(catalogue.parameters_of(name)) == set(model.get_params())


REFUSED = [
    ("fit", "t.csv", "--target", "nope", "--out", "m"),
    ("fit", "t.csv", "--target", "y", "--out", "m.pkl"),
    ("fit", "t.csv", "--target", "y", "--out", "m", "--model", "oracle"),
    ("fit", "t.csv", "--target", "y", "--out", "m", "--param", "nothing=1"),
    ("predict", "m", "t.csv"),
    ("score", "t.csv", "--truth", "nope"),
    ("explain", "m"),
    ("export", "m", "--to", "pmml", "--out", "x"),
    ("compare", "t.csv", "--target", "nope"),
    ("compare", "iris", "-m", "oracle"),
    ("compare", "iris", "--metrics", "luck"),
    ("compare", "iris", "--jobs", "0"),
    ("compare", "iris", "--seed", "-1"),
    ("compare", "t.csv"),
    ("reproduce", "table0"),
    ("reproduce", "alr-footnote6"),
    ("reproduce", "nbrlr-table1", "--jobs", "0"),
    ("reproduce", "nbrlr-table1", "--seed", "-1"),
]


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_a_refusal_imports_nothing_heavy(tmp_path, arguments):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n2,q\n")
    script = (
        "import sys\nfrom seminaive.cli import main\n"
        f"sys.argv = ['seminaive', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    code, *modules = done.stdout.split()
    assert code == "1"
    assert not {"numpy", "pandas", "sklearn", "scipy", "pyarrow", "narwhals"} & set(modules)


def test_the_installed_command_runs(tmp_path):
    done = run("--version", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("seminaive ")
    assert run("unknown").returncode == 2


def test_counts_repeat_rows(seminaive, tmp_path, weather):
    X, y = weather
    counts = np.arange(len(y)) % 4
    path, repeated = tmp_path / "counted.csv", tmp_path / "repeated.csv"
    X.assign(play=y, people=counts).to_csv(path, index=False)
    rows = np.arange(len(y)).repeat(counts)
    X.assign(play=y).iloc[rows].to_csv(repeated, index=False)
    answers = []
    for table, options in ((path, ("--counts", "people")), (repeated, ())):
        model, out = tmp_path / f"{table.stem}.model", tmp_path / f"{table.stem}.out.csv"
        assert seminaive("fit", table, "--target", "play", "--out", model, *options, *QUICK)[0] == 0
        assert seminaive("predict", model, repeated, "--out", out)[0] == 0
        answers.append(out.read_text())
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ([1, 2.5], "row 2 has 2.5"),
        ([1, -1], "row 2 has -1"),
        ([0, 0], "nothing but zeros"),
        (["x", "y"], "numbers"),
    ],
)
def test_counts_that_are_none_are_refused(seminaive, tmp_path, counts, sentence):
    path = tmp_path / "table.csv"
    pd.DataFrame({"a": ["p", "q"], "n": counts, "y": ["no", "yes"]}).to_csv(path, index=False)
    code, _, said = seminaive("fit", path, "--target", "y", "--out", tmp_path / "m", "--counts", "n", *QUICK)
    assert code == 1
    assert sentence in said
