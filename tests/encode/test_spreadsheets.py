"""Text that a spreadsheet would run is shown instead; numbers are left alone."""

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes
from seminaive.encode import without_formulas
from seminaive_experiments import Dataset, Experiment, RepeatedKFold, Report


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_led_by_an_apostrophe(cell):
    made = without_formulas(pd.DataFrame({cell: [cell, "plain", None], "n": [-1.0, 2.0, np.nan]}))
    assert made.iloc[0, 0] == made.columns[0] == "'" + cell
    assert made.iloc[1, 0] == "plain"
    assert made["n"].tolist()[:2] == [-1.0, 2.0]


def test_a_report_is_written_without_formulas(tmp_path):
    rng = np.random.default_rng(0)
    table = Dataset("=cmd()", pd.DataFrame({"a": rng.normal(size=40)}), rng.integers(0, 2, 40))
    results = Experiment({"@model": NaiveBayes()}, [table], RepeatedKFold(2, 1)).run()
    Report(results).write_csv(tmp_path / "folds.csv")
    written = (tmp_path / "folds.csv").read_text()
    assert "'=cmd()" in written
    assert "'@model" in written
    assert "\n=cmd()" not in written
