"""Every export gives the probabilities of the model, with missing and unseen cells, on any platform."""

import io
import json
import shutil
import sqlite3
import subprocess
from bisect import bisect_left
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seminaive import (
    AveragedDependenceEstimators,
    HigherOrderLogisticRegression,
    NaiveBayes,
    NaiveBayesLogisticRegression,
    SemiNaive,
    export,
)
from seminaive.encode import TableEncoder
from seminaive.errors import InputError, TooLargeError
from seminaive.scores import AdditiveScores, CurveTerms, NumericTerms
from seminaive.statistics import ObservedTerms, Terms

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
NAMES = ['sky\'s "colour"', "wind; DROP TABLE rows", "</script><b>", "weekend", "n\\days", "level$x$"]


def mixed(n_rows, n_classes, seed=0):
    """Return a table of text, numbers, booleans and whole categories, with hostile names; and its classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            NAMES[0]: np.array(["dry", "it's wet", 'sn"ow', "ñ☃"], object)[
                (y + rng.integers(0, 3, n_rows)) % 4
            ],
            NAMES[1]: rng.normal(5.0 * y, 6.0),
            NAMES[2]: rng.choice(["low", "</script>", "", "None"], n_rows),
            NAMES[3]: rng.random(n_rows) < 0.2 + 0.5 * (y == 0),
            NAMES[4]: rng.integers(0, 60, n_rows) + 3 * y,
            NAMES[5]: rng.integers(0, 5, n_rows) + (y > 0),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, NAMES[0]] = None
    X.loc[rng.random(n_rows) < 0.1, NAMES[1]] = np.nan
    return X, np.array([f"class '{c}'" for c in range(n_classes)], object)[y]


def rows_to_predict(n_rows, n_classes):
    """Return other rows, with cells that training never had."""
    X, _ = mixed(n_rows, n_classes, seed=1)
    rng = np.random.default_rng(2)
    X.loc[rng.random(n_rows) < 0.1, NAMES[0]] = "hail"
    X.loc[rng.random(n_rows) < 0.1, NAMES[2]] = "unheard of"
    X.loc[rng.random(n_rows) < 0.1, NAMES[2]] = None
    X.loc[rng.random(n_rows) < 0.1, NAMES[5]] = 77
    X[NAMES[1]] *= 1 + 2 * (rng.random(n_rows) < 0.2)
    X.loc[rng.random(n_rows) < 0.1, NAMES[4]] = 60
    return X


MODELS = {
    "naive Bayes, 2": (NaiveBayes(), 2),
    "naive Bayes, 4": (NaiveBayes(missing="neutral"), 4),
    "pairs, 2": (HigherOrderLogisticRegression(order=2, hierarchical=True), 2),
    "pairs, 3": (HigherOrderLogisticRegression(order=2, hierarchical=True), 3),
    "triples, 3": (HigherOrderLogisticRegression(order=3), 3),
    "between nodes, 2": (SemiNaive(), 2),
    "between nodes, 3": (SemiNaive(missing="neutral"), 3),
}
STARTED = {
    "started, 2": (NaiveBayesLogisticRegression(strength=3.0), NaiveBayes(), 2),
    "started, 3": (HigherOrderLogisticRegression(order=2, hierarchical=True), NaiveBayes(), 3),
}


@pytest.fixture(scope="module", params=[*MODELS, *STARTED])
def fitted(request):
    if request.param in STARTED:
        model, earlier, n_classes = STARTED[request.param]
        # Of other rows, with levels and cut points of their own.
        X, y = mixed(300, n_classes, seed=5)
        X[NAMES[0]] = X[NAMES[0]].replace("dry", "arid")
        earlier = earlier.set_params(categorical_features=[0, 2, 3, 5]).fit(X, y)
        model.set_params(start=earlier)
    else:
        model, n_classes = MODELS[request.param]
    model = model.set_params(categorical_features=[0, 2, 3, 5]).fit(*mixed(600, n_classes))
    X = rows_to_predict(1000, n_classes)
    return model, X, model.predict_proba(X)


@pytest.fixture(scope="module")
def every_kind():
    """Return a model with curves, clipped polynomials and observed triples."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": rng.choice(["u", "v", "w"], 300),
            "b": rng.choice(["r", "s"], 300),
            "c": rng.choice(["g", "h"], 300),
            "x": rng.normal(size=300),
            "y": rng.normal(size=300) * 1e3,
        }
    )
    model = NaiveBayes().fit(X, rng.integers(0, 3, 300))
    table = TableEncoder(model.schema_).encode(X)
    dense = Terms.up_to_order(table.cardinalities, 3)
    kept = np.unique(dense.cells(table.codes[:40]))
    terms = ObservedTerms.of_combinations(dense.features, dense.cardinalities, kept)
    tables = rng.normal(size=(terms.n_cells, 3))
    tables[terms.elsewhere] = 0.0
    numeric = NumericTerms(
        (0, 1), np.array([0.3, 5.0]), rng.normal(size=(2, 4, 3)) / [[[1.0]], [[1e3]]],
        np.array([-np.inf, -800.0]), np.array([1.5, 900.0]),
    )  # fmt: skip
    curves = CurveTerms.of([(0, np.sort(rng.normal(size=6)), rng.normal(size=(6, 3)), rng.normal(size=3))])
    model.scores_ = AdditiveScores(rng.normal(size=3), terms, tables, numeric, curves)
    model._check_consistent()
    X.loc[::7, "a"], X.loc[::5, "x"], X.loc[::11, "b"] = "unseen", np.nan, None
    return model, X, model.predict_proba(X)


