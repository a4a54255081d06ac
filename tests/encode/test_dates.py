"""Dates are days since 1970, whatever library or text they came from."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from seminaive import ClassConditionalImputer, DateParts, NaiveBayes, SemiNaive, load_model, save_model
from seminaive.encode import CategoricalColumn, DateFormat, NumericColumn, Schema, TableEncoder
from seminaive.errors import ColumnsWarning, TableTypeError
from seminaive.export import from_json, to_json, to_python

MOMENTS = np.array(["2024-03-01T12:00", "1969-12-31T06:00", "2300-01-01", "NaT"], dtype="datetime64[us]")
DAYS = np.array([19783.5, -0.75, 120530.0, np.nan])
PYTHON = [dt.datetime(2024, 3, 1, 12), dt.datetime(1969, 12, 31, 6), dt.datetime(2300, 1, 1), None]  # noqa: DTZ001


def aware(zone):
    return pd.Series(MOMENTS).dt.tz_localize("UTC").dt.tz_convert(zone)


TABLES = {
    "pandas": pd.DataFrame({"when": MOMENTS}),
    "pandas with a zone": pd.DataFrame({"when": aware("Europe/Berlin")}),
    "pandas of arrow": pd.DataFrame({"when": pd.Series(MOMENTS).astype("timestamp[us][pyarrow]")}),
    "objects": pd.DataFrame({"when": PYTHON}, dtype=object),
    "objects with a zone": pd.DataFrame({"when": list(aware("Asia/Tokyo"))}, dtype=object),
    "polars": pl.DataFrame({"when": PYTHON}),
    "polars with a zone": pl.DataFrame({"when": PYTHON}).with_columns(
        pl.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York")
    ),
    "arrow": pa.table({"when": pa.array(PYTHON)}),
    "an array": MOMENTS[:, None],
    "rows": [[moment] for moment in PYTHON],
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_same_moment_is_the_same_number_in_every_library(table):
    encoder, encoded = TableEncoder.learn(table)
    np.testing.assert_array_equal(encoded.numbers.ravel(), DAYS)
    assert encoder.schema.columns[0].written == DateFormat()


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"when": [dt.date(2024, 3, 1), None]}),
        pa.table({"when": pa.array([dt.date(2024, 3, 1), None], pa.date64())}),
        pd.DataFrame({"when": pd.Series([dt.date(2024, 3, 1), None]).astype("date64[pyarrow]")}),
        pd.DataFrame({"when": [dt.date(2024, 3, 1), None]}),
        pd.DataFrame({"when": pd.Series([dt.date(2024, 3, 1), None]).astype("date32[pyarrow]")}),
        np.array([["2024-03-01"], ["NaT"]], dtype="datetime64[D]"),
    ],
)
def test_a_day_is_the_number_of_its_first_moment(table):
    _, encoded = TableEncoder.learn(table)
    np.testing.assert_array_equal(encoded.numbers.ravel(), [19783.0, np.nan])


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-01", 0.0),
        (" 2024-03-01 ", 19783.0),
        ("2024-03-01T12:00:00Z", 19783.5),
        ("2024-03-01 12:00:00.25", 19783.5 + 0.25 / 86400),
        ("2024-03-01T00:30+01:00", 19783.0 - 0.5 / 24),
        ("2024-02-30", np.nan),
        ("2024-03-01 25:00", np.nan),
        ("01.03.2024", np.nan),
        ("2024", np.nan),
        ("", np.nan),
    ],
)
def test_text_is_read_as_the_standard_says(text, days):
    assert DateFormat().read(text) == pytest.approx(days, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("days", [0.0, 19783.0, 19783.25, -300000.5, 19783.123456789])
def test_what_is_written_is_read_again_to_the_microsecond(days):
    assert DateFormat().read(DateFormat().write(days)) == pytest.approx(days, abs=1e-6 / 86400)


def texts(n_others, n_rows=200):
    days = pd.date_range("2023-01-01", periods=n_rows - n_others).strftime("%Y-%m-%d")
    return pd.DataFrame({"when": [*days, *["later"] * n_others]})


def test_text_is_dates_if_99_of_100_cells_are():
    columns = [TableEncoder.learn(texts(n).assign(other=1.0))[0].schema.columns[0] for n in (0, 2, 4)]
    assert [isinstance(column, NumericColumn) for column in columns] == [True, True, False]
    assert np.isnan(TableEncoder.learn(texts(2))[1].numbers[-2:]).all()


def test_cells_of_text_that_are_no_dates_are_named():
    with pytest.warns(ColumnsWarning, match="holds dates as text, and 2 cells that are none .* 'later'"):
        NaiveBayes().fit(texts(2), np.arange(200) % 2)


def test_other_ways_to_write_dates_stay_text_with_the_remedy():
    days = pd.date_range("2023-01-01", periods=40).strftime("%d.%m.%y")
    X = pd.DataFrame({"when": np.repeat(days, 5)})
    with pytest.warns(ColumnsWarning, match="holds dates as text, .* write them like 2024-03-01"):
        model = NaiveBayes().fit(X, np.arange(200) % 2)
    assert isinstance(model.schema_.columns[0], CategoricalColumn)


def test_a_listed_column_of_dates_is_categories_by_their_text():
    X = pd.DataFrame({"when": pd.to_datetime(["2024-03-01", "2024-03-02"] * 20)})
    model = NaiveBayes(categorical_features=["when"]).fit(X, np.arange(40) % 2)
    assert model.schema_.columns[0].categories == ("2024-03-01T00:00:00", "2024-03-02T00:00:00")
    assert model.predict(X[:2]).tolist() == [0, 1]


@pytest.fixture(scope="module")
def trend():
    """A class that became more frequent over three years, and how the rows are written in several ways."""
    rng = np.random.default_rng(3)
    when = pd.Series(pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 3 * 365 * 24, 600), "h"))
    years = (when - when.min()).dt.days / 365
    y = np.where(rng.random(600) < 1 / (1 + np.exp(3 - 2 * years)), "many", "few")
    return pd.DataFrame({"when": when, "noise": rng.normal(size=600)}), y


@pytest.mark.parametrize("make", [NaiveBayes, SemiNaive], ids=lambda model: model.__name__)
def test_rows_are_read_alike_as_dates_text_and_one_by_one_and_from_a_file(make, trend, tmp_path):
    X, y = trend
    model = make().fit(X, y)
    assert model.columns_report_.read_as[0].startswith("datetime64")
    assert "dates, in days since 1970" in model.columns_report_.read_as[0]
    expected = model.predict_proba(X[:12])
    assert expected[:, 1].max() > 0.3
    text = X[:12].assign(when=X.when[:12].dt.strftime("%Y-%m-%dT%H:%M"))
    objects = X[:12].assign(when=X.when[:12].astype(object))
    zoned = X[:12].assign(when=X.when[:12].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    save_model(model, tmp_path / "model.seminaive")
    loaded = load_model(tmp_path / "model.seminaive")
    for one in (model, loaded):
        for rows in (X[:12], text, objects, zoned, pl.from_pandas(X[:12]), pd.concat([X[:12]] * 3)[:30]):
            found = one.predict_proba(rows)
            np.testing.assert_allclose(found[:12], expected, atol=1e-12)


def test_missing_and_distant_dates_are_answered(trend):
    X, y = trend
    model = SemiNaive().fit(X.mask(np.random.default_rng(0).random(X.shape) < 0.05), y)
    rows = pd.DataFrame({"when": [None, "1816-01-01", "2999-12-31", "no date"], "noise": [0.0] * 4})
    found = model.predict_proba(rows)
    assert np.isfinite(found).all()
    assert found[2, 1] > found[1, 1]  # the class became more frequent
    np.testing.assert_array_equal(found[0], found[3])


def test_dates_are_refused_where_training_had_numbers(trend):
    X, y = trend
    model = NaiveBayes().fit(X.assign(when=np.arange(600.0) % 7), y)
    with pytest.raises(TableTypeError, match="'when' held numbers at training and holds dates now"):
        model.predict(X)


def test_text_and_typed_columns_give_the_same_model(trend):
    X, y = trend
    text = X.assign(when=X.when.dt.strftime("%Y-%m-%d %H:%M:%S"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = NaiveBayes().fit(X, y), NaiveBayes().fit(text, y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(text))


def test_a_schema_with_dates_and_orders_survives_json():
    X = pd.DataFrame(
        {"when": pd.to_datetime(["2024-03-01"]), "size": pd.Categorical(["S"], ["S", "M"], ordered=True)}
    )
    schema = TableEncoder.learn(X)[0].schema
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize("name", ["pandas", "pandas with a zone", "objects", "polars", "polars with a zone"])
def test_missing_dates_are_filled_in_with_dates(name):
    table = TABLES[name]
    rows = pd.concat([table] * 5) if isinstance(table, pd.DataFrame) else pl.concat([table] * 5)
    filled = ClassConditionalImputer(random_state=0).fit_transform(rows, np.arange(20) // 4 % 2)
    assert str(filled["when"].dtype) == str(rows["when"].dtype)
    _, encoded = TableEncoder.learn(filled)
    assert np.isfinite(encoded.numbers).all()
    present = np.isfinite(np.tile(DAYS, 5))
    np.testing.assert_array_equal(encoded.numbers.ravel()[present], np.tile(DAYS, 5)[present])


def days_of_text(texts):
    """Return the schema column of texts, and their days."""
    encoder, encoded = TableEncoder.learn(pd.DataFrame({"when": texts}))
    return encoder.schema.columns[0], encoded.numbers.ravel()


DATES = pd.date_range("2023-11-20", periods=60)


@pytest.mark.parametrize(
    ("form", "standard"),
    [
        ("%d.%m.%Y", "day first"),
        ("%d/%m/%Y", "day first"),
        ("%d-%m-%Y %H:%M", "day first"),
        ("%m/%d/%Y", "month first"),
        ("%m-%d-%Y", "month first"),
    ],
)
def test_days_above_twelve_prove_the_order(form, standard):
    column, days = days_of_text(DATES.strftime(form))
    assert column.written == DateFormat(standard)
    np.testing.assert_array_equal(days, DATES.to_numpy().astype("M8[D]").astype(float))


def test_without_proof_dates_stay_text_with_a_note():
    texts = [f"01.{month:02}.{year}" for month in range(1, 13) for year in range(2020, 2025)]
    X = pd.DataFrame({"when": texts * 2})
    with pytest.warns(ColumnsWarning, match="no row proving what is the day"):
        model = NaiveBayes().fit(X, np.arange(len(X)) % 2)
    assert isinstance(model.schema_.columns[0], CategoricalColumn)


def test_some_slips_are_missing_and_more_prove_nothing():
    texts = DATES.strftime("%d.%m.%Y").tolist() * 4
    texts[0] = "31.02.2024"
    column, days = days_of_text(texts)
    assert column.written == DateFormat("day first")
    assert np.isnan(days[0])
    both = [*DATES.strftime("%d.%m.%Y"), *DATES.strftime("%m.%d.%Y")]
    assert isinstance(days_of_text(both * 2)[0], CategoricalColumn)


def test_dates_with_the_day_first_are_saved_exported_and_taken_apart(tmp_path):
    X = pd.DataFrame({"when": DATES.strftime("%d.%m.%Y")})
    y = np.arange(60) % 2
    model = NaiveBayes().fit(X, y)
    save_model(model, tmp_path / "model")
    rows = pd.DataFrame({"when": ["01.12.2023", "2023-12-01", "13.13.2023", "1/12/2023"]})
    expected = model.predict_proba(rows)
    np.testing.assert_array_equal(expected[[0, 0]], expected[[1, 3]])
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict_proba(rows), expected)
    np.testing.assert_allclose(from_json(to_json(model)).predict_proba(rows), expected, rtol=1e-12)
    space = {}
    exec(to_python(model), space)  # noqa: S102 - our own export
    found = [list(space["predict_proba"](row).values()) for row in rows.to_dict("records")]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    parts = DateParts(["month"]).fit(X).transform(rows)
    assert parts["when_month"].tolist()[:2] == ["December"] * 2


def test_a_column_whose_cells_are_all_written_otherwise_is_mentioned():
    model = NaiveBayes().fit(pd.DataFrame({"when": DATES.strftime("%Y-%m-%d")}), np.arange(60) % 2)
    with pytest.warns(ColumnsWarning, match="no cell is one now, such as '20.11.2023'"):
        model.predict(pd.DataFrame({"when": DATES.strftime("%d.%m.%Y")}))
