"""Sparse Bayesian networks: planted graphs, missing cells, layers, queries, draws, and strange tables."""

import builtins
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone

from seminaive import MultipleImputer, SparseBayesianNetwork, load_model, save_model
from seminaive.encode import TreeCuts
from seminaive.errors import ColumnsWarning, ConvergenceWarning, InputError
from seminaive.structure import Network

# Age -> smoker -> (class) -> cough, age -> class, and a column apart.
NAMES = ("age", "apart", "cough", "smoker")
LAYERS = [["age", "apart"], ["smoker"], ["class"], ["cough"]]


def records(n_rows=3000, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 3, n_rows)
    smoker = rng.random(n_rows) < np.array([0.2, 0.5, 0.7])[age]
    ill = rng.random(n_rows) < np.array([0.1, 0.2, 0.4])[age] + 0.3 * smoker
    cough = rng.random(n_rows) < np.where(ill, 0.8, 0.3)
    X = pd.DataFrame(
        {
            "smoker": np.where(smoker, "yes", "no"),
            "age": np.array(["young", "middle", "old"])[age],
            "cough": np.where(cough, "yes", "no"),
            "apart": rng.choice(["a", "b"], n_rows),
        }
    )
    return X.mask(rng.random(X.shape) < missing), np.where(ill, "ill", "well")


@pytest.fixture(scope="module")
def fitted():
    X, y = records(missing=0.2)
    return SparseBayesianNetwork(layers=LAYERS, fit_share=1).fit(X, y)


def test_the_planted_graph_is_found_with_missing_cells(fitted):
    assert set(fitted.edges_) == {
        ("age", "smoker"),
        ("age", "class"),
        ("smoker", "class"),
        ("class", "cough"),
    }
    assert fitted.markov_boundary_ == ["age", "cough", "smoker"]
    assert fitted.parents_["class"] == ["age", "smoker"]
    assert fitted.nodes_ == (*NAMES, "class")
    assert sorted(fitted.order_) == sorted(fitted.nodes_)
    assert fitted.dual_gap_ <= fitted.tol


def test_the_posterior_with_missing_cells_is_the_sum_over_complete_rows(fitted):
    X, _ = records(40, seed=5, missing=0.4)
    joint = {}
    for age in ("young", "middle", "old"):
        for smoker in ("no", "yes"):
            for cough in ("no", "yes"):
                for label in ("ill", "well"):
                    chain = [
                        fitted.probabilities("age")[age],
                        fitted.probabilities("smoker", {"age": age})[smoker],
                        fitted.probabilities("class", {"age": age, "smoker": smoker})[label],
                        fitted.probabilities("cough", {"class": label})[cough],
                    ]
                    joint[age, smoker, cough, label] = np.prod(chain)
    for row, found in zip(X.to_dict("records"), fitted.predict_proba(X), strict=True):
        known = [row[name] for name in ("age", "smoker", "cough")]
        total = {"ill": 0.0, "well": 0.0}
        for cell, share in joint.items():
            if all(pd.isna(value) or value == code for value, code in zip(known, cell, strict=False)):
                total[cell[-1]] += share
        np.testing.assert_allclose(found, np.array(list(total.values())) / sum(total.values()), atol=1e-12)


def test_a_query_about_the_class_is_the_prediction(fitted):
    row = pd.DataFrame([{"smoker": "yes", "age": None, "cough": "no", "apart": None}])
    believed = SparseBayesianNetwork(layers=LAYERS, fit_share=0.5).fit(*records(500))
    for model in (fitted, believed):
        found = model.probabilities("class", {"smoker": "yes", "cough": "no"})
        np.testing.assert_allclose(list(found.values()), model.predict_proba(row)[0], atol=1e-12)
    assert fitted.probabilities("class", {"smoker": "never seen"}) == fitted.probabilities("class")
    assert sum(fitted.probabilities("age", {"class": "ill"}).values()) == pytest.approx(1)


def test_the_share_lies_between_the_class_shares_and_the_network(tmp_path):
    X, y = records(150)
    model = SparseBayesianNetwork(layers=LAYERS).fit(X, y)
    assert 0 < model.fit_share_ < 1
    network = SparseBayesianNetwork(layers=LAYERS, fit_share=1).fit(X, y)
    assert network.edges_ == model.edges_
    shares = np.unique(y, return_counts=True)[1] / len(y)
    mixed = network.predict_proba(X) ** model.fit_share_ * shares ** (1 - model.fit_share_)
    np.testing.assert_allclose(model.predict_proba(X), mixed / mixed.sum(axis=1, keepdims=True), rtol=1e-10)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))