def cells(X):
    """Return rows as dicts of plain values, None where a cell is missing."""
    rows = [dict(zip(X.columns, row, strict=True)) for row in X.astype(object).itertuples(index=False)]
    return [{k: None if v is None or v != v else v for k, v in row.items()} for row in rows]


# Plain functions


def by_python(model, X):
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - the source is the export
    found = [space["predict_proba"](row) for row in cells(X)]
    assert space["predict_proba"](list(cells(X)[0].values())) == found[0]
    return np.array([[row[label] for label in model.classes_] for row in found])


def by_javascript(model, X, folder):
    if shutil.which("node") is None:
        pytest.skip("node is not installed: JavaScript is not run")
    (folder / "model.js").write_text(export.to_javascript(model), encoding="utf-8")
    plain = [{k: getattr(v, "item", lambda v=v: v)() for k, v in row.items()} for row in cells(X)]
    (folder / "rows.json").write_text(json.dumps(plain), encoding="utf-8")
    program = (
        "const m = require('./model.js'), rows = require('./rows.json');"
        "console.log(JSON.stringify([m.classes, rows.map(m.predictProba)]))"
    )
    done = subprocess.run(
        [shutil.which("node"), "-e", program], cwd=folder, capture_output=True, text=True, check=True
    )
    classes, found = json.loads(done.stdout)
    assert classes == model.classes_.tolist()
    return np.array(found)


def attenuated_as_documented(document, row, codes, score):
    """Return the score of a row with unknown cells."""
    rule, unknown = document["unknown"], []
    for place, position in enumerate(rule["columns"]):
        column = document["columns"][position]
        is_category = column["kind"] == "category"
        if codes[position] == column["unseen"] if is_category else row[column["name"]] is None:
            unknown.append(place)
    v = np.array(rule["covariance"])[np.ix_(unknown, unknown)].sum()
    k = 1 / np.sqrt(1 + rule["per_variance"] * max(v, 0.0))
    return k * score + min((1 - k) / rule["most_lost"], 1) * np.array(rule["lack"])


