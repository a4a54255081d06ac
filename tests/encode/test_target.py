"""Labels and weights at the boundary."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.encode import encode_target, encode_weights
from seminaive.errors import InputError


@given(
    st.one_of(
        st.lists(st.integers(-(2**62), 2**62), min_size=1),
        st.lists(st.integers(-9, 9), min_size=1),
        st.lists(st.text(max_size=2), min_size=1),
        st.lists(st.booleans(), min_size=1),
    )
)
def test_classes_are_those_of_numpy_unique(labels):
    expected, inverse = np.unique(np.array(labels), return_inverse=True)
    target = encode_target(labels, "model")
    assert target.classes.tolist() == expected.tolist()
    assert target.labels.tolist() == inverse.tolist()
    assert target.labels.dtype == np.int64


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, np.array, pd.Categorical, pa.array])
def test_labels_of_every_container(kind):
    target = encode_target(kind(["b", "a", "b"]), "model")
    assert target.classes.tolist() == ["a", "b"]
    assert target.labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "labels", [np.array(["a", 1], object), ["a", 1], ("a", True), ["a", np.float64(1)], pd.Series(["a", 1])]
)
def test_labels_of_mixed_types_are_refused(labels):
    with pytest.raises(InputError, match="mix"):
        encode_target(labels, "model")


def test_text_labels_of_any_length_are_read():
    text = np.array(["b", "a"], dtype=np.dtypes.StringDType())
    assert encode_target(text, "model").classes.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="1 of 2 rows have no label"):
        encode_target(np.array(["b", None], dtype=np.dtypes.StringDType(na_object=None)), "model")


@pytest.mark.parametrize("large", [2, 2**100])
def test_integer_labels_wider_than_64_bits_are_read(large):
    target = encode_target(pl.Series([large, 1, large], dtype=pl.Int128), "model")
    assert target.classes.tolist() == [1, large]
    assert target.labels.tolist() == [1, 0, 1]


def test_dates_are_no_labels():
    with pytest.raises(InputError, match="Unknown label type"):
        encode_target(np.array(["2020-01-01"], "datetime64[D]"), "model")


def test_labels_of_foreign_byte_order_are_read():
    assert encode_target(np.array([1.0, 0.0], ">f8"), "model").classes.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    "labels", [np.array([0.5, 1.5], object), np.array([object(), object()]), np.array([], int)]
)
def test_objects_that_are_no_labels_are_refused(labels):
    with pytest.raises(InputError, match=r"Unknown label type|empty"):
        encode_target(labels, "model")


@pytest.mark.parametrize("weights", [["a", "b"], [1e300, 1.0], [1e-310, 1e-310], [1.0, 1e-200]])
def test_weights_that_cannot_be_summed_are_refused(weights):
    with pytest.raises(InputError, match="sample_weight"):
        encode_weights(weights, 2)


def test_a_target_that_names_rows_is_refused(classifier):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(InputError, match="each of the 50 rows has a class of its own"):
        classifier().fit(X, [f"n{k}" for k in range(50)])


@pytest.mark.parametrize("y", [{0: 1}, {1, 2}, 1, "ab", (k for k in range(2))])
def test_what_holds_no_labels_is_refused_by_its_name(y):
    with pytest.raises(InputError, match=f"one label per row, got a {type(y).__name__}"):
        encode_target(y, "model")


@pytest.mark.parametrize(
    "make",
    [
        lambda labels: pd.Series(labels, name="grade"),
        lambda labels: pd.Series(labels, name="grade", dtype="string[pyarrow]"),
        lambda labels: pl.Series("grade", labels),
    ],
)
def test_rows_without_a_label_are_listed_with_their_column(make):
    y = make(["a", None, "b", None] * 4)
    with pytest.raises(InputError, match=r"8 of 16 rows have no label in column 'grade'.* 1, 3, 5, 7, 9, "):
        encode_target(y, "model")


@pytest.mark.parametrize("y", [np.array([0, np.nan, 1]), pa.array(["a", None, "b"]), ["a", None, "b"]])
def test_rows_without_a_label_are_listed(y):
    with pytest.raises(InputError, match=r"Input y contains NaN.*1 of 3 rows have no label, .* 1\. "):
        encode_target(y, "model")
