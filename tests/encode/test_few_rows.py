"""A few rows, encoded cell by cell, get the codes and numbers that the whole encoder gives them."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive import NaiveBayes
from seminaive.encode import TableEncoder, mdl_cuts
from seminaive.encode.few_rows import FEW_ROWS, LARGEST_NUMBER
from seminaive.errors import InputError, TableTypeError

no_floats = st.one_of(
    st.text(max_size=2), st.integers(-3, 3), st.integers(2**53, 2**65), st.booleans(), st.none()
)
cells = st.one_of(no_floats, st.floats())
# Training refuses larger numbers.
training_cells = st.one_of(no_floats, st.floats(-LARGEST_NUMBER, LARGEST_NUMBER), st.just(np.nan))


def assert_same(few, whole):
    assert few is not None
    np.testing.assert_array_equal(few.codes, whole.codes)
    np.testing.assert_array_equal(few.numbers, whole.numbers)
    assert few.codes.dtype == whole.codes.dtype
    assert few.numbers.dtype == whole.numbers.dtype


@given(st.lists(training_cells, min_size=1, max_size=8), st.lists(cells, min_size=1, max_size=5))
def test_cells_of_any_kind_agree_with_the_whole_encoder_or_are_left_to_it(training, later):
    X, X_new = (np.array([[cell, None] for cell in part], object)[:, :1] for part in (training, later))
    encoder = TableEncoder.learn(X, allow_empty=True)[0]
    few = encoder.encode_few(X_new, named=False)
    if few is not None:
        assert_same(few, encoder.encode(X_new))


@pytest.mark.parametrize("missing", ["value", "neutral"])
@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("cut_rule", [None, mdl_cuts])
def test_rows_of_a_mixed_frame(weather, missing, convert, cut_rule):
    X, y = weather
    labels = np.unique(y, return_inverse=True)[1]
    encoder, _ = TableEncoder.learn(X[50:], missing=missing, cut_rule=cut_rule, labels=labels[50:])
    for start in range(0, 60, FEW_ROWS):
        rows = convert(X[start : start + FEW_ROWS])
        assert_same(encoder.encode_few(rows, named=True), encoder.encode(rows))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?", "O", "U"])
def test_rows_of_an_array(dtype):
    X = np.random.default_rng(0).integers(0, 4, (50, 3)).astype(dtype)
    for chosen in ("from_dtype", "all"):
        encoder, _ = TableEncoder.learn(X[:30], categorical_features=chosen)
        assert_same(encoder.encode_few(X[30:40], named=False), encoder.encode(X[30:40]))
        assert encoder.encode_few(X, named=False) is None  # too many rows


@pytest.mark.parametrize(
    "row",
    [
        [["a", "b"]],
        [["a"]],
        [["a", 1.0, 2.0]],
        [[1, 1.0]],
        [["a", 1e200]],
        [["a", 10**400]],
        [[b"a", 1.0]],
        [[dt.date(2020, 1, 1), 1.0]],
        pd.DataFrame({"x0": ["a"], "x1": [1.0]}),
        np.array([["a", 1.0]])[0],
        np.empty((0, 2)),
    ],
)
def test_what_needs_a_closer_look_is_left_to_the_whole_encoder(row):
    encoder, _ = TableEncoder.learn([["a", 1.0], ["b", 2.0]])
    assert encoder.encode_few(row, named=False) is None


def test_one_row_is_refused_as_a_table_is(weather):
    X, y = weather
    model = NaiveBayes().fit(X, y)
    row = X.iloc[[0]]
    with pytest.raises(InputError, match="'sky' held text"):
        model.predict(row.assign(sky=1))
    with pytest.raises(InputError, match="lacks 'sky'"):
        model.predict(row.drop(columns="sky"))
    with pytest.raises(TableTypeError, match="holds dates"):
        model.predict(row.assign(temperature=pd.Timestamp("2020-01-01")))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(row.to_numpy())


def test_one_row_and_many_get_the_same_probabilities(weather):
    X, y = weather
    model = NaiveBayes().fit(X, y)
    whole = model.predict_proba(X)
    for i in range(40):
        np.testing.assert_allclose(model.predict_proba(X.iloc[[i]])[0], whole[i], rtol=1e-13)