def by_json(model, X):
    """Follow the documented schema, and nothing else."""
    document = json.loads(export.to_json(model))
    found = []
    for row in cells(X):
        score, codes, places = np.array(document["intercept"]), [], []
        for column in document["columns"]:
            cell = row[column["name"]]
            code = None
            if column["kind"] == "category":
                known = column["categories"].index(cell) if cell in column["categories"] else column["unseen"]
                code = column["missing"] if cell is None else known
            elif "cuts" in column:
                code = column["missing"] if cell is None else bisect_left(column["cuts"], cell)
            shares = {code: 1.0}
            if "nodes" in column and cell is not None:
                node = max(sum(number <= cell for number in column["nodes"]) - 1, 0)
                low, high = (column["nodes"][min(node + k, len(column["nodes"]) - 1)] for k in range(2))
                way = (cell - low) / (high - low) if low < cell and low < high else 0.0
                shares = {node: 1 - way, node + 1: way}
            codes.append(code)
            places.append(shares)
            if "effects" in column:
                score = score + column["effects"][code]
            if "curve" in column:
                curve = column["curve"]
                if cell is None:
                    score = score + curve["missing"]
                else:
                    p = sum(edge < cell for edge in curve["edges"])
                    z = (cell - curve["anchors"][p]) * curve["scale"]
                    constant, linear, quadratic = np.array(curve["coefficients"][p])
                    score = score + constant + z * (linear + z * quadratic)
        for entry in document["tuples"]:
            for corner in product(*(places[position].items() for position in entry["columns"])):
                cell, share = 0, 1.0
                for (code, part), size in zip(corner, entry["codes"], strict=True):
                    cell, share = cell * size + code, share * part
                if share and cell in entry["cells"]:
                    score = score + share * np.array(entry["effects"][entry["cells"].index(cell)])
        if "unknown" in document:
            score = attenuated_as_documented(document, row, codes, score)
        score = score if len(score) > 1 else np.array([0.0, score[0]])
        weight = np.exp(score - score.max())
        found.append(weight / weight.sum())
    return np.array(found)


def test_python_gives_the_probabilities_of_the_model(fitted):
    model, X, expected = fitted
    np.testing.assert_allclose(by_python(model, X), expected, atol=1e-12)


def test_javascript_gives_the_probabilities_of_the_model(fitted, tmp_path):
    model, X, expected = fitted
    np.testing.assert_allclose(by_javascript(model, X, tmp_path), expected, atol=1e-12)


def test_json_read_as_documented_gives_the_probabilities_of_the_model(fitted):
    model, X, expected = fitted
    np.testing.assert_allclose(by_json(model, X.iloc[:200]), expected[:200], atol=1e-12)


# Databases


def test_sqlite_gives_the_probabilities_of_the_model(fitted):
    model, X, expected = fitted
    check_sqlite(model, X, expected)


def check_sqlite(model, X, expected):
    connection = sqlite3.connect(":memory:")
    options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    if "ENABLE_MATH_FUNCTIONS" not in options:
        connection.create_function("exp", 1, np.exp)
    X.assign(key=range(len(X))).to_sql("rows", connection, index=False)
    found = pd.read_sql(export.to_sql(model, "main.rows", "sqlite", keep=["key"]), connection)
    assert list(found.columns) == ["key", "prediction", *(f"probability_{label}" for label in model.classes_)]
    assert (found["key"] == np.arange(len(X))).all()
    np.testing.assert_allclose(found.iloc[:, 2:].to_numpy(float), expected, atol=1e-12)
    assert (found["prediction"] == model.classes_[expected.argmax(axis=1)]).all()


def test_duckdb_gives_the_probabilities_of_the_model(fitted):
    model, X, expected = fitted
    check_duckdb(model, X, expected)


def check_duckdb(model, X, expected):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: its SQL is not run")
    connection = duckdb.connect()
    connection.register("rows", X.assign(key=range(len(X))))
    found = connection.execute(export.to_sql(model, keep=["key"])).df().sort_values("key")
    np.testing.assert_allclose(found.iloc[:, 2:].to_numpy(float), expected, atol=1e-12)
    assert (found["prediction"] == model.classes_[expected.argmax(axis=1)]).all()


