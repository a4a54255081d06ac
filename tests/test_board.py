"""The benchmark that ranks classifiers on real tables: its time limit, its splits and its ranks."""

import importlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="benchmarks fork processes")
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def board(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return SimpleNamespace(
        tables=importlib.import_module("board_tables"),
        report=importlib.import_module("accuracy.board_report"),
        script=importlib.import_module("accuracy.board"),
        worker=importlib.import_module("worker"),
    )


class Shares:
    """Answers the class shares; busy for some processor seconds from 500 rows on."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def fit(self, X, y):
        end = time.process_time() + self.seconds
        while len(X) >= 500 and time.process_time() < end:
            pass
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares = counts / counts.sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.shares, (len(X), 1))


class Broken(Shares):
    def fit(self, X, y):
        if len(X) >= 500:
            raise ValueError("too many rows")
        return super().fit(X, y)


def halves(*_fold):
    y = np.arange(1000) % 4 // 3
    return pd.DataFrame({"number": np.arange(1000.0)}), y, np.arange(500), np.arange(500, 1000)


def test_a_fold_over_the_limit_is_ended_and_the_next_one_runs(board):
    study = replace(board.script.BOARD, split=halves)
    makers = {"slow": lambda: Shares(60.0), "shares": Shares, "broken": Broken}
    worker = board.worker.Worker(makers, study, limit=0.1)
    fold = ("table", "full", 0, 0)
    assert worker.run("slow", fold)["status"] == "timeout"
    assert worker.run("broken", fold)["status"] == "ValueError: too many rows"
    found = worker.run("shares", fold)
    worker.close()
    assert found["status"] == "ok"
    assert found["error"] == pytest.approx(0.25)
    assert found["log_loss"] == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))


def test_a_failed_fold_is_ranked_last(board, tmp_path, capsys):
    folds = [(table, fold) for table in "abc" for fold in (0, 1)]
    for model, loss in (("good", 0.1), ("late", 0.05), ("poor", 0.2)):
        rows = pd.DataFrame(folds, columns=["table", "fold"]).assign(
            setting="full", model=model, repeat=0, error=loss, log_loss=loss, cpu_s=1.0, status="ok"
        )
        if model == "late":
            rows.loc[0, ["error", "log_loss", "cpu_s"]] = np.nan
            rows.loc[0, "status"] = "timeout"
        rows.to_csv(tmp_path / f"{model}.csv", index=False)
    paths = [tmp_path / f"{model}.csv" for model in ("good", "late", "poor")]
    board.report.report(paths, None, str(tmp_path), "board")
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    # Last of three on one table, first on two: (3 + 1 + 1) / 3.
    assert ["late", "1.67", "1", "1", "2", "False"] in said
    assert ["good", "1.67", "0", "0", "0", "False"] in said
    assert ["poor", "2.67", "0", "3", "0", "False"] in said
    assert "<svg" in (tmp_path / "board-full-error.svg").read_text()


def test_small_training_sets_hold_two_rows_of_every_class(board, monkeypatch):
    y = np.repeat([0, 1, 2], [700, 294, 6])
    X = pd.DataFrame({"number": np.arange(1000.0)})
    monkeypatch.setattr(board.tables, "load", lambda _table: (X, y))
    monkeypatch.setattr(board.tables, "board_tables", set)
    train, test = board.tables.split("other", "n100", 1, 0)[2:]
    assert len(train) == 100
    assert not set(train) & set(test)
    assert np.bincount(y[train]).tolist() == [70, 30]
    assert set(y[test]) == {0, 1}


def test_states_are_ranked_one_by_one_against_the_same_others(board, tmp_path, capsys):
    losses = {"ours": 0.1, "ours-state-1": 0.3, "other": 0.2}
    for name, loss in losses.items():
        rows = pd.DataFrame({"table": list("ab"), "setting": "full", "repeat": 0, "fold": 0, "status": "ok"})
        rows = rows.assign(model=name.split("-")[0], error=loss, log_loss=loss, cpu_s=1.0)
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    states = {"default": tmp_path / "ours.csv", 1: tmp_path / "ours-state-1.csv"}
    board.report.report_states(states, [tmp_path / "other.csv"], None)
    said = capsys.readouterr().out.splitlines()
    assert "full log_loss: mean ranks 1.00 to 2.00, first with 1 of 2 states" in said
    assert ["default", "2", "1.00", "1", "other", "2.00"] in [line.split() for line in said]
    assert ["1", "2", "2.00", "2", "other", "1.00"] in [line.split() for line in said]


def test_a_random_state_is_given_to_models_that_have_one(board):
    contenders = importlib.import_module("contenders")
    assert contenders.with_state(contenders.MODELS["semi-naive"], 7)().random_state == 7
    assert not hasattr(contenders.with_state(contenders.MODELS["naive-bayes"], 7)(), "random_state")
    assert (
        board.script.results_path("semi-naive", others=True, random_state=7).name
        == "others-semi-naive-state-7.csv"
    )
