"""A stranger with a table of their own: from fit to calculator with nothing but the command line.

The table is what a spreadsheet in half of the world writes: semicolons, decimal commas, a byte-order mark,
an identifier, a date, text, gaps, and question marks where somebody did not know.
"""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def own_table(tmp_path):
    rng = np.random.default_rng(0)
    n_rows = 240
    age = rng.integers(18, 80, n_rows).astype(float)
    job = rng.choice(["Koch", "Büro", "Bäcker"], n_rows).astype(object)
    spent = rng.gamma(2.0, 300.0, n_rows).round(2)
    log_odds = (age - 45) / 10 + 1.5 * (job == "Koch") - spent / 1000
    left = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-log_odds)), "ja", "nein")
    age[rng.random(n_rows) < 0.1] = np.nan
    job[rng.random(n_rows) < 0.05] = None
    income = np.char.replace(rng.normal(30, 9, n_rows).round(1).astype(str), ".", ",")
    income[::30] = "?"
    table = pd.DataFrame(
        {
            "Kunde": [f"K{row:05d}" for row in range(n_rows)],
            "seit": pd.date_range("2023-01-01", periods=n_rows).strftime("%d.%m.%y"),
            "Alter": age,
            "Beruf": job,
            "Umsatz": spent,
            "Einkommen": income,
            "weg": left,
        }
    )
    for name, rows in (("kunden.csv", table[:180]), ("neue.csv", table[180:])):
        rows.to_csv(tmp_path / name, sep=";", decimal=",", index=False, encoding="utf-8-sig")
    return tmp_path


def seminaive(folder, *arguments):
    command = [sys.executable, "-m", "seminaive", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_the_first_ten_minutes_with_a_table_of_ones_own(own_table):
    # The target is misspelt, and the answer names it.
    done = seminaive(own_table, "fit", "kunden.csv", "--target", "Weg", "--out", "kunden.model")
    assert done.returncode == 1
    assert "Did you mean 'weg'?" in done.stderr

    # Everything is read; what was probably meant otherwise is said, with what to do about it.
    fit = ["fit", "kunden.csv", "--target", "weg", "--out", "kunden.model"]
    done = seminaive(own_table, *fit, "--no-estimate")
    assert done.returncode == 0, done.stderr
    assert "semicolons between cells, decimal comma" in done.stdout
    assert "column 'Kunde' has 180 values in 180 rows" in done.stderr
    assert "column 'seit' holds dates as text" in done.stderr
    assert "column 'Einkommen' holds numbers" in done.stderr
    assert "--drop COLUMN" in done.stderr

    # So they say it.
    done = seminaive(own_table, *fit, "--drop", "Kunde,seit", "--na-values", "?")
    assert done.returncode == 0, done.stderr
    assert done.stderr.replace("seminaive: compiling", "").count("note:") == 0
    for column in ("Alter", "Umsatz", "Einkommen"):
        assert re.search(rf"{column} +numeric", done.stdout)
    assert re.search(r"Beruf +categorical", done.stdout)
    estimate, shares = map(float, re.search(r"log loss (\S+) .*alone: ([\d.]+)\)", done.stdout).groups())
    assert estimate < shares - 0.05

    # New rows: predictions beside the identifier and, since it is known here, the truth.
    options = ["--na-values", "?", "--keep", "Kunde,weg", "--out", "vorhersagen.csv"]
    done = seminaive(own_table, "predict", "kunden.model", "neue.csv", *options)
    assert done.returncode == 0, done.stderr
    assert "wrote vorhersagen.csv: 60 rows" in done.stdout
    said = pd.read_csv(own_table / "vorhersagen.csv")
    assert said.columns.tolist() == ["Kunde", "weg", "prediction", "probability_ja", "probability_nein"]
    np.testing.assert_allclose(said["probability_ja"] + said["probability_nein"], 1.0, atol=1e-9)
    done = seminaive(own_table, "score", "vorhersagen.csv", "--truth", "weg")
    assert done.returncode == 0, done.stderr
    assert float(re.search(r"accuracy +([\d.]+)", done.stdout).group(1)) > 0.6

    # What the model says, and a page that calculates.
    done = seminaive(own_table, "explain", "kunden.model", "--target", "ja")
    assert done.returncode == 0, done.stderr
    assert "Alter" in done.stdout
    done = seminaive(own_table, "export", "kunden.model", "--to", "html", "--out", "rechner.html")
    assert done.returncode == 0, done.stderr
    assert "Koch" in (own_table / "rechner.html").read_text(encoding="utf-8")
