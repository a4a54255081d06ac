"""Labels and weights at the boundary."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive.encode import encode_target
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


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, np.array, pd.Categorical])
def test_labels_of_every_container(kind):
    target = encode_target(kind(["b", "a", "b"]), "model")
    assert target.classes.tolist() == ["a", "b"]
    assert target.labels.tolist() == [1, 0, 1]


def test_labels_of_mixed_types_are_refused():
    with pytest.raises(InputError, match="mix"):
        encode_target(np.array(["a", 1, None][:2], object), "model")


def test_dates_are_no_labels():
    with pytest.raises(InputError, match="Unknown label type"):
        encode_target(np.array(["2020-01-01"], "datetime64[D]"), "model")