def test_without_missing_cells_the_number_of_imputations_plays_no_part():
    X, y = records(600)
    one, three = (SparseBayesianNetwork(n_imputations=d, strengths=8).fit(X, y) for d in (1, 3))
    np.testing.assert_array_equal(one.predict_proba(X), three.predict_proba(X))


def test_sampling_and_refitting_recovers_the_edges(fitted):
    X, y = fitted.sample(20_000, random_state=0)
    assert list(X.columns) == ["smoker", "age", "cough", "apart"]
    # The sampled dependences are the shrunken ones; a weaker penalty leaves them what they are.
    again = SparseBayesianNetwork(order=fitted.order_, strengths=[0.3 * fitted.strength_]).fit(X, y)
    assert set(again.edges_) == set(fitted.edges_)
    assert again.order_ == fitted.order_


def test_the_largest_strength_leaves_no_edge_and_the_class_shares():
    X, y = records(500)
    path = SparseBayesianNetwork(strengths=5, cv=3).fit(X, y).search_
    assert path.n_edges[0] == 0 < path.n_edges[-1]
    empty = SparseBayesianNetwork(strengths=[float(path.strengths[0])]).fit(X, y)
    np.testing.assert_allclose(empty.predict_proba(X[:1])[0], [np.mean(y == "ill"), np.mean(y == "well")])
    assert empty.markov_boundary_ == []


def test_integer_weights_equal_repeated_rows():
    X, y = records(500)
    weight = np.random.default_rng(1).integers(0, 3, 500)
    model = SparseBayesianNetwork(strengths=[0.01])
    repeated = np.repeat(np.arange(500), weight)
    np.testing.assert_allclose(
        clone(model).fit(X, y, sample_weight=weight).predict_proba(X),
        clone(model).fit(X.iloc[repeated], y[repeated]).predict_proba(X),
        atol=1e-10,
    )


def test_parents_come_from_the_same_or_an_earlier_layer():
    X, y = records(2000)
    layers = [["class"], ["cough", "smoker"], ["age", "apart"]]
    model = SparseBayesianNetwork(layers=layers, strengths=10, selection="min").fit(X, y)
    layer = {name: place for place, names in enumerate(layers) for name in names}
    assert model.edges_
    assert all(layer[parent] <= layer[child] for parent, child in model.edges_)


def test_layers_that_are_not_searched_keep_the_order_given():
    X, y = records(2000)
    layers = [["smoker", "apart", "age"], ["class", "cough"]]
    model = SparseBayesianNetwork(layers=layers, searched_layers=[1], strengths=6, cv=0.3).fit(X, y)
    assert model.order_[:3] == ["smoker", "apart", "age"]


def test_the_search_lowers_the_objective_of_a_bad_order():
    X, y = records(2000)
    bad = ["cough", "class", "smoker", "age", "apart"]
    fixed = SparseBayesianNetwork(order=bad, strengths=[0.01]).fit(X, y)
    searched = SparseBayesianNetwork(layers=[bad], strengths=[0.01]).fit(X, y)
    assert searched.search_.objectives[0] <= fixed.search_.objectives[0] + 1e-12
    assert fixed.order_ == bad


def test_the_strength_is_the_largest_within_one_standard_error_of_the_best():
    X, y = records(800)
    careful, least = (
        SparseBayesianNetwork(strengths=12, selection=rule).fit(X, y)
        for rule in ("one-standard-error", "min")
    )
    path = careful.path_
    best = path["loss"].idxmin()
    assert least.strength_ == path["strength"][best]
    allowed = path["loss"][best] + path["standard_error"][best]
    assert careful.strength_ == path["strength"][path["loss"] <= allowed].max()


def test_numbers_are_drawn_and_queried_by_their_bins():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    X = pd.DataFrame({"dose": rng.normal(2.0 * y, 1.0), "colour": rng.choice(["red", "blue"], 1000)})
    X.loc[::5, "dose"] = np.nan
    for bins in ("mdl", "tree", 4):
        model = SparseBayesianNetwork(bins=bins, strengths=6, cv=0.2).fit(X, y)
        assert model.markov_boundary_ == ["dose"]
        assert model.probabilities("class", {"dose": 4.0})[1] > 0.8
        assert all(text.startswith("(") for text in model.probabilities("dose"))
    drawn = model.draw_missing_cells(X, 2, random_state=0)
    assert len(drawn) == 2
    for table in drawn:
        assert not table["dose"].isna().any()
        pd.testing.assert_frame_equal(table[X["dose"].notna()], X[X["dose"].notna()])
    sampled, _ = model.sample(50, random_state=0)
    assert set(sampled["dose"]) <= set(model.bin_means_["dose"])


