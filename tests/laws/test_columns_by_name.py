"""Columns are matched by name: in any order, with further ones ignored, and one that lacks named."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import seminaive
from seminaive import explain, export
from seminaive.errors import ColumnsWarning, InputError

N = 60


def table():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return pd.DataFrame(
        {
            "kind": np.where(rng.random(N) < 0.3 + 0.4 * y, "new", "old"),
            "size": rng.normal(y, 1.0),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, N), "D"),
        }
    ), y


@pytest.fixture(params=[8, N], ids=["few rows", "more rows"])
def rows(request):
    return table()[0].iloc[: request.param].reset_index(drop=True)


@pytest.fixture(scope="module")
def model():
    return seminaive.NaiveBayes().fit(*table())


def test_every_classifier_takes_columns_in_any_order(classifier, rows):
    model = classifier().fit(*table())
    np.testing.assert_array_equal(
        model.predict_proba(rows[["day", "kind", "size"]]), model.predict_proba(rows)
    )


def test_every_stream_takes_columns_in_any_order(streaming_classifier):
    X, y = table()
    chunks = [X.iloc[:40], X.iloc[40:][["day", "kind", "size"]]], [X.iloc[:40], X.iloc[40:]]
    one, other = (streaming_classifier() for _ in chunks)
    for model, parts in zip((one, other), chunks, strict=True):
        model.partial_fit(parts[0], y[:40], classes=[0, 1]).partial_fit(parts[1], y[40:])
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("library", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_further_columns_are_ignored_with_one_note(model, rows, library):
    wider = library(rows.assign(note="x", more=1)[["note", "day", "kind", "more", "size"]])
    with pytest.warns(ColumnsWarning, match="ignored: 'note', 'more'") as said:
        found = model.predict_proba(wider)
    assert len(said) == 1
    np.testing.assert_array_equal(found, model.predict_proba(rows))


def test_mappings_and_series_are_rows(model, rows):
    expected = model.predict_proba(rows)
    records = rows[["size", "day", "kind"]].to_dict("records")
    np.testing.assert_array_equal(model.predict_proba(records), expected)
    for k in range(3):
        np.testing.assert_array_equal(model.predict_proba(records[k]), expected[[k]])
        np.testing.assert_array_equal(model.predict_proba(rows.iloc[k]), expected[[k]])
    with pytest.warns(ColumnsWarning, match="ignored: 'note'"):
        np.testing.assert_array_equal(model.predict_proba(records[0] | {"note": "x"}), expected[[0]])


def test_unknown_cells_of_a_mapping_are_missing_cells(model, rows):
    row = rows.iloc[:1].astype(object).copy()
    row["size"] = None
    expected = model.predict_proba(row)
    for wide in ({}, {"more": 1}):  # read cell by cell, and as a frame
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnsWarning)
            np.testing.assert_array_equal(model.predict_proba([row.iloc[0].to_dict() | wide]), expected)


@pytest.mark.parametrize(
    "narrow",
    [
        lambda rows: rows[["day", "kind"]],
        lambda rows: rows[["day", "kind"]].assign(Size=1.0),
        lambda rows: pl.from_pandas(rows[["day", "kind"]]),
        lambda rows: rows[["day", "kind"]].to_dict("records"),
        lambda rows: rows[["day", "kind"]].iloc[0].to_dict(),
        lambda rows: rows[["day", "kind"]].iloc[0],
        lambda rows: [rows.iloc[0].to_dict(), rows[["day", "kind"]].iloc[0].to_dict()],
    ],
)
def test_a_column_that_lacks_is_named(model, rows, narrow):
    with pytest.raises(InputError, match="lacks 'size'"):
        model.predict_proba(narrow(rows))


def test_columns_whose_names_are_numbers_are_matched_by_them():
    X, y = table()
    X.columns = [2, 0, 1]
    model = seminaive.NaiveBayes().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X[[0, 1, 2]]), model.predict_proba(X))


def test_a_model_without_names_takes_columns_by_position():
    X, y = table()
    model = seminaive.NaiveBayes().fit(X[["size"]].to_numpy(), y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        named = model.predict_proba(X[["size"]])
    np.testing.assert_array_equal(named, model.predict_proba(X[["size"]].to_numpy()))


def test_explanations_match_columns_by_name(model, rows):
    moved = rows[["size", "day", "kind"]]
    assert explain.reasons(model, moved).words(1) == explain.reasons(model, rows).words(1)
    assert explain.reasons(model, moved.iloc[1]).words() == explain.reasons(model, rows).words(1)
    pd.testing.assert_frame_equal(model.contributions(moved), model.contributions(rows))
    np.testing.assert_array_equal(model.column_effects(moved), model.column_effects(rows))
    unseen = moved.assign(kind="never")
    pd.testing.assert_frame_equal(
        explain.shift(model, unseen).frame(), explain.shift(model, unseen[list(rows.columns)]).frame()
    )
    scored = explain.scorecard(model)
    np.testing.assert_array_equal(scored.score(moved), scored.score(rows))


def test_influence_matches_columns_by_name():
    X, y = table()
    model = seminaive.HigherOrderLogisticRegression(order=1).fit(X, y)
    pd.testing.assert_frame_equal(
        explain.influence(model, X[["size", "day", "kind"]], y), explain.influence(model, X, y)
    )


def test_selectors_and_imputers_match_columns_by_name(rows):
    X, y = table()
    X, rows = X[["kind", "size"]], rows[["kind", "size"]]
    moved = rows.assign(more=1)[["more", "size", "kind"]]
    for transformer in (
        seminaive.CorrelationFeatureSelector().fit(X, y),
        seminaive.ClassConditionalImputer(random_state=0).fit(X, y),
        seminaive.MultipleImputer(2, random_state=0).fit(X, y),
        seminaive.DateParts().fit(X),
    ):
        with pytest.warns(ColumnsWarning, match="ignored: 'more'"):
            found = transformer.transform(moved)
        pd.testing.assert_frame_equal(found, transformer.transform(rows))


def test_the_exported_python_function_takes_rows_by_name(model, rows):
    space = {}
    exec(export.to_python(model), space)  # noqa: S102 - our own export
    expected = model.predict_proba(rows)[0]
    for row in (rows.iloc[0], rows.iloc[0].to_dict() | {"more": 1}, rows.iloc[0].tolist()):
        np.testing.assert_allclose(list(space["predict_proba"](row).values()), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="the row lacks 'size'"):
        space["predict_proba"](rows[["day", "kind"]].iloc[0].to_dict())
    with pytest.raises(ValueError, match="has 3 columns, the row 2"):
        space["predict_proba"](["new", 1.0])


def test_discretisers_match_columns_by_name():
    X, _ = table()
    X = X[["size"]].assign(other=np.arange(N) * 1.0)
    cut = seminaive.EqualFrequencyDiscretizer(5).fit(X)
    np.testing.assert_array_equal(cut.transform(X[["other", "size"]]), cut.transform(X))
