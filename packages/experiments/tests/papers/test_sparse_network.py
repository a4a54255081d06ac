"""Chapter 3's protocol on few generated records."""

import numpy as np
import pandas as pd
import pytest

from seminaive_experiments.papers import diversion as sparse_network
from seminaive_experiments.papers.diversion import METHODS, Records, caught, judge, one_standard_error
from seminaive_experiments.papers.reproduction import RunOptions, compare_with_paper, runnable
from seminaive_experiments.papers.veterans import LAYERS

ROWS = (3000, 1500, 1500)


@pytest.fixture(scope="module")
def records():
    return pd.DataFrame(judge(*ROWS, repetition=0, seed=0))


def test_the_strongest_penalty_leaves_no_edge_and_weaker_ones_leave_more(records):
    path = records[(records["record"] == "path") & (records["method"] == "l1-BN")]
    assert path["n_edges"].iloc[0] == 0
    assert path["n_edges"].iloc[-1] > 60
    assert (path["strength"].diff().dropna() < 0).all()


def test_edges_follow_the_layers(records):
    layer = {name: k for k, names in enumerate(LAYERS) for name in names}
    graphs = records[(records["record"] == "graph") & (records["method"] != "BN")]
    for edges in graphs["edges"]:
        for edge in edges.split(", "):
            parent, child = edge.split(" > ")
            assert layer[parent] <= layer[child]


def test_the_chosen_network_is_much_sparser_than_the_least_penalised(records):
    graphs = records[records["record"] == "graph"].set_index("method")["n_edges"]
    assert graphs["l1-BN"] < graphs["l1-BN, least"]


def test_every_method_is_judged_on_the_same_rows(records):
    losses = records[records["record"] == "loss"].set_index("method")
    assert set(METHODS) | {"truth"} <= set(losses.index)
    assert losses.loc["l1-BN", ["difference", "difference_se"]].tolist() == [0, 0]
    for method, row in losses.iterrows():
        assert row["difference"] == pytest.approx(row["MSE"] - losses.loc["l1-BN", "MSE"], abs=1e-12)
        # The generator's own posterior is best in expectation: four paired standard errors.
        error = np.hypot(row["difference_se"], losses.loc["truth", "difference_se"])
        assert losses.loc["truth", "MSE"] < row["MSE"] + 4 * error, method


def test_diversion_catches_all_cases_in_the_end_and_never_fewer(records):
    curves = records[records["record"] == "diversion"]
    for _, curve in curves.groupby("method"):
        assert curve["caught"].iloc[0] == 0
        assert curve["caught"].iloc[-1] == pytest.approx(1)
        assert (curve["caught"].diff().dropna() >= -1e-12).all()
        assert (curve["caught"] >= curve["diverted"] - 1e-9).mean() > 0.9


def test_caught_by_hand():
    risk, sick = np.array([0.9, 0.8, 0.2, 0.1]), np.array([1.0, 0.0, 1.0, 0.0])
    assert [caught(risk, sick, share) for share in (0, 0.25, 0.5, 0.75, 1)] == [0, 0.5, 0.5, 1, 1]


def test_one_standard_error_takes_the_strongest_of_equals():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=100)
    assert one_standard_error([noise + 5, noise + 0.09, noise]) == 1
    assert one_standard_error([noise + 5, noise + 0.5, noise]) == 2


def test_completions_keep_observed_cells_and_the_label():
    training = Records.draw(500, 0)
    dense = sparse_network.dense_network(training, 0)
    observed = training.codes < np.array(training.cardinalities)
    for imputation in ("network", "chained"):
        tables = sparse_network.completions(training, dense, imputation, 0)
        assert tables.shape == (5, *training.codes.shape)
        assert (tables[:, observed] == training.codes[observed]).all()
        assert (tables < np.array(training.cardinalities)).all()


def test_the_published_table_is_set_beside_ours(monkeypatch, records):
    monkeypatch.setattr(sparse_network, "judge", lambda **_: records.to_dict("records"))
    table = runnable("dissertation-table3.2")
    ours = sparse_network._run_losses(RunOptions(repetitions=1, quick=True, progress=False))
    comparison = compare_with_paper(table, ours)
    assert len(comparison.cells) == 8
    assert any("Markov boundary" in note for note in comparison.notes)
    assert set(comparison.data_sets["record"]) == {"path", "graph", "loss", "diversion"}
