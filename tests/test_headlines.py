"""Figures of README and docs are those of the kept results, which `make bench` brings up to date."""

import csv
import importlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import seminaive

ROOT = Path(__file__).parent.parent
KINDS = ("speed", "accuracy", "claims")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="benchmarks fork processes")


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    names = ("headlines", "race", "result_tables", "run", "sections")
    return SimpleNamespace(**{name: importlib.import_module(name) for name in names})


def test_figures_of_pages_are_those_of_the_kept_results(bench):
    assert {"README.md", "docs/benchmarks.md", "docs/start/which-model.md"} <= set(bench.headlines.BLOCKS)
    for page in bench.headlines.BLOCKS:
        assert bench.headlines.with_headlines(page) == (ROOT / page).read_text(encoding="utf-8"), page


def test_results_page_is_that_of_the_kept_results(bench):
    run = bench.run
    page = bench.result_tables.results_page(run.RESULTS, run.KEPT, bench.sections.STUDIES)
    assert page == run.TABLE.read_text(encoding="utf-8")


def test_a_ratio_is_rounded_down(bench, monkeypatch, tmp_path):
    for ratio, said in (("21.98", "21 times"), ("5.69", "5.6 times"), ("3.0", "3 times")):
        (tmp_path / "part.csv").write_text(f"question,peer,ratio\nfit it,theirs,{ratio}\n")
        monkeypatch.setattr(bench.headlines, "RESULTS", tmp_path)
        assert bench.headlines.times("part", "fit it", "theirs") == f"{said} as fast as theirs"


@pytest.mark.parametrize(
    "peer",
    ["1 s", "50 ms", "1e-12 ", "0.003", "one second", "150 KB", "one second of one core", "four seconds"],
)
def test_a_quantity_is_a_limit(bench, peer):
    assert bench.race.is_limit(peer)


@pytest.mark.parametrize(
    "peer", ["one thread", "liblinear", "glmnet 4.1.6", "one fit of ours", "n_jobs = 1", "a page"]
)
def test_another_program_is_no_limit(bench, peer):
    assert not bench.race.is_limit(peer)


def test_peers_and_limits_have_tables_of_their_own(bench):
    fields = ["question", "peer", "ours", "theirs", "unit", "ratio", "bar", "reached"]
    lines = [
        ["fit", "liblinear", "0.5", "2", "s", "4", ">= 3", "yes"],
        ["predict", "10 ms", "4", "10", "ms", "0.4", "<= 1.5", "yes"],
        ["draw", "a second", "2", "1", "s", "0.5", ">= 2", "no"],
    ]
    body = bench.result_tables.section_body([dict(zip(fields, line, strict=True)) for line in lines])
    peers, limits = body.split("\n\n")
    assert peers.splitlines()[2:] == ["| fit | liblinear | 0.5 s | 2 s | **4** | >= 3 | yes |"]
    # The most that was allowed: 1.5 times ten milliseconds, and half a second.
    assert limits.splitlines()[2:] == ["| predict | 4 ms | 15 ms | yes |", "| draw | 2 s | 0.5 s | no |"]


def write(path, version):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# command; seminaive={version} numpy=2.4.6\nquestion,ratio\n")


def test_only_sections_of_other_versions_are_measured_unless_they_are_named(bench, tmp_path):
    first, second, third, *others = [section.name for section in bench.sections.SECTIONS]
    write(tmp_path / f"{first}.csv", seminaive.__version__)
    write(tmp_path / f"{second}.csv", "0.0.1")

    def chosen(names=(), *, again=False):
        found = bench.run.chosen_sections(names, again=again, results=tmp_path)
        return [section.name for section in found]

    assert chosen() == [second, third, *others]
    assert chosen([first]) == [first]
    assert chosen(again=True) == [first, second, third, *others]
    with pytest.raises(SystemExit, match="no section named nothing"):
        chosen(["nothing"])


def test_results_of_an_earlier_version_are_set_aside_and_those_of_this_one_stay(bench, tmp_path):
    old, new, odd = (tmp_path / name for name in ("old.csv", "new.csv", "odd.csv"))
    write(old, "0.0.1")
    write(new, seminaive.__version__)
    odd.write_text("# nothing about versions\na\n")
    for path in (old, new, odd, tmp_path / "absent.csv"):
        bench.run.set_aside(path)
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.csv"))
    assert found == ["0.0.1/old.csv", "earlier/odd.csv", "new.csv"]


