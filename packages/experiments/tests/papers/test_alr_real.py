import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from seminaive.models import NaiveBayes
from seminaive.solvers.quasi_newton import MOST_VECTORS
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers import alr_real
from seminaive_experiments.papers.alr_real import METHODS
from seminaive_experiments.papers.reproduction import RunOptions, compare_with_paper, runnable
from seminaive_experiments.rivals import for_mixed_tables


def _table(name, n_rows=80):
    rng = np.random.default_rng(len(name))
    X = pd.DataFrame({name: rng.choice(list("xyz"), n_rows) for name in "abc"})
    noisy = rng.uniform(size=n_rows) < 0.1
    return Dataset(name, X, np.where((X["a"] == "x") ^ noisy, "1", "0"))


def test_counts_are_scaled_to_the_papers_number_of_data_sets(monkeypatch, tmp_path):
    monkeypatch.setattr(alr_real, "tables_of", lambda _: ["Zoo", "Hungarian"])
    monkeypatch.setattr(alr_real, "paper_table", _table)
    cheap = dict.fromkeys(METHODS, for_mixed_tables(DummyClassifier()))
    monkeypatch.setattr(alr_real, "METHODS", {**cheap, "ALR2": NaiveBayes(), "ALR3": NaiveBayes()})
    table = runnable("alr-table2")
    cells = table.run(RunOptions(2, path=tmp_path / "run", progress=False))
    wins = cells.query("metric == 'L01' and cell == 'win'")["ours"]
    assert wins.tolist() == [76.0, 76.0]
    assert set(cells["metric"]) == {"bias", "variance", "L01", "RMSE"}
    comparison = compare_with_paper(table, cells)
    assert comparison.n_without_ours == 4 * 3  # the rows for big data sets


def test_big_data_sets_are_counted_by_themselves_in_two_rounds(monkeypatch, tmp_path):
    monkeypatch.setattr(alr_real, "tables_of", lambda _: ["Zoo", "Coverttype", "Kddcup"])
    monkeypatch.setattr(alr_real, "paper_table", _table)
    cheap = dict.fromkeys(METHODS, for_mixed_tables(DummyClassifier()))
    monkeypatch.setattr(alr_real, "METHODS", {**cheap, "ALR2": NaiveBayes()})
    path = tmp_path / "run"
    cells = runnable("alr-table2").run(RunOptions(3, path=path, progress=False))
    rounds = {}
    for line in path.read_text().splitlines():
        unit = json.loads(line)["unit"]
        rounds.setdefault(unit["dataset"], set()).add(unit["repetitions"])
    assert rounds == {"Zoo": {3}, "Coverttype": {2}, "Kddcup": {2}}
    wins = cells.query("metric == 'L01' and method_a == 'ALR2' and cell == 'win'")
    # A tolerance of eight would pass any count of eight: those of big data sets are shown and not judged.
    assert wins.set_index("subset")["ours"].to_dict() == {"little": 76.0}
    notes = [note for note in cells.attrs["notes"] if note.startswith("L01, big, ALR2 ")]
    assert notes == ["L01, big, ALR2 against A2JE: 2/0/0, sign test p 0.500; paper 8/0/0, p 0.007"]
    values = pd.DataFrame(cells.attrs["data_sets"])
    assert set(values["dataset"]) == {"Zoo", "Coverttype", "Kddcup"}
    assert values.groupby(["dataset", "method", "metric"]).size().eq(1).all()


def test_tables_share_what_they_both_rest_on_and_cheap_data_sets_come_first(monkeypatch, tmp_path):
    monkeypatch.setattr(alr_real, "tables_of", lambda _: ["large", "small"])
    monkeypatch.setattr(alr_real, "paper_table", lambda name: _table(name, 200 if name == "large" else 60))
    cheap = dict.fromkeys(METHODS, for_mixed_tables(DummyClassifier()))
    monkeypatch.setattr(alr_real, "METHODS", cheap)
    first, second = runnable("alr-table2"), runnable("alr-table3")
    assert first.run_file == second.run_file
    options = RunOptions(2, path=tmp_path / first.run_file, progress=False)
    first.run(options)
    lines = [json.loads(line)["unit"] for line in options.path.read_text().splitlines()]
    # Three columns have three pairs and one triple, which is cheaper.
    assert [line["dataset"] for line in lines] == ["small"] * 4 + ["large"] * 4
    assert [line["method"] for line in lines] == ["ALR3", "A3JE", "ALR2", "A2JE"] * 2
    monkeypatch.setattr(alr_real, "METHODS", {**cheap, "ALR2": "not run again", "ALR3": "nor this"})
    cells = second.run(options)
    assert cells["ours"].notna().all()
    assert cells.attrs["notes"][0] == "2 data sets, 2 x 2-fold cross-validation: large, small"


