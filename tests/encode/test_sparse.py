"""Sparse matrices of indicators are columns of categories; others are refused with what to pass."""

import numpy as np
import pytest
from scipy import sparse

from seminaive import CorrelationFeatureSelector, HigherOrderLogisticRegression, NaiveBayes, SemiNaive
from seminaive.encode import open_table
from seminaive.errors import TableTypeError


@pytest.fixture
def indicators():
    rng = np.random.default_rng(0)
    X = (rng.random((80, 5)) < 0.3).astype(np.uint8)
    return X, np.where(X[:, 0] ^ (rng.random(80) < 0.2), "yes", "no")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64, bool])
def test_indicators_are_the_categories_zero_and_one(indicators, kind, dtype):
    X, y = indicators
    dense = NaiveBayes(categorical_features="all").fit(X, y)
    model = NaiveBayes().fit(kind(X.astype(dtype)), y)
    assert model.columns_report_["kind"].tolist() == ["categorical"] * 5
    for rows in (X, kind(X.astype(dtype)), kind(X[:1].astype(dtype))):
        expected = dense.predict_proba(rows.toarray() if sparse.issparse(rows) else rows)
        np.testing.assert_array_equal(model.predict_proba(rows), expected)


@pytest.mark.parametrize("model", [HigherOrderLogisticRegression(), SemiNaive()])
def test_other_models_take_them_too(indicators, model):
    X, y = indicators
    found = model.fit(sparse.csr_array(X), y).predict_proba(sparse.csr_array(X))
    expected = model.set_params(categorical_features="all").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_of_weight_zero_are_no_rows(indicators):
    X, y = indicators
    weight = (np.arange(80) < 60).astype(float)
    model = NaiveBayes().fit(sparse.csc_array(X), y, sample_weight=weight)
    expected = NaiveBayes().fit(sparse.csc_array(X[:60]), y[:60])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_cells_that_are_written_twice_are_added():
    twice = sparse.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(2, 2))
    with pytest.raises(TableTypeError, match="cells other than 0 and 1"):
        open_table(twice)


def test_more_indicators_than_memory_holds_are_refused():
    with pytest.raises(MemoryError, match="before they were one-hot encoded"):
        open_table(sparse.csr_array((10**7, 10**7), dtype=bool))


def test_a_selector_keeps_columns_of_a_sparse_table(indicators):
    X, y = indicators
    selector = CorrelationFeatureSelector().fit(sparse.csr_array(X), y)
    kept = selector.transform(sparse.csr_array(X))
    assert sparse.issparse(kept)
    np.testing.assert_array_equal(kept.toarray(), X[:, selector.get_support()])
