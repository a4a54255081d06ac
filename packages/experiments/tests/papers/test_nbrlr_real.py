import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier

from seminaive.models import NaiveBayes
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers import nbrlr_real
from seminaive_experiments.papers.nbrlr_real import METHODS, REPRODUCTIONS, _in_subset
from seminaive_experiments.papers.reproduction import RunOptions, compare_with_paper, runnable
from seminaive_experiments.papers.show import keep_comparison
from seminaive_experiments.rivals import for_mixed_tables


def _table(name, n_rows=60):
    rng = np.random.default_rng(len(name))
    X = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.choice(["x", "y"], n_rows)})
    return Dataset(name, X, np.where(X["a"] + rng.normal(size=n_rows) / 3 > 0, "1", "0"))


@pytest.fixture
def small_world(monkeypatch):
    """Three small tables, and methods of which the first is plainly the best."""
    monkeypatch.setattr(nbrlr_real, "tables_of", lambda _: ["Blogger", "Hepatitis", "Chess2"])
    monkeypatch.setattr(nbrlr_real, "paper_table", _table)
    cheap = dict.fromkeys(METHODS, for_mixed_tables(DummyClassifier()))
    monkeypatch.setattr(nbrlr_real, "METHODS", {**cheap, "NBRLR": NaiveBayes()})


@pytest.mark.usefixtures("small_world")
def test_wins_are_counted_over_the_data_sets_of_each_subset(tmp_path):
    table = runnable("nbrlr-table6")
    cells = table.run(RunOptions(2, path=tmp_path / "run", progress=False)).set_index(
        ["subset", "method_b", "cell"]
    )
    everywhere = cells.xs(("all", "LR", "win"), level=[0, 1, 2])["ours"]
    assert everywhere.tolist() == [30, 30]  # L01 and RSPE: three of three, scaled to the paper's thirty
    assert not any(str(subset).startswith("large") for subset, *_ in cells.index)
    comparison = compare_with_paper(table, cells.reset_index())
    assert comparison.n_without_ours == 2 * 3
    assert "small (<300 instances): 3 of 9; large (>=10000 instances): 0 of 8" in comparison.notes[-3]
    assert len(comparison.data_sets) == 3 * 3 * 2  # data sets, methods, losses
    paths = keep_comparison(comparison, tmp_path / "nbrlr-table6.csv", "seminaive reproduce nbrlr-table6")
    assert [path.name for path in paths] == ["nbrlr-table6.csv", "nbrlr-table6-data-sets.csv"]
    assert len(pd.read_csv(paths[1], comment="#")) == 3 * 3 * 2


class KnowsMostLabels(ClassifierMixin, BaseEstimator):
    """Knows the label of every row by its number, and says the other one where the number is in ``wrong``."""

    def __init__(self, labels, wrong):
        self.labels = labels
        self.wrong = wrong

    def fit(self, X, y):
        del X
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        right = [self.classes_.tolist().index(self.labels[number]) for number in X["a"]]
        said = [1 - k if number in self.wrong else k for k, number in zip(right, X["a"], strict=True)]
        return np.eye(2)[said]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_the_losses_of_all_folds_together_are_those_of_the_rows(monkeypatch):
    table = _table("Blogger", 60)
    labels = dict(zip(table.X["a"], table.y, strict=True))
    wrong = set(table.X["a"][::4])
    monkeypatch.setattr(nbrlr_real, "paper_table", lambda _: table)
    monkeypatch.setattr(nbrlr_real, "METHODS", {"NBRLR": KnowsMostLabels(labels, wrong)})
    folds = list(nbrlr_real.judge("5-fold", "Blogger", "NBRLR", 0, 0))
    assert [fold["status"] for fold in folds] == ["ok"] * 5
    # Five folds of twelve rows each, which hold every row once: 15 of 60 are wrong, and with certainty.
    assert np.mean([fold["L01"] for fold in folds]) == pytest.approx(15 / 60)
    assert np.mean([fold["RSPE"] ** 2 for fold in folds]) == pytest.approx(15 / 60)


@pytest.mark.usefixtures("small_world")
def test_means_have_one_cell_per_data_set_metric_and_method():
    table = runnable("dissertation-table2.7")
    cells = table.run(RunOptions(3, progress=False))
    assert len(cells) == 3 * 2 * 4
    assert cells["se"].notna().all()
    assert set(compare_with_paper(table, cells).cells["dataset"]) == {"Blogger"}


class Refuses(NaiveBayes):
    def fit(self, X, y, sample_weight=None):  # noqa: ARG002 - the interface
        raise ValueError("not today")


