"""One to three columns of every kind, noise or signal: every classifier fits and answers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from seminaive import HigherOrderLogisticRegressionCV

N_ROWS = 60
TABLES = {
    "number": ["number"],
    "count": ["count"],
    "text": ["text"],
    "boolean": ["boolean"],
    "number with gaps": ["gaps"],
    "number beside an empty column": ["number", "empty"],
    "text beside an empty column": ["text", "empty"],
    "constant beside a number": ["constant", "number"],
    "two numbers": ["number", "number"],
    "number and text": ["number", "text"],
    "two texts": ["text", "text"],
    "three kinds": ["number", "text", "boolean"],
    "three numbers": ["number", "count", "gaps"],
}


def column(kind, rng, signal):
    """Return one column; ``signal`` (n_rows,) is the class, or noise."""
    number = rng.normal(2.0 * signal, 1.0)
    return {
        "number": number,
        "count": np.round(number),
        "text": np.array(["low", "middle", "high"], dtype=object)[np.clip(number, 0, 2).astype(int)],
        "boolean": number > 1,
        "gaps": np.where(rng.random(len(signal)) < 0.3, np.nan, number),
        "empty": np.full(len(signal), np.nan),
        "constant": np.full(len(signal), 7.0),
    }[kind]


def few_columns(kinds, n_classes, *, noise):
    """Return a table of a few columns, and its labels."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, n_classes, N_ROWS)
    signal = rng.permutation(y) if noise else y
    return pd.DataFrame({f"{kind} {j}": column(kind, rng, signal) for j, kind in enumerate(kinds)}), y


# A search that is short where a long one owes the same law.
SHORT_SEARCHES = {"SparseBayesianNetwork": {"strengths": [0.1, 0.03, 0.01]}}


def variants(classifier):
    """Return the classifier at every order that it may have."""
    if not isinstance(classifier().get_params().get("order"), int):
        return [classifier(**SHORT_SEARCHES.get(classifier.__name__, {}))]
    return [classifier(order=order) for order in (1, 2, 3)]


@pytest.mark.parametrize("noise", [True, False], ids=["noise", "signal"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::seminaive.errors.ColumnsWarning")
def test_few_columns_of_any_kind_are_fitted_at_any_order(classifier, noise):
    for place, (name, kinds) in enumerate(TABLES.items()):
        n_classes = 2 + (place + noise) % 2  # each table has two classes in the one test, three in the other
        X, y = few_columns(kinds, n_classes, noise=noise)
        for model in variants(classifier):
            try:
                check_fit(model, X, y)
            except Exception as error:
                error.add_note(f"{name}, {n_classes} classes, {model!r}")
                raise


def check_fit(model, X, y):
    """Fit; probabilities are finite, and what a search lists has one entry per trial."""
    proba = model.fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    lengths = {len(values) for values in getattr(model, "cv_results_", {}).values()}
    assert len(lengths) <= 1
    for values in getattr(model, "cv_results_", {}).values():
        assert values.dtype.kind in "fi"


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_class_shares_are_listed_with_a_ridge_for_every_order(n_columns):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, n_columns)), rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = HigherOrderLogisticRegressionCV(order=3).fit(X, y)
    assert model.cv_results_["ridge"].shape == (len(model.cv_results_["log_loss"]), 3)
    assert len(model.ridge_) == 3
