"""An edit changes one effect as it says and nothing else, and its history goes wherever the model goes."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import isotonic_regression

from seminaive import (
    HigherOrderLogisticRegression,
    NaiveBayes,
    SemiNaive,
    export,
    load_model,
    save_model,
)
from seminaive.edits import Clip, Flatten, Monotone, Points, SetTo, edit, history
from seminaive.errors import InputError, ModelFileError
from seminaive.explain.reading import effects_of, evidence, feature_named
from seminaive.export import from_json, to_json

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
HOSTILE = "</script><img src=x onerror=alert(1)>"
MODELS = {
    "polynomials, 2": (NaiveBayes(), 2),
    "polynomials, 3": (NaiveBayes(), 3),
    "pairs of bins, 2": (HigherOrderLogisticRegression(order=2, hierarchical=True), 2),
    "pairs of bins, 3": (HigherOrderLogisticRegression(order=2, hierarchical=True), 3),
    "curves": (SemiNaive(random_state=0), 2),
}
CHANGES = [
    ("age", SetTo(0.25, (30, 45))),
    ("age", Flatten((40, 60))),
    ("age", Flatten()),
    ("age", Clip(-0.2, 0.3)),
    ("age", Monotone()),
    ("age", Monotone(rising=False)),
    ("age", Points((20, 40, 70.5), (0.0, 1.0, -0.5))),
    (HOSTILE, SetTo(0.1, (HOSTILE,))),
    (HOSTILE, Flatten(("a", HOSTILE))),
    (HOSTILE, Clip(-0.1, 0.1)),
    (HOSTILE, Monotone(order=("b", "a", HOSTILE))),
    (HOSTILE, Points(("a", "b"), (0.5, -0.5))),
]


def draw(n_rows, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = pd.DataFrame(
        {
            "age": np.round(rng.normal(45 + 6 * y, 12.0), 1),
            HOSTILE: np.array(["a", "b", HOSTILE], object)[(y + rng.integers(0, 2, n_rows)) % 3],
            "flag": rng.choice(["yes", "no"], n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "age"] = np.nan
    return X, y


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, n_classes = MODELS[request.param]
    X, y = draw(600, n_classes)
    return model.fit(X, y), X, y


def expected_effect(model, column, change, cells, target):
    """Return the effect that a change asks for, by formulas of its own."""
    effect = feature_named(effects_of(model), column)
    if effect.curve is None:
        levels = list(model.schema_.columns[effect.position].categories)
        old = dict(zip(levels, evidence(effect.table, target)[: len(levels)], strict=True))
        weight = dict(zip(levels, effect.weight, strict=False))
        new = dict(old)
        match change:
            case SetTo(value, at):
                new |= dict.fromkeys(at, value)
            case Flatten(at):
                mean = np.average([old[k] for k in at], weights=[weight[k] for k in at])
                new |= dict.fromkeys(at, mean)
            case Clip(lowest, highest):
                new = {k: min(max(v, lowest), highest) for k, v in old.items()}
            case Monotone(_, order):
                fitted = isotonic_regression(
                    [old[k] for k in order], sample_weight=[weight[k] for k in order]
                )
                new |= dict(zip(order, fitted, strict=True))
            case Points(at, values):
                new |= dict(zip(at, values, strict=True))
        return np.array([new[cell] - old[cell] for cell in cells])
    x = np.asarray(cells, dtype=float)
    old = evidence(effect.curve.at(x), target)
    seen, weight = effect.seen[:-1], effect.weight[:-1]
    at_seen = evidence(effect.curve.at(seen), target)
    match change:
        case SetTo(value, (low, high)):
            new = np.where((x >= low) & (x <= high), value, old)
        case Flatten(at):
            low, high = at or (seen[0], seen[-1])
            inside = (seen >= low) & (seen <= high)
            mean = np.average(at_seen[inside], weights=weight[inside])
            new = np.where((x >= low) & (x <= high), mean, old)
        case Clip(lowest, highest):
            new = np.clip(old, lowest, highest)
        case Monotone(rising, _):
            new = np.interp(x, seen, isotonic_regression(at_seen, sample_weight=weight, increasing=rising))
        case Points(at, values):
            new = np.interp(x, at, values)
    return np.where(np.isnan(x), np.clip(old, *_limits(change)), new) - old


def _limits(change):
    return (change.lowest, change.highest) if isinstance(change, Clip) else (-np.inf, np.inf)


@pytest.mark.parametrize(("column", "change"), CHANGES, ids=lambda value: str(value)[:40])
def test_an_edit_changes_the_effect_as_it_says_and_nothing_else(fitted, column, change):
    model, X, _ = fitted
    rows = pd.concat([X, X.assign(age=np.linspace(-50, 150, len(X)))], ignore_index=True)
    for target, label in enumerate(model.classes_):
        edited = edit(model, column, change, why="a test", target=label)
        before, after = (evidence_of(fitted, rows, target) for fitted in (model, edited))
        np.testing.assert_allclose(
            after - before, expected_effect(model, column, change, rows[column], target), atol=1e-12
        )


def evidence_of(model, X, target):
    scores = model.decision_function(X)
    return scores * (1 if target else -1) if scores.ndim == 1 else scores[:, target]


def twice_edited(model, X, y):
    once = edit(model, "age", Flatten((40, 60)), why=HOSTILE, who=HOSTILE, date="2024-02-29", rows=X, y=y)
    return edit(once, HOSTILE, Clip(-0.1, 0.1), why="a test")


def test_an_edited_model_saved_loaded_and_exported_equals_itself(fitted, tmp_path):
    model, X, y = fitted
    edited = twice_edited(model, X, y)
    expected = edited.predict_proba(X)
    save_model(edited, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), expected)
    assert loaded.edits_ == edited.edits_
    assert loaded.made_of_ == type(model).__name__
    read = from_json(to_json(edited))
    np.testing.assert_allclose(read.predict_proba(X), expected, atol=1e-12)
    assert read.edits_ == edited.edits_
    space = {}
    exec(export.to_python(edited), space)  # noqa: S102 - the source is the export
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    found = [[space["predict_proba"](row)[label] for label in edited.classes_] for row in rows[:100]]
    np.testing.assert_allclose(found, expected[:100], atol=1e-12)
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, np.exp)
    X.to_sql("rows", connection, index=False)
    selected = pd.read_sql(export.to_sql(edited, dialect="sqlite"), connection)
    np.testing.assert_allclose(selected.iloc[:, 1:].to_numpy(float), expected, atol=1e-12)


def test_the_history_says_who_did_what_when_and_why(fitted):
    model, X, y = fitted
    edited = twice_edited(model, X, y)
    lines = history(edited)
    assert lines["what"].tolist() == [
        "age: Flatten(at=(40, 60))",
        f"{HOSTILE}: Clip(lowest=-0.1, highest=0.1)",
    ]
    assert lines["who"].tolist() == [HOSTILE, ""]
    assert lines.loc[0, "date"] == "2024-02-29"
    assert lines.loc[0, "loss_after"] != lines.loc[0, "loss_before"]
    assert lines["loss_before"].isna().tolist() == [False, True]
    assert len(history(model)) == 0
    assert not hasattr(model, "edits_")


def test_the_page_shows_the_history_as_text(fitted, tmp_path):
    model, X, y = fitted
    opened = export.page(twice_edited(model, X, y), tmp_path / "page.html")
    text = opened.read_text(encoding="utf-8")
    assert "<h2>History</h2>" in text
    assert "age: Flatten(at=(40, 60))" in text
    assert "<img src=x" not in text


def test_the_page_of_a_model_without_edits_has_no_history(tmp_path):
    plain = export.page(NaiveBayes().fit(*draw(100, 2)), tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "<h2>History</h2>" not in plain


def test_what_is_no_edit_is_refused(fitted):
    model, X, y = fitted
    with pytest.raises(InputError, match="a change is SetTo"):
        edit(model, "age", 0.3, why="a test")
    with pytest.raises(InputError, match="why is empty"):
        edit(model, "age", SetTo(0.3), why=" ")
    with pytest.raises(InputError, match="who is text"):
        edit(model, "age", SetTo(0.3), why="a test", who=3)
    with pytest.raises(InputError, match="says nothing about 'tide'"):
        edit(model, "tide", SetTo(0.3), why="a test")
    for change, sentence in (
        (SetTo(np.inf), "an effect is a number between"),
        (SetTo("much"), "an effect is a number between"),
        (SetTo(0.1, (3,)), "a range is the lowest and the highest"),
        (SetTo(0.1, (5, 3)), "exchange them"),
        (SetTo(0.1, ("low", "high")), "holds numbers"),
        (Flatten((1e6, 2e6)), "use SetTo"),
        (Clip(1, -1), "exchange them"),
        (Monotone(order=("a",)), "leave order= out"),
        (Points((3, 3), (0, 1)), "do not increase"),
        (Points((3,), (0, 1)), "give one for each"),
    ):
        with pytest.raises(InputError, match=sentence):
            edit(model, "age", change, why="a test")
    for change, sentence in (
        (SetTo(0.1, ("tide",)), "training had no level 'tide'"),
        (Monotone(), "name them in order="),
        (Points((), ()), "one at least"),
    ):
        with pytest.raises(InputError, match=sentence):
            edit(model, HOSTILE, change, why="a test")
    with pytest.raises(InputError, match="pass both rows and y"):
        edit(model, "age", SetTo(0.3), why="a test", rows=X)
    with pytest.raises(InputError, match="not fitted again"):
        edit(model, "age", SetTo(0.3), why="a test").fit(X, y)


# Documents


def test_a_document_edited_by_hand_is_a_model_again(fitted):
    model, X, _ = fitted
    document = json.loads(to_json(model))
    assert from_json(json.dumps(document)).edits_ == ()
    document["intercept"][-1] += 0.5
    read = from_json(json.dumps(document))
    scores, moved = (fitted._joint_log_scores(fitted.encode(X)) for fitted in (model, read))
    shift = np.zeros(len(model.classes_))
    shift[-1] = 0.5
    change = (moved - moved[:, :1]) - (scores - scores[:, :1])
    np.testing.assert_allclose(change, np.broadcast_to(shift, change.shape), atol=1e-12)


def hostile_documents(document):
    """Yield documents that no model has."""

    def changed(*path, to):
        copy = json.loads(json.dumps(document))
        place = copy
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to
        return copy

    yield from ([], {}, {"format": "other"}, {**document, "version": 2}, {**document, "version": None})
    yield changed("classes", to=["only one"])
    yield changed("classes", to=["b", "a"])
    yield changed("classes", to=[1, "a"])
    yield changed("intercept", to=[1e999])
    yield changed("intercept", to=["1"])
    yield changed("intercept", to=[True])
    yield changed("intercept", to=[])
    yield changed("columns", 1, "categories", to=["b", "a", HOSTILE])
    yield changed("columns", 1, "categories", to=["a", "a", "b"])
    yield changed("columns", 1, "unseen", to=10**9)
    yield changed("columns", 1, "name", to="age")
    yield changed("columns", 1, "kind", to="spell")
    yield changed("columns", 1, "effects", to=[[0.0]])
    yield changed("columns", 0, "curve", "edges", to=[3.0, 2.0])
    yield changed("columns", 0, "curve", "scale", to=0)
    yield changed("columns", 0, "curve", "coefficients", to=[[[1e300]] * 3])
    yield changed("tuples", to=[{"columns": [0, 99], "codes": [1, 1], "cells": [], "effects": []}])
    yield changed("tuples", to=[{"columns": [2, 1], "codes": [3, 4], "cells": [], "effects": []}])
    yield changed("tuples", to=[{"columns": [1, 2], "codes": [4, 3], "cells": [99], "effects": [[1.0]]}])
    yield {**document, "history": [{"kind": "os.system"}]}
    yield {**document, "history": [{"kind": "Edit", "column": "age"}]}
    texts = dict.fromkeys(("who", "why", "date"), "x") | dict.fromkeys(("loss_before", "loss_after"))
    change = {"kind": "Flatten", "at": []}
    edit_ = {"kind": "Edit", "column": "tide", "change": change, "target": document["classes"][0], **texts}
    yield {**document, "history": [edit_]}
    yield {**document, "history": [{**edit_, "column": "age", "target": "nobody"}]}
    yield {**document, "history": [{**edit_, "column": "age", "change": {"kind": "Edit"}}]}
    yield {**document, "history": [{**edit_, "column": "age", "why": 3}]}


def test_documents_that_are_no_models_are_refused(fitted):
    model, _, _ = fitted
    document = json.loads(to_json(model))
    n_refused = 0
    for hostile in hostile_documents(document):
        with pytest.raises(ModelFileError, match="the document is no model"):
            from_json(json.dumps(hostile))
        n_refused += 1
    assert n_refused == 30
    for text in ("", "{", "[" * 100_000, '{"format": NaN}', "null"):
        with pytest.raises(ModelFileError):
            from_json(text)
    with pytest.raises(ModelFileError, match="max_bytes"):
        from_json(to_json(model), max_bytes=100)
    with pytest.raises(ModelFileError, match="max_bytes"):
        from_json(17)
