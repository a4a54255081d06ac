"""Dates and ordered levels are read from Parquet as from a table in memory."""

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, SemiNaive, scale

LEVELS = ["small", "large", "huge"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(9)
    when = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, 500), "D")
    size = rng.integers(0, 3, 500)
    y = rng.random(500) < 1 / (1 + np.exp(2 - size - (when - when.min()).days / 900))
    X = pd.DataFrame({"when": when, "size": pd.Categorical.from_codes(size, LEVELS, ordered=True)})
    return X, np.where(y, "yes", "no")


@pytest.mark.parametrize("make", [NaiveBayes, SemiNaive], ids=lambda model: model.__name__)
def test_a_fit_from_parquet_is_the_fit_in_memory(make, table, tmp_path):
    X, y = table
    for part, rows in enumerate(np.array_split(np.arange(len(y)), 3)):
        X.iloc[rows].assign(label=y[rows]).to_parquet(tmp_path / f"{part}.parquet")
    model = scale.fit(make(), scale.from_parquet(tmp_path, target="label"))
    assert model.schema_.columns[1].categories == tuple(LEVELS)
    assert "dates, in days since 1970" in model.columns_report_.read_as[0]
    np.testing.assert_allclose(model.predict_proba(X), make().fit(X, y).predict_proba(X), atol=1e-9)
