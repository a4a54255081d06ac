"""The kept results in results/reproduction say what their cells say."""

import importlib
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seminaive_experiments.papers.acceptance import gather
from seminaive_experiments.papers.reproduction import compare_with_paper, declared, runnable
from seminaive_experiments.papers.show import keep_misses

PACKAGE = Path(__file__).parents[2]
KEPT = PACKAGE / "results" / "reproduction"
RUN = sorted({table.name for table in declared("REPRODUCTIONS")} & {path.stem for path in KEPT.glob("*.csv")})


def _cells(name):
    return pd.read_csv(KEPT / f"{name}.csv", comment="#", keep_default_na=False, na_values=["", "nan"])


@pytest.mark.parametrize("name", RUN)
def test_a_kept_result_agrees_where_the_present_tolerances_say_so(name):
    cells = _cells(name)
    again = compare_with_paper(runnable(name), cells)
    assert again.cells["agrees"].tolist() == cells["agrees"].tolist()
    head = (KEPT / f"{name}.csv").read_text(encoding="utf-8").splitlines()[:3]
    assert head[0].startswith((f"# seminaive reproduce {name} ", "# python runs/"))
    assert re.match(rf"# {again.n_agree} of {len(cells)} cells agree", head[2])


@pytest.mark.parametrize("bar", declared("BARS"), ids=lambda bar: bar.name)
def test_the_kept_misses_are_those_of_the_kept_tables(bar, tmp_path):
    judged = gather(bar, KEPT)
    keep_misses(judged, tmp_path / "again.csv", f"seminaive reproduce --misses {bar.name}")
    assert (tmp_path / "again.csv").read_text() == (KEPT / f"{bar.name}-misses.csv").read_text()
    assert judged.met


def test_the_page_counts_what_the_kept_results_say():
    page = (PACKAGE / "docs" / "reproduction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `([\w.-]+)` \| (\d+) \| (\d+) \|", page, flags=re.MULTILINE)
    assert len(rows) > 20
    for name, cells, agree in rows:
        folders = (KEPT, *(PACKAGE / "results" / name for name in ("hybrid", "alr")))
        counts = []
        for path in (folder / f"{name}.csv" for folder in folders):
            if path.exists():
                kept = pd.read_csv(path, comment="#")
                counts.append((len(kept), int(kept["agrees"].sum())))
        assert (int(cells), int(agree)) in counts


def test_tables_of_the_hybrid_papers_follow_from_the_kept_splits(monkeypatch, tmp_path):
    kept = PACKAGE / "results" / "hybrid"
    for path in (*kept.glob("*-splits.csv"), kept / "dissertation-draws.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.syspath_prepend(str(PACKAGE / "runs"))
    tables = importlib.import_module("hybrid_tables")
    monkeypatch.setattr(tables, "KEPT", tmp_path)
    tables.counts(None)
    made = {path.name for path in tmp_path.glob("*.csv") if not path.stem.endswith("-splits")}
    assert made >= {f"dissertation-table{k}.csv" for k in ("A1", "A2", "A3", "1.2", "1.3", "1.4")}
    for name in made:
        again, before = ((folder / name).read_text().splitlines() for folder in (tmp_path, kept))
        # The second line has the day and the versions.
        assert [again[0], *again[2:]] == [before[0], *before[2:]]


def test_splits_are_kept_in_the_order_of_repetitions_and_read_as_they_were(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(PACKAGE / "runs"))
    tables = importlib.import_module("hybrid_tables")
    monkeypatch.setattr(tables, "KEPT", tmp_path)
    splits = pd.DataFrame(
        {
            "dataset": "Iris",
            "method": ["LR", "LR", "NB", "NB"],
            "n_features": 4,
            "repetition": [1, 0, 0, 1],
            "L01": [20.0, 10.0, 0.0, 6.66667],
        }
    )
    tables.keep_splits("some", splits, ["L01"])
    tables.keep_splits("some", splits[splits["method"] == "NB"].assign(L01=1.0), ["L01"])
    again = tables.kept_splits("some").set_index(["method", "repetition"])["L01"]
    assert again.to_dict() == {("LR", 0): 10.0, ("LR", 1): 20.0, ("NB", 0): 1.0, ("NB", 1): 1.0}


def test_the_deviation_between_draws_is_without_that_of_the_splits(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE / "runs"))
    tables = importlib.import_module("hybrid_tables")
    rng = np.random.default_rng(0)
    of_draw = np.repeat(rng.normal(scale=0.8, size=400), 5)
    values = pd.DataFrame({"seed": np.repeat(np.arange(400), 5), "value": of_draw + rng.normal(size=2000)})
    found = tables._over_draws(values)
    # The standard error of a deviation over 400 draws is 4 %; splits alone would add 0.45 in quadrature.
    assert found["draw_deviation"] == pytest.approx(0.8, rel=0.12)
    assert found["se"] == pytest.approx(np.sqrt((0.64 + 1 / 5) / 400), rel=0.12)
    same = values.assign(value=values["value"] - of_draw)
    assert tables._over_draws(same)["draw_deviation"] < 0.2


def test_rounds_count_where_every_method_has_finished_them(monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE / "runs"))
    tables = importlib.import_module("nbrlr_real_tables")
    done = [("a", "NBRLR", 0), ("a", "LR", 0), ("a", "NBRLR", 1), ("b", "NBRLR", 0), ("a", "NB", 1)]
    folds = pd.DataFrame(done, columns=["dataset", "method", "repetition"])
    kept = tables.of_common_rounds(folds, ["NBRLR", "LR"])
    assert kept.to_numpy().tolist() == [["a", "NBRLR", 0], ["a", "LR", 0]]


def test_kept_means_of_more_rounds_stay(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(PACKAGE / "runs"))
    tables = importlib.import_module("nbrlr_real_tables")
    kept = pd.DataFrame({"dataset": ["a", "b", "c"], "loss": [0.1, 0.2, 0.3], "rounds": [20, 1, 2]})
    kept.to_csv(tmp_path / "kept.csv", index=False)
    fresh = pd.DataFrame({"dataset": ["a", "b"], "ours": [0.4, 0.5], "rounds": [2, 2]})
    found = tables.or_kept(fresh, tmp_path / "kept.csv").set_index("dataset")["ours"]
    assert found.to_dict() == {"b": 0.5, "a": 0.1, "c": 0.3}
    assert tables.or_kept(fresh, tmp_path / "none.csv").equals(fresh)
