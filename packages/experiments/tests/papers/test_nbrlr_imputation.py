"""Missing cells drawn given the class."""

import numpy as np
import pandas as pd
import pytest

from seminaive.errors import ColumnsWarning
from seminaive_experiments.datasets import Dataset
from seminaive_experiments.papers.filled_cells import impute_given_class

N = 20_000


@pytest.fixture
def half_missing():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], N)
    vote = np.where(rng.random(N) < np.where(y == "a", 0.9, 0.2), "yes", "no")
    X = pd.DataFrame(
        {"vote": pd.Series(vote, dtype="category"), "age": rng.normal(np.where(y == "a", 1.0, 5.0), 2.0)}
    )
    return Dataset("half", X.mask(rng.random((N, 2)) < 0.5), y)


def test_observed_cells_stay_and_no_cell_is_missing(half_missing):
    filled = impute_given_class(half_missing, 0).X
    observed = half_missing.X.notna()
    assert not filled.isna().any(axis=None)
    pd.testing.assert_frame_equal(filled.where(observed), half_missing.X)
    assert filled.dtypes.equals(half_missing.X.dtypes)


def test_drawn_cells_have_the_distribution_of_their_class(half_missing):
    filled = impute_given_class(half_missing, 1)
    drawn = half_missing.X.isna()
    for label, share, mean in (("a", 0.9, 1.0), ("b", 0.2, 5.0)):
        votes = filled.X["vote"][drawn["vote"] & (filled.y == label)]
        ages = filled.X["age"][drawn["age"] & (filled.y == label)]
        # Some 5,000 observed and as many drawn cells: four standard errors of a difference of two means.
        assert (votes == "yes").mean() == pytest.approx(
            share, abs=4 * np.sqrt(2 * share * (1 - share) / 5000)
        )
        assert ages.mean() == pytest.approx(mean, abs=4 * 2 * np.sqrt(2 / 5000))
        assert ages.std() == pytest.approx(2.0, abs=4 * 2 * np.sqrt(1 / 5000))


def test_the_seed_decides_the_draws(half_missing):
    first, again, other = (impute_given_class(half_missing, seed).X for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_a_table_without_missing_cells_stays_as_it_is(half_missing):
    whole = impute_given_class(half_missing, 0)
    pd.testing.assert_frame_equal(impute_given_class(whole, 5).X, whole.X)


def test_a_class_without_observations_borrows_the_column_and_an_empty_column_stays():
    X = pd.DataFrame({"color": ["red", "red", None], "count": [2, 2, 2], "empty": [np.nan] * 3})
    with pytest.warns(ColumnsWarning, match="'empty'"):
        filled = impute_given_class(Dataset("toy", X, np.array([0, 0, 1])), 0).X
    assert filled["color"].tolist() == ["red", "red", "red"]
    assert filled["count"].tolist() == [2, 2, 2]
    assert filled["empty"].isna().all()
