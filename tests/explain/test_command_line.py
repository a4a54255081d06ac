"""The commands that show and export a saved model."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from seminaive import AveragedDependenceEstimators, NaiveBayes, explain, save_model


@pytest.fixture
def saved(tmp_path, weather):
    X, y = weather
    model = NaiveBayes().fit(X, y)
    save_model(model, tmp_path / "model")
    return model, X, tmp_path / "model"


def test_explain_shows_effects_and_writes_them_all(seminaive, saved, tmp_path):
    _, _, path = saved
    code, out, _ = seminaive("explain", path, "--target", "rain", "--csv", tmp_path / "effects.csv")
    assert code == 0
    assert "score of rain" in out
    assert "temperature" in out
    assert set(pd.read_csv(tmp_path / "effects.csv")["term"]) >= {"intercept", "sky", "humidity"}
    code, out, _ = seminaive("explain", path, "--feature", "sky", "--most", "3")
    assert code == 0
    assert "more lines" in out


def test_one_effect_speaks_for_the_class_that_was_named(seminaive, weather, tmp_path):
    X, y = weather
    several = NaiveBayes().fit(X, y)
    two = NaiveBayes().fit(X, np.where(y == "sun", "sun", "wet"))
    for model, labels in ((several, ["rain"]), (two, ["sun", "wet"])):
        save_model(model, tmp_path / "model")
        shown = {}
        for label in labels:
            code, out, _ = seminaive("explain", tmp_path / "model", "--feature", "sky", "--target", label)
            assert code == 0
            assert f"of {label}: effect; weight: training rows" in out
            line = next(line for line in out.splitlines() if line.split()[:1] == ["dry"])
            shown[label] = float(line.split()[1])
        expected = explain.effects_table(model).query("term == 'sky' and value == 'dry'")
        if model is two:
            assert shown["wet"] == pytest.approx(expected["effect"].item(), abs=5e-4)
            assert shown["sun"] == -shown["wet"]
        else:
            rain = expected.query("`class` == 'rain'")["effect"].item()
            assert shown["rain"] == pytest.approx(rain, abs=5e-4)


def test_explain_writes_a_page_with_every_picture(seminaive, saved, tmp_path):
    _, _, path = saved
    assert seminaive("explain", path, "--page", tmp_path / "page.html")[0] == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    captions = ["Which columns move", "Effect of sky", "Effect of temperature", "Nomogram"]
    assert all(f"<figcaption>{caption}" in text for caption in captions)
    assert "Self-test not run." in text


@pytest.mark.parametrize(
    ("absent", "command"),
    [
        ("matplotlib.pyplot", ["explain", "--page"]),
        ("onnx", ["export", "--to", "onnx", "--out"]),
        ("openpyxl", ["export", "--to", "xlsx", "--out"]),
    ],
)
def test_a_missing_library_is_a_sentence(seminaive, saved, tmp_path, monkeypatch, absent, command):
    monkeypatch.setitem(sys.modules, absent, None)
    code, _, error = seminaive(command[0], saved[2], *command[1:], tmp_path / "out")
    assert code == 1
    assert "pip install 'seminaive[" in error
    assert not (tmp_path / "out").exists()


def test_explain_refuses_what_does_not_exist(seminaive, saved, tmp_path, weather):
    _, _, path = saved
    assert "no class 'fog'" in seminaive("explain", path, "--target", "fog")[2]
    assert "no effect 'moon'" in seminaive("explain", path, "--feature", "moon")[2]
    assert "--most is 1 or more, got 0" in seminaive("explain", path, "--most", "0")[2]
    save_model(AveragedDependenceEstimators().fit(*weather), tmp_path / "other")
    code, _, error = seminaive("explain", tmp_path / "other")
    assert code == 1
    assert "is not additive" in error


@pytest.mark.parametrize("to", ["python", "json", "javascript", "sql", "html"])
def test_export_writes_a_file(seminaive, saved, tmp_path, to):
    model, X, path = saved
    out = tmp_path / "exported"
    code, printed, _ = seminaive("export", path, "--to", to, "--out", out, "--dialect", "sqlite")
    assert code == 0
    assert "bytes" in printed
    text = out.read_text(encoding="utf-8")
    if to == "python":
        space = {}
        exec(text, space)  # noqa: S102 - the source is the export
        row = X.iloc[0].tolist()
        found = list(space["predict_proba"](row).values())
        np.testing.assert_allclose(found, model.predict_proba(X.iloc[[0]])[0], atol=1e-12)
    if to == "json":
        assert json.loads(text)["format"] == "seminaive-additive"


def test_export_writes_a_workbook(seminaive, saved, tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: no workbook is made")
    assert seminaive("export", saved[2], "--to", "xlsx", "--out", tmp_path / "model.xlsx")[0] == 0
    assert openpyxl.load_workbook(tmp_path / "model.xlsx").sheetnames[0] == "predict"


def test_export_refuses_an_unknown_form(seminaive, saved, tmp_path):
    code, _, error = seminaive("export", saved[2], "--to", "pmml", "--out", tmp_path / "x")
    assert code == 1
    assert "--to is html, onnx" in error
    assert not (tmp_path / "x").exists()
