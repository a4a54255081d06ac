"""Months, weekdays and hours of dates, by the clock on the wall."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline

from seminaive import DateParts, NaiveBayes, load_model, save_model
from seminaive.errors import InputError

ALL = ["time", "month", "weekday", "hour"]
WHEN = pd.Series(pd.date_range("2023-12-25 13:30", periods=60, freq="37h"))
BY_HAND = pd.DataFrame(
    {
        "when_month": WHEN.dt.month_name(),
        "when_weekday": WHEN.dt.day_name(),
        "when_hour": WHEN.dt.strftime("%H:00"),
    }
)
TABLE = pd.DataFrame({"kind": pd.Categorical(["a", "b"] * 30), "when": WHEN, "size": np.arange(60.0) % 7})
TABLES = {
    "pandas": TABLE,
    "text": TABLE.assign(when=WHEN.dt.strftime("%Y-%m-%dT%H:%M")),
    "objects": TABLE.assign(when=WHEN.astype(object)),
    "a zone": TABLE.assign(when=WHEN.dt.tz_localize("Europe/Berlin")),
    "polars": pl.from_pandas(TABLE),
    "polars with a zone": pl.from_pandas(TABLE.assign(when=WHEN.dt.tz_localize("Asia/Tokyo"))),
    "arrow": pa.Table.from_pandas(TABLE),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_parts_are_those_of_the_clock_on_the_wall(table):
    made = DateParts(ALL).fit_transform(table)
    assert type(made) is type(table)
    found = made if isinstance(made, pd.DataFrame) else made.to_pandas()
    assert found.columns.tolist() == ["kind", "when", *BY_HAND, "size"]
    for name, by_hand in BY_HAND.items():
        assert found[name].astype(str).tolist() == by_hand.tolist()
        assert found[name].cat.ordered


def test_parts_of_some_columns_without_time():
    two = TABLE.assign(sent=WHEN)
    made = DateParts({"sent": ["month"]}).fit(two)
    assert made.transform(two).columns.tolist() == ["kind", "when", "size", "sent_month"]
    assert made.get_feature_names_out().tolist() == ["kind", "when", "size", "sent_month"]


def test_a_missing_date_has_missing_parts():
    made = DateParts(ALL).fit_transform(TABLE.assign(when=WHEN.where(WHEN.index > 0)))
    assert made.iloc[0].isna().tolist() == [False, True, True, True, True, False]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (["year"], "the parts of a date are a list of 'time', 'month'"),
        ("hour", "the parts of a date are a list"),
        ({"size": ["hour"]}, "'size', which is no column of dates"),
    ],
)
def test_what_is_no_part_is_refused(parts, message):
    with pytest.raises(InputError, match=message):
        DateParts(parts).fit(TABLE)


def test_a_column_of_the_same_name_is_not_overwritten():
    with pytest.raises(InputError, match="'when_month' would be made of dates"):
        DateParts().fit(TABLE.assign(when_month=1))


def test_a_pipeline_is_saved_and_reads_one_row_alike(tmp_path):
    y = np.where(WHEN.dt.hour < 12, "before noon", "after noon")
    pipeline = make_pipeline(DateParts(ALL), NaiveBayes()).fit(TABLE, y)
    save_model(pipeline, tmp_path / "pipeline.seminaive")
    loaded = load_model(tmp_path / "pipeline.seminaive")
    expected = pipeline.predict_proba(TABLE)
    np.testing.assert_array_equal(loaded.predict_proba(TABLE), expected)
    np.testing.assert_allclose(loaded.predict_proba(TABLE[3:4])[0], expected[3], atol=1e-12)
