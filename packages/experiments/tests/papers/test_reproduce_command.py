import os

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from seminaive.cli import app
from seminaive.errors import InputError
from seminaive_experiments.papers import nbrlr, published_names, simulations
from seminaive_experiments.papers.agreement import kept_agreement


def _run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["reproduce", *arguments], catch_exceptions=False)


def test_the_list_names_every_table_with_its_needs():
    shown = _run("--list")
    assert shown.exit_code == 0
    assert "nbrlr-table1" in shown.output
    assert "alr-footnote6" in shown.output
    assert "is not among the tables" in " ".join(shown.output.split())
    assert "alr-figure14" in shown.output


def test_without_a_name_every_table_has_its_cells_agreements_and_reasons():
    shown = " ".join(_run().output.split())
    for name in published_names():
        assert name in shown
    kept = kept_agreement()
    assert f"{kept['agree'].sum()} of {kept['cells'].sum()} cells agree" in shown
    assert "text inconsistent" in shown
    assert "not counted: needs your copy of the StarPlus scans" in shown


def test_a_figure_is_written_as_picture_and_numbers_or_as_one_page(tmp_path):
    shown = _run("alr-figure2", "--out", str(tmp_path))
    assert "poker hands take its place" in shown.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alr-figure2-numbers.csv", "alr-figure2.svg"]
    assert len(pd.read_csv(tmp_path / "alr-figure2-numbers.csv", comment="#")) > 100
    _run("alr-figure2", "--page", "--out", str(tmp_path))
    page = (tmp_path / "alr-figure2.html").read_text()
    assert "data:image/svg+xml" in page
    assert "rows_seen" in page
    assert "<script" not in page


def test_what_is_no_figure_has_no_page_and_kept_results_have_no_repetitions(tmp_path):
    with pytest.raises(InputError, match="--page is for figures"):
        _run("nbrlr-table1", "--page")
    with pytest.raises(InputError, match="there is no figure 'nbrlr-figure99'"):
        _run("nbrlr-figure99")
    with pytest.raises(InputError, match="drawn from kept results only"):
        _run("alr-figure2", "--repetitions", "3", "--out", str(tmp_path))


def test_a_table_that_cannot_be_run_is_refused_with_its_reason():
    with pytest.raises(InputError, match="is not among the tables"):
        _run("alr-footnote6")


def test_files_that_cannot_be_bundled_come_from_a_folder(tmp_path):
    with pytest.raises(InputError, match="cannot be bundled: name the folder"):
        _run("fsnb-table3", "--out", str(tmp_path))
    with pytest.raises(InputError, match="has no files data-starplus"):
        _run("fsnb-table3", "--folder", str(tmp_path), "--out", str(tmp_path))


@pytest.fixture
def cheap_simulation(monkeypatch):
    """Simulations that cost nothing; the units that were run."""
    units = []

    def simulate(**unit):
        units.append(unit)
        coefficients = " ".join(["1"] * (unit["p"] + 1))
        losses = {"MSE": 0.1, "L01": 0.2, "RSPE": 0.3, "coefficients": coefficients}
        return [{"method": method, **losses} for method in nbrlr.METHODS]

    monkeypatch.setattr(nbrlr, "simulate", simulate)
    monkeypatch.setattr(nbrlr, "simulate_hybrid", lambda **_: [{"L01": 0.2, "RSPE": 0.3, "lr_part_size": 1}])
    monkeypatch.setattr(simulations, "_fitted_truth", lambda simulation: np.zeros(simulation.p + 1))
    return units


def test_what_one_table_has_run_another_one_takes_over_with_resume(cheap_simulation, tmp_path):
    shown = _run("nbrlr-table1", "--repetitions", "2", "--out", str(tmp_path))
    assert "--resume uses this run for" in shown.output
    assert "nbrlr-table3" in shown.output
    assert len(cheap_simulation) == 8 * 2
    cheap_simulation.clear()
    _run("nbrlr-table3", "--repetitions", "2", "--resume", "--out", str(tmp_path))
    assert {unit["setting"] for unit in cheap_simulation} == {2}
    cheap_simulation.clear()
    for name in ("nbrlr-table2", "nbrlr-table4", "dissertation-table2.1", "dissertation-table2.2"):
        _run(name, "--repetitions", "2", "--resume", "--out", str(tmp_path))
        assert (tmp_path / f"{name}.csv").exists()
    assert not cheap_simulation
    assert [path.name for path in tmp_path.glob("*.jsonl")] == ["nbrlr-simulations.jsonl"]
    _run("nbrlr-table1", "--repetitions", "2", "--out", str(tmp_path))
    assert len(cheap_simulation) == 8 * 2  # without --resume a table starts afresh


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--repetitions", "1"], "needs 2 repetitions or more, got 1"),
        (["--max-rows", "100"], "has no data sets to leave out"),
        (["--misses", "nbrlr"], "leave nbrlr-table3 out"),
    ],
)
def test_what_is_refused_leaves_the_old_run_alone(arguments, sentence, tmp_path):
    run = tmp_path / "nbrlr-simulations.jsonl"
    run.write_text("kept", encoding="utf-8")
    with pytest.raises(InputError, match=sentence):
        _run("nbrlr-table3", *arguments, "--out", str(tmp_path))
    assert run.read_text(encoding="utf-8") == "kept"


def test_misses_are_gathered_from_the_results_of_several_tables(cheap_simulation, tmp_path):
    with pytest.raises(InputError, match="run seminaive reproduce nbrlr-table1"):
        _run("--misses", "nbrlr", "--out", str(tmp_path))
    for number in (1, 2, 3, 4):
        _run(f"nbrlr-table{number}", "--repetitions", "2", "--resume", "--out", str(tmp_path))
    assert cheap_simulation
    shown = _run("--misses", "nbrlr", "--out", str(tmp_path))
    assert "the bar of 90% is missed" in shown.output
    kept = tmp_path / "nbrlr-misses.csv"
    assert kept.read_text().startswith("# seminaive reproduce --misses nbrlr\n")
    misses = pd.read_csv(kept, comment="#")
    assert set(misses["table"]) == {f"nbrlr-table{number}" for number in (1, 2, 3, 4)}
    assert set(misses["method"]) == {"NBRLR", "NB", "LR", "Lasso", "Ridge"}


@pytest.mark.real_data
@pytest.mark.skipif(
    not os.environ.get("SEMINAIVE_DATA"), reason="SEMINAIVE_DATA is not set: no real tables here"
)
def test_a_table_is_run_shown_and_kept(tmp_path):
    shown = _run("dissertation-table2.6", "--quick", "--out", str(tmp_path))
    assert shown.exit_code == 0
    assert "24 of 24 cells agree" in shown.output
    assert (tmp_path / "dissertation-table2.6.csv").read_text().startswith("# seminaive ")