def check_postgresql(model, X, expected, postgresql):
    statement = export.to_sql(model, dialect="postgresql", keep=["key"])
    postgresql.load(X.assign(key=range(len(X))))
    printed = postgresql(f"\\pset format csv\n{statement};")
    found = pd.read_csv(io.StringIO(printed)).sort_values("key")
    np.testing.assert_allclose(found.iloc[:, 2:].to_numpy(float), expected, atol=1e-12)
    assert (found["prediction"] == model.classes_[expected.argmax(axis=1)]).all()


def test_postgresql_gives_the_probabilities_of_the_model(fitted, postgresql):
    check_postgresql(*fitted, postgresql)


def test_models_that_sql_cannot_hold_are_refused(monkeypatch):
    X, y = mixed(300, 2)
    model = HigherOrderLogisticRegression(order=2).fit(X, y)
    with pytest.raises(InputError, match="dialect is one of duckdb"):
        export.to_sql(model, dialect="oracle")
    monkeypatch.setattr("seminaive.export.sql.MOST_VALUES", 10)
    with pytest.raises(TooLargeError, match="keep fewer pairs"):
        export.to_sql(model)
    both = NaiveBayes().fit([["a"], [1], ["b"], [2]], [0, 1, 0, 1])
    with pytest.raises(InputError, match="holds text and numbers"):
        export.to_sql(both)


# ONNX


def test_onnx_gives_the_probabilities_of_the_model(fitted):
    model, X, expected = fitted
    # None, "" and "nan" are missing where they are no categories; in the third column two of them are.
    check_onnx(model, X, expected)


def check_onnx(model, X, expected):
    pytest.importorskip("onnx", reason="onnx is not installed: no graph is made")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: no graph is run")
    graph = export.to_onnx(model)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {}
    for tensor in session.get_inputs():
        column = X[tensor.name].to_numpy(object)
        if tensor.type == "tensor(string)":
            missing = "nan"
            feeds[tensor.name] = np.array([missing if c is None or c != c else c for c in column], object)
        else:
            feeds[tensor.name] = np.array([np.nan if c is None else float(c) for c in column])
        feeds[tensor.name] = feeds[tensor.name].reshape(-1, 1)
    label, found = session.run(["label", "probabilities"], feeds)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (label == model.classes_[expected.argmax(axis=1)]).all()


