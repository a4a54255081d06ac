"""The kept results in docs/reproduction say what their cells say."""

import importlib
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from seminaive.papers.acceptance import gather
from seminaive.papers.reproduction import compare_with_paper, declared, runnable
from seminaive.papers.show import keep_misses

KEPT = Path(__file__).parents[2] / "docs" / "reproduction"
RUN = sorted({table.name for table in declared("REPRODUCTIONS")} & {path.stem for path in KEPT.glob("*.csv")})


def _cells(name):
    return pd.read_csv(KEPT / f"{name}.csv", comment="#", keep_default_na=False, na_values=["", "nan"])


@pytest.mark.parametrize("name", RUN)
def test_a_kept_result_agrees_where_the_present_tolerances_say_so(name):
    cells = _cells(name)
    again = compare_with_paper(runnable(name), cells)
    assert again.cells["agrees"].tolist() == cells["agrees"].tolist()
    head = (KEPT / f"{name}.csv").read_text(encoding="utf-8").splitlines()[:3]
    assert head[0].startswith((f"# seminaive reproduce {name} ", "# python benchmarks/"))
    assert re.match(rf"# {again.n_agree} of {len(cells)} cells agree", head[2])


@pytest.mark.parametrize("bar", declared("BARS"), ids=lambda bar: bar.name)
def test_the_kept_misses_are_those_of_the_kept_tables(bar, tmp_path):
    judged = gather(bar, KEPT)
    keep_misses(judged, tmp_path / "again.csv", f"seminaive reproduce --misses {bar.name}")
    assert (tmp_path / "again.csv").read_text() == (KEPT / f"{bar.name}-misses.csv").read_text()
    assert judged.met


def test_the_page_counts_what_the_kept_results_say():
    page = (KEPT.parent / "reproduction.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `([\w.-]+)` \| (\d+) \| (\d+) \|", page, flags=re.MULTILINE)
    assert len(rows) > 20
    for name, cells, agree in rows:
        folders = (KEPT, *(KEPT.parents[1] / "results" / name for name in ("hybrid", "alr")))
        counts = []
        for path in (folder / f"{name}.csv" for folder in folders):
            if path.exists():
                kept = pd.read_csv(path, comment="#")
                counts.append((len(kept), int(kept["agrees"].sum())))
        assert (int(cells), int(agree)) in counts


def test_tables_of_the_hybrid_papers_follow_from_the_kept_splits(monkeypatch, tmp_path):
    kept = KEPT.parents[1] / "results" / "hybrid"
    for path in kept.glob("*-splits.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.syspath_prepend(str(KEPT.parents[1] / "benchmarks"))
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
    monkeypatch.syspath_prepend(str(KEPT.parents[1] / "benchmarks"))
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