@pytest.mark.usefixtures("small_world")
def test_failures_are_told_with_the_comparison(monkeypatch, tmp_path):
    monkeypatch.setitem(nbrlr_real.METHODS, "LR", Refuses())
    table = runnable("dissertation-table2.7")
    comparison = compare_with_paper(table, table.run(RunOptions(2, progress=False)))
    expected = "LR failed in 2 of 2 folds of Blogger: ValueError: not today"
    assert expected in comparison.notes
    keep_comparison(comparison, tmp_path / "kept.csv", "seminaive reproduce dissertation-table2.7")
    assert f"# {expected}" in (tmp_path / "kept.csv").read_text()


@pytest.mark.usefixtures("small_world")
def test_tables_on_the_same_splits_share_their_work(monkeypatch, tmp_path):
    work = []

    def judge(**unit):
        work.append(unit)
        return [{"fold": 0, "status": "ok", "message": "", "L01": 0.1, "RSPE": 0.2}]

    monkeypatch.setattr(nbrlr_real, "judge", judge)
    six, eight = runnable("nbrlr-table6"), runnable("nbrlr-table8")
    assert six.run_file == eight.run_file
    options = RunOptions(2, path=tmp_path / six.run_file, progress=False)
    six.run(options)
    assert len(work) == 3 * 3 * 2  # tables, methods, repetitions
    work.clear()
    eight.run(options)
    assert {unit["method"] for unit in work} == {"Lasso", "Ridge", "ElasticNet"}
    work.clear()
    more = six.run(replace(options, repetitions=3))
    assert {unit["repetition"] for unit in work} == {2}
    work.clear()
    fewer = six.run(options)
    assert not work
    assert "2 x 5-fold" in fewer.attrs["notes"][0]
    assert "3 x 5-fold" in more.attrs["notes"][0]


@pytest.mark.usefixtures("small_world")
def test_smaller_tables_come_first_and_larger_ones_can_be_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr(nbrlr_real, "paper_table", lambda name: _table(name, 30 if name == "Chess2" else 60))
    options = RunOptions(1, path=tmp_path / "run.jsonl", progress=False)
    table = runnable("dissertation-table2.7")
    table.run(options)
    lines = (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["unit"]["dataset"] == "Chess2"
    cells = table.run(replace(options, max_rows=59))
    assert set(cells["dataset"]) == {"Chess2"}
    assert cells.attrs["notes"] == ["1 of 6 data sets, 1 x 90/10 each: Chess2"]


def test_missing_cells_are_filled_in_before_the_rows_are_split(monkeypatch):
    whole = _table("Hepatitis")
    holes = Dataset("Hepatitis", whole.X.mask(np.eye(60, 2, dtype=bool)), whole.y)
    seen = []

    class Watches(NaiveBayes):
        def fit(self, X, y, sample_weight=None):
            seen.append(X)
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(nbrlr_real, "paper_table", lambda _: holes)
    monkeypatch.setattr(nbrlr_real, "METHODS", {"NBRLR": Watches()})
    for repetition in range(2):
        list(nbrlr_real.judge("5-fold", "Hepatitis", "NBRLR", repetition, 0))
    assert not any(X.isna().any(axis=None) for X in seen)
    # One table of filled cells for all folds of all repetitions.
    assert pd.concat(seen).groupby(level=0).nunique().max(axis=None) == 1


def test_subsets_are_cut_where_the_paper_cuts_them():
    losses = pd.DataFrame({"n_rows": [299, 300, 9999, 10_000], "n_predictors": [9, 10, 11, 3]})
    assert _in_subset(losses, "small (<300 instances)").index.tolist() == [0]
    assert _in_subset(losses, "large (>=10000 instances)").index.tolist() == [3]
    assert _in_subset(losses, "low-dimensional (<10 predictors)").index.tolist() == [0, 3]
    assert len(_in_subset(losses, "all")) == 4


def test_the_method_without_a_penalty_and_the_one_with_all_of_it_are_lr_and_naive_bayes():
    table = _table("limits", 300)
    fitted = {name: clone(METHODS[name]).fit(table.X, table.y) for name in ("LR", "NB")}
    np.testing.assert_allclose(fitted["NB"].coefficients_, fitted["NB"].target_, rtol=1e-12)
    # R's search stops where the loss falls by less than a share of 1e-8: three digits of the coefficients.
    likeliest = clone(METHODS["NB"]).set_params(strength=0.0).fit(table.X, table.y)
    ours, expected = (model.predict_proba(table.X) for model in (fitted["LR"], likeliest))
    np.testing.assert_allclose(ours, expected, atol=1e-3)
    assert {entry.name for entry in REPRODUCTIONS} >= {"nbrlr-table6", "nbrlr-table8"}
