"""A fit that is going to take long says so with an estimate; others are not measured."""

import numpy as np
import pandas as pd
import pytest

from seminaive import AttributeWeightedNaiveBayes, NaiveBayes
from seminaive.errors import LongFitWarning
from seminaive.models import long_fits


class Clock:
    """Gives times that grow with the rows that were fitted meanwhile: a second and a tenth per row."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def measured(monkeypatch):
    """Let every table of 60 rows and more be measured, by a clock that stands still but for fits."""
    clock = Clock()
    monkeypatch.setattr(long_fits, "CELLS_TO_MEASURE", 1)
    monkeypatch.setattr(long_fits, "FEW_ROWS", 10)
    monkeypatch.setattr(long_fits, "MORE_ROWS", 30)
    monkeypatch.setattr(long_fits, "time", clock)

    class Model(AttributeWeightedNaiveBayes):
        def fit(self, X, y, sample_weight=None):
            clock.now += 1.0 + 0.1 * len(y)
            return super().fit(X, y, sample_weight)

    return Model


def table(n_rows):
    X = pd.DataFrame({"sky": ["wet", "dry"] * (n_rows // 2), "town": [f"t{k % 120}" for k in range(n_rows)]})
    return X, np.arange(n_rows) // 2 % 2


def test_a_long_fit_is_announced_with_its_time_and_what_to_drop(measured):
    with pytest.warns(LongFitWarning, match=r"about 4 minutes.*Drop.* 'town' with 120 categories"):
        measured().fit(*table(2400))


def test_a_short_fit_is_not_talked_about(measured):
    measured().fit(*table(300))  # 31 seconds


def test_rows_beyond_those_of_the_search_take_what_one_fit_of_them_takes(measured, monkeypatch):
    class Searching(measured):
        def _most_searched(self):
            return 200

        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            # The search takes as long again as the fit for each row that it sees.
            long_fits.time.now += 0.1 * min(len(y), self._most_searched())
            return self

    said = []
    monkeypatch.setattr(long_fits, "warn_caller", lambda text, _: said.append(text))
    Searching().fit(*table(2400))
    # 1 s, .2 s for each of 200 rows and .1 s for each of the others: 261 s. If all were searched, 481 s.
    assert "about 4 minutes" in said[0]


def test_rows_of_weight_zero_take_no_time(measured):
    X, y = table(2400)
    measured().fit(X, y, sample_weight=np.arange(2400) % 9 == 0)  # 31 seconds


@pytest.mark.usefixtures("measured")
def test_one_pass_over_the_rows_is_not_measured(monkeypatch):
    monkeypatch.setattr(long_fits, "expected_seconds", pytest.fail)
    NaiveBayes().fit(*table(2400))


def test_a_few_thousand_rows_are_not_measured(monkeypatch):
    monkeypatch.setattr(long_fits, "expected_seconds", pytest.fail)
    AttributeWeightedNaiveBayes().fit(*table(4000))
