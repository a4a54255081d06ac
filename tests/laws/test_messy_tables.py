"""Messy tables are fitted by every model, read rightly, and without the columns that say nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from seminaive import NaiveBayes, load_model, save_model
from seminaive.errors import ColumnsWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning"),
]
WORDS = np.array(["late", "early", "never", "often", "found", "lost", "paid", "open"])


def messy_table(n_rows, seed=0):
    """Return a table as it comes out of a shop's books, its classes, and the kind that each column has."""
    rng = np.random.default_rng(seed)
    spent = rng.lognormal(7, 1, n_rows)
    region = rng.choice(["north", "south", "west"], n_rows)
    rate = rng.uniform(0, 40, n_rows)
    risk = 0.8 * (np.log(spent) - 7) + (region == "west") - 0.03 * (rate - 20) + rng.logistic(size=n_rows)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    mixed = np.array([f"{v} kg" if v % 2 else int(v) for v in rng.integers(1, 90, n_rows)], dtype=object)
    columns = {
        "id": ("identifier", [f"C-{k:07}" for k in rng.permutation(n_rows)]),
        "phone": ("identifier", [f"+1 555 {k // 10000:03}-{k % 10000:04}" for k in rng.permutation(n_rows)]),
        "account": ("numeric", rng.permutation(n_rows) + 400_000_000_000),
        "spent": ("numeric", [f"${value:,.2f}" for value in spent]),
        "rate": ("numeric", [f"{value:.1f}%" for value in rate]),
        "since": ("numeric", days.strftime("%Y-%m-%d").to_numpy()),
        "remark": (
            "identifier",
            [f"{' '.join(rng.choice(WORDS, 5))} {k}" for k in range(n_rows)],
        ),
        "region": ("categorical", region),
        "same": ("categorical", ["one"] * n_rows),
        "nothing": ("empty", [None] * n_rows),
        "weight": ("numeric", mixed),
        "zip": ("categorical", [f"{k:05}" for k in rng.integers(0, 40, n_rows)]),
    }
    kinds = {name: kind for name, (kind, _) in columns.items()}
    if n_rows < 1000:  # as many days as rows, or nearly, are told apart by the number of rows
        columns.pop("since")
        kinds.pop("since")
    X = pd.DataFrame({name: cells for name, (_, cells) in columns.items() if name in kinds})
    return X, np.where(risk > 0, "late", "paid"), kinds


@pytest.mark.parametrize("n_rows", [300, 3100])
def test_every_kind_of_messy_column_is_read_rightly(n_rows):
    X, y, kinds = messy_table(n_rows)
    report = NaiveBayes().fit(X, y).columns_report_
    assert dict(zip(report["column"], report["kind"], strict=True)) == kinds


def test_every_model_fits_a_messy_table_and_reads_it_alike_later(classifier, tmp_path):
    X, y, _ = messy_table(300)
    model = classifier().fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    # A few rows are read cell by cell, and a saved model by its schema alone.
    np.testing.assert_allclose(model.predict_proba(X[:5]), probabilities[:5], atol=1e-12)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(X), probabilities)
    # Numbers may come as numbers, too.
    numbers = X.assign(rate=[float(cell.rstrip("%")) for cell in X["rate"]])
    np.testing.assert_allclose(model.predict_proba(numbers), probabilities, atol=1e-12)


def test_an_identifier_changes_no_answer_of_any_model(classifier):
    X, y, kinds = messy_table(300)
    named = [name for name, kind in kinds.items() if kind == "identifier"]
    with_names, without = classifier().fit(X, y), classifier().fit(X.drop(columns=named), y)
    np.testing.assert_array_equal(with_names.predict_proba(X), without.predict_proba(X.drop(columns=named)))
    if hasattr(with_names, "selected_features_"):
        assert with_names.selected_features_ == without.selected_features_


def test_identifiers_are_named_before_the_fit():
    X, y, _ = messy_table(300)
    with pytest.warns(ColumnsWarning, match="'id' has 300 values in 300 rows") as caught:
        clone(NaiveBayes()).fit(X, y)
    assert any("'account' holds whole numbers of 12" in sentence for sentence in caught[0].message.sentences)
