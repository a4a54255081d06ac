"""Readers see dates and level names, and exports read dates as the model does, or say that they do not."""

import datetime as dt
import json
import re
import shutil
import subprocess

import matplotlib.dates
import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, SemiNaive, explain, export
from seminaive.errors import ExportWarning, ModelFileError

CELLS = [
    "2022-06-15",
    "2022-06-15T12:30:15.25",
    "2023-01-01 00:00+02:00",
    "2022-02-30",
    "soon",
    "",
    None,
    19000.5,
]
LEVELS = ("never", "at times", "always")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    when = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1000, 400), "D")
    usage = rng.integers(0, 3, 400)
    odds = (when - when.min()).days / 250 - 2 + usage
    y = np.where(rng.random(400) < 1 / (1 + np.exp(-odds)), "stays", "goes")
    return pd.DataFrame({"when": when, "usage": pd.Categorical.from_codes(usage, LEVELS, ordered=True)}), y


@pytest.fixture(scope="module", params=[NaiveBayes, SemiNaive], ids=lambda model: model.__name__)
def model(request, table):
    return request.param().fit(*table)


@pytest.fixture(scope="module")
def rows():
    cells = [(cell, level) for cell in CELLS for level in (*LEVELS, "often", None)]
    return pd.DataFrame(cells, columns=["when", "usage"], dtype=object)


def test_python_reads_dates_as_the_model_does(model, rows):
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - the source is the export
    found = [list(space["predict_proba"](row).values()) for row in rows.to_dict("records")]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-12)
    typed = {"when": dt.date(2022, 6, 15), "usage": "always"}
    assert space["predict_proba"](typed) == space["predict_proba"]({**typed, "when": "2022-06-15"})


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_reads_dates_as_the_model_does(model, rows):
    records = json.dumps(rows.to_dict("records"))
    script = (
        f"{export.to_javascript(model)}\nconsole.log(JSON.stringify({records}.map(seminaive.predictProba)))"
    )
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)  # noqa: S607
    np.testing.assert_allclose(json.loads(done.stdout), model.predict_proba(rows), atol=1e-12)


def test_a_document_reads_dates_as_the_model_does(model, rows):
    document = export.to_json(model)
    again = export.from_json(document)
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), atol=1e-12)
    assert again.schema_.columns[1].order == LEVELS


def test_a_document_with_a_strange_standard_is_refused(model):
    document = json.loads(export.to_json(model))
    document["columns"][0]["written"]["standard"] = "of my village"
    with pytest.raises(ModelFileError, match="the document is no model"):
        export.from_json(json.dumps(document))


def test_exports_to_typed_columns_say_that_they_read_numbers(model):
    with pytest.warns(ExportWarning, match="dates of 'when' as numbers: give days since 1970-01-01"):
        export.to_sql(model, "rows")


def test_tables_show_dates_and_level_names_in_their_order(model):
    lines = explain.effects_table(model)
    shown = lines[lines.term == "when"].value.tolist()
    assert shown[-1] == "missing"
    assert shown == ["any number", "missing"] or all("202" in text for text in shown[:-1])
    levels = lines[lines.term == "usage"].value.tolist()
    assert levels[:3] == list(LEVELS)
    ratios = explain.odds_ratios(model)
    assert ratios[ratios.feature == "when"].value.str.fullmatch(r"202\d-\d\d-\d\d( \d\d:\d\d)?").all()


def test_reasons_and_changes_show_dates(model, table):
    X, _ = table
    row = X.iloc[[0]]
    assert f"when {X.when[0]:%Y-%m-%d}" in " ".join(explain.reasons(model, row).words())
    change = explain.smallest_change(model, row, "stays", probability=0.5, may_change={"when": True})
    for made in change.changes:
        assert pd.Timestamp(made.new) > pd.Timestamp(made.old)


def test_an_axis_of_dates_has_dates_and_levels_stand_in_their_order(model):
    pytest.importorskip("matplotlib").use("Agg")
    when = explain.EffectDisplay.from_estimator(model, "when")
    assert isinstance(when.ax_.xaxis.get_major_locator(), matplotlib.dates.AutoDateLocator)
    usage = explain.EffectDisplay.from_estimator(model, "usage")
    drawn = [tick.get_text().split("  ")[0] for tick in usage.ax_.get_yticklabels()]
    assert [name for name in drawn if name in LEVELS] == list(LEVELS[::-1])  # the first one on top
    nomogram = explain.NomogramDisplay.from_estimator(model)
    assert any("2022" in text.get_text() for text in nomogram.ax_.texts)


def test_the_calculator_takes_dates(model, tmp_path, browser):
    path = export.calculator(model, tmp_path / "page.html")
    page = browser(path, {"when": "2022-06-15", "usage": "always"})
    assert "Self-test passed" in page
    assert "2022-06-15" in page
    expected = model.predict_proba(pd.DataFrame({"when": ["2022-06-15"], "usage": ["always"]}))[0, 1]
    found = [float(shown) for shown in re.findall(r'data-probability="([^"]*)"', page)]
    assert found[1] == pytest.approx(expected, abs=1e-9)
