"""Shapes hold in everything that reads a model: predictions, and programs of other languages, on grids."""

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

from seminaive import SemiNaive, explain, export

pytestmark = pytest.mark.filterwarnings("ignore::seminaive.errors.ShapeWarning")
MONOTONE = ["increasing", "decreasing"]
# Beyond rounding; probabilities and log odds are of the size of 1.
VIOLATION = 1e-12


def shaped_model(seed):
    """Return a table, a model with a random mix of shapes of two or three classes, and its shapes."""
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(40, 160)), int(rng.integers(2, 4))
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    X["b"] = np.round(np.exp(X["b"]), 1)
    X["d"] = rng.choice(["u", "v", "w"], n_rows)
    scores = rng.normal(size=(3, n_classes)) @ np.eye(n_classes)
    bent = np.column_stack([np.sin(2 * X["a"]), np.log1p(X["b"]), X["c"] ** 2 - 1]) @ scores
    y = (2 * bent + rng.gumbel(size=bent.shape)).argmax(axis=1)
    X.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    kinds = [*MONOTONE, "convex", "concave"] if n_classes == 2 else MONOTONE
    chosen = rng.choice(list("abc"), int(rng.integers(1, 4)), replace=False).tolist()
    present = np.unique(y).tolist()
    if len(present) < n_classes:
        kinds = MONOTONE
    shapes = {column: (str(rng.choice(kinds)), int(rng.choice(present))) for column in chosen}
    return X, SemiNaive(shapes=shapes).fit(X, y), shapes


def grids(X, column, n_points, n_rows):
    """Return other rows, each with all values of one column, from beyond one end to beyond the other."""
    rng = np.random.default_rng(1)
    values = X[column].dropna()
    grid = np.linspace(values.min() - 0.5, values.max() + 0.5, n_points)
    rows = pd.DataFrame({name: rng.choice(X[name], n_rows) for name in X.columns})
    repeated = rows.loc[rows.index.repeat(n_points)].reset_index(drop=True)
    repeated[column] = np.tile(grid, n_rows)
    return repeated, grid


def check_shape(probabilities, model, column, shape, grid):
    """Assert that the probability of a class is monotone, or its log odds bent one way, along a grid."""
    kind, label = shape
    chosen = probabilities.reshape(-1, len(grid), len(model.classes_))[
        :, :, model.classes_.tolist().index(label)
    ]
    if kind in MONOTONE:
        rises = np.diff(chosen, axis=1)
        assert (rises if kind == "decreasing" else -rises).max() <= VIOLATION
        return
    curves = model.scores_.curves
    inside = np.ones(len(grid), dtype=bool)
    if column in curves.features:  # a column that says nothing has no curve, and bends nowhere
        knots = curves.knots[slice(*curves.starts[curves.features.index(column) :][:2])]
        inside = (grid >= knots[0]) & (grid <= knots[-1])
    # Log odds of probabilities near 0 and 1 have fewer digits than the score.
    odds = np.log(chosen / (1 - chosen))[:, inside]
    digits = 1 / np.minimum(chosen, 1 - chosen)[:, inside].min()
    bends = np.diff(odds, 2, axis=1)
    assert (bends if kind == "concave" else -bends).max() <= VIOLATION * max(digits, 1.0)


def by_python(model, X):
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - the source is the export
    found = [space["predict_proba"](row) for row in plain_rows(X)]
    return np.array([[row[label] for label in model.classes_] for row in found])


def by_sqlite(model, X):
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, np.exp)
    X.assign(key=range(len(X))).to_sql("rows", connection, index=False)
    return (
        pd.read_sql(export.to_sql(model, "main.rows", "sqlite", keep=["key"]), connection)
        .iloc[:, 2:]
        .to_numpy()
    )


def by_onnx(model, X):
    pytest.importorskip("onnx", reason="onnx is not installed: no graph is made")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: no graph is run")
    session = runtime.InferenceSession(
        export.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feeds = {
        entry.name: X[entry.name].to_numpy(object if entry.type == "tensor(string)" else float)[:, None]
        for entry in session.get_inputs()
    }
    return session.run(["probabilities"], feeds)[0]


def by_javascript(model, X, folder):
    if shutil.which("node") is None:
        pytest.skip("node is not installed: JavaScript is not run")
    (folder / "model.js").write_text(export.to_javascript(model), encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps(plain_rows(X)), encoding="utf-8")
    program = (
        "const m = require('./model.js');"
        "console.log(JSON.stringify(require('./rows.json').map(m.predictProba)))"
    )
    command = [shutil.which("node"), "-e", program]
    return np.array(json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout))


def plain_rows(X):
    """Return rows as dicts, None where a cell is missing."""
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    return [dict(row) for row in rows]


def check_all(seed, folder, n_points, n_rows):
    X, model, shapes = shaped_model(seed)
    for column, shape in shapes.items():
        rows, grid = grids(X, column, n_points, n_rows)
        position = "abc".index(column)
        check_shape(model.predict_proba(rows), model, position, shape, grid)
        few, short = grids(X, column, 60, 2)
        for answer in (by_python, by_sqlite, by_onnx, lambda *parts: by_javascript(*parts, folder)):
            check_shape(answer(model, few), model, position, shape, short)


@pytest.mark.parametrize("seed", range(3))
def test_predictions_and_exports_keep_the_shapes_on_grids(seed, tmp_path):
    check_all(seed, tmp_path, 200, 5)


@pytest.mark.slow
def test_no_shape_is_violated_on_200_tables(tmp_path):
    for seed in range(200):
        check_all(seed, tmp_path, 1000, 50)


def test_effects_are_marked_with_their_shapes():
    X, model, shapes = shaped_model(0)
    effects = explain.effects_table(model)
    for column in X.columns:
        marks = set(effects.loc[effects["term"] == column, "shape"])
        assert marks == {model.shapes_.get(column, "")}
    assert model.shapes_.keys() == shapes.keys()
    column = next(iter(shapes))
    display = explain.EffectDisplay.from_estimator(model, column)
    assert display.ax_.get_title(loc="left") == f"fitted as {model.shapes_[column]}"
    free = SemiNaive().fit(X, np.arange(len(X)) % 2)
    assert "shape" not in explain.effects_table(free)
    assert not explain.EffectDisplay.from_estimator(free, "a").ax_.get_title(loc="left")


def test_sql_of_a_model_whose_tables_are_all_zero_gives_its_probabilities():
    X, model, _ = shaped_model(1)
    model.scores_ = model.scores_.scale(np.zeros(model.scores_.n_terms))
    np.testing.assert_allclose(by_sqlite(model, X).astype(float), model.predict_proba(X), atol=1e-12)
