"""Commands as people use them in pipes: standard input, a model judged on labelled rows, many columns."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.metrics import log_loss
from typer.testing import CliRunner

from seminaive import load_model
from seminaive.cli import app
from seminaive.cli.showing import spinner


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 35)), columns=[f"x{k}" for k in range(35)])
    return frame.assign(y=np.where(frame["x0"] + rng.normal(size=120) > 0, "yes", "no"))


def _run(*arguments, given=None):
    return CliRunner().invoke(
        app, [str(argument) for argument in arguments], input=given, catch_exceptions=False
    )


@pytest.fixture(scope="module")
def fitted(table, tmp_path_factory):
    """Return the folder of a model that was fitted from standard input, and what was printed."""
    folder = tmp_path_factory.mktemp("fitted")
    shown = _run(
        *("fit", "-", "--target", "y", "--out", folder / "m", "--model", "naive-bayes", "--no-estimate"),
        given=table.to_csv(index=False).encode(),
    )
    assert shown.exit_code == 0
    table.to_csv(folder / "t.csv", index=False)
    return folder, shown.stdout


def test_a_dash_reads_standard_input(fitted, table):
    folder, output = fitted
    assert "standard-input.csv: 120 rows" in output
    packed = io.BytesIO()
    table.to_parquet(packed)
    for given in (table.to_csv(index=False).encode(), packed.getvalue()):
        said = pd.read_csv(io.StringIO(_run("predict", folder / "m", "-", given=given).stdout))
        assert (said["prediction"] == load_model(folder / "m").predict(table.drop(columns="y"))).all()


def test_a_model_is_judged_on_rows_with_labels(fitted, table):
    folder, _ = fitted
    shown = _run("score", folder / "m", folder / "t.csv", "--truth", "y").stdout
    probability = load_model(folder / "m").predict_proba(table.drop(columns="y"))
    assert f"{log_loss(table['y'], probability):.3f}" in shown
    _run("predict", folder / "m", folder / "t.csv", "--keep", "y", "--out", folder / "said.csv")
    written = _run("score", folder / "said.csv", "--truth", "y").stdout
    assert written.splitlines()[1:] == shown.splitlines()[1:]


def test_rspe_stands_beside_rmse_only_where_they_differ(fitted, tmp_path):
    folder, _ = fitted
    shown = _run("score", folder / "m", folder / "t.csv", "--truth", "y").stdout
    assert "RMSE" in shown
    assert "RSPE" not in shown
    labels = [f"probability_{c}" for c in "abc"]
    said = pd.DataFrame([["a", "a", 0.5, 0.3, 0.2]] * 2, columns=["y", "prediction", *labels])
    said.to_csv(tmp_path / "three.csv", index=False)
    shown = _run("score", tmp_path / "three.csv", "--truth", "y").stdout
    assert "RMSE" in shown
    assert "RSPE" in shown


def test_what_fit_advises_for_many_columns_is_an_option_of_it(fitted):
    folder, output = fitted
    advised = re.search(r"5 more lines: (--most) 35", output)
    assert advised
    shown = _run(
        *("fit", folder / "t.csv", "--target", "y", "--out", folder / "again", "--model", "naive-bayes"),
        *("--no-estimate", "--most", "35"),
    )
    assert "x34" in shown.stdout
    assert "more lines" not in shown.stdout


def test_the_spinner_says_what_is_done_and_for_how_long(monkeypatch):
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=60)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    with spinner("fitting [one] model") as bar:
        bar.refresh()
    assert "fitting [one] model" in written.getvalue()
    assert re.search(r"0:00:0\d", written.getvalue())