def test_a_decision_tree_cuts_where_the_impurity_falls_most():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=400).round(2), rng.integers(1, 4, 400).astype(float)
    labels = ((np.abs(values) > 0.8) ^ (rng.random(400) < 0.1)).astype(np.int64)
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(
        values[:, None], labels, sample_weight=weight
    )
    expected = np.sort(tree.tree_.threshold[tree.tree_.feature >= 0])
    np.testing.assert_allclose(TreeCuts(3)(values, labels, weight), expected, atol=1e-6)
    assert len(TreeCuts(3)(np.zeros(5), np.array([0, 1, 0, 1, 0]))) == 0


def test_draws_of_missing_cells_have_the_networks_frequencies(fitted):
    X = pd.DataFrame([{"smoker": None, "age": "old", "cough": "yes", "apart": "a"}] * 3000)
    drawn = fitted.draw_missing_cells(X, 1, random_state=0)[0]
    expected = fitted.probabilities("smoker", {"age": "old", "cough": "yes"})
    found = [(drawn["smoker"] == value).sum() for value in expected]
    assert stats.chisquare(found, np.array(list(expected.values())) * 3000).pvalue > 1e-3
    given_class = fitted.draw_missing_cells(X, 1, random_state=0, y=["well"] * 3000)[0]
    expected = fitted.probabilities("smoker", {"age": "old", "cough": "yes", "class": "well"})
    found = [(given_class["smoker"] == value).sum() for value in expected]
    assert stats.chisquare(found, np.array(list(expected.values())) * 3000).pvalue > 1e-3


def test_a_fitted_network_is_a_source_of_multiple_imputation(fitted):
    X, y = records(200, seed=3, missing=0.3)
    imputer = MultipleImputer(n_imputations=3, source=fitted, random_state=0).fit(X, y)
    tables = list(imputer.completions(X, y))
    assert len(tables) == 3
    assert not any(table.isna().any().any() for table in tables)
    assert not tables[0].equals(tables[1])


def test_missing_as_a_value_is_a_level_of_its_own():
    X, y = records(800)
    X.loc[y == "ill", "apart"] = None
    model = SparseBayesianNetwork(missing="value", strengths=6, cv=0.3).fit(X, y)
    assert "apart" in model.markov_boundary_
    assert None in model.probabilities("apart")
    assert model.score(X, y) > 0.95
    drawn = model.draw_missing_cells(X, 1, random_state=0)[0]
    assert drawn.shape == X.shape


def test_the_graph_goes_to_networkx(fitted, monkeypatch):
    nx = pytest.importorskip("networkx")
    graph = fitted.to_networkx()
    assert set(graph.edges) == set(fitted.edges_)
    assert nx.is_directed_acyclic_graph(graph)
    assert graph.nodes["class"]["values"] == ["ill", "well"]
    real = builtins.__import__

    def without_networkx(name, *args, **kwargs):
        if name == "networkx":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_networkx)
    with pytest.raises(ImportError, match=r"seminaive\[graph\]"):
        fitted.to_networkx()


def test_a_saved_network_answers_as_before(fitted, tmp_path):
    X, _ = records(50, seed=2, missing=0.3)
    save_model(fitted, tmp_path / "network")
    again = load_model(tmp_path / "network")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.edges_ == fitted.edges_
    pd.testing.assert_frame_equal(again.path_, fitted.path_)


# Strange tables


def test_noise_has_no_edges():
    rng = np.random.default_rng(0)
    X = rng.choice(["a", "b", "c"], (300, 8))
    model = SparseBayesianNetwork(strengths=8).fit(X, rng.integers(0, 2, 300))
    assert model.markov_boundary_ == []


def test_a_tiny_table_and_one_with_separable_classes_are_fitted():
    X, y = [["a", "b"], ["b", "b"], ["a", "a"], [None, "a"]], ["yes", "no", "yes", "no"]
    assert np.isfinite(SparseBayesianNetwork(cv=2).fit(X, y).predict_proba(X)).all()
    copied = np.repeat(["a", "b", "c"], 30)
    model = SparseBayesianNetwork(strengths=6, cv=3).fit(copied[:, None], copied)
    assert (model.predict(copied[:, None]) == copied).all()


@pytest.mark.parametrize(
    ("rows_each", "sentence"), [(1, "'record' has 300 values in 300 rows"), (2, "'record' (150 values)")]
)
def test_columns_like_record_numbers_are_left_out_with_a_warning(rows_each, sentence):
    X, y = records(300)
    X["record"] = [f"r{i // rows_each}" for i in range(300)]
    with pytest.warns(ColumnsWarning) as caught:
        model = SparseBayesianNetwork(strengths=4, cv=2).fit(X, y)
    assert any(sentence in str(warning.message) for warning in caught)
    assert "record" not in model.nodes_
    assert model.predict_proba(X).shape == (300, 2)
    sampled, _ = model.sample(3)
    assert sampled["record"].isna().all()


