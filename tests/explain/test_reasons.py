"""Reasons add up to the log odds, in Python, JavaScript and SQL, and are Shapley values by definition."""

import io
import json
import re
import shutil
import sqlite3
import subprocess
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from seminaive import AveragedDependenceEstimators, HigherOrderLogisticRegression, NaiveBayes
from seminaive.errors import InputError
from seminaive.explain import reasons
from seminaive.export import calculator, to_javascript, to_sql
from seminaive.scores import unknown_cells

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOSTILE = "<img src=x onerror=alert(1)>'; DROP TABLE rows; --"
MODELS = {
    "naive Bayes, 2": (NaiveBayes(), 2),
    "naive Bayes, 3": (NaiveBayes(missing="neutral"), 3),
    "pairs, 2": (HigherOrderLogisticRegression(order=2, hierarchical=True), 2),
    "pairs, 3": (HigherOrderLogisticRegression(order=2, hierarchical=True), 3),
    "triples, 2": (HigherOrderLogisticRegression(order=3), 2),
}


def table(n_rows, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            HOSTILE: np.array(["dry", HOSTILE, 'sn"ow'], object)[(y + rng.integers(0, 2, n_rows)) % 3],
            "income": np.round(rng.lognormal(10 + 0.3 * y, 0.6)),
            "level": rng.choice(["low", "high", ""], n_rows),
            "x$y": rng.normal(2.0 * y, 3.0),
        }
    )
    X.loc[rng.random(n_rows) < 0.1, HOSTILE] = None
    X.loc[rng.random(n_rows) < 0.1, "x$y"] = np.nan
    return X, np.array([f"class '{c}'" for c in range(n_classes)], object)[y]


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, n_classes = MODELS[request.param]
    X, _ = table(200, n_classes, seed=1)
    X.loc[::9, HOSTILE] = "never seen"
    return model.fit(*table(500, n_classes, seed=0)), X


def log_odds_of(model, X, target, other):
    """Return the log odds of classes against others, from the sums of contributions."""
    log_proba = model.scores_.sums(model.encode(X))
    rows = np.arange(len(X))
    position = {label: k for k, label in enumerate(model.classes_)}
    return (
        log_proba[rows, [position[label] for label in target]]
        - log_proba[rows, [position[label] for label in other]]
    )


def test_reasons_add_up_to_the_log_odds_of_the_predicted_class(fitted):
    model, X = fitted
    found = reasons(model, X, n=2)
    assert (found.target == model.predict(X)).all()
    expected = log_odds_of(model, X, found.target, found.against)
    np.testing.assert_allclose(found.log_odds, expected, atol=1e-12)
    assert (found.answered >= 0).all()
    complete = ~unknown_cells(model.encode(X)).any(axis=1)
    np.testing.assert_allclose(found.answered[complete], expected[complete], atol=1e-12)
    named = np.where(found.strongest >= 0, np.take_along_axis(found.shares[:, None], found.strongest, 2), 0.0)
    np.testing.assert_allclose(found.base + named.sum(axis=(1, 2)) + found.rest, expected, atol=1e-12)


def test_the_strongest_columns_are_those_that_sorting_gives(fitted):
    model, X = fitted
    found = reasons(model, X, n=3)
    for shares, (pro, contra) in zip(found.shares, found.strongest, strict=True):
        order = np.argsort(-shares, kind="stable")
        expected = [k for k in order if shares[k] > 0][:3]
        assert pro[pro >= 0].tolist() == expected
        assert contra[contra >= 0].tolist() == [k for k in order[::-1] if shares[k] < 0][:3]


def test_shares_against_a_row_are_shapley_values(fitted):
    model, X = fitted
    reference, rows = X.iloc[[5]], X.iloc[10:14]
    found = reasons(model, rows, reference=reference)
    for place, (_, row) in enumerate(rows.iterrows()):
        target, other = found.target[place], found.against[place]
        np.testing.assert_allclose(
            found.shares[place], by_definition(model, row, reference, target, other), atol=1e-10
        )
    same = reasons(model, reference, reference=reference)
    np.testing.assert_allclose(same.shares, 0.0, atol=1e-15)


