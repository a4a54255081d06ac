"""The board that strangers run: tables from OpenML's interface or from files, a page, and runs that go on."""

import gzip
import hashlib
import importlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets._openml as openml_client

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="benchmarks fork processes")
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
NUMBER = 61
ROWS = 150


def table():
    """Return a table with a number, a category, missing cells, and two classes."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=ROWS).round(3)
    kind = rng.choice(["plain", "fine grained"], ROWS)
    outcome = np.where(size + (kind == "plain") + rng.normal(size=ROWS) > 0.5, "yes", "no")
    frame = pd.DataFrame({"size": size, "kind": kind, "outcome": outcome})
    frame.loc[::20, "size"] = np.nan
    return frame


def arff(frame):
    """Write a table as OpenML keeps it."""
    nominal = {"kind": "{plain,'fine grained'}", "outcome": "{yes,no}"}
    lines = [
        "@RELATION people",
        *(f"@ATTRIBUTE {name} {nominal.get(name, 'REAL')}" for name in frame),
        "@DATA",
    ]
    for row in frame.itertuples(index=False):
        cells = ["?" if pd.isna(cell) else f"'{cell}'" if " " in str(cell) else str(cell) for cell in row]
        lines.append(",".join(cells))
    return ("\n".join(lines) + "\n").encode()


class OpenML(BaseHTTPRequestHandler):
    """The three answers by which scikit-learn fetches one table."""

    served: ClassVar[list[str]] = []

    def do_GET(self):
        self.served.append(self.path)
        data, address = arff(table()), f"http://127.0.0.1:{self.server.server_port}"
        description = {
            "id": str(NUMBER),
            "name": "people",
            "version": "1",
            "format": "ARFF",
            "status": "active",
            "description": "People.",
            "url": f"{address}/data/v1/download/1/people.arff",
            "default_target_attribute": "outcome",
            "md5_checksum": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        }
        feature = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        kinds = {"size": "numeric", "kind": "nominal", "outcome": "nominal"}
        features = [
            {
                "index": str(k),
                "name": name,
                "data_type": kind,
                **feature,
                "is_target": str(name == "outcome").lower(),
            }
            for k, (name, kind) in enumerate(kinds.items())
        ]
        answers = {
            f"/api/v1/json/data/{NUMBER}": {"data_set_description": description},
            f"/api/v1/json/data/features/{NUMBER}": {"data_features": {"feature": features}},
            f"/api/v1/json/data/qualities/{NUMBER}": {
                "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(ROWS)}]}
            },
        }
        found = data if self.path.startswith("/data/") else json.dumps(answers.get(self.path, {})).encode()
        self.send_response(200 if self.path in answers or self.path.startswith("/data/") else 412)
        self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(gzip.compress(found))

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def openml(monkeypatch, tmp_path):
    """Serve one table on the loopback address to scikit-learn; give the addresses that it asks for."""
    server = HTTPServer(("127.0.0.1", 0), OpenML)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    OpenML.served.clear()
    for name in ("_SEARCH_NAME", "_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        address = getattr(openml_client, name).replace(
            "https://www.openml.org", f"http://127.0.0.1:{server.server_port}"
        )
        monkeypatch.setattr(openml_client, name, address)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    yield OpenML.served
    server.shutdown()
    server.server_close()


@pytest.fixture
def board(monkeypatch, tmp_path):
    """Return the script with a list of one table, and the folder of its results."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    names = ("accuracy.open_board", "accuracy.open_tables")
    script, tables = (importlib.import_module(name) for name in names)
    (tmp_path / "list.csv").write_text(f"number,name,suite,choices,file\n{NUMBER},people,board,no,people\n")
    monkeypatch.setattr(tables, "LISTED", tmp_path / "list.csv")
    tables.load.cache_clear()
    return script, tmp_path / "results"


def run(board, *arguments):
    script, results = board
    script.main(["--models", "naive-bayes,class-shares", "--results", str(results), *map(str, arguments)])
    return {path.stem: pd.read_csv(path, comment="#") for path in results.glob("*.csv")}


@pytest.fixture
def cheap(monkeypatch, board):
    """Offer two models that fit at once."""
    from seminaive import NaiveBayes
    from seminaive_experiments.rivals import RIVALS

    monkeypatch.setattr(
        board[0], "MODELS", {"naive-bayes": NaiveBayes, "class-shares": RIVALS["class-shares"]}
    )


@pytest.mark.usefixtures("cheap")
def test_tables_come_from_openml_once_and_folds_are_run_once(board, openml, capsys):
    first = run(board, "--minutes", 5)
    assert openml == [
        f"/api/v1/json/data/{NUMBER}",
        f"/api/v1/json/data/features/{NUMBER}",
        f"/api/v1/json/data/qualities/{NUMBER}",
        "/data/v1/download/1/people.arff",
    ]
    assert set(first) == {"naive-bayes", "class-shares"}
    for found in first.values():
        assert found.status.eq("ok").all()
        assert list(zip(found.setting, found.fold, strict=True)) == [("full", 0), ("full", 1)]
    assert first["naive-bayes"].log_loss.mean() < first["class-shares"].log_loss.mean()
    assert "<svg" in (board[1] / "board-full.html").read_text()
    assert "full log_loss: 1 tables" not in capsys.readouterr().out  # ranks need two tables
    board[0].load.cache_clear()
    again = run(board)
    assert len(openml) == 4  # the second time the table comes from the cache
    for model, found in again.items():
        pd.testing.assert_frame_equal(found, first[model])


@pytest.mark.usefixtures("cheap")
def test_files_of_a_folder_give_the_results_of_openml(board, openml, tmp_path):
    assert openml == []
    fetched = run(board)
    folder = tmp_path / "files"
    folder.mkdir()
    table().rename(columns={"outcome": "class"}).to_csv(folder / "people.csv", index=False)
    read = run((board[0], tmp_path / "other"), "--folder", folder)
    for model, found in read.items():
        columns = ["table", "setting", "fold", "error", "log_loss", "auc"]
        pd.testing.assert_frame_equal(found[columns], fetched[model][columns])


@pytest.mark.usefixtures("cheap", "openml")
def test_a_table_that_cannot_be_fetched_is_named_and_the_others_are_run(board, tmp_path, capsys):
    with (tmp_path / "list.csv").open("a") as file:
        file.write("62,absent,board,no,absent\n")
    found = run(board)
    assert set(found["naive-bayes"].table) == {"people"}
    assert "left out: OpenML's table '62' could not be fetched" in capsys.readouterr().err


def test_our_means_stand_beside_those_of_the_automl_benchmark(board, tmp_path):
    rows = [("vehicle", fold, 0.9, loss) for fold, loss in enumerate([0.30, 0.40])]
    rows += [("credit-g", fold, auc, 0.5) for fold, auc in enumerate([0.78, 0.80])]
    results = pd.DataFrame(rows, columns=["table", "fold", "auc", "log_loss"]).assign(
        setting="ten", status="ok"
    )
    results.to_csv(tmp_path / "ours.csv", index=False)
    found = board[0].beside_automl(tmp_path / "ours.csv").set_index(["table", "hours"])
    assert found["semi-naive"].round(6).to_dict() == {
        ("credit-g", 1): 0.79,
        ("credit-g", 4): 0.79,
        ("vehicle", 1): 0.35,
        ("vehicle", 4): 0.35,
    }
    # The best of them had AUC .7955 and .7933, and log loss .3530 and .3361.
    assert found["behind"].to_dict() == {
        ("credit-g", 1): True,
        ("credit-g", 4): True,
        ("vehicle", 1): False,
        ("vehicle", 4): True,
    }
