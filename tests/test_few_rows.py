"""The benchmark of few rows: what is sampled, what judges, and when a model counts as better."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import log_loss, roc_auc_score

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="benchmarks fork processes")
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    names = ("accuracy.few_rows", "accuracy.few_rows_report", "judged", "study")
    modules = (importlib.import_module(name) for name in names)
    return SimpleNamespace(**{module.__name__.rpartition(".")[2]: module for module in modules})


def classes_of(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    return pd.DataFrame({"number": np.arange(float(len(y)))}), y


def test_a_class_with_fewer_than_five_sampled_rows_is_in_no_row(few_rows, monkeypatch):
    X, y = classes_of([500, 400, 60])
    monkeypatch.setattr(few_rows.few_rows, "load", lambda _table: (X, y))
    # Of 50 rows 3 are of the third class.
    train, judges = few_rows.few_rows.split("table", 50, 0)[2:]
    assert set(y[train]) == set(y[judges]) == {0, 1}
    assert len(train) == 47
    assert len(judges) == 900 - len(train)
    assert not set(train) & set(judges)


def test_at_most_five_thousand_rows_judge_the_same_ones_each_time(few_rows, monkeypatch):
    X, y = classes_of([5000, 5000])
    monkeypatch.setattr(few_rows.few_rows, "load", lambda _table: (X, y))
    first, again = (few_rows.few_rows.split("table", 100, 1)[3] for _ in range(2))
    assert len(set(first)) == 5000
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(few_rows.few_rows.split("table", 100, 2)[3])


def test_results_go_on_where_they_stopped_and_a_sample_of_one_class_says_so(few_rows, monkeypatch, tmp_path):
    tables = {"two": classes_of([300, 300]), "one": classes_of([590, 5, 5])}
    monkeypatch.setattr(few_rows.few_rows, "load", lambda table: tables[table])
    path = tmp_path / "new" / "shares.csv"
    trials = [("two", 50, 0), ("one", 50, 0), ("two", 50, 1)]
    for last in (1, 3, 3):
        makers, paths = {"shares": DummyClassifier}, {"shares": path}
        few_rows.study.run(few_rows.few_rows.FEW_ROWS, makers, paths, trials[:last], minutes=1, limit=60)
    found = few_rows.study.read_results(path)
    assert list(found[["table", "size", "sample"]].itertuples(index=False, name=None)) == trials
    assert found.status[1] == "TooFewClassesError: 1 classes have 5 of 50 rows"
    assert found.log_loss[0] == found.shares_log_loss[0] == pytest.approx(np.log(2), abs=1e-6)


def test_a_model_that_is_not_known_is_refused_before_a_file_is_written(few_rows, tmp_path):
    path = tmp_path / "shares.csv"
    with pytest.raises(SystemExit, match="no model named seminaive: there are shares"):
        few_rows.study.run(
            few_rows.few_rows.FEW_ROWS,
            {"shares": DummyClassifier},
            {"seminaive": path},
            [],
            minutes=1,
            limit=1,
        )
    assert not path.exists()


def test_measures_are_those_of_scikit_learn(few_rows):
    rng = np.random.default_rng(0)
    y_train, y_test = np.arange(30) % 3, rng.integers(0, 3, 200)
    probabilities = rng.dirichlet([1, 2, 3], 200)
    judged = few_rows.judged.Judged((), None, probabilities, y_train, y_test)
    assert judged.log_loss() == pytest.approx(log_loss(y_test, probabilities))
    assert judged.auc() == pytest.approx(roc_auc_score(y_test, probabilities, multi_class="ovr"))
    assert judged.shares_log_loss() == pytest.approx(np.log(3))


def test_a_failed_sample_is_a_lost_table(few_rows, tmp_path, capsys):
    trials = [(table, 50, sample) for table in ("a", "b", "c", "d") for sample in range(2)]
    losses = {"ours": [0.1, 0.1, 0.1, 0.5, 0.2, 0.2, 0.1, 0.1], "logistic-cv": [0.2] * 8}
    for model, values in losses.items():
        rows = pd.DataFrame(trials, columns=["table", "size", "sample"]).assign(
            model=model,
            n_train=50,
            log_loss=values,
            auc=0.5,
            error=0.1,
            shares_log_loss=0.7,
            cpu_s=1.0,
            status="ok",
        )
        if model == "ours":
            rows.loc[7, ["log_loss", "status"]] = [np.nan, "timeout"]
        rows.to_csv(tmp_path / f"{model}.csv", index=False)
    few_rows.few_rows_report.report([], tmp_path, tmp_path, None, [50], [])
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    # Better on a, behind on b, equal on c, failed on d; means are over a, b and c.
    assert ["50", "4", "1", "1", "0.2500", "1", "0.2000", "0.2000"] in [line[:8] for line in said]
    worst = [line for line in said if line[:2] in (["b", "50"], ["d", "50"])]
    assert [line[2:4] for line in worst] == [["inf", "0.2000"], ["0.3000", "0.2000"]]
