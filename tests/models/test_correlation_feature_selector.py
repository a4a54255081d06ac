"""Correlation-based feature selection: the merit, the search, and pipelines behind it."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from seminaive import CorrelationFeatureSelector, MDLDiscretizer, NaiveBayes
from seminaive.errors import InputError


def uncertainty(a, b):
    """2 I / (H + H) of two code columns, from relative frequencies."""
    joint = pd.crosstab(a, b, normalize=True).to_numpy()

    def entropy(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    parts = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1))
    return 2 * (parts - entropy(joint.ravel())) / parts if parts > 0 else 0.0


def merit(columns, y, subset):
    k = len(subset)
    with_class = np.mean([uncertainty(columns[j], y) for j in subset])
    pairs = [uncertainty(columns[i], columns[j]) for i, j in combinations(subset, 2)]
    between = np.mean(pairs) if pairs else 0.0
    return k * with_class / np.sqrt(k + k * (k - 1) * between)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 6))
    X[:, 0] += 1.5 * y
    X[:, 1] += y == 2
    X[:, 2] = X[:, 0] + 0.5 * rng.normal(size=400)
    X[:, 3] -= y
    return X, y


def test_the_merit_is_the_formula_and_no_subset_is_better(numbers):
    X, y = numbers
    model = CorrelationFeatureSelector().fit(X, y)
    bins = list(MDLDiscretizer().fit(X, y).transform(X).T)
    subset = tuple(np.flatnonzero(model.get_support()))
    assert model.merit_ == pytest.approx(merit(bins, y, subset), rel=1e-12)
    every = [s for k in range(1, 7) for s in combinations(range(6), k)]
    assert model.merit_ == pytest.approx(max(merit(bins, y, s) for s in every), rel=1e-12)
    np.testing.assert_allclose(model.class_uncertainties_, [uncertainty(b, y) for b in bins], atol=1e-12)


def test_mixed_frames_keep_their_types_and_feed_a_pipeline(weather):
    X, y = weather
    pipeline = make_pipeline(CorrelationFeatureSelector(), NaiveBayes()).fit(X, y)
    selector = pipeline[0]
    kept = selector.transform(X)
    assert list(kept.columns) == selector.selected_features_ == list(selector.get_feature_names_out())
    pd.testing.assert_frame_equal(kept, X[selector.selected_features_])
    assert (cross_val_score(pipeline, X, y, cv=3) > 0.5).all()
    rows = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    assert CorrelationFeatureSelector().fit(rows, y).transform(rows).shape == (len(y), len(kept.columns))


def test_polars_frames_stay_polars(weather):
    X, y = weather
    table = pl.from_pandas(X)
    kept = CorrelationFeatureSelector().fit(table, y).transform(table)
    assert isinstance(kept, pl.DataFrame)


def test_any_classifier_can_stand_behind_it(numbers):
    X, y = numbers
    model = make_pipeline(CorrelationFeatureSelector(), LogisticRegression()).fit(X, y)
    assert model[-1].coef_.shape[1] == model[0].get_support().sum() < 6
    assert not model[0].get_support()[[4, 5]].any()


def test_integer_weights_equal_repeated_rows(numbers):
    X, y = numbers
    times = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted = CorrelationFeatureSelector().fit(X, y, sample_weight=times)
    plain = CorrelationFeatureSelector().fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(weighted.get_support(), plain.get_support())
    assert weighted.merit_ == pytest.approx(plain.merit_, rel=1e-9)


def test_the_order_of_named_columns_does_not_matter(numbers):
    X, y = numbers
    frame = pd.DataFrame(X, columns=list("abcdef"))
    one = CorrelationFeatureSelector().fit(frame, y).selected_features_
    turned = frame[list("fedcba")]
    assert sorted(CorrelationFeatureSelector().fit(turned, y).selected_features_) == sorted(one)


def test_where_nothing_tells_the_class_one_column_stays():
    rng = np.random.default_rng(0)
    model = CorrelationFeatureSelector().fit(rng.normal(size=(60, 4)), rng.integers(0, 2, 60))
    assert model.get_support().sum() == 1
    assert model.merit_ == 0


def test_bad_parameters_and_columns_are_refused(numbers):
    X, y = numbers
    with pytest.raises(InputError, match="patience"):
        CorrelationFeatureSelector(patience=0).fit(X, y)
    with pytest.raises(InputError, match="bins"):
        CorrelationFeatureSelector(bins="many").fit(X, y)
    with pytest.raises(ValueError, match="6 features"):
        CorrelationFeatureSelector().fit(X, y).transform(X[:, :5])
