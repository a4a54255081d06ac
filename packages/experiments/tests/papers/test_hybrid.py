"""The hybrid papers' protocols: what is prepared, what is dropped, and who wins."""

import os

import numpy as np
import pandas as pd
import pytest

from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers import dissertation, hybrid, nbrlr
from seminaive_experiments.papers.factors import factors_of
from seminaive_experiments.papers.forests import VotingForest
from seminaive_experiments.papers.reproduction import RunOptions, runnable
from seminaive_experiments.papers.simulations import Simulation

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


def test_a_forests_probabilities_are_shares_of_votes_and_categories_are_whole():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    # Rows repeat each other in other classes, so that leaves are mixed.
    X = pd.DataFrame({"kind": rng.choice(list("abc"), 90), "size": np.round(rng.normal(y))}).astype(
        {"kind": "category"}
    )
    forest = VotingForest().fit(X, y)
    shares = forest.predict_proba(X)
    np.testing.assert_allclose(shares * 100, np.round(shares * 100), atol=1e-9)  # a hundred trees
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert forest.forest_.n_features_in_ == 2
    averaged = forest.forest_.predict_proba(forest.columns_.transform(X))
    assert (shares[np.arange(90), y] != averaged[np.arange(90), y]).any()


@pytest.mark.parametrize(("attributes", "tried"), [("sqrt", 4), ("log2", 5)])
def test_a_forest_tries_as_many_attributes_as_the_papers_program(attributes, tried):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(30, 16))), rng.integers(0, 2, 30)
    assert VotingForest(attributes).fit(X, y).forest_.max_features == tried


def _splits(ours, others):
    return pd.DataFrame(
        {
            "dataset": "table",
            "repetition": [*range(len(ours))] * 2,
            "method": ["HybridLRNB"] * len(ours) + ["LR"] * len(others),
            "L01": [*ours, *others],
        }
    )


def test_a_data_set_is_won_where_a_paired_t_test_says_so():
    row = {"metric": "L01", "method_a": "HybridLRNB", "method_b": "LR"}
    noise = np.random.default_rng(0).normal(size=30)
    assert dissertation._outcomes(_splits(noise, noise), row) == ["draw"]
    assert dissertation._outcomes(_splits(noise, noise + 0.1), row) == ["win"]
    assert dissertation._outcomes(_splits(noise + 1, noise[::-1]), row) == ["loss"]
    assert dissertation._outcomes(_splits(noise, noise[::-1]), row) == ["draw"]
    # Splits that one method lacks are left out: the rest is a win, not an error.
    assert dissertation._outcomes(_splits(noise, noise + 0.1).iloc[:50], row) == ["win"]


def test_counts_are_scaled_to_the_printed_tables_and_few_features_are_counted_by_themselves():
    noise = np.random.default_rng(0).normal(size=30)
    few = _splits(noise, noise + 0.1).assign(dataset="few", n_features=9)
    many = _splits(noise + 0.1, noise).assign(dataset="many", n_features=10)
    splits = pd.concat([few, many])
    splits = pd.concat([splits, splits[splits["method"] == "LR"].assign(method="NB")])
    found = dissertation.count_wins("dissertation-table1.2", splits.assign(RMSE=splits["L01"]))
    counts = found.query("metric == 'L01' and method_b == 'LR'").set_index("cell")["ours"]
    assert counts.to_dict() == {"win": 12.5, "draw": 0, "loss": 12.5}
    assert "Fewer than ten features, L01 against LR: 1/0/0" in found.attrs["notes"]


def test_the_error_of_a_printed_size_follows_from_our_splits_and_the_papers_number_of_splits():
    splits = pd.DataFrame({"dataset": "Iris", "n_features": 4, "lr_part_size": [1, 3, 1, 3]})
    found = dissertation.mean_sizes(splits).set_index("quantity")
    deviation = np.std([1, 3, 1, 3], ddof=1)
    assert found.loc["lr_part_size", "ours"] == 2
    assert found.loc["nb_part_size", "se"] == pytest.approx(deviation / 2)
    assert found.loc["lr_part_size", "paper_se"] == pytest.approx(deviation / np.sqrt(1000))
    long_table = dissertation.mean_sizes(splits.assign(dataset="Mushroom")).set_index("quantity")
    assert long_table.loc["lr_part_size", "paper_se"] == pytest.approx(deviation / np.sqrt(200))


def test_sizes_are_shown_on_two_grids_of_rates_where_both_were_run():
    splits = pd.DataFrame({"dataset": "Iris", "method": "HybridLRNB", "lr_part_size": [1, 2]})
    other = splits.assign(method="HybridLRNB, every rate", lr_part_size=3)
    assert dissertation.other_grid_notes(splits) == []
    assert dissertation.other_grid_notes(pd.concat([splits, other]))[0].endswith(": Iris 3.00 (1.50)")


