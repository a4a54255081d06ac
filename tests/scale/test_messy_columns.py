"""Tables in partitions are read like tables in memory: written numbers, identifiers, spellings, targets."""

import numpy as np
import pandas as pd
import pytest

from seminaive import NaiveBayes, TreeAugmentedNaiveBayes, scale
from seminaive.errors import ColumnsWarning, TargetWarning

N = 600


@pytest.fixture
def shop():
    rng = np.random.default_rng(8)
    spent = rng.lognormal(7, 1, N)
    return pd.DataFrame(
        {
            "id": [f"C-{k:05}" for k in range(N)],
            "spent": [f"${value:,.2f}" for value in spent],
            "member": rng.choice(["Yes", "yes", "no", "no "], N),
            "town": [f"t{k % 30}" for k in range(N)],
            "late": np.where(np.log(spent) + rng.logistic(size=N) > 7, "late", "paid"),
        }
    )


@pytest.mark.parametrize("model", [NaiveBayes(merge_spellings=True), TreeAugmentedNaiveBayes()])
@pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning")
def test_partitions_are_read_as_one_table(model, shop):
    pieces = [shop[start : start + 200] for start in range(0, N, 200)]
    apart = scale.fit(type(model)(**model.get_params()), scale.from_batches(pieces, target="late"))
    X = shop.drop(columns="late")
    together = model.fit(X, shop["late"])
    assert apart.columns_report_["kind"].tolist() == ["identifier", "numeric", "categorical", "categorical"]
    assert apart.schema_.columns[0] == together.schema_.columns[0]
    np.testing.assert_allclose(apart.predict_proba(X), together.predict_proba(X), atol=1e-9)


def test_an_identifier_is_named(shop):
    with pytest.warns(ColumnsWarning, match="'id' has 600 values in 600 rows"):
        scale.fit(NaiveBayes(), scale.from_batches([shop], target="late"))


def test_a_quantity_as_target_is_questioned(shop):
    ages = shop.drop(columns=["id", "member"]).assign(late=18 + np.arange(N) % 60)
    with pytest.warns(TargetWarning, match="60 different numbers"):
        scale.fit(NaiveBayes(), scale.from_batches([ages], target="late"))
