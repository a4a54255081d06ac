import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seminaive.statistics import distinct
from seminaive.statistics.distinct import distinct_numbers, first_equal_rows


@given(arrays(np.int64, st.integers(0, 40), elements=st.integers(-5, 2**62)))
def test_distinct_numbers_are_those_of_numpy(numbers):
    found = distinct_numbers(numbers)
    assert found.dtype == np.int64
    assert np.array_equal(found, np.unique(numbers))


def test_distinct_numbers_of_a_table_are_one_list():
    assert distinct_numbers(np.array([[3, 1], [1, 2]])).tolist() == [1, 2, 3]


def test_rows_that_are_equal_in_all_tables_have_one_first_row():
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, 3, (500, 2)).astype(np.uint8), rng.integers(0, 2, (500, 1)) * 0.5
    numbers[::7] = np.nan
    first, of_row = first_equal_rows(codes, numbers, codes[:, 0])
    whole = pd.DataFrame(np.column_stack([codes, numbers]))
    expected = whole.groupby([0, 1, 2], sort=False, dropna=False).ngroup().to_numpy()
    np.testing.assert_array_equal(of_row, expected)
    np.testing.assert_array_equal(first, [np.flatnonzero(expected == kind)[0] for kind in range(len(first))])


def test_rows_that_share_a_number_but_not_their_cells_are_kinds_of_their_own(monkeypatch):
    codes = np.array([[1, 2], [3, 2], [1, 2], [3, 2]])
    monkeypatch.setattr(distinct, "_mixed", lambda _, n_rows: np.zeros(n_rows, dtype=np.uint64))
    first, kind = first_equal_rows(codes)
    assert (first.tolist(), kind.tolist()) == ([0, 1, 3], [0, 1, 0, 2])


@given(arrays(np.int8, st.tuples(st.integers(0, 30), st.integers(1, 3)), elements=st.integers(-1, 1)))
def test_kinds_of_rows_are_those_of_numpy(codes):
    first, kind = first_equal_rows(codes, codes[:, 0] * 0.5)
    assert (codes[first][kind] == codes).all()
    assert len(first) == len(np.unique(codes, axis=0))
    assert (np.diff(first) > 0).all()


def test_a_table_without_columns_has_one_kind_of_row():
    first, of_row = first_equal_rows(np.empty((4, 0)), np.array([1, 1, 1, 1]))
    assert (first.tolist(), of_row.tolist()) == ([0], [0, 0, 0, 0])
