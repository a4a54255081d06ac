"""What README claims holds: its models, links and commands are there (figures: test_headlines.py)."""

import re
import sys
from pathlib import Path

import pytest

import seminaive
from seminaive import cli, models, structure

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^seminaive (\w+) (.*?)(?:  +#.*)?$", README, flags=re.MULTILINE)


def test_every_name_exists_and_the_page_that_it_leads_to_names_every_classifier():
    pattern = r"`([A-Z]\w*[a-z]\w*?)(?:`|\()"
    public = {*seminaive.__all__, *models.__all__, *structure.__all__}
    elsewhere = {"LogisticRegressionCV", "HistGradientBoostingClassifier"}
    assert set(re.findall(pattern, README)) <= public | elsewhere
    page = (ROOT / "docs" / "start" / "which-model.md").read_text(encoding="utf-8")
    named = set(re.findall(pattern, page))
    assert named <= public | elsewhere
    rooms = (models, structure)
    classifiers = {name for room in rooms for name in room.__all__ if hasattr(getattr(room, name), "predict")}
    classifiers.remove("EditedModel")  # not fitted: what an edit of another model returns
    without_cv = {name.removesuffix("CV") for name in named}
    assert {name.removesuffix("CV") for name in classifiers} <= without_cv


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize(("command", "arguments"), COMMANDS)
def test_every_option_of_a_command_exists(command, arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["seminaive", command, "--help"])
    with pytest.raises(SystemExit):
        cli.main()
    shown = capsys.readouterr().out
    for option in re.findall(r"--[\w-]+", arguments):
        assert option in shown


def test_the_commands_are_there():
    assert {command for command, _ in COMMANDS} == {"fit", "predict", "export", "compare"}
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


def test_the_picture_is_small():
    assert (ROOT / "docs" / "pictures" / "continuum.svg").stat().st_size < 100_000


def test_the_picture_shows_what_is_said_of_it():
    """Lines are drawn upside down in SVG: less loss is a larger y."""
    picture = (ROOT / "docs" / "pictures" / "continuum.svg").read_text()
    line = r'<path d="(M [^"]*)" clip-path[^>]*style="fill: none; stroke: #[^"]*stroke-linecap: square'
    paths = re.findall(line, picture)
    heights = [[float(y) for y in re.findall(r"[ML] [\d.]+ ([\d.]+)", path)] for path in paths]
    naive, semi, logistic = [line for line in heights if len(line) == 6]
    assert naive[0] > logistic[0]
    assert naive[-1] < logistic[-1]
    span = max(map(max, heights)) - min(map(min, heights))
    for ends, between in zip(zip(naive, logistic, strict=True), semi, strict=True):
        assert between > max(ends) - 0.02 * span
