import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from seminaive.cli import app
from seminaive.errors import InputError


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 10, 90).round(),
            "ward": rng.choice(["a", "b"], 90),
            "patient": np.arange(90) // 2,
        }
    )
    frame["ill"] = np.where(rng.random(90) < 1 / (1 + np.exp((50 - frame["age"]) / 6)), "yes", "no")
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["validate", *map(str, arguments)], catch_exceptions=False)


def test_validate_prints_every_measure_and_writes_the_page(visits, tmp_path):
    page = tmp_path / "page.html"
    given = ("--target", "ill", "--model", "naive-bayes", "--replays", "10", "--jobs", "1")
    found = run(visits, *given, "--groups", "patient", "--by", "ward", "--page", page)
    assert found.exit_code == 0
    for name in ("log_loss", "brier", "auc", "calibration_slope"):
        assert name in found.output
    assert "patient" not in page.read_text(encoding="utf-8")
    assert f"wrote {page}" in found.output


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (("--target", "il"), "Did you mean 'ill'"),
        (("--target", "ill", "--replays", "3"), "--replays is 10 or more"),
        (("--target", "ill", "--jobs", "0"), "--jobs"),
        (("--target", "ill", "--groups", "wards"), "no column 'wards'"),
    ],
)
def test_validate_refuses_before_any_fit(visits, given, match):
    with pytest.raises(InputError, match=match):
        run(visits, *given)
