"""The encoder: kinds, codes, missing and unseen cells, and bad columns."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seminaive import NaiveBayes
from seminaive.encode import CategoricalColumn, EmptyColumn, NumericColumn, Schema, TableEncoder, mdl_cuts
from seminaive.encode import encoded_table as table_module
from seminaive.encode.frames import open_table
from seminaive.errors import InputError, TableTypeError

values = st.one_of(st.text(max_size=3), st.integers(-5, 5), st.booleans(), st.none(), st.floats(0, 2))


def decode(table, position=0):
    """Return the values that the codes of one column stand for."""
    column = table.schema.columns[position]
    return [
        column.categories[code] if code < len(column.categories) else None
        for code in table.codes[:, position]
    ]


@given(
    st.lists(values, min_size=1, max_size=30).filter(lambda cells: any(cell is not None for cell in cells))
)
def test_codes_stand_for_their_values(cells):
    X = np.array([[cell] for cell in cells] + [[None]], dtype=object)[:-1]
    encoder, table = TableEncoder.learn(X, categorical_features="all")
    assert decode(table) == cells
    assert (encoder.encode(X).codes == table.codes).all()
    assert Schema.from_json(encoder.schema.to_json()) == encoder.schema


@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=50), st.sampled_from(["i1", "i2", "i8", "u1", "f8"])
)
def test_integers_of_any_width_are_coded_by_value(numbers, dtype):
    X = np.array(numbers).astype(dtype)[:, None]
    _, table = TableEncoder.learn(X, categorical_features="all")
    assert decode(table) == X[:, 0].tolist()


@pytest.mark.parametrize("span", [10, 70_000])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_a_block_of_integers_equals_its_columns(monkeypatch, span, dtype):
    rng = np.random.default_rng(0)
    high = min(span, np.iinfo(dtype).max)
    X, X_new = (rng.integers(0, high, (3000, 8)).astype(dtype) for _ in range(2))
    X[:, 1] = X[:, 1] // 2 * 2  # gaps
    if dtype != np.uint8:
        X[:, 2] -= 5
    encoder, block = TableEncoder.learn(X, categorical_features="all", as_typed=True)
    translated = encoder.encode(X_new)
    monkeypatch.setattr(table_module, "COMPILED_ROWS", 10**9)
    encoder_by_column, by_column = TableEncoder.learn(X, categorical_features="all", as_typed=True)
    assert encoder.schema == encoder_by_column.schema
    assert (block.codes == by_column.codes).all()
    assert (translated.codes == encoder_by_column.encode(X_new).codes).all()


def test_codes_are_row_major_in_the_smallest_unsigned_type():
    for n_values, dtype in [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32)]:
        _, table = TableEncoder.learn(np.arange(n_values)[:, None], categorical_features=[0])
        assert table.codes.dtype == dtype  # one code more than there are values: no evidence
        assert table.codes.flags.c_contiguous


def test_a_table_of_codes_is_not_copied():
    X = np.tile(np.arange(10, dtype=np.uint8)[:, None], (300, 20))
    _, table = TableEncoder.learn(X, categorical_features="all")
    assert table.codes is X


@pytest.mark.parametrize(
    "convert", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_kinds_come_from_types(convert):
    X = convert(
        pd.DataFrame(
            {
                "text": ["a", "b"],
                "category": pd.Categorical(["x", "y"]),
                "boolean": [True, False],
                "integer": [1, 2],
                "float": [0.5, np.nan],
            }
        )
    )
    encoder, _ = TableEncoder.learn(X)
    kinds = [type(column) for column in encoder.schema.columns]
    assert kinds == [CategoricalColumn] * 3 + [NumericColumn] * 2


def test_enums_and_nullable_types_are_understood():
    X = pl.DataFrame(
        {
            "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a", "c"])),
            "nullable": pl.Series([1, None, 3], dtype=pl.Int8),
            "decimal": pl.Series(["1.5", "2.5", None]).cast(pl.Decimal(10, 2)),
        }
    )
    _, table = TableEncoder.learn(X)
    assert decode(table) == ["b", None, "a"]
    np.testing.assert_array_equal(table.numbers, [[1, 1.5], [np.nan, 2.5], [3, np.nan]])
    nullable = pd.DataFrame({"n": pd.array([1, None], "Int64"), "b": pd.array([True, None], "boolean")})
    _, table = TableEncoder.learn(nullable)
    np.testing.assert_array_equal(table.numbers, [[1], [np.nan]])
    assert table.schema.columns[1] == CategoricalColumn("b", (True,), missing_seen=True)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_decimals_are_numbers_in_every_library(library):
    prices = [Decimal("1.50"), None, Decimal("2.25"), Decimal("-3.00")] * 30
    frame = library({"price": prices, "size": ["s", "m", "l", "xl"] * 30})
    y = [0, 1, 1, 0] * 30
    model = NaiveBayes().fit(frame, y)
    floats = pd.DataFrame(
        {"price": [np.nan if p is None else float(p) for p in prices], "size": ["s", "m", "l", "xl"] * 30}
    )
    expected = NaiveBayes().fit(floats, y).predict_proba(floats)
    assert model.columns_report_["kind"].tolist() == ["numeric", "categorical"]
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    np.testing.assert_array_equal(model.predict_proba(frame[:2]), expected[:2])


def test_declared_categories_that_do_not_occur_are_unseen():
    X = pd.DataFrame({"c": pd.Categorical(["b", "a"], categories=["c", "b", "a"])})
    encoder, table = TableEncoder.learn(X)
    assert encoder.schema.columns[0].categories == ("a", "b")
    assert decode(table) == ["b", "a"]
    assert encoder.encode(X.assign(c=pd.Categorical(["c", "b"]))).codes.ravel().tolist() == [2, 1]


def test_missing_is_a_value_where_training_saw_one_and_no_evidence_elsewhere():
    seen, unseen = np.array([["a"], [None], ["b"]], object), np.array([["a"], ["b"], ["b"]], object)
    for X, missing, code, cardinality in [
        (seen, "value", 2, 3), (seen, "neutral", 2, 2), (unseen, "value", 2, 2), (unseen, "neutral", 2, 2)
    ]:  # fmt: skip
        encoder, _ = TableEncoder.learn(X, missing=missing)
        assert encoder.encode(np.array([[None]], object)).codes.tolist() == [[code]]
        assert encoder.schema.cardinalities == (cardinality,)
        assert encoder.encode(np.array([["z"]], object)).codes.tolist() == [[cardinality]]


def test_integers_that_became_floats_keep_their_codes():
    encoder, table = TableEncoder.learn(pd.DataFrame({"zip": [10, 20, 30]}), categorical_features=["zip"])
    later = encoder.encode(pd.DataFrame({"zip": [30.0, np.nan, 10.0, 20.5]}))
    assert later.codes.ravel().tolist() == [2, 3, 0, 3]
    assert table.codes.ravel().tolist() == [0, 1, 2]


@pytest.mark.parametrize("chosen", [["b"], [1], [-2], [False, True, False], np.array([False, True, False])])
def test_categorical_features_by_name_position_and_mask(chosen):
    X = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]})
    encoder, table = TableEncoder.learn(X, categorical_features=chosen)
    assert encoder.schema.coded_names == ("b",)
    assert encoder.schema.numeric_names == ("a", "c")
    assert table.numbers.shape == (2, 2)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("some", "'from_dtype', 'all'"),
        (["z"], "not a column"),
        ([3], "position 3"),
        ([True], "one entry per column"),
    ],
)
def test_bad_categorical_features_are_refused(chosen, message):
    with pytest.raises(InputError, match=message):
        TableEncoder.learn(pd.DataFrame({"a": [1], "b": [2], "c": [3]}), categorical_features=chosen)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pl.DataFrame({"took": [dt.timedelta(1)]}), "'took' holds durations or times"),
        (pl.DataFrame({"parts": [[1, 2]]}), "'parts' holds List"),
        (pd.DataFrame({"took": [dt.timedelta(1)] * 2}, dtype=object), "'took' cannot be read .* timedelta"),
        (pd.DataFrame({"cell": [{"a": 1}]}), "'cell' cannot be read"),
        (pl.DataFrame({"a": [1]}).lazy(), "collect"),
        (np.array([[b"a"]]), "not understood"),
    ],
)
def test_columns_without_meaning_are_refused_with_a_sentence(X, message):
    with pytest.raises(TableTypeError, match=message):
        TableEncoder.learn(X)


def test_numbers_too_large_to_square_are_refused():
    with pytest.raises(InputError, match="above 1e"):
        TableEncoder.learn(np.array([[1e200], [1.0]]))


@pytest.mark.parametrize("chosen", [["zip"], [1], [False, True, False]])
def test_listed_columns_are_categories_beside_those_of_text(chosen):
    X = pd.DataFrame({"age": [30, 40], "zip": [10115, 80331], "sky": ["wet", "dry"]})
    encoder, _ = TableEncoder.learn(X, categorical_features=chosen)
    assert encoder.schema.coded_names == ("zip", "sky")
    assert encoder.schema.numeric_names == ("age",)


def test_numbers_in_an_array_of_objects_are_numbers():
    X = np.array([[1, "a", 2.5, True, None], [2, "b", np.nan, False, 3]], dtype=object)
    encoder, table = TableEncoder.learn(X)
    assert encoder.schema.numeric_names == ("x0", "x2", "x4")
    assert encoder.schema.coded_names == ("x1", "x3")
    np.testing.assert_array_equal(table.numbers, [[1.0, 2.5, np.nan], [2.0, np.nan, 3.0]])


def test_text_where_training_had_numbers_is_refused():
    encoder, _ = TableEncoder.learn(np.array([[1.0], [2.0]]))
    with pytest.raises(InputError, match="'x0' should hold numbers"):
        encoder.encode(np.array([["a"]], object))


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="different lengths"):
        TableEncoder.learn([["a", 1], ["b"]])


def test_cut_numbers_have_codes_and_stay_numbers():
    X = np.array([[1.0], [2.0], [np.nan], [9.0], [10.0]] * 10)
    labels = np.array([0, 0, 0, 1, 1] * 10)
    encoder, table = TableEncoder.learn(X, cut_rule=mdl_cuts, labels=labels)
    assert encoder.schema.columns[0].cuts == (5.5,)
    assert table.codes[:5, 0].tolist() == [0, 0, 2, 1, 1]
    assert encoder.encode([[5.5], [5.6]]).codes.ravel().tolist() == [0, 1]
    assert encoder.schema.labels(0) == ("(-inf, 5.5]", "(5.5, inf]", "missing")
    assert table.numbers.shape == X.shape


def test_intervals_of_pandas_are_categories():
    X = pd.DataFrame({"age": pd.cut(pd.Series([1, 5, 9]), [0, 4, 10])})
    assert TableEncoder.learn(X)[0].schema.columns[0].categories == ("(0, 4]", "(4, 10]")


@given(st.lists(st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("cdef"), min_size=1))
def test_united_schemas_know_what_both_know(first, second):
    a, b = (TableEncoder.learn(np.array(list(cells), object)[:, None])[0].schema for cells in (first, second))
    union = a.union(b)
    assert union.columns[0].categories == tuple(sorted({*first, *second}))
    (moves,) = a.moves_to(union)
    assert [union.columns[0].categories[code] for code in moves] == list(a.columns[0].categories)
    assert union == b.union(a)


def test_integers_at_the_ends_of_their_range_are_told_apart():
    X = np.tile(np.array([[2**63 - 1], [-(2**63)]]), (15_000, 2))
    encoder, table = TableEncoder.learn(X, categorical_features="all")
    assert encoder.schema.columns[0].categories == (-(2**63), 2**63 - 1)
    assert (encoder.encode(X).codes == table.codes).all()
    huge = np.array([[2**64 - 1], [7]], dtype=np.uint64)
    encoder, _ = TableEncoder.learn(huge, categorical_features="all")
    small = np.full((30_000, 1), 7)
    assert (encoder.encode(small).codes == 0).all()


@pytest.mark.parametrize("n_rows", [10, 30_000])
def test_foreign_byte_order_read_only_and_column_major_arrays_are_read(n_rows):
    X = np.random.default_rng(0).integers(0, 5, (n_rows, 3))
    _, expected = TableEncoder.learn(X, categorical_features="all")
    frozen = X.copy()
    frozen.setflags(write=False)
    for other in (X.astype(">i4"), np.asfortranarray(X), frozen, X.astype(">f8")):
        _, table = TableEncoder.learn(other, categorical_features="all")
        assert (table.codes == expected.codes).all()


def test_columns_of_the_same_name_are_refused():
    with pytest.raises(InputError, match=r"^two columns have the same name, 'a': rename one$"):
        TableEncoder.learn(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))


def test_a_column_of_text_and_numbers_matches_either():
    X = np.array([["a"], [1], ["b"], [2]], object)
    encoder, table = TableEncoder.learn(X)
    assert decode(table) == ["a", 1, "b", 2]
    for cells in (["a"], [1], ["a", 2, "z"]):
        codes = encoder.encode(np.array(cells, object)[:, None]).codes.ravel()
        assert [decode(table)[table.codes.ravel().tolist().index(c)] for c in codes if c < 4] == [
            cell for cell in cells if cell != "z"
        ]


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_a_column_without_values_is_all_missing_at_predict(convert):
    encoder, _ = TableEncoder.learn(pd.DataFrame({"a": ["x", "y", None]}))
    empty = convert(pd.DataFrame({"a": pd.Series([None, None], dtype=object)}))
    assert encoder.encode(empty).codes.ravel().tolist() == [2, 2]


def test_equal_and_missing_values_of_an_arrow_dictionary_are_one_category():
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["x", "x", None, "y"]))
    _, table = TableEncoder.learn(pa.table({"a": values}))
    assert table.schema.columns[0].categories == ("x", "y")
    assert table.codes.ravel().tolist() == [0, 0, 2, 1]
    zeros = pl.DataFrame({"a": [0.0, -0.0, float("nan"), 1.0]})
    _, table = TableEncoder.learn(zeros, categorical_features="all")
    assert table.codes.ravel().tolist() == [0, 0, 2, 1]


def test_an_arrow_column_in_one_chunk_is_not_copied():
    column = pa.array([0.5, 1.5, None, 2.5])
    for chunks, copied in (([column], False), ([column[:2], column[2:]], True)):
        opened = open_table(pa.table({"x": pa.chunked_array(chunks)})).columns[0]
        assert opened.to_pylist() == column.to_pylist()
        assert (opened.buffers()[1].address != column.buffers()[1].address) == copied


def test_chunks_of_an_arrow_column_may_have_different_dictionaries():
    chunks = [pa.array(cells).dictionary_encode() for cells in (["b", "a"], ["c", "b"])]
    _, table = TableEncoder.learn(pa.table({"a": pa.chunked_array(chunks)}))
    assert decode(table) == ["b", "a", "c", "b"]


def test_booleans_in_rows_are_categories_with_or_without_a_missing_cell():
    for rows in ([[True, 1.0], [False, 2.0]], [[True, 1.0], [False, None]]):
        assert TableEncoder.learn(rows)[0].schema.coded_names == ("x0",)


def test_columns_are_matched_by_names_that_are_no_text():
    X = pd.DataFrame({0: ["a", "b"], 1: ["c", "a"]})
    encoder, table = TableEncoder.learn(X)
    np.testing.assert_array_equal(encoder.encode(X[[1, 0]]).codes, table.codes)


def test_masked_arrays_and_numbers_beyond_doubles_are_refused():
    with pytest.raises(TableTypeError, match="masked"):
        TableEncoder.learn(np.ma.masked_array([[1.0]], mask=[[True]]))
    with pytest.raises(InputError, match="should hold numbers"):
        TableEncoder.learn([[10**400, "a"]])


def test_a_united_numeric_column_remembers_missing_cells():
    schemas = [TableEncoder.learn(X)[0].schema for X in (np.array([[1.0]]), np.array([[1.0], [np.nan]]))]
    assert schemas[0].union(schemas[1]).columns[0].missing_seen


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_any_text_names_a_column(convert):
    X = pd.DataFrame({"with a \0 in it": ["x", "y"] * 3, " ": [1.0, 2.0] * 3})
    model = NaiveBayes().fit(convert(X), [0, 1] * 3)
    assert [column.name for column in model.schema_.columns] == list(X)
    np.testing.assert_array_equal(model.predict_proba(convert(X)), model.predict_proba(X))


def test_text_of_any_length_is_read():
    X = np.array([["a"], ["b"], [None]], dtype=np.dtypes.StringDType(na_object=None))
    encoder, table = TableEncoder.learn(X)
    assert decode(table) == ["a", "b", None]
    assert (encoder.encode(X).codes == table.codes).all()


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
def test_integers_wider_than_64_bits_are_read(dtype):
    X = pl.DataFrame({"wide": pl.Series([1, None, 2**100], dtype=dtype)})
    np.testing.assert_array_equal(TableEncoder.learn(X)[1].numbers, [[1.0], [np.nan], [2.0**100]])
    assert decode(TableEncoder.learn(X, categorical_features="all")[1]) == [1, None, 2**100]


def test_run_end_encoded_columns_are_read():
    ends = pa.array([2, 4], pa.int32())
    columns = {"text": pa.array(["x", None]), "number": pa.array([1.5, None])}
    X = pa.table({name: pa.RunEndEncodedArray.from_arrays(ends, cells) for name, cells in columns.items()})
    encoder, table = TableEncoder.learn(X)
    assert decode(table) == ["x", "x", None, None]
    np.testing.assert_array_equal(table.numbers[:, 0], [1.5, 1.5, np.nan, np.nan])
    assert (encoder.encode(X).codes == table.codes).all()


def test_a_column_without_values_is_looked_at_by_no_model():
    X = pd.DataFrame(
        {"none": [None, None], "number": [1.0, 2.0], "nan": [np.nan, np.nan], "text": ["a", "b"]}
    )
    encoder, _ = TableEncoder.learn(X)
    assert encoder.schema.columns[0] == EmptyColumn("none")
    assert encoder.schema.columns[2] == EmptyColumn("nan")
    assert encoder.schema.coded_names == ("text",)
    assert encoder.schema.numeric_names == ("number",)
    assert Schema.from_json(encoder.schema.to_json()) == encoder.schema
    later = pd.DataFrame({"none": ["x"], "number": [1.0], "nan": [3.0], "text": ["b"]})
    assert (
        encoder.encode(later).codes.tolist() == encoder.encode_few(later, named=True).codes.tolist() == [[1]]
    )
    assert encoder.encode(later).numbers.tolist() == [[1.0]]
