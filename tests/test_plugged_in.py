"""Commands of the other package: they plug in where it is installed, and are explained where it is not."""

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer
from typer.testing import CliRunner

from seminaive.cli import plugged_in
from seminaive.errors import InputError


def made(monkeypatch, *points):
    """Return a command line with the commands of some entry points and one of its own."""
    monkeypatch.setattr(plugged_in, "entry_points", lambda group: [p for p in points if p.group == group])
    app = typer.Typer()
    app.command("fit")(lambda: None)
    plugged_in.add_commands(app)
    return app


@pytest.mark.parametrize("name", plugged_in.EXPERIMENTS)
@pytest.mark.parametrize("more", [[], ["--help"], ["iris", "--folds", "2"]])
def test_a_command_that_is_not_installed_is_listed_and_says_how_to_get_it(monkeypatch, name, more):
    app = made(monkeypatch)
    assert f"{name} " in CliRunner().invoke(app, ["--help"]).output
    with pytest.raises(InputError, match=f"^{name} is part of .* pip install 'seminaive.experiments.'"):
        CliRunner().invoke(app, [name, *more], catch_exceptions=False)


def test_an_installed_command_takes_the_place_of_the_answer(monkeypatch):
    point = EntryPoint("compare", "platform:system", plugged_in.GROUP)
    result = CliRunner().invoke(made(monkeypatch, point), ["compare"])
    assert (result.exit_code, result.exception) == (0, None)


def test_a_command_of_another_distribution_is_a_command(monkeypatch):
    point = EntryPoint("other", "platform:system", plugged_in.GROUP)
    app = made(monkeypatch, point)
    assert CliRunner().invoke(app, ["other"]).exit_code == 0
    assert {"compare", "demo", "reproduce"} == set(plugged_in.EXPERIMENTS)


@pytest.mark.parametrize("value", ["no_such_package:run", "platform:no_such_name"])
def test_a_command_that_cannot_be_loaded_ends_no_other(monkeypatch, value):
    points = [EntryPoint(name, value, plugged_in.GROUP) for name in ("compare", "other")]
    app = made(monkeypatch, *points)
    assert CliRunner().invoke(app, ["fit"]).exit_code == 0
    for name, answer in (("compare", "pip install .* cannot be loaded"), ("other", "cannot be loaded")):
        with pytest.raises(InputError, match=answer):
            CliRunner().invoke(app, [name], catch_exceptions=False)


@pytest.mark.parametrize("first", ["seminaive.cli", "seminaive_experiments.comparing", "seminaive.__main__"])
def test_either_package_can_be_imported_first(first):
    code = f"import {first}; import seminaive.cli as cli; print(len(cli.app.registered_commands))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == 11
