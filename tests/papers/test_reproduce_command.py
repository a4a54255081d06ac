import os

import pytest
from typer.testing import CliRunner

from seminaive.cli import app
from seminaive.errors import InputError


def _run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, ["reproduce", *arguments], catch_exceptions=False)


def test_the_list_names_every_table_with_its_needs():
    shown = _run("--list")
    assert shown.exit_code == 0
    assert "nbrlr-table1" in shown.output
    assert "dissertation-table3.2" in shown.output
    assert "confidential" in shown.output
    assert _run().output == shown.output


def test_a_table_that_cannot_be_run_is_refused_with_its_reason():
    with pytest.raises(InputError, match="confidential"):
        _run("dissertation-table3.2")


@pytest.mark.real_data
@pytest.mark.skipif(
    not os.environ.get("SEMINAIVE_DATA"), reason="SEMINAIVE_DATA is not set: no real tables here"
)
def test_a_table_is_run_shown_and_kept(tmp_path):
    shown = _run("dissertation-table2.6", "--quick", "--out", str(tmp_path))
    assert shown.exit_code == 0
    assert "24 of 24 cells agree" in shown.output
    assert (tmp_path / "dissertation-table2.6.csv").read_text().startswith("# seminaive ")
