"""Levels of an ordered type keep their order, in every library and across chunks."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seminaive import NaiveBayes
from seminaive.encode import CategoricalColumn, TableEncoder
from seminaive.encode.calendar_cycles import HOURS, MONTHS, WEEKDAYS, is_cycle
from seminaive.errors import InputError

LEVELS = ("small", "large", "huge", "endless")
CELLS = ["huge", "small", None, "large", "small"]


def in_pandas(cells=CELLS, levels=LEVELS, *, ordered=True):
    return pd.DataFrame({"size": pd.Categorical(cells, list(levels), ordered=ordered)})


TABLES = {
    "pandas": in_pandas(),
    "polars": pl.DataFrame({"size": pl.Series(CELLS, dtype=pl.Enum(LEVELS))}),
    "arrow": pa.Table.from_pandas(in_pandas()),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_codes_follow_the_order_of_the_type(table):
    encoder, encoded = TableEncoder.learn(table)
    column = encoder.schema.columns[0]
    assert (column.categories, column.order) == (LEVELS[:3], LEVELS)
    assert encoded.codes.ravel().tolist() == [2, 0, 3, 1, 0]


def test_names_without_an_order_are_sorted():
    column = TableEncoder.learn(in_pandas(ordered=False))[0].schema.columns[0]
    assert (column.categories, column.order) == (("huge", "large", "small"), None)


def test_rows_to_predict_may_come_as_plain_text():
    encoder, encoded = TableEncoder.learn(in_pandas())
    np.testing.assert_array_equal(encoder.encode(pd.DataFrame({"size": CELLS})).codes, encoded.codes)


def test_chunks_with_new_levels_keep_the_order():
    y = np.array([0, 1, 0, 1, 0])
    X = in_pandas(["huge", "small", "huge", "small", "huge"])
    model = NaiveBayes().partial_fit(X, y, classes=[0, 1]).partial_fit(in_pandas(["large"] * 5), y)
    assert model.schema_.columns[0].categories == LEVELS[:3]
    whole = NaiveBayes().fit(pd.concat([X, in_pandas(["large"] * 5)]), np.append(y, y))
    np.testing.assert_allclose(model.predict_proba(in_pandas()), whole.predict_proba(in_pandas()), atol=1e-12)


def test_levels_that_only_a_later_chunk_has_come_last():
    first = CategoricalColumn.of("size", ["small"], missing_seen=False, order=("small", "large"))
    later = CategoricalColumn.of("size", ["tiny"], missing_seen=True)
    assert first.union(later).order == ("small", "large", "tiny")


def test_two_orders_are_refused():
    one, other = (
        CategoricalColumn.of("size", ["small"], missing_seen=False, order=order)
        for order in (LEVELS, LEVELS[::-1])
    )
    with pytest.raises(InputError, match="'size' come in two orders"):
        one.union(other)


def test_merged_spellings_have_one_place_in_the_order():
    X = in_pandas(["Low", "low", "low", "high"], ["low", "Low", "high"])
    column = TableEncoder.learn(X, merge_spellings=True)[0].schema.columns[0]
    assert (column.categories, column.order) == (("low", "high"), ("low", "high"))


def test_the_report_says_how_levels_were_read():
    y = np.array([0, 1, 0, 1, 0])
    weekdays = pd.Categorical([*WEEKDAYS[:5]], WEEKDAYS, ordered=True)
    model = NaiveBayes().fit(in_pandas().assign(day=weekdays), y)
    assert model.columns_report_.read_as.tolist() == [
        "category as ordered levels",
        "category as levels of a cycle",
    ]


@pytest.mark.parametrize("cycle", [MONTHS, WEEKDAYS, HOURS, ("Sunday", *WEEKDAYS[:6])])
def test_the_calendar_goes_round(cycle):
    assert is_cycle(cycle)
    assert not is_cycle(cycle[::-1])
    assert not is_cycle(cycle[:-1])
