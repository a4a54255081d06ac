"""Chunks: what partial_fit owes one fit on all rows."""

import numpy as np
import pytest
from sklearn.base import clone

import seminaive
from seminaive.errors import InputError


@pytest.fixture
def chunks(weather):
    X, y = weather
    order = np.argsort(y, kind="stable")  # the classes, and some categories, come one after the other
    X, y = X.iloc[order], y[order]
    return [(X.iloc[i : i + 90], y[i : i + 90]) for i in range(0, len(y), 90)]


def test_chunks_equal_one_fit(weather, chunks):
    X, y = weather
    model = seminaive.NaiveBayes()
    for part, labels in chunks:
        model.partial_fit(part, labels)
    whole = seminaive.NaiveBayes().fit(X, y)
    assert model.schema_ == whole.schema_
    assert (model.classes_ == whole.classes_).all()
    # Counts of whole rows and sums in pairs of doubles leave no trace of the chunks.
    assert (model.scores_.tables == whole.scores_.tables).all()
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-13)


def test_weighted_chunks_equal_one_fit(weather):
    X, y = weather
    weight = np.random.default_rng(3).random(len(y))
    model = seminaive.NaiveBayes(variances="class")
    for i in range(0, len(y), 37):
        model.partial_fit(X.iloc[i : i + 37], y[i : i + 37], sample_weight=weight[i : i + 37])
    whole = seminaive.NaiveBayes(variances="class").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-10)


def test_chunks_of_a_large_integer_table_equal_one_fit():
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 6, (9000, 12)), rng.integers(0, 2, 9000)
    X[6000:, 3] += 40  # values that come late, in a chunk of their own
    model = seminaive.NaiveBayes(categorical_features="all")
    for i in range(0, 9000, 3000):
        model.partial_fit(X[i : i + 3000], y[i : i + 3000])
    whole = seminaive.NaiveBayes(categorical_features="all").fit(X, y)
    assert model.schema_ == whole.schema_
    assert (model.scores_.tables == whole.scores_.tables).all()


@pytest.mark.parametrize("damage", ["label", "infinite", "columns", "weight"])
def test_a_refused_chunk_leaves_the_model_as_it_was(chunks, damage):
    (X, y), (X2, y2), *_ = chunks
    model = seminaive.NaiveBayes().partial_fit(X, y, classes=["hail", "rain", "sun"])
    before, state = model.predict_proba(X), dict(vars(model))
    weight = None
    if damage == "label":
        y2 = np.where(np.arange(len(y2)) == 3, "fog", y2)
    elif damage == "infinite":
        X2 = X2.assign(temperature=np.inf)
    elif damage == "columns":
        X2 = X2[X2.columns[1:]]
    else:
        weight = np.full(len(y2), -1.0)
    with pytest.raises(ValueError, match=r"fog|Infinite|lacks|Negative"):
        model.partial_fit(X2, y2, sample_weight=weight)
    assert vars(model) == state
    assert (model.predict_proba(X) == before).all()


def test_a_refused_first_chunk_leaves_an_unfitted_model(weather):
    X, y = weather
    model = seminaive.NaiveBayes()
    with pytest.raises(InputError):
        model.partial_fit(X.assign(temperature=np.inf), y)
    assert vars(model) == vars(clone(model))


def test_an_empty_column_may_fill_up_later(weather):
    X, y = weather
    half = len(y) // 2
    first = X[:half].assign(sky=None, temperature=np.nan)
    model = seminaive.NaiveBayes().partial_fit(first, y[:half]).partial_fit(X[half:], y[half:])
    assert np.isfinite(model.predict_proba(X)).all()


def test_numbers_and_text_are_different_classes(weather):
    X, y = weather
    model = seminaive.NaiveBayes().partial_fit(X, np.arange(len(y)) % 2)
    with pytest.raises(InputError, match="one type"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("missing", ["value", "neutral"])
def test_a_first_chunk_without_any_value_merges(missing):
    chunks = [np.array([[None], [None]], object), np.array([["x"], ["y"]], object)]
    model = seminaive.NaiveBayes(missing=missing)
    for X in chunks:
        model.partial_fit(X, [0, 1])
    whole = seminaive.NaiveBayes(missing=missing).fit(np.vstack(chunks), [0, 1, 0, 1])
    np.testing.assert_array_equal(model.scores_.tables, whole.scores_.tables)


def test_the_policy_on_missing_cells_cannot_change_between_chunks(weather):
    X, y = weather
    model = seminaive.NaiveBayes().partial_fit(X, y).set_params(missing="neutral")
    with pytest.raises(InputError, match="one policy"):
        model.partial_fit(X, y)


def test_no_classes_at_all_are_refused(weather):
    with pytest.raises(InputError, match="empty"):
        seminaive.NaiveBayes().partial_fit(*weather, classes=[])