def test_a_section_that_fails_is_named_and_the_next_one_runs(bench, monkeypatch, tmp_path):
    section = bench.sections.Section
    scripts = {
        "broken.py": "raise SystemExit(3)",
        "endless.py": "import time; time.sleep(60)",
        "fine.py": "from race import *; report('fine', [Ratio('fit', 'theirs', 1.0, 2.0, bar=1)], ['scipy'])",
    }
    for name, code in scripts.items():
        (tmp_path / name).write_text(code)
    monkeypatch.setattr(bench.run, "FOLDER", tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'benchmarks'}:{ROOT / 'src'}")
    sections = [section(name.partition(".")[0], (name,)) for name in scripts]
    sections.append(section("lonely", ("fine.py",), needs=("no_such_module",)))
    said = bench.run.measure(sections, 0.1, SEMINAIVE_BENCH_RESULTS=str(tmp_path / "results"))
    assert said == [
        "broken ended with exit code 3",
        "endless was ended after 0.1 minutes",
        "lonely needs no_such_module",
    ]
    header, rows = bench.result_tables.lines_of(tmp_path / "results" / "fine.csv")
    assert f"seminaive={seminaive.__version__} " in header[1]
    assert rows[0]["ratio"] == "2"


def test_the_list_says_what_figures_are_of_and_what_a_run_needs(bench, tmp_path):
    section, study = bench.sections.Section, bench.sections.LongStudy
    write(tmp_path / "old.csv", "0.0.1")
    sections = [
        section("old", ("old.py",), minutes=4),
        section("new", ("new.py",), needs=("no_such_module",)),
    ]
    studies = [study("long", "Why?", ("long.py",), ("ours.csv",))]
    old, new, long = bench.run.listing(sections, studies, tmp_path, tmp_path)
    assert old.split() == ["old", "0.0.1", "4", "min"]
    assert new.split()[:2] == ["new", "none"]
    assert new.endswith("needs no_such_module")
    assert long.split()[:2] == ["long/ours.csv", "none"]


def test_a_tryout_of_a_section_leaves_its_figures_alone(bench):
    """Scripts of sections leave the folder of results to race.py, which a try-out points elsewhere."""
    for each in bench.sections.SECTIONS:
        script = (ROOT / "benchmarks" / each.command[0]).read_text(encoding="utf-8")
        assert re.search(r"^ *from race import .*\b(keep|report)\b", script, re.MULTILINE), each.name
        assert 'parent / "results"' not in script, each.name


def test_every_script_of_a_section_exists(bench):
    for each in (*bench.sections.SECTIONS, *bench.sections.STUDIES):
        assert (ROOT / "benchmarks" / each.command[0]).exists()


def test_roles_of_tables_are_told_once(bench):
    with (ROOT / "benchmarks" / "table_roles.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len({row["table"] for row in rows}) == len(rows) == 20 + 32 + 31
    assert {row["role"] for row in rows} == {"board", "chosen", "not chosen"}
    assert len(bench.headlines.tables_of("board")) == 20


def test_semi_naive_is_first_in_log_loss_at_every_size_as_the_page_of_models_says(bench):
    for role in ("not chosen", None):
        means, _ = bench.headlines.ranks(role)
        assert set(means.xs("log_loss", axis=1, level=1).idxmin()) == {"semi-naive"}
    rows = [line.split("|")[2:4] for line in bench.headlines.very_few_rows_table().splitlines()[2:]]
    first, second, *others = [[float(cell) for cell in row] for row in rows]
    for place in (0, 1):
        assert first[place] < second[place] < min(other[place] for other in others)


def test_the_readme_of_the_benchmarks_lists_every_script():
    folder = ROOT / "benchmarks"
    listed = re.findall(r"`([\w/]+\.py)`", (folder / "README.md").read_text(encoding="utf-8"))
    scripts = [*folder.glob("*.py"), *(path for kind in KINDS for path in (folder / kind).glob("*.py"))]
    assert set(listed) == {path.relative_to(folder).as_posix() for path in scripts}


def test_figures_name_the_script_that_was_started_by_its_path(bench, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(ROOT / "benchmarks" / "speed" / "fsnb.py")])
    assert bench.race.script() == "speed/fsnb.py"
    monkeypatch.setattr("sys.argv", ["elsewhere.py"])
    assert bench.race.script() == "elsewhere.py"


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_of_a_folder_finds_the_harness_and_keeps_its_figures_in_one_place(kind):
    folder = ROOT / "benchmarks"
    harness = "|".join([path.stem for path in folder.glob("*.py")] + ["peers", *KINDS])
    for path in (folder / kind).glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert 'Path(__file__).parent / "results' not in text, path.name
        if "__main__" in text and re.search(rf"^ *from ({harness})\b", text, re.MULTILINE):
            assert "sys.path.insert(0, str(Path(__file__).parent.parent))" in text, path.name