def by_definition(model, row, reference, target, other):
    """Return the Shapley value of each column: the model is asked about every mixture of two rows."""
    columns = list(reference.columns)
    value = {}
    for size in range(len(columns) + 1):
        for taken in combinations(range(len(columns)), size):
            mixed = reference.copy()
            for k in taken:
                mixed[columns[k]] = pd.Series(
                    [row[columns[k]]], index=mixed.index, dtype=mixed.dtypes.iloc[k]
                )
            value[taken] = log_odds_of(model, mixed, [target], [other])[0]
    n = len(columns)
    return [
        sum(
            factorial(len(taken)) * factorial(n - len(taken) - 1) / factorial(n)
            * (value[tuple(sorted((*taken, k)))] - value[taken])
            for taken in value if k not in taken
        )
        for k in range(n)
    ]  # fmt: skip


def test_reasons_for_a_given_class_against_a_given_one():
    model = NaiveBayes().fit(*table(500, 3, seed=0))
    X, _ = table(50, 3, seed=1)
    found = reasons(model, X, target="class '0'", against="class '2'")
    np.testing.assert_allclose(
        found.log_odds, log_odds_of(model, X, ["class '0'"] * 50, ["class '2'"] * 50), atol=1e-12
    )
    turned = reasons(model, X, target="class '2'", against="class '0'")
    np.testing.assert_array_equal(turned.shares, -found.shares)
    assert set(reasons(model, X, against="class '2'").target) == {"class '0'", "class '1'"}


def test_words_name_column_value_factor_and_class():
    X, y = [["wet", 21000.0], ["dry", 45000.0]] * 10, ["slip", "hold"] * 10
    model = NaiveBayes().fit(pd.DataFrame(X, columns=["road", "income"]), y)
    found = reasons(model, {"road": "wet", "income": 45000.0}, target="slip")
    line = found.frame().set_index("column").loc["income"]
    assert line["words"].startswith("income 45,000: ")
    assert line["words"].endswith(" times the odds against slip")
    assert found.words() == found.frame()["words"].tolist()
    assert reasons(model, {"road": None, "income": None}).words(-1) is not None


def test_what_reasons_cannot_answer_is_refused():
    X, y = table(60, 2, seed=0)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(InputError, match="n is how many reasons"):
        reasons(model, X, n=0)
    with pytest.raises(InputError, match="compare a class with another one"):
        reasons(model, X, target="class '0'", against="class '0'")
    with pytest.raises(InputError, match="there are 60 rows, none at position 60"):
        reasons(model, X).words(60)
    with pytest.raises(InputError, match="is not additive"):
        reasons(AveragedDependenceEstimators().fit(X, y), X)
    with pytest.raises(InputError, match="reasons is how many are selected"):
        to_sql(model, reasons=-1)


# Where models are used


def cells(X):
    """Return rows as dicts of plain values, None where a cell is missing."""
    rows = [dict(zip(X.columns, row, strict=True)) for row in X.astype(object).itertuples(index=False)]
    return [{k: None if v is None or v != v else v for k, v in row.items()} for row in rows]


