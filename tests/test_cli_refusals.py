"""What ``compare`` and ``reproduce`` refuse: one sentence, exit code 1, and nothing of the user's lost."""

import json
import sys

import pandas as pd
import pytest

from seminaive import cli
from seminaive_experiments.papers.reproduction import runnable

COMPARE = ("compare", "iris", "-m", "class-shares", "--folds", "2", "--repeats", "1")
SIMULATION = ("reproduce", "nbrlr-table2")
DESCRIPTION = ("reproduce", "nbrlr-table5")


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Run the command line in an empty folder; return the sentence that it refuses with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEMINAIVE_DATA", raising=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["seminaive", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        printed = capsys.readouterr()
        assert end.value.code == 1
        assert "Traceback" not in printed.err
        assert printed.err.startswith("seminaive: ")
        assert printed.err.count("\n") == 1
        return printed.err

    return call


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*COMPARE, "--jobs", "0"), "the number of processes, cannot be 0"),
        ((*COMPARE, "--seed", "-1"), "--seed is 0 or more, got -1"),
        ((*COMPARE, "--repeats", "0"), "--repeats is 1 or more, got 0"),
        (("compare", "iris", "--folds", "1"), "--folds is 2 or more, got 1"),
        ((*COMPARE, "-m", "oracle"), "there is no model 'oracle'"),
        ((*COMPARE, "--target", "nonexistent"), "iris has a class column already"),
        (("compare", "nowhere.csv", "--target", "y"), "nowhere.csv"),
        ((*SIMULATION, "--jobs", "0"), "the number of processes, cannot be 0"),
        ((*SIMULATION, "--repetitions", "0"), "--repetitions is 1 or more, got 0"),
        ((*SIMULATION, "--repetitions", "-3"), "--repetitions is 1 or more, got -3"),
        ((*SIMULATION, "--max-rows", "0"), "--max-rows is 1 or more, got 0"),
        ((*SIMULATION, "--seed", "-1"), "--seed is 0 or more, got -1"),
        (("reproduce", "table0"), "no published table 'table0'"),
        (("reproduce", "alr-footnote6"), "cannot be run"),
        (DESCRIPTION, "set SEMINAIVE_DATA to the folder"),
    ],
)
def test_what_cannot_be_run_is_a_sentence_with_exit_code_1(refused, arguments, sentence):
    assert sentence in refused(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        DESCRIPTION,
        (*SIMULATION, "--jobs", "0"),
        (*SIMULATION, "--repetitions", "0"),
        (*SIMULATION, "--seed", "-1"),
    ],
)
def test_a_run_that_is_refused_leaves_the_old_run_alone(refused, tmp_path, arguments):
    old = tmp_path / runnable(arguments[1]).run_file
    old.write_text("hours of work\n")
    refused(*arguments, "--out", tmp_path)
    assert old.read_text() == "hours of work\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff\xfe\n",
        b"\x00\xff\xfe",
        b"[1, 2]\n",
        b"[1, 2]",
        b'{"a": 1}\n',
        b'{"a": 1}',
        b"a letter without a last newline",
        b'{"kind": "experiment", "format": 1}\n',
        b'{"kind": "experiment", "format": 1, "models": {"another',
    ],
)
def test_a_file_that_is_not_ours_is_refused_and_kept(refused, tmp_path, content):
    names = ("mine", runnable(SIMULATION[1]).run_file)
    for name in names:
        (tmp_path / name).write_bytes(content)
    refused(*COMPARE, "--results", tmp_path / "mine")
    assert "Use another path" in refused(*SIMULATION, "--resume", "--out", tmp_path)
    for name in names:
        assert (tmp_path / name).read_bytes() == content


@pytest.mark.parametrize("line", [b'{"kind": "fold"}\n', b"[]\n"])
def test_a_results_file_with_a_foreign_line_is_refused(refused, monkeypatch, tmp_path, line):
    path = tmp_path / "mine"
    monkeypatch.setattr(sys, "argv", ["seminaive", *COMPARE, "--results", str(path)])
    with pytest.raises(SystemExit):
        cli.main()
    content = path.read_bytes() + line
    path.write_bytes(content)
    assert "is not a results file" in refused(*COMPARE, "--results", path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ("{", "is not valid JSON"),
        ("[1]", "must hold an object"),
        ('{"towns": 3}', "must hold an object"),
        (json.dumps({"towns": {"zip": "categorical"}}), "has no column 'class'"),
    ],
)
def test_a_broken_folder_of_tables_is_a_sentence(refused, monkeypatch, tmp_path, schema, sentence):
    (tmp_path / "SCHEMA.json").write_text(schema)
    pd.DataFrame({"zip": ["1", "2"]}).to_csv(tmp_path / "towns.csv.gz", index=False)
    monkeypatch.setenv("SEMINAIVE_DATA", str(tmp_path))
    assert sentence in refused("compare", "towns", "-m", "class-shares")


def test_a_class_that_is_missing_in_a_real_table_is_a_sentence(refused, monkeypatch, tmp_path):
    (tmp_path / "SCHEMA.json").write_text(json.dumps({"towns": {"zip": "categorical"}}))
    towns = pd.DataFrame({"zip": ["1", "2"], "class": ["a", ""]})
    towns.to_csv(tmp_path / "towns.csv.gz", index=False)
    monkeypatch.setenv("SEMINAIVE_DATA", str(tmp_path))
    assert "1 rows have no value in 'class'" in refused("compare", "towns", "-m", "class-shares")
