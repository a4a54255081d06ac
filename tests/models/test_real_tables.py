"""Every real table, with its schema: a model, its probabilities, and a round trip through a file."""

import json

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, load_model, save_model


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore::seminaive.errors.TargetWarning")  # some have a numeric target
def test_naive_bayes_takes_every_real_table(real_data, tmp_path):
    kinds = json.loads((real_data / "SCHEMA.json").read_text())
    better = 0
    for name, columns in kinds.items():
        path = real_data / f"{name}.csv.gz"
        table = pd.read_csv(path, keep_default_na=False, na_values=[""], nrows=20_000, dtype={
            column: "str" for column, kind in columns.items() if kind == "categorical"
        })  # fmt: skip
        y = table.pop("class").astype(str).to_numpy()
        table = table.dropna(axis=1, how="all")
        if len(np.unique(y)) < 2 or table.shape[1] == 0:
            continue
        # Codes of industries and the like are numbers, and categories all the same.
        categories = [column for column in table if columns.get(column) == "categorical"]
        model = NaiveBayes(categorical_features=categories).fit(table, y)
        proba = model.predict_proba(table)
        assert np.isfinite(proba).all(), name
        np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-9)
        save_model(model, tmp_path / "model")
        assert (
            load_model(tmp_path / "model").predict_proba(table.head(50))
            == model.predict_proba(table.head(50))
        ).all()
        majority = np.unique(y, return_counts=True)[1].max() / len(y)
        better += model.score(table, y) >= majority
    assert better >= 0.8 * len(kinds)