def _planned(options):
    taken = alr_real.taken_data_sets(options)
    units = alr_real.planned(["ALR2", "ALR3"], taken, options)
    return [(unit["dataset"], unit["method"]) for unit in units], alr_real.left_out_notes(taken)


def _two_data_sets(monkeypatch):
    monkeypatch.setattr(alr_real, "tables_of", lambda _: ["large", "small"])
    monkeypatch.setattr(alr_real, "paper_table", lambda name: _table(name, 200 if name == "large" else 60))


def test_order_3_is_left_out_of_long_data_sets_unless_rows_are_limited(monkeypatch):
    _two_data_sets(monkeypatch)
    monkeypatch.setattr(alr_real, "_MOST_WORK", 60 * 1 * 2)  # rows, triples, classes
    small = [("small", "ALR3"), ("small", "ALR2")]
    units, notes = _planned(RunOptions(2))
    assert units == [*small, ("large", "ALR2")]
    assert notes == [
        "Order 3 is left out for its time on: large",
        "Order 3 is left out for its memory on: none",
    ]
    units, notes = _planned(RunOptions(2, max_rows=300))
    assert units == [*small, ("large", "ALR3"), ("large", "ALR2")]
    assert all(note.endswith("none") for note in notes)
    assert _planned(RunOptions(2, max_rows=100))[0] == small


def test_order_3_is_left_out_where_the_cells_that_may_occur_take_too_much_memory(monkeypatch):
    _two_data_sets(monkeypatch)
    # One triple of three columns of three values each, and no evidence: 64 combinations. A fold of the
    # small table has 30 rows, which have at most as many.
    double, vectors = 8, MOST_VECTORS
    monkeypatch.setattr(alr_real, "_MOST_BYTES", double * vectors * 63)
    units, notes = _planned(RunOptions(2))
    assert units == [("small", "ALR3"), ("small", "ALR2"), ("large", "ALR2")]
    assert notes[1] == "Order 3 is left out for its memory on: large"
    monkeypatch.setattr(alr_real, "_MOST_BYTES", double * vectors * 64)
    assert ("large", "ALR3") in _planned(RunOptions(2))[0]
    monkeypatch.setattr(alr_real, "_MOST_BYTES", double * vectors * 29)
    # A limit on rows does not lift that on memory.
    assert ("small", "ALR3") not in _planned(RunOptions(2, max_rows=300))[0]


def test_the_largest_data_sets_have_fewer_iterations(monkeypatch):
    monkeypatch.setattr(alr_real, "_MANY_ROWS", 100)
    assert alr_real._limited(METHODS["ALR2"], 100).max_iter == 1000
    assert alr_real._limited(METHODS["ALR2"], 101).max_iter == 200
    assert METHODS["ALR2"].max_iter == 1000
    assert alr_real._limited(METHODS["A2JE"], 101) is METHODS["A2JE"]


def test_a_column_that_half_of_the_rows_may_not_have_is_no_failure(monkeypatch):
    table = _table("Hungarian")
    rare = pd.Series(np.where(np.arange(80) < 3, 1.0, np.nan))
    monkeypatch.setattr(alr_real, "paper_table", lambda name: Dataset(name, table.X.assign(ca=rare), table.y))
    assert [record["status"] for record in alr_real.judge("Hungarian", "A2JE", 2, 0)] == ["ok"]


def test_a_method_that_fails_on_a_data_set_is_told_and_not_counted(monkeypatch):
    monkeypatch.setattr(alr_real, "tables_of", lambda _: ["Zoo", "Hungarian"])
    monkeypatch.setattr(alr_real, "paper_table", _table)
    cheap = dict.fromkeys(METHODS, for_mixed_tables(DummyClassifier()))
    broken = DummyClassifier(strategy="constant", constant="neither")
    monkeypatch.setattr(alr_real, "METHODS", {**cheap, "ALR3": for_mixed_tables(broken)})
    cells = runnable("alr-table4").run(RunOptions(2, progress=False))
    assert set(cells["method_a"]) == {"ALR2"}
    failed = [note for note in cells.attrs["notes"] if note.startswith("ALR3 failed on ")]
    assert len(failed) == 2


@pytest.mark.parametrize("name", ["ALR2", "ALR3", "A2JE", "A3JE", "A1DE", "A2DE", "RF"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_method_of_the_paper_fits_a_small_table(name):
    table = _table("small")
    model = clone(METHODS[name]).fit(table.X, table.y)
    assert np.mean(model.predict(table.X) == table.y) > 0.8
