"""Exports read numbers and categories as people write them, or say that they do not."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, explain, export
from seminaive.errors import ExportWarning, ModelFileError

CELLS = ["$1,250.00", "($3.5)", "-$7", "$ 12", "12", "n/a", "", "$007", "€5", "($5", "$1e3", " $4 ", None]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(2)
    amount = rng.normal(2000, 1500, 300)
    X = pd.DataFrame(
        {
            "amount": [f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}" for v in amount],
            "answer": rng.choice(["Yes", "yes", "no", "no "], 300),
        }
    )
    return NaiveBayes(merge_spellings=True).fit(X, amount + rng.normal(0, 900, 300) > 2000)


@pytest.fixture(scope="module")
def rows():
    answers = ["YES", "no", " Yes", "NO ", "perhaps", None, "yes"]
    return pd.DataFrame(
        [(cell, answer) for cell in CELLS for answer in answers], columns=["amount", "answer"], dtype=object
    )


def test_python_reads_text_as_the_model_does(model, rows):
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - the source is the export
    found = [list(space["predict_proba"](row).values()) for row in rows.to_dict("records")]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-12)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_reads_text_as_the_model_does(model, rows):
    records = json.dumps(rows.to_dict("records"))
    script = (
        f"{export.to_javascript(model)}\nconsole.log(JSON.stringify({records}.map(seminaive.predictProba)))"
    )
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)  # noqa: S607
    np.testing.assert_allclose(json.loads(done.stdout), model.predict_proba(rows), atol=1e-12)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_reasons_in_javascript_read_text_as_the_model_does(model, rows):
    records = json.dumps(rows.to_dict("records"))
    reasons = f"{records}.map(row => seminaive.reasons(row).logOdds)"
    script = f"{export.to_javascript(model, reasons=True)}\nconsole.log(JSON.stringify({reasons}))"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)  # noqa: S607
    # The log odds of the most probable of two classes.
    np.testing.assert_allclose(json.loads(done.stdout), abs(model.decision_function(rows)), atol=1e-9)


def test_a_document_reads_text_as_the_model_does(model, rows):
    again = export.from_json(export.to_json(model))
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("strange", [{"decimal": "x"}, {"unit": 7}, {"unit": "(.*)*"}, {"grouping": None}])
def test_a_document_with_a_strange_format_of_numbers_is_refused(model, strange):
    document = json.loads(export.to_json(model))
    document["columns"][0]["written"].update(strange)
    with pytest.raises(ModelFileError, match="the document is no model"):
        export.from_json(json.dumps(document))


def test_rows_are_read_alike_one_by_one(model, rows):
    singly = np.vstack([model.predict_proba(rows[k : k + 1]) for k in range(len(rows))])
    np.testing.assert_allclose(singly, model.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("write", [export.to_sql, export.to_onnx], ids=["SQL", "ONNX"])
def test_exports_that_read_numbers_say_so(model, write):
    pytest.importorskip("onnx")
    with pytest.warns(ExportWarning, match=r"'amount' came as text, such as '\$1,234.5'.*values of 'answer'"):
        write(model)


def test_a_workbook_that_reads_numbers_says_so(model, tmp_path):
    pytest.importorskip("openpyxl")
    with pytest.warns(ExportWarning, match="the workbook reads numbers"):
        export.to_xlsx(model, tmp_path / "book.xlsx")


def test_merged_categories_are_changed_and_compared_as_the_model_reads_them():
    answer = ["Yes", "yes", "no", "no "] * 50
    model = NaiveBayes(merge_spellings=True).fit(pd.DataFrame({"answer": answer}), [1, 1, 0, 1] * 50)
    change = explain.smallest_change(model, {"answer": "NO"}, 1, probability=0.9)
    expected = model.predict_proba(pd.DataFrame({"answer": ["YES"]}))[0, 1]
    assert change.after == pytest.approx(expected, abs=1e-12)
    odds = model.decision_function(pd.DataFrame({"answer": ["no", "yes"]}))
    (ratio,) = explain.odds_ratios(model)["odds_ratio"]
    assert abs(np.log(ratio)) == pytest.approx(odds[1] - odds[0], abs=1e-12)