def run_pipeline(pipeline, types, feeds):
    """Convert a pipeline with skl2onnx and run it; return its labels and probabilities."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: no pipeline is converted")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: no graph is run")
    export.register_onnx_converters()
    graph = skl2onnx.convert_sklearn(pipeline, initial_types=types)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities"], feeds)


@pytest.mark.parametrize("model", [NaiveBayes(), HigherOrderLogisticRegression(order=2, hierarchical=True)])
def test_a_pipeline_of_a_scaler_and_a_model_becomes_one_graph(model):
    types = pytest.importorskip("skl2onnx.common.data_types", reason="skl2onnx is not installed")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(y[:, None], 2.0, (200, 3))
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    X[::7, 1] = np.nan
    label, found = run_pipeline(pipeline, [("rows", types.DoubleTensorType([None, 3]))], {"rows": X})
    np.testing.assert_allclose(found, pipeline.predict_proba(X), atol=1e-12)
    assert (label == pipeline.predict(X)).all()


def test_a_pipeline_may_have_one_input_per_column_of_text_and_numbers(weather):
    types = pytest.importorskip("skl2onnx.common.data_types", reason="skl2onnx is not installed")
    X, y = weather
    X = X[["sky", "temperature"]]
    pipeline = make_pipeline(NaiveBayes()).fit(X, y)
    text, number = types.StringTensorType([None, 1]), types.DoubleTensorType([None, 1])
    feeds = {
        "sky": X[["sky"]].fillna("nan").to_numpy(object),
        "temperature": X[["temperature"]].to_numpy(),
    }
    label, found = run_pipeline(pipeline, [("sky", text), ("temperature", number)], feeds)
    np.testing.assert_allclose(found, pipeline.predict_proba(X), atol=1e-12)
    assert (label == pipeline.predict(X)).all()
    with pytest.raises(InputError, match="column 'sky' holds text, the input 'sky' is declared as Double"):
        run_pipeline(pipeline, [("sky", number), ("temperature", number)], {})
    with pytest.raises(InputError, match="fitted on 2 columns, the inputs have 1"):
        run_pipeline(pipeline, [("sky", text)], {})


# Workbooks


def filled(workbook, X):
    """Write rows into the first sheet of a workbook, as somebody would type them."""
    for r, row in enumerate(cells(X)):
        for k, value in enumerate(row.values()):
            if value is None:
                continue
            cell = workbook["predict"].cell(r + 2, k + 1)
            cell.value = getattr(value, "item", lambda v=value: v)()
            if isinstance(value, str):
                # In files, _x000D_ is a carriage return, and _x005F_ the underscore that begins such a code.
                text = value.replace("_x0041_", "_x005F_x0041_").replace("\r", "_x000D_")
                cell.value, cell.data_type = text or "(empty)", "s"


@pytest.fixture(scope="module")
def spreadsheet(tmp_path_factory):
    """Return a function that lets LibreOffice calculate a workbook, and returns the lines of a sheet."""
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: no workbook is made")
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed: the formulas of workbooks are not calculated")
    folder = tmp_path_factory.mktemp("office")

    def calculated(path):
        command = [
            office, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to",
            "xlsx:Calc MS Excel 2007 XML", "--outdir", folder, path,
        ]  # fmt: skip
        subprocess.run(command, capture_output=True, check=True, timeout=300)
        book = openpyxl.load_workbook(folder / path.name, data_only=True)
        return list(book["predict"].iter_rows(min_row=2, values_only=True))

    return calculated


def check_workbook(model, X, expected, path, spreadsheet):
    import openpyxl

    book = openpyxl.load_workbook(export.to_xlsx(model, path, rows=len(X)))
    filled(book, X)
    book.save(path)
    lines, n_inputs = spreadsheet(path), X.shape[1]
    found = np.array([line[n_inputs + 1 :] for line in lines], dtype=float)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert [line[n_inputs] for line in lines] == model.classes_[expected.argmax(axis=1)].tolist()


@pytest.mark.slow
def test_the_workbook_calculates_the_probabilities_of_the_model(fitted, tmp_path, spreadsheet):
    model, X, expected = fitted
    check_workbook(model, X, expected, tmp_path / "model.xlsx", spreadsheet)


FORMULAS = ["=1+1", "+1", "-1", "@sum", "#N/A", "_x0041_", "a\rb"]


@pytest.fixture
def like_formulas():
    """Return a model whose columns, categories and classes look like formulas, and its rows."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(np.array(FORMULAS, object), 300) for name in FORMULAS})
    return NaiveBayes().fit(X, rng.choice(np.array(["=2*3", "@x", "-y"], object), 300)), X


