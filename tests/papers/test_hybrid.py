"""The hybrid papers' protocols: what is prepared, what is dropped, and who wins."""

import os

import numpy as np
import pandas as pd
import pytest

from seminaive import HybridLogisticNaiveBayes
from seminaive.papers import dissertation, hybrid, nbrlr
from seminaive.papers.reproduction import RunOptions, runnable

needs_real_tables = pytest.mark.skipif(
    not os.environ.get("SEMINAIVE_DATA"), reason="SEMINAIVE_DATA is not set: no real tables here"
)


@needs_real_tables
def test_chapter_1_has_categories_only_and_no_missing_cell():
    table = dissertation.categorical_table("Pima Indians Diabetes", 0)
    assert not table.X.isna().any(axis=None)
    assert table.X.select_dtypes("number").empty
    grades = dissertation.categorical_table("Balance Scale", 0)
    assert grades.X.nunique().tolist() == [5, 5, 5, 5]


@needs_real_tables
def test_iris_is_cut_where_weka_cuts_it():
    assert dissertation.categorical_table("Iris", 0).X.nunique().tolist() == [3, 3, 3, 3]


@needs_real_tables
def test_all_methods_of_chapter_1_see_the_same_split():
    found = {
        method: next(iter(dissertation.judge("Iris", method, 3, 0))) for method in ("HybridLRNB", "LR", "NB")
    }
    assert found["LR"]["lr_part_size"] == 4
    assert found["NB"]["lr_part_size"] == 0
    if found["HybridLRNB"]["lr_part_size"] == 4:
        assert found["HybridLRNB"]["L01"] == found["LR"]["L01"]
    again = next(iter(dissertation.judge("Iris", "LR", 3, 0)))
    assert {**again, "seconds": 0} == {**found["LR"], "seconds": 0}


def _splits(ours, others):
    return pd.DataFrame(
        {
            "repetition": [*range(len(ours))] * 2,
            "method": ["HybridLRNB"] * len(ours) + ["LR"] * len(others),
            "L01": [*ours, *others],
        }
    )


def test_a_data_set_is_won_where_a_paired_t_test_says_so():
    row = {"metric": "L01", "method_a": "HybridLRNB", "method_b": "LR"}
    noise = np.random.default_rng(0).normal(size=30)
    assert dissertation._outcome(_splits(noise, noise), row) == "draw"
    assert dissertation._outcome(_splits(noise, noise + 0.1), row) == "win"
    assert dissertation._outcome(_splits(noise + 1, noise[::-1]), row) == "loss"
    assert dissertation._outcome(_splits(noise, noise[::-1]), row) == "draw"


@needs_real_tables
def test_a_quick_look_gives_all_cells(tmp_path):
    for name, n_cells in (("dissertation-tableA1", 3), ("hybrid-table2", 7)):
        table = runnable(name)
        cells = table.run(RunOptions(2, path=tmp_path / name, progress=False, max_rows=106))
        assert len(cells) % n_cells == 0
        assert cells["ours"].notna().all()


@needs_real_tables
def test_rows_with_missing_cells_never_test(monkeypatch):
    seen = []
    predict = hybrid.HybridOfParts.predict

    def spy(self, X):
        seen.append(X)
        return predict(self, X)

    monkeypatch.setattr(hybrid.HybridOfParts, "predict", spy)
    record = next(iter(hybrid.judge("Congressional Voting Records", 0, 0)))
    assert all(not X.isna().any(axis=None) for X in seen)
    assert record["lr_part_size"] + record["nb_part_size"] == record["markov_blanket_size"]


def test_both_parts_together_are_the_hybrid_model_where_no_cell_is_missing(weather):
    X, y = weather
    X = X.drop(columns=[name for name in X.columns if X[name].isna().any()])
    own = list(X.columns[:1])
    options = {"numbers": "bins", "missing": "neutral"}
    whole = HybridLogisticNaiveBayes(partition=own, **options).fit(X, y)
    parts = hybrid.HybridOfParts.fit(X, y, own, list(X.columns))
    assert (parts.predict(X) == whole.predict(X)).mean() > 0.995  # ties aside
    for logistic in ([], list(X.columns)):
        whole = HybridLogisticNaiveBayes(partition=logistic, **options).fit(X, y)
        parts = hybrid.HybridOfParts.fit(X, y, logistic, list(X.columns))
        assert (parts.predict(X) == whole.predict(X)).all()


def test_the_hybrid_of_the_simulations_sees_the_samples_of_the_other_methods(monkeypatch):
    drawn = []
    draw = nbrlr.Simulation.draw

    def spy(self, n_rows, rng):
        drawn.append(draw(self, n_rows, rng))
        return drawn[-1]

    monkeypatch.setattr(nbrlr.Simulation, "draw", spy)
    record = next(iter(nbrlr.simulate_hybrid(1, 100, 10, 0.1, "HybridLRNB", 0)))
    assert 0.2 < record["L01"] < 0.45
    list(nbrlr.simulate(1, 100, 10, 0.1, 0))
    assert (drawn[0][0] == drawn[2][0]).all()
    assert (drawn[1][1] == drawn[3][1]).all()
