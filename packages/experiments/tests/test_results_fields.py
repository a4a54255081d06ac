"""Results files with any field of the wrong type, kind or nesting: one sentence that names line and field."""

import json

import numpy as np
import pytest

from seminaive import NaiveBayes
from seminaive.errors import InputError
from seminaive_experiments import Experiment, RepeatedKFold, load_results

STRANGE = [None, [], {}, [[1]], {"a": 1}, "x", "", -1, 1.5, 2**70, True, "0-1"]


@pytest.fixture(scope="module")
def results_file(tmp_path_factory):
    """Return the lines of a whole results file, and of its times."""
    from seminaive_experiments import Dataset

    rng = np.random.default_rng(0)
    import pandas as pd

    X = pd.DataFrame({"a": rng.integers(0, 3, 40).astype(str), "b": rng.normal(size=40)})
    path = tmp_path_factory.mktemp("results") / "run.jsonl"
    table = Dataset("noise", X, rng.integers(0, 2, 40))
    Experiment({"nb": NaiveBayes()}, [table], RepeatedKFold(2, 2)).run(path)
    return path


def changed(results_file, tmp_path, which, number, name, value):
    """Return a copy of a results file in which one field of one line has another value."""
    for ending in ("", ".times"):
        source = results_file.with_name(results_file.name + ending)
        lines = [json.loads(line) for line in source.read_text().splitlines()]
        if ending == which:
            lines[number][name] = value
        copy = tmp_path / (results_file.name + ending)
        copy.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / results_file.name


def test_every_field_with_every_strange_value_is_read_or_refused_with_a_sentence(results_file, tmp_path):
    refused = 0
    for which, numbers in (("", (0, 1, -1)), (".times", (0,))):
        lines = results_file.with_name(results_file.name + which).read_text().splitlines()
        for number in numbers:
            for name in json.loads(lines[number]):
                for value in STRANGE:
                    path = changed(results_file, tmp_path, which, number, name, value)
                    try:
                        load_results(path)
                    except InputError:
                        refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("name", "value"),
    [("repetition", [1]), ("fold", "1"), ("n_test", None), ("status", "fine"), ("shift", 3)],
)
def test_the_sentence_names_line_and_field(results_file, tmp_path, name, value):
    path = changed(results_file, tmp_path, "", 1, name, value)
    with pytest.raises(InputError, match=f"line 2 has '{name}' that is not"):
        load_results(path)