def test_text_in_a_workbook_is_no_formula(like_formulas, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: no workbook is made")
    book = openpyxl.load_workbook(export.to_xlsx(like_formulas[0], tmp_path / "model.xlsx", rows=2))
    typed = [cell for cell in book["tables"]["B"][1:] if cell.value in FORMULAS]
    assert {cell.value for cell in typed} >= set(FORMULAS[:5])
    assert all((cell.data_type, cell.quotePrefix) == ("s", True) for cell in typed)
    formulas = [cell.value for sheet in book for row in sheet for cell in row if cell.data_type == "f"]
    assert not any(mark in formula for mark in ("=1+1", "=2*3", "@") for formula in formulas)


def test_what_looks_like_a_formula_or_an_escape_is_told_apart(like_formulas, tmp_path, spreadsheet):
    model, X = like_formulas
    rows = X.iloc[:60].map(lambda text: text.upper() if text == "a\rb" else text)  # unseen: capitals matter
    rows.iloc[::2] = X.iloc[:60:2]
    check_workbook(model, rows, model.predict_proba(rows), tmp_path / "model.xlsx", spreadsheet)


def test_text_is_no_number_in_a_workbook_and_an_empty_row_has_no_answer(weather, tmp_path, spreadsheet):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: no workbook is made")
    model = NaiveBayes().fit(*weather)
    path = export.to_xlsx(model, tmp_path / "model.xlsx", rows=3)
    book = openpyxl.load_workbook(path)
    temperature = list(model.schema_.names).index("temperature") + 1
    book["predict"].cell(2, temperature).value = "one and a half"
    book["predict"].cell(3, temperature).value = 1.5
    book.save(path)
    unreadable, readable, empty = (line[-3:] for line in spreadsheet(path))
    assert unreadable == ("#VALUE!",) * 3
    assert sum(readable) == pytest.approx(1.0)
    assert set(empty) <= {None, ""}


def test_what_a_workbook_cannot_hold_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed: no workbook is made")
    model = NaiveBayes().fit([["a\x01"], ["b"], ["b"]], [0, 1, 1])
    with pytest.raises(InputError, match="control characters"):
        export.to_xlsx(model, tmp_path / "model.xlsx")
    X, y = mixed(300, 2)
    model = HigherOrderLogisticRegression(order=2).fit(X, y)
    with pytest.raises(InputError, match="rows is at least 1"):
        export.to_xlsx(model, tmp_path / "model.xlsx", rows=0)
    monkeypatch.setattr("seminaive.export.workbook_sheets.MOST_ROWS", 100)
    with pytest.raises(TooLargeError, match="keep fewer pairs"):
        export.to_xlsx(model, tmp_path / "model.xlsx", rows=5)
    assert not (tmp_path / "model.xlsx").exists()


# All of them


def test_curves_and_observed_triples_are_exported(every_kind):
    model, X, expected = every_kind
    np.testing.assert_allclose(by_python(model, X), expected, atol=1e-12)
    np.testing.assert_allclose(by_json(model, X), expected, atol=1e-12)
    check_sqlite(model, X, expected)


def test_javascript_of_every_kind_of_term(every_kind, tmp_path):
    model, X, expected = every_kind
    np.testing.assert_allclose(by_javascript(model, X, tmp_path), expected, atol=1e-12)


def test_duckdb_of_every_kind_of_term(every_kind):
    check_duckdb(*every_kind)


def test_postgresql_of_every_kind_of_term(every_kind, postgresql):
    check_postgresql(*every_kind, postgresql)


def test_onnx_of_every_kind_of_term(every_kind):
    check_onnx(*every_kind)


def test_the_workbook_of_every_kind_of_term(every_kind, tmp_path, spreadsheet):
    check_workbook(*every_kind, tmp_path / "model.xlsx", spreadsheet)


@pytest.mark.parametrize(
    "write", [export.to_json, export.to_python, export.to_javascript, export.to_sql, export.to_onnx]
)
def test_a_model_that_is_not_additive_is_not_exported(write, weather):
    if write is export.to_onnx:
        pytest.importorskip("onnx", reason="onnx is not installed")
    model = AveragedDependenceEstimators().fit(*weather)
    with pytest.raises(InputError, match="is not additive"):
        write(model)


def test_exports_need_no_summary(weather):
    X, y = weather
    model = NaiveBayes(keep_summary=False).fit(X, y)
    np.testing.assert_allclose(by_python(model, X), model.predict_proba(X), atol=1e-12)
