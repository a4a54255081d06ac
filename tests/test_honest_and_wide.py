"""The benchmarks of the expected loss and of one strong column among many."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="benchmarks fork processes")
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


def test_the_strong_column_has_its_auc_and_the_attainable_loss_is_that_of_the_true_odds(script):
    wide = script("accuracy.wide")
    X, y, train, test = wide.split(60, 1)
    assert X.shape == (2060, 500)
    assert (len(train), len(test)) == (60, 2000)
    areas = np.sort([roc_auc_score(y[test], X[name].to_numpy()[test]) for name in X])
    # The standard error of an AUC of .9 on 2,000 rows is .007, and .013 of one of .5.
    assert areas[-1] == pytest.approx(0.9, abs=0.03)
    assert areas[-2] < 0.56
    strong = X[max(X, key=lambda name: roc_auc_score(y, X[name]))].to_numpy()[test]
    log_odds = wide.DISTANCE * (strong - wide.DISTANCE / 2)
    true_loss = np.logaddexp(0, np.where(y[test] == 1, -log_odds, log_odds)).mean()
    assert wide.attainable_log_loss(60, 1) == pytest.approx(true_loss, abs=0.005)


def test_a_model_of_the_true_odds_finds_all_and_the_class_shares_find_nothing(script):
    wide, judged = script("accuracy.wide"), script("judged")
    X, y, place = wide.draw(100, 0)
    odds = np.exp(wide.DISTANCE * (X[100:, place] - wide.DISTANCE / 2))
    truth = np.column_stack([1 / (1 + odds), odds / (1 + odds)])
    shares = np.tile(np.bincount(y[:100]) / 100, (2000, 1))
    found = [
        wide.measure(judged.Judged((100, 0), None, p, y[:100], y[100:]))["found"] for p in (truth, shares)
    ]
    np.testing.assert_allclose(found, [1, 0], atol=0.02)


def test_an_interval_covers_a_loss_on_its_ends_and_a_missing_interval_is_not_counted(script):
    honest = script("accuracy.honest")
    samples = pd.DataFrame(
        {
            "table": ["a", "a", "b", "b"],
            "log_loss": [0.5, 0.5, 0.5, 0.5],
            "expected": [0.5, 0.6, 0.5, 0.7],
            "low": [0.5, 0.55, 0.4, np.nan],
            "high": [0.6, 0.65, 0.5, np.nan],
        }
    )
    found = honest.with_differences(samples)
    line = honest.line(found)
    assert line["difference"] == pytest.approx(0.075)
    assert line["coverage"] == pytest.approx(2 / 3)
    assert not line["within .005"]
    assert not line["in 90-99 %"]
    assert honest.by_table(found).absolute.to_dict() == pytest.approx({"b": 0.1, "a": 0.05})


@pytest.mark.real_data
@pytest.mark.usefixtures("real_data")
def test_forty_tables_have_ten_samples_each(script):
    honest = script("accuracy.honest")
    plan = pd.DataFrame(honest.plan(), columns=["table", "size", "sample"])
    assert plan.table.nunique() == 40
    assert set(plan.groupby("table").size()) == {10}
    assert set(plan.groupby(["table", "size"]).size()) == {5}