def run_javascript(model, X, folder, call):
    if shutil.which("node") is None:
        pytest.skip("node is not installed: JavaScript is not run")
    (folder / "model.js").write_text(to_javascript(model, reasons=True), encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps(cells(X)), encoding="utf-8")
    program = (
        "const m = require('./model.js'), rows = require('./rows.json');"
        f"console.log(JSON.stringify(rows.map(row => [m.predictProba(row), {call}])))"
    )
    done = subprocess.run(
        [shutil.which("node"), "-e", program], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def check_answers(model, X, found, expected):
    """Compare answers of a JavaScript with reasons of Python."""
    frame = expected.frame()
    np.testing.assert_allclose([proba for proba, _ in found], model.predict_proba(X), atol=1e-12)
    for row, (_, reason) in enumerate(found):
        assert (reason["target"], reason["against"]) == (expected.target[row], expected.against[row])
        named = [e["logOdds"] for e in (*reason["speakFor"], *reason["speakAgainst"])]
        lines = frame[frame["row"] == row]
        np.testing.assert_allclose(named, lines["log_odds"], atol=1e-12)
        assert abs(reason["base"] + sum(named) + reason["rest"] - reason["logOdds"]) < 1e-12
        assert abs(reason["logOdds"] - expected.log_odds[row]) < 1e-12
        words = [e["words"] for e in (*reason["speakFor"], *reason["speakAgainst"])]
        for ours, theirs in zip(words, lines["words"], strict=True):
            assert "missing" in theirs or "unseen" in theirs or ours == theirs


def test_javascript_gives_the_reasons_of_the_model(fitted, tmp_path):
    model, X = fitted
    check_answers(model, X, run_javascript(model, X, tmp_path, "m.reasons(row, 2)"), reasons(model, X, n=2))


def test_javascript_gives_reasons_against_a_row(fitted, tmp_path):
    model, X = fitted
    found = run_javascript(model, X, tmp_path, "m.reasons(row, 2, rows[5])")
    check_answers(model, X, found, reasons(model, X, n=2, reference=X.iloc[[5]]))


def check_selected(model, X, found, n):
    """Compare what a database selected with reasons of Python."""
    expected = reasons(model, X, n=n)
    np.testing.assert_allclose(
        found[[f"probability_{label}" for label in model.classes_]].to_numpy(float),
        model.predict_proba(X),
        atol=1e-12,
    )
    assert (found["prediction"] == model.predict(X)).all()
    sides = [f"{side}_{k}" for side in ("for", "against") for k in range(1, n + 1)]
    shares = np.where(
        expected.strongest >= 0, np.take_along_axis(expected.shares[:, None], expected.strongest, 2), np.nan
    ).reshape(len(X), -1)
    selected = found[[f"{name}_log_odds" for name in sides]].to_numpy(float)
    np.testing.assert_allclose(selected, shares, atol=1e-12)
    total = found["base_log_odds"] + np.nansum(selected, axis=1) + found["rest_log_odds"]
    np.testing.assert_allclose(total, expected.log_odds, atol=1e-12)
    words = found[sides].to_numpy(object)
    present = expected.strongest.reshape(len(X), -1) >= 0
    names = np.array(expected.names, dtype=object)[expected.strongest.reshape(len(X), -1)]
    assert all(text.startswith(f"{name} ") for text, name in zip(words[present], names[present], strict=True))
    assert all(" times the odds " in text for text in words[present])


def test_sqlite_selects_the_reasons_of_the_model(fitted):
    model, X = fitted
    connection = sqlite3.connect(":memory:")
    if "ENABLE_MATH_FUNCTIONS" not in {row[0] for row in connection.execute("PRAGMA compile_options")}:
        connection.create_function("exp", 1, np.exp)
    X.assign(key=range(len(X))).to_sql("rows", connection, index=False)
    found = pd.read_sql(to_sql(model, dialect="sqlite", keep=["key"], reasons=2), connection)
    assert (found["key"] == np.arange(len(X))).all()
    check_selected(model, X, found, 2)


def test_duckdb_selects_the_reasons_of_the_model(fitted):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: its SQL is not run")
    model, X = fitted
    connection = duckdb.connect()
    connection.register("rows", X.assign(key=range(len(X))))
    found = connection.execute(to_sql(model, keep=["key"], reasons=2)).df()
    check_selected(model, X, found.sort_values("key", ignore_index=True), 2)


def test_postgresql_selects_the_reasons_of_the_model(fitted, postgresql):
    model, X = fitted
    postgresql.load(X.assign(key=range(len(X))))
    statement = to_sql(model, dialect="postgresql", keep=["key"], reasons=2)
    printed = postgresql(f"\\pset format csv\n{statement};")
    found = pd.read_csv(io.StringIO(printed)).sort_values("key", ignore_index=True)
    check_selected(model, X, found, 2)


def test_the_calculator_compares_with_nothing_known(fitted, browser, tmp_path):
    model, X = fitted
    given = X.dropna().iloc[[0]].assign(level=pd.Series([None], [X.dropna().index[0]], object))
    opened = calculator(model, tmp_path / "page.html")
    row = {name: str(cell) for name, cell in cells(given)[0].items() if cell is not None}
    document = browser(opened, row)
    unknown = given.assign(**{name: pd.Series([None], given.index, X[name].dtype) for name in X})
    expected = reasons(model, given, reference=unknown)
    shown = [float(text) for text in re.findall(r'data-log-odds="([^"]*)"', document)]
    shares = expected.shares[0]
    np.testing.assert_allclose(
        sorted(shown), sorted(share for share in shares if abs(share) >= 0.005), atol=1e-12
    )
    assert "onerror=alert(1)&gt;" in document
    assert "<img" not in document
