import gzip

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from seminaive import cli, load_model, memory, save_model, scale
from seminaive.encode import read_table
from seminaive.errors import InputError
from seminaive.models import NaiveBayes, TreeAugmentedNaiveBayes
from seminaive.scale import partitions


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(partitions, "ROWS_AT_ONCE", 130)


def write_csv(mixed, path):
    frame = mixed.copy()
    frame["count"] = np.arange(len(frame)) % 7
    frame.loc[2500:, "age"] = np.nan
    frame["late"] = [
        "" if n < 900 else str(n % 3) for n in range(len(frame))
    ]  # whole numbers, missing at first
    frame["mixed"] = [
        str(n % 5) if n < 2000 else "x" for n in range(len(frame))
    ]  # text that begins as numbers
    frame["truth"] = np.where(frame.index % 9 == 0, "", frame["flag"].astype(str))
    frame.to_csv(path, index=False)


@pytest.mark.usefixtures("small_pieces")
def test_a_csv_file_in_pieces_is_read_as_it_is_in_one(mixed, tmp_path):
    write_csv(mixed, tmp_path / "rows.csv")
    whole = read_table(tmp_path / "rows.csv")
    X = whole.drop(columns="outcome")
    for model in (NaiveBayes(), TreeAugmentedNaiveBayes()):
        data = scale.from_csv(tmp_path / "rows.csv", target="outcome")
        scale.fit(model, data)
        expected = type(model)().fit(X, whole["outcome"])
        assert model.schema_ == expected.schema_
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_a_damaged_csv_file_is_named(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,outcome\n1,2,x\n1,2,3,4,5\n")
    with pytest.raises(InputError, match=r"rows.csv' cannot be read as a table"):
        scale.from_csv(tmp_path / "rows.csv", target="outcome")
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"a,outcome\n1,x\n")[:-9])
    with pytest.raises(InputError, match=r"rows.csv.gz' cannot be read as a table"):
        scale.from_csv(tmp_path / "rows.csv.gz", target="outcome")
    with pytest.raises(InputError, match="there is no file"):
        scale.from_csv(tmp_path / "none.csv")


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments], catch_exceptions=False)


def test_the_command_line_fits_and_predicts_folders(mixed, tmp_path, write_parts):
    folder = write_parts(mixed, tmp_path / "rows", 4, np.random.default_rng(0))
    model = tmp_path / "model"
    done = run("fit", folder, "--target", "outcome", "--out", model, "--model", "naive-bayes")
    assert done.exit_code == 0, done.output
    X = mixed.drop(columns="outcome")
    expected = NaiveBayes().fit(X, mixed["outcome"])
    np.testing.assert_array_equal(load_model(model).predict_proba(X), expected.predict_proba(X))
    assert run("predict", model, folder, "--out", tmp_path / "answers").exit_code == 0
    found = pd.concat(pd.read_parquet(file) for file in sorted((tmp_path / "answers").glob("*.parquet")))
    assert found["prediction"].tolist() == expected.predict(X).tolist()
    with pytest.raises(InputError, match="name a folder for the predictions in --out"):
        run("predict", model, folder)


def test_the_command_line_leaves_columns_of_a_folder_out_and_keeps_others(mixed, tmp_path, write_parts):
    frame = mixed.assign(number=np.arange(len(mixed)), times=1.0 + np.arange(len(mixed)) % 3)
    folder = write_parts(frame, tmp_path / "rows", 4, np.random.default_rng(0))
    model, options = tmp_path / "model", ["--target", "outcome", "--model", "naive-bayes"]
    done = run("fit", folder, *options, "--weight", "times", "--drop", "number,flag", "--out", model)
    assert "How the columns were read" in done.output
    X = mixed.drop(columns=["outcome", "flag"])
    expected = NaiveBayes().fit(X, mixed["outcome"], sample_weight=frame["times"])
    np.testing.assert_array_equal(load_model(model).predict_proba(X), expected.predict_proba(X))
    run("predict", model, folder, "--keep", "number,outcome", "--out", tmp_path / "some")
    some = pd.read_parquet(tmp_path / "some")
    assert list(some.columns[:3]) == ["number", "outcome", "prediction"]
    assert some["number"].tolist() == frame["number"].tolist()
    run("predict", model, folder, "--all", "--out", tmp_path / "every")
    assert list(pd.read_parquet(tmp_path / "every").columns[: frame.shape[1]]) == list(frame.columns)


