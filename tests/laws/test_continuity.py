"""Answers of SemiNaive do not jump: along every number, in Python and in every export."""

import json
import shutil
import sqlite3
import subprocess
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from seminaive import HigherOrderLogisticRegression, SemiNaive, explain, export
from seminaive.encode import NumericColumn, TableEncoder
from seminaive.encode.joined_schema import joined_schema
from seminaive.encode.nodes import COMPILED_ROWS, Nodes, bin_medians, interpolate
from seminaive.scores import AdditiveScores, Effects
from seminaive.scores.joined_scores import recoded_scores
from seminaive.scores.kind import TermKind
from seminaive.statistics import Terms
from seminaive.statistics.cell_weights import weigh_cells

N_POINTS, POINTS_OF_EXPORTS = 10_000, 1_000
# A continuous curve that is smooth between kinks has half the step on half the spacing; a kink within a step
# makes up the rest. A jump would leave the largest step as it is.
HALF = 0.55


def rows(n_rows=240, seed=0):
    """Return two numbers and a category, of which each pair matters, and classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "days": rng.integers(1, 60, n_rows).astype(float),
            "sum": np.exp(rng.normal(size=n_rows)),
            "kind": rng.choice(["new", "old", "other"], n_rows),
        }
    )
    score = (X["days"] - 30) / 15 * (X["sum"] - 1) + np.where(X["kind"] == "new", X["days"] / 20 - 1.5, 0.0)
    y = np.where(2 * score + rng.logistic(size=n_rows) > 0, "good", "bad")
    X.loc[rng.random(n_rows) < 0.05, "sum"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = rows()
    return SemiNaive().fit(X, y), X


def along(X, name, n_points, row=3):
    """Return copies of one row whose number goes through its range, and a little beyond."""
    grid = pd.concat([X.iloc[[row]]] * n_points, ignore_index=True)
    low, high = X[name].min(), X[name].max()
    grid[name] = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), n_points)
    return grid


def largest_step(probabilities):
    return np.abs(np.diff(probabilities, axis=0)).max()


def halves(predict, X, name, n_points=N_POINTS):
    """Tell whether half the spacing gives half the largest step, which is not 0."""
    coarse, fine = (largest_step(predict(along(X, name, n))) for n in (n_points, 2 * n_points - 1))
    return 0 < fine <= HALF * coarse


@pytest.mark.parametrize("name", ["days", "sum"])
def test_half_the_spacing_halves_the_largest_step(fitted, name):
    model, X = fitted
    assert len(model.interactions_) == 3
    assert halves(model.predict_proba, X, name)


@pytest.mark.parametrize("name", ["days", "sum"])
def test_without_nodes_pairs_are_steps_and_the_law_fails(fitted, name):
    model, X = fitted
    columns = [
        replace(column, nodes=None) if isinstance(column, NumericColumn) else column
        for column in model.schema_.columns
    ]
    by_bins = copy(model)
    by_bins.schema_ = replace(model.schema_, columns=tuple(columns))
    assert not halves(by_bins.predict_proba, X, name)


def by_python(model, X):
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - what a user would do
    return np.array([list(space["predict_proba"](row).values()) for row in X.to_dict("records")])


def by_javascript(model, X, folder):
    (folder / "model.js").write_text(export.to_javascript(model), encoding="utf-8")
    (folder / "rows.json").write_text(X.to_json(orient="records", double_precision=15), encoding="utf-8")
    code = (
        "const m = require('./model.js');"
        "console.log(JSON.stringify(require('./rows.json').map(m.predictProba)))"
    )
    node = shutil.which("node")
    done = subprocess.run([node, "-e", code], cwd=folder, capture_output=True, text=True, check=True)
    return np.array(json.loads(done.stdout))


def by_sqlite(model, X):
    connection = sqlite3.connect(":memory:")
    X.to_sql("rows", connection, index=False)
    return np.array([row[1:] for row in connection.execute(export.to_sql(model, dialect="sqlite"))])


def by_duckdb(model, X):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("rows", X)
        return connection.sql(export.to_sql(model)).df().iloc[:, 1:].to_numpy()


def by_onnx(model, X):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(export.to_onnx(model).SerializeToString())
    inputs = {name: X[name].to_numpy()[:, None] for name in X}
    return session.run(["probabilities"], inputs)[0]


def by_document(model, X):
    return export.from_json(export.to_json(model)).predict_proba(X)


EXPORTS = {
    "python": by_python,
    "sqlite": by_sqlite,
    "duckdb": by_duckdb,
    "onnx": by_onnx,
    "json": by_document,
}


@pytest.mark.parametrize("export", EXPORTS)
def test_half_the_spacing_halves_the_largest_step_in_exports(fitted, export):
    model, X = fitted
    assert halves(lambda grid: EXPORTS[export](model, grid), X, "days", POINTS_OF_EXPORTS)


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_half_the_spacing_halves_the_largest_step_in_javascript(fitted, tmp_path):
    model, X = fitted
    assert halves(lambda grid: by_javascript(model, grid, tmp_path), X, "days", POINTS_OF_EXPORTS)


def test_at_the_nodes_a_pair_says_what_its_table_holds_and_between_them_it_is_bilinear(fitted):
    model, _ = fitted
    term = model.scores_.terms.features.index((0, 1))
    kind = model.scores_.restrict([term]).kinds[0]
    days, sums = (model.schema_.columns[k].nodes for k in (0, 1))
    table = kind.tables.reshape(*kind.terms.shape(0), -1)
    grid = pd.DataFrame([(d, s, "new") for d in days for s in sums], columns=["days", "sum", "kind"])
    at_nodes = kind.contributions(model.encode(grid))[:, 0]
    np.testing.assert_allclose(at_nodes, table[: len(days), : len(sums)].reshape(len(grid), -1), atol=1e-14)
    inner = pd.DataFrame({"days": [0.25 * days[1] + 0.75 * days[2]], "sum": [0.6 * sums[4] + 0.4 * sums[5]]})
    expected = np.array([0.25, 0.75]) @ table[1:3, 4:6].transpose(2, 0, 1) @ np.array([0.6, 0.4])
    found = kind.contributions(model.encode(inner.assign(kind="old")))[0, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    beyond = pd.DataFrame({"days": [1e6, -1e6], "sum": [-5.0, 1e9], "kind": "old"})
    corners = table[[len(days) - 1, 0], [0, len(sums) - 1]]
    np.testing.assert_allclose(kind.contributions(model.encode(beyond))[:, 0], corners, atol=1e-14)


@pytest.mark.parametrize("n_rows", [1, 7, 300])
def test_compiled_scores_between_nodes_are_the_same_to_the_last_bit(fitted, monkeypatch, n_rows):
    model, X = fitted
    table = model.encode(pd.concat([X, X * 1]).iloc[:n_rows].assign(kind=["new", "unseen"][n_rows % 2]))
    plain = model.scores_.breakdown(table)
    total = plain[:, 0]
    for part in range(1, plain.shape[1]):
        total = total + plain[:, part]
    monkeypatch.setattr(TermKind, "compiles", lambda *_: True)
    assert (model.scores_.sums(table) == total).all()


def test_effects_add_up_to_the_scores_between_nodes(fitted):
    model, X = fitted
    table = model.encode(X)
    effects = Effects.of(model.scores_, model.schema_, model.summary_)
    scores = model.scores_.joint_log_scores(table)
    centred = scores - scores.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(effects.joint_log_scores(table), centred, atol=1e-10)


def test_the_drawn_surface_is_the_model(fitted):
    """Second differences of the log odds over days and sums are those of the surface."""
    model, X = fitted
    mesh = explain.PairDisplay.from_estimator(model, ("days", "sum")).ax_.collections[0]
    drawn = mesh.get_array()
    edges = mesh.get_coordinates()
    sums, days = ((edges[0, 1:, 0] + edges[0, :-1, 0]) / 2, (edges[1:, 0, 1] + edges[:-1, 0, 1]) / 2)
    some = np.array([0, 17, 60, 111, 160])
    grid = pd.DataFrame([(days[i], sums[j], "old") for i in some for j in some], columns=X.columns)
    odds = model.decision_function(grid).reshape(len(some), len(some))
    surface = np.asarray(drawn).reshape(len(days), len(sums))[np.ix_(some, some)]
    found, expected = (np.diff(np.diff(surface_, axis=0), axis=1) for surface_ in (surface, odds))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_nomogram_reads_its_pairs_between_nodes(fitted):
    model, X = fitted
    display = explain.NomogramDisplay.from_estimator(model, pairs=3)
    table = model.encode(X.iloc[:60])
    whole, without = (logit(display.probabilities(table, pairs=pairs)[:, 1]) for pairs in (True, False))
    effects = Effects.of(model.scores_, model.schema_, model.summary_)
    drawn = [1 + effects.names.index(pair.name) for pair in display.pairs]
    assert drawn
    pairs = effects.breakdown(table)[:, drawn].sum(axis=1)
    np.testing.assert_allclose(whole - without, pairs[:, 1] - pairs[:, 0], atol=1e-9)


def test_the_weight_of_cells_gives_the_mean_over_the_rows(fitted):
    model, X = fitted
    table, kind = model.encode(X), model.scores_.kinds[0]
    weights = weigh_cells(kind.terms, table)
    for term in range(kind.n_terms):
        block = kind.terms.block(term)
        over_rows = kind.contributions(table)[:, term].mean(axis=0)
        np.testing.assert_allclose(weights[block] @ kind.tables[block] / len(X), over_rows, atol=1e-12)


def test_tuples_of_any_order_are_weighed_and_read_alike(fitted, monkeypatch):
    model, X = fitted
    table = model.encode(X)
    pairs = Terms.up_to_order(table.cardinalities, 2)
    triples = Terms.up_to_order(table.cardinalities, 3)
    by_corner = weigh_cells(triples, table)
    np.testing.assert_allclose(by_corner[: pairs.n_cells], weigh_cells(pairs, table), atol=1e-10)
    tables = np.random.default_rng(0).normal(size=(triples.n_cells, 2))
    scores = AdditiveScores.of_tables(np.zeros(2), triples, tables)
    expected = scores.joint_log_scores(table)
    np.testing.assert_allclose(by_corner @ tables, expected.sum(axis=0), rtol=1e-10)
    monkeypatch.setattr(TermKind, "compiles", lambda *_: True)
    np.testing.assert_allclose(scores.joint_log_scores(table), expected, atol=1e-12)


def test_few_rows_and_many_have_the_same_coordinates(fitted):
    model, X = fitted
    table = model.encode(X)
    nodes = Nodes.of(model.schema_)
    many = nodes.coordinates(table)
    few = [nodes.coordinates(table.rows(slice(k, k + 1))) for k in range(len(X))]
    assert (many.codes == np.concatenate([row.codes for row in few])).all()
    assert (many.along == np.concatenate([row.along for row in few])).all()
    assert ((many.along >= 0) & (many.along <= 1)).all()
    repeated = np.tile(np.arange(len(X)), -(-COMPILED_ROWS // len(X)))
    compiled = nodes.coordinates(table.rows(repeated))
    assert (compiled.codes == many.codes[repeated]).all()
    assert (compiled.along == many.along[repeated]).all()
    pair = np.random.default_rng(0).normal(size=(*(k + 1 for k in table.cardinalities[:2]), 2))
    found = interpolate(pair, [compiled.axis(0), compiled.axis(1)])
    expected = interpolate(pair, [many.axis(0), many.axis(1)])
    np.testing.assert_allclose(found, expected[repeated], atol=1e-14)


def test_medians_of_bins_take_weights_as_repeated_rows():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=40).round(1), rng.integers(1, 4, 40)
    cuts = tuple(np.quantile(values, [0.3, 0.5, 0.9]) + 0.05)
    repeated = np.repeat(values, weights)
    medians = bin_medians(values, weights.astype(float), cuts)
    assert medians == bin_medians(repeated, np.ones(len(repeated)), cuts)
    for median, low, high in zip(medians, (-np.inf, *cuts), (*cuts, np.inf), strict=True):
        inside = np.sort(repeated[(repeated > low) & (repeated <= high)])
        assert median == inside[(len(inside) - 1) // 2]


def test_a_model_without_pairs_has_no_nodes():
    X, y = rows()
    assert SemiNaive(interactions=0).fit(X, y).schema_.nodes is None


def test_steps_and_nodes_under_one_schema_keep_their_scores(fitted):
    model, X = fitted
    _, y = rows()
    by_bins = HigherOrderLogisticRegression(order=2, bins=5).fit(X, y)
    grid = pd.concat([X, along(X, "days", 500), along(X, "sum", 500, row=7)])
    for one, other in ((model, by_bins), (by_bins, model)):
        joined = joined_schema(one.schema_, other.schema_)
        for model_ in (one, other):
            found = recoded_scores(model_.scores_, model_.schema_, joined)
            scores = found.joint_log_scores(TableEncoder(joined).encode(grid))
            expected = model_.scores_.joint_log_scores(model_.encode(grid))
            np.testing.assert_allclose(scores, expected, atol=1e-9)