def test_an_empty_column_and_empty_rows_are_no_evidence():
    X, y = records(300)
    X["nothing"] = None
    with pytest.warns(ColumnsWarning, match="has no value"):
        model = SparseBayesianNetwork(strengths=4, cv=2).fit(X, y)
    assert "nothing" not in model.nodes_
    nothing = X[:1].copy()
    nothing[:] = None
    expected = list(model.probabilities("class").values())
    np.testing.assert_allclose(model.predict_proba(nothing)[0], expected, atol=1e-12)


def test_a_column_called_class_is_told_from_the_label():
    X, y = records(400)
    model = SparseBayesianNetwork(strengths=[0.02]).fit(X.rename(columns={"cough": "class"}), y)
    assert "feature class" in model.markov_boundary_
    model.probabilities("class", {"feature class": "yes"})


def test_a_value_absent_from_the_training_part_of_a_fold_is_not_impossible():
    X, y = records(60)
    X.loc[0, "smoker"] = "sometimes"
    model = SparseBayesianNetwork(strengths=5, cv=5).fit(X, y)
    assert np.isfinite(model.path_["loss"]).all()


def test_an_early_stop_is_said_with_numbers():
    X, y = records(300)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        SparseBayesianNetwork(strengths=[1e-4], max_iter=1).fit(X, y)


def test_a_wide_table_is_predicted_from_half_of_its_cells():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    X = np.where(rng.random((150, 20)) < 0.25, y[:, None], rng.integers(0, 2, (150, 20))).astype(object)
    X[rng.random(X.shape) < 0.4] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SparseBayesianNetwork(
            strengths=3, cv=0.3, n_imputations=2, selection="min", categorical_features="all"
        ).fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    assert model.score(X, y) > 0.7


# Refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strengths": 0}, "strengths is"),
        ({"strengths": [-1.0]}, "strengths is"),
        ({"layers": [["age", "class"]]}, "absent are"),
        ({"layers": [["age", "apart", "cough", "smoker", "class", "hair"]]}, "unknown are"),
        ({"order": ["age", "age", "apart", "cough", "smoker", "class"]}, "named twice"),
        ({"layers": "age"}, "layers is a list"),
        ({"order": "age"}, "order is a list"),
        ({"searched_layers": [0]}, "searched_layers is"),
        ({"cv": 1.5}, "cv is"),
        ({"bins": "many"}, "bins is"),
        ({"selection": "best"}, "selection is"),
        ({"n_imputations": 0}, "n_imputations is"),
        ({"layers": LAYERS, "order": ["class", "age", "apart", "smoker", "cough"]}, "follow the layers"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        SparseBayesianNetwork(**parameters).fit(*records(100))


def test_unknown_nodes_and_classes_are_refused(fitted):
    with pytest.raises(InputError, match="not a node"):
        fitted.probabilities("hair")
    with pytest.raises(InputError, match="not a class"):
        fitted.probabilities("age", {"class": "dead"})


def test_a_network_that_does_not_fit_is_refused():
    net = Network((2, 2), (0, 1), (0, 1), ((), (0,)), np.zeros(6))
    net.check_fits((2, 2))
    for change in (
        {"cardinalities": (2, 3)},
        {"order": (1, 0)},
        {"order": (0, 0)},
        {"children": (1, 0)},
        {"features": ((), (2,))},
        {"tables": np.zeros(5)},
    ):
        with pytest.raises(ValueError, match="network"):
            Network(**{**vars_of(net), **change}).check_fits((2, 2))


def vars_of(net):
    return {name: getattr(net, name) for name in ("cardinalities", "order", "children", "features", "tables")}


def test_drawn_numbers_are_written_as_the_column_writes_them():
    rng = np.random.default_rng(0)
    weight = rng.normal(50, 10, 300)
    X = pd.DataFrame(
        {"weight": [f"{kilograms:.1f} kg" for kilograms in weight], "sky": rng.choice(["wet", "dry"], 300)}
    )
    X.loc[::10, "weight"] = None
    model = SparseBayesianNetwork(n_imputations=1, strengths=3).fit(X, weight + rng.normal(0, 8, 300) > 50)
    (drawn,) = model.draw_missing_cells(X, random_state=0)
    assert drawn["weight"].str.endswith(" kg").all()
    numbers = drawn["weight"].str.removesuffix(" kg").astype(float)
    assert numbers.between(weight.min() - 0.1, weight.max() + 0.1).all()
