"""The benchmark of noise: what a table holds, and when its laws are broken."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="benchmarks fork processes")
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def noise(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("accuracy.noise")


@pytest.mark.parametrize(
    ("kind", "numbers", "categories"), [("numbers", 20, 0), ("categories", 0, 10), ("mixed", 5, 5)]
)
def test_a_table_has_the_columns_of_its_kind_and_two_thousand_fresh_rows(noise, kind, numbers, categories):
    ((*setting, seed),) = noise.plan([kind], [60], [], [3])
    X, y, train, test = noise.split(*setting, seed)
    assert X.select_dtypes("number").shape[1] == numbers
    assert X.shape[1] == numbers + categories
    assert all(set(X[name]) == set("0123") for name in X.columns[numbers:])
    assert len(train) == 60
    assert len(test) == 2000
    assert not set(train) & set(test)
    assert set(y) == {0, 1}
    pd.testing.assert_frame_equal(X, noise.split(*setting, seed)[0])
    assert not X.equals(noise.split(*setting, seed + 1)[0])


def test_the_class_shares_have_no_excess(noise, tmp_path):
    study = importlib.import_module("study")
    path = tmp_path / "shares.csv"
    trials = noise.plan(["mixed"], [60], [], range(2))
    study.run(noise.NOISE, {"shares": DummyClassifier}, {"shares": path}, trials, minutes=1, limit=60)
    found = study.read_results(path)
    assert found.seed.tolist() == [0, 1]
    np.testing.assert_allclose(found.excess, 0, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "excess", "law", "floor"),
    [
        (60, [0.008] * 20, "holds", "holds"),
        (60, [0.009] * 20, "broken", "holds"),
        (200, [0.0039] * 20, "holds", ""),
        (200, [0.021] + [0.0] * 19, "holds", ""),
        (200, [0.021] * 2 + [0.0] * 18, "broken", ""),
        (60, [0.041] * 2 + [0.0] * 18, "broken", "holds"),
        (100, [0.31] + [-0.02] * 19, "holds", "broken"),
    ],
)
def test_the_laws_are_those_of_the_mean_and_of_the_share_beyond(noise, rows, excess, law, floor):
    line = noise.line(pd.DataFrame({"excess": excess, "status": "ok", "cpu_s": 1.0}), rows)
    assert (line["law"], line["floor"]) == (law, floor)


def test_a_fit_that_failed_breaks_the_laws(noise):
    found = pd.DataFrame({"excess": [np.nan] + [0.0] * 99, "status": ["timeout"] + ["ok"] * 99, "cpu_s": 1.0})
    line = noise.line(found, 60)
    assert (line["failed"], line["law"], line["floor"]) == (1, "broken", "broken")
