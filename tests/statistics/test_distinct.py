import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seminaive.statistics.distinct import distinct_numbers


@given(arrays(np.int64, st.integers(0, 40), elements=st.integers(-5, 2**62)))
def test_distinct_numbers_are_those_of_numpy(numbers):
    found = distinct_numbers(numbers)
    assert found.dtype == np.int64
    assert np.array_equal(found, np.unique(numbers))


def test_distinct_numbers_of_a_table_are_one_list():
    assert distinct_numbers(np.array([[3, 1], [1, 2]])).tolist() == [1, 2, 3]