@needs_real_tables
def test_a_quick_look_gives_all_cells(tmp_path):
    for name, n_cells in (("dissertation-tableA1", 2), ("hybrid-table2", 7)):
        table = runnable(name)
        cells = table.run(RunOptions(2, path=tmp_path / name, progress=False, max_rows=106))
        assert len(cells) % n_cells == 0
        assert cells["ours"].notna().all()


def _table(monkeypatch, n_rows=60):
    """Replace the papers' tables by two numbers and a category; a third of the rows has a missing cell."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = pd.DataFrame(
        {"a": rng.normal(y), "b": rng.normal(y), "c": np.where(rng.random(n_rows) < 0.3 + 0.4 * y, "u", "v")}
    )
    X["b"] = X["b"].where(np.arange(n_rows) % 3 > 0)
    monkeypatch.setattr(hybrid, "paper_table", lambda name: Dataset(name, X, y))
    hybrid._prepared.cache_clear()
    return X, y


def test_rows_with_missing_cells_never_test_and_cuts_see_the_whole_table(monkeypatch):
    X, y = _table(monkeypatch)
    seen = {}

    def spy(method, training, testing, *_):
        seen["training"], seen["testing"] = training, testing
        return {method: 50.0}

    monkeypatch.setattr(hybrid, "_accuracies", spy)
    record = next(iter(hybrid.judge("toy", hybrid.EVERY_TEST, 0, 0)))
    assert seen["testing"].complete.all()
    assert len(seen["testing"].codes) == 6
    assert not seen["training"].complete.all()
    assert record["lr_part_size"] + record["nb_part_size"] == record["markov_blanket_size"]
    prepared = hybrid._prepared("toy")
    assert prepared.factors.equals(factors_of(X, y))
    hybrid._prepared.cache_clear()


def test_blankets_of_numbers_are_searched_in_complete_rows(monkeypatch):
    X, y = _table(monkeypatch)
    monkeypatch.setattr(hybrid, "paper_table", lambda name: Dataset(name, X[["a", "b"]], y))
    seen = []
    fit = hybrid.MarkovBlanketSelector.fit
    monkeypatch.setattr(
        hybrid.MarkovBlanketSelector, "fit", lambda self, X, y: seen.append((self, X)) or fit(self, X, y)
    )
    next(iter(hybrid.judge("toy", hybrid.UNION, 0, 0)))
    selector, table = seen[0]
    assert selector.complete_rows
    assert table.equals(X[["a", "b"]].loc[table.index])  # numbers, not their bins
    hybrid._prepared.cache_clear()


def test_one_search_takes_the_class_of_glass_as_its_number(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.choice(["containers", "headlamps", "build wind float"], 900)
    numbers = np.select([y == "containers", y == "headlamps"], [5.0, 7.0], 1.0)
    b = rng.normal(size=900)
    b -= np.polyval(np.polyfit(numbers, b, 1), numbers)  # not correlated with the numbers at all
    X = pd.DataFrame({"a": rng.normal(numbers), "b": b})
    monkeypatch.setattr(hybrid, "paper_table", lambda name: Dataset(name, X, y))
    hybrid._prepared.cache_clear()
    prepared = hybrid._prepared("toy")
    assert set(zip(y, prepared.class_numbers, strict=True)) == {
        ("containers", 5.0),
        ("headlamps", 7.0),
        ("build wind float", 1.0),
    }
    assert prepared.blanket(np.arange(900), hybrid.ONE_SEARCH) == [0]
    hybrid._prepared.cache_clear()


def test_wins_of_the_hybrid_are_higher_accuracies():
    noise = np.random.default_rng(0).normal(size=30)
    splits = pd.DataFrame(
        {"dataset": "one", "HybridLRNB": 80 + noise, "LR": 70 + noise[::-1], "NB": 80 + noise}
    )
    counts = hybrid.pairwise_counts(splits).set_index("rival")
    assert counts.loc["LR"].tolist() == [1, 0, 0]
    assert counts.loc["NB"].tolist() == [0, 1, 0]


@needs_real_tables
def test_tables_that_differ_from_the_papers_are_named():
    notes = hybrid._shape_notes(["Glass Identification", "Wine", "Bank Marketing", "Ecoli"])
    assert notes == ["Glass Identification has another shape than in Table 1: features 9 (10 printed)"]


def test_the_hybrid_of_the_simulations_sees_the_samples_of_the_other_methods(monkeypatch):
    drawn = []
    draw = Simulation.draw

    def spy(self, n_rows, rng):
        drawn.append(draw(self, n_rows, rng))
        return drawn[-1]

    monkeypatch.setattr(Simulation, "draw", spy)
    record = next(iter(nbrlr.simulate_hybrid(1, 100, 10, 0.1, "HybridLRNB", 0)))
    assert 0.2 < record["L01"] < 0.45
    list(nbrlr.simulate(1, 100, 10, 0.1, 0))
    assert (drawn[0][0] == drawn[2][0]).all()
    assert (drawn[1][1] == drawn[3][1]).all()