def test_a_folder_of_predictions_is_scored_as_a_file_of_them(mixed, tmp_path, write_parts):
    frame = mixed.assign(outcome=mixed["outcome"].where(np.arange(len(mixed)) % 7 > 0, None))
    folder = write_parts(frame, tmp_path / "rows", 4, np.random.default_rng(0))
    frame.to_parquet(tmp_path / "rows.parquet")
    save_model(NaiveBayes().fit(mixed.drop(columns="outcome"), mixed["outcome"]), tmp_path / "model")
    outputs = []
    for rows, out in ((folder, "answers"), (tmp_path / "rows.parquet", "answers.parquet")):
        run("predict", tmp_path / "model", rows, "--out", tmp_path / out, "--keep", "outcome")
        outputs.append(run("score", tmp_path / out, "--truth", "outcome").output.replace(f"{out}:", ""))
    assert "2,571 rows; 429 without 'outcome' left out" in outputs[0]
    assert outputs[0] == outputs[1]
    with pytest.raises(
        InputError, match=r"there is no column 'sky': the table has \['outcome', 'prediction'"
    ):
        run("score", tmp_path / "answers", "--truth", "sky")
    write_parts(frame[:0], tmp_path / "none", 2, np.random.default_rng(0))
    with pytest.raises(InputError, match="has any row: there is nothing to score"):
        run("score", tmp_path / "none", "--truth", "outcome")


def test_the_command_line_keeps_the_most_frequent_categories(mixed, tmp_path, write_parts):
    folder = write_parts(mixed, tmp_path / "rows", 3, np.random.default_rng(0))
    mixed.to_parquet(tmp_path / "rows.parquet")
    options = ["--target", "outcome", "--model", "naive-bayes", "--max-categories"]
    expected = scale.fit(NaiveBayes(), scale.from_parquet(folder, target="outcome"), max_categories=2)
    X = mixed.drop(columns="outcome")
    for rows in (folder, tmp_path / "rows.parquet"):
        run("fit", rows, *options, "2", "--out", tmp_path / "model")
        found = load_model(tmp_path / "model")
        np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(InputError, match="--max-categories is 1 or more, got 0"):
        run("fit", folder, *options, "0", "--out", tmp_path / "model")


def test_the_command_line_says_what_is_wrong_with_large_tables(mixed, tmp_path, write_parts):
    named = mixed.assign(prediction="no")
    folder = write_parts(named, tmp_path / "rows", 2, np.random.default_rng(0))
    options = ["--target", "outcome", "--model", "naive-bayes", "--out", tmp_path / "model"]
    with pytest.raises(InputError, match="there is no column 'age of'"):
        run("fit", folder, *options, "--drop", "age of")
    run("fit", folder, *options)
    predict = ["predict", tmp_path / "model", folder, "--out"]
    with pytest.raises(InputError, match=r"name one in --out, 'answers' for instance, not .*answers.csv.gz'"):
        run(*predict, tmp_path / "answers.csv.gz")
    with pytest.raises(InputError, match="the table has a column 'prediction', and so have the predictions"):
        run(*predict, tmp_path / "answers", "--all")
    with pytest.raises(InputError, match="the column 'sky' is to be kept twice"):
        run(*predict, tmp_path / "answers", "--keep", "sky,sky")
    assert not (tmp_path / "answers").exists()


def test_the_command_line_reads_large_csv_files_in_pieces(mixed, tmp_path, monkeypatch):
    write_csv(mixed, tmp_path / "rows.csv")
    options = ["--target", "outcome", "--model", "naive-bayes"]
    assert run("fit", tmp_path / "rows.csv", *options, "--out", tmp_path / "whole").exit_code == 0
    monkeypatch.setattr(memory, "SHARE_OF_MEMORY", 0)
    done = run("fit", tmp_path / "rows.csv", *options, "--out", tmp_path / "pieces")
    assert "read in pieces" in done.output
    X = read_table(tmp_path / "rows.csv").drop(columns="outcome")
    whole, pieces = load_model(tmp_path / "whole"), load_model(tmp_path / "pieces")
    np.testing.assert_array_equal(whole.predict_proba(X), pieces.predict_proba(X))
    to = ["--out", tmp_path / "answers", "--keep", "count,outcome"]
    assert run("predict", tmp_path / "pieces", tmp_path / "rows.csv", *to).exit_code == 0
    found = pd.read_parquet(tmp_path / "answers")
    assert found["count"].tolist() == X["count"].tolist()
    assert found["outcome"].tolist() == mixed["outcome"].tolist()
    assert found["prediction"].tolist() == whole.predict(X).tolist()
