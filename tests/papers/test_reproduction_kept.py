"""The kept results in docs/reproduction say what their cells say."""

import re
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
    assert head[0].startswith(f"# seminaive reproduce {name} ")
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
