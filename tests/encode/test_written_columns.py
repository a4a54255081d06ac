"""What the reader makes of columns as people write them: sixty written cases."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from seminaive.encode import CategoricalColumn, IdentifierColumn, NumericColumn, TableEncoder
from seminaive.encode.written_numbers import NumberFormat, find_format

N = 200
rng = np.random.default_rng(5)
AMOUNTS = rng.lognormal(8, 1.5, N).round(2)
SHARES = rng.uniform(0, 60, N).round(1)
COUNTS = rng.integers(1, 90, N)


def european(value, digits=2):
    """Write a number with a decimal comma and points between thousands."""
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def spaced(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", " ,"))


def words(*few, of=COUNTS):
    """Replace the first cells of a column of numbers, all of which have a decimal mark, by words."""
    return [*few, *(f"{k}.5" for k in range(1, len(of) - len(few) + 1))]


# Name, cells, and the numbers that the cells say.
NUMBERS = {
    "dollars": ([f"${v:,.2f}" for v in AMOUNTS], AMOUNTS),
    "dollars without cents": ([f"${v:,.0f}" for v in AMOUNTS], AMOUNTS.round()),
    "dollars with a space": ([f"$ {v:,.2f}" for v in AMOUNTS], AMOUNTS),
    "euros behind": ([f"{european(v)} €" for v in AMOUNTS], AMOUNTS),
    "euros before": ([f"€{v:,.2f}" for v in AMOUNTS], AMOUNTS),
    "pounds": ([f"£{v:.2f}" for v in AMOUNTS], AMOUNTS),
    "a currency's code": ([f"USD {v:,.2f}" for v in AMOUNTS], AMOUNTS),
    "a code behind": ([f"{v:.2f} CHF" for v in AMOUNTS], AMOUNTS),
    "reais": ([f"R$ {european(v)}" for v in AMOUNTS], AMOUNTS),
    "rupees in lakhs": (
        [f"₹{v // 100000:.0f},{v // 1000 % 100:02.0f},{v % 1000:03.0f}" for v in AMOUNTS.round() + 1e5],
        AMOUNTS.round() + 1e5,
    ),
    "thousands by commas": ([f"{v:,.2f}" for v in AMOUNTS], AMOUNTS),
    "thousands by points": ([european(v) for v in AMOUNTS], AMOUNTS),
    "thousands by points, whole": ([european(v, 0) for v in AMOUNTS], AMOUNTS.round()),
    "thousands by spaces": ([spaced(v) for v in AMOUNTS], AMOUNTS),
    "thousands by hard spaces": ([spaced(v).replace(" ", "\u00a0") for v in AMOUNTS], AMOUNTS),
    "thousands by apostrophes": ([f"{v:,.2f}".replace(",", "'") for v in AMOUNTS], AMOUNTS),
    "a decimal comma": ([f"{v:.2f}".replace(".", ",") for v in AMOUNTS], AMOUNTS),
    "percent": ([f"{v}%" for v in SHARES], SHARES),
    "percent with a space": ([f"{v} %" for v in SHARES], SHARES),
    "percent with a comma": ([f"{v} %".replace(".", ",") for v in SHARES], SHARES),
    "signed percent": ([f"{v - 30:+.1f}%" for v in SHARES], (SHARES - 30).round(1)),
    "brackets for minus": (
        [f"({-v:,.2f})" if v < 0 else f"{v:,.2f}" for v in AMOUNTS - 3000],
        (AMOUNTS - 3000).round(2),
    ),
    "dollars in brackets": (
        [f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}" for v in AMOUNTS - 3000],
        (AMOUNTS - 3000).round(2),
    ),
    "minus behind": (
        [f"{-v:,.2f}-" if v < 0 else f"{v:,.2f}" for v in AMOUNTS - 3000],
        (AMOUNTS - 3000).round(2),
    ),
    "minus before the dollar": ([f"-${v:,.2f}" for v in AMOUNTS], -AMOUNTS),
    "a printer's minus": ([f"−{v} %" for v in SHARES], -SHARES),  # noqa: RUF001
    "kilograms": ([f"{v} kg" for v in COUNTS], COUNTS),
    "kilograms written together": ([f"{v}kg" for v in SHARES], SHARES),
    "capitals and points in units": (
        [f"{v} {('kg', 'KG', 'Kg.')[v % 3]}" for v in COUNTS],
        COUNTS,
    ),
    "years in the plural": ([f"{v} year{'s' if v > 1 else ''}" for v in COUNTS], COUNTS),
    "degrees": ([f"{v} °C" for v in SHARES], SHARES),
    "speed": ([f"{v} km/h" for v in COUNTS], COUNTS),
    "areas": ([f"{v} m²" for v in COUNTS], COUNTS),
    "areas without a superscript": ([f"{v} m2" for v in COUNTS], COUNTS),
    "two words of a unit": ([f"{v:,} sq ft" for v in COUNTS * 100], COUNTS * 100),
    "inches": ([f'{v}"' for v in SHARES], SHARES),
    "numbers as text": ([str(v) for v in AMOUNTS], AMOUNTS),
    "exponents": ([f"{v:.3e}" for v in AMOUNTS], [float(f"{v:.3e}") for v in AMOUNTS]),
    "spaces around": ([f"  {v} " for v in AMOUNTS], AMOUNTS),
    "a unit that some cells lack": ([f"{v} kg" if v % 2 else f"{v}" for v in COUNTS], COUNTS),
    "numbers beside text": ([f"{v} kg" if v % 2 else int(v) for v in COUNTS], COUNTS),
    "two slips in two hundred": (words("n/a", "?"), [math.nan, math.nan, *(np.arange(1, N - 1) + 0.5)]),
    "blank cells": (words("", "  ", "", "", ""), [math.nan] * 5 + (np.arange(1, N - 4) + 0.5).tolist()),
    "numbers as objects": (np.array(AMOUNTS, dtype=object), AMOUNTS),
}
CATEGORIES = {
    "postcodes with zeros": [f"{v:05}" for v in rng.integers(1000, 99999, N) // 997 * 997],
    "months with zeros": [f"{v % 12 + 1:02}" for v in range(N)],
    "few digits": [str(v % 7) for v in range(N)],
    "units that differ": [f"{v % 30} {'kg' if v % 2 else 'g'}" for v in range(N)],
    "currencies that differ": [f"{'$' if v % 2 else '€'}{v % 30}" for v in range(N)],
    "many words among numbers": [str(v % 40) if v % 3 else "none" for v in range(N)],
    "ordinals": [f"{v % 3 + 1}{['st', 'nd', 'rd'][v % 3]}" for v in range(N)],
    "ranges": [f"{v % 5 * 10}-{v % 5 * 10 + 9}" for v in range(N)],
    "limits": [f"< {v % 30}" for v in range(N)],
    "times": [f"{v % 24}:30" for v in range(N)],
    "two values": ["2WD" if v % 3 else "4WD" for v in range(N)],
    "addresses of machines": [f"192.168.{v % 5}.{v % 8}" for v in range(N)],
    "letters before digits": [f"A{v % 40}" for v in range(N)],
    "booleans": [v % 3 == 0 for v in range(N)],
}
IDENTIFIERS = {
    "telephones": [f"555-{v:03}-{9999 - v}" for v in range(N)],
    "keys": [f"customer {v:05}" for v in range(N)],
    "free text": [f"came {v} times and said {v % 7}, {v % 11}" for v in range(N)],
    "keys, some missing": [None if v % 9 == 0 else f"k{v}" for v in range(N)],
}


def learned(cells):
    frame = pd.DataFrame({"c": cells, "d": ["a", "b"] * (N // 2)})
    encoder, table = TableEncoder.learn(frame)
    return frame, encoder, table


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_read_as_they_are_written(case):
    cells, said = NUMBERS[case]
    frame, encoder, table = learned(cells)
    assert isinstance(encoder.schema.columns[0], NumericColumn)
    np.testing.assert_allclose(table.numbers[:, 0], np.asarray(said, dtype=float), rtol=1e-12)
    np.testing.assert_array_equal(encoder.encode(frame).numbers, table.numbers)
    few = encoder.encode_few(frame[:9], named=True)
    np.testing.assert_array_equal(few.numbers, table.numbers[:9])


@pytest.mark.parametrize("case", CATEGORIES)
def test_codes_and_words_stay_categories(case):
    _, encoder, table = learned(CATEGORIES[case])
    column = encoder.schema.columns[0]
    assert isinstance(column, CategoricalColumn)
    assert [column.categories[code] for code in table.codes[:, 0]] == CATEGORIES[case]


@pytest.mark.parametrize("case", IDENTIFIERS)
def test_a_value_per_row_is_an_identifier(case):
    _, encoder, table = learned(IDENTIFIERS[case])
    column = encoder.schema.columns[0]
    assert isinstance(column, IdentifierColumn)
    assert column.n_missing == sum(cell is None for cell in IDENTIFIERS[case])
    assert table.codes.shape == (N, 1)


def test_there_are_sixty_cases():
    assert len(NUMBERS) + len(CATEGORIES) + len(IDENTIFIERS) >= 60


@pytest.mark.parametrize("convert", [pa.Table.from_pandas, lambda frame: frame.to_numpy(dtype=object)])
def test_every_library_is_read_alike(convert):
    frame = pd.DataFrame(
        {case: NUMBERS[case][0] for case in ("dollars", "percent with a comma", "kilograms")}
    )
    _, expected = TableEncoder.learn(frame)
    _, table = TableEncoder.learn(convert(frame))
    np.testing.assert_array_equal(table.numbers, expected.numbers)


def test_a_listed_column_and_a_declared_one_stay_categories():
    cells = NUMBERS["kilograms"][0]
    frame = pd.DataFrame({"listed": cells, "declared": pd.Categorical(cells), "read": cells})
    encoder, _ = TableEncoder.learn(frame, categorical_features=["listed"])
    assert encoder.schema.coded_names == ("listed", "declared")
    assert encoder.schema.numeric_names == ("read",)


def test_a_listed_identifier_is_used():
    frame = pd.DataFrame({"key": IDENTIFIERS["keys"]})
    encoder, _ = TableEncoder.learn(frame, categorical_features=["key"])
    assert encoder.schema.cardinalities == (N,)


def test_rows_that_count_twice_are_two_rows():
    frame = pd.DataFrame({"key": IDENTIFIERS["keys"], "d": ["a", "b"] * (N // 2)})
    weighed, _ = TableEncoder.learn(frame, row_weight=np.full(N, 2.0))
    repeated, _ = TableEncoder.learn(pd.concat([frame, frame]))
    assert weighed.schema == repeated.schema
    assert weighed.schema.coded_names == ("key", "d")


@pytest.mark.parametrize("share", [0.989, 0.99])
def test_ninety_nine_in_a_hundred_cells_have_to_agree(share):
    n_words = round((1 - share) * 1000)
    counts = {"none": n_words, **{f"{k} kg": 10 for k in range(100)}}
    counts["0 kg"] -= n_words
    assert (find_format(counts) is not None) == (share >= 0.99)


@pytest.mark.parametrize(
    "text", ["", "kg", "12 lb", "$12", "1,2,3 kg", "(12 kg", "012 kg", "1 2 kg", "12 kg 3"]
)
def test_what_is_not_in_the_format_is_no_number(text):
    assert math.isnan(NumberFormat(".", ",", "kg").read(text))


def test_a_share_without_its_sign_may_mean_either():
    assert math.isnan(NumberFormat(".", ",", "%").read("0.17"))
    assert NumberFormat(".", ",", "kg").read("0.17") == 0.17


@pytest.mark.parametrize(
    "case", [case for case in NUMBERS if case not in ("blank cells", "numbers as objects")]
)
def test_a_format_reads_the_example_that_it_shows(case):
    written = find_format(pd.Series(NUMBERS[case][0]).value_counts().to_dict())
    assert written.is_known
    assert written.read(written.example) == 1234.5
    for number in (0.0, -3.25, 1e-7, 12345678.9, -1e22):
        assert written.read(written.write(number)) == number


WHOLE = {
    "shops": [str(v) for v in COUNTS],
    "postcodes": [str(v) for v in 10_000 + 37 * COUNTS],
    "whole numbers with spaces around": [f" {v} " for v in COUNTS],
    "one rare unit": ["2", "3", "4", "5more"] * (N // 4),
}


@pytest.mark.parametrize("cells", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize(
    "make",
    [
        lambda cells: pd.DataFrame({"c": cells}),
        lambda cells: pa.table({"c": cells}),
        lambda cells: np.array(cells, dtype=object)[:, None],
    ],
)
def test_text_of_whole_numbers_stays_text(cells, make):
    encoder, _ = TableEncoder.learn(make(cells))
    assert isinstance(encoder.schema.columns[0], CategoricalColumn)


MEANT = {
    "a sign": [f"{v - 40}" for v in COUNTS],
    "a fraction in some": [f"{v / 2:g}" for v in COUNTS],
    "a unit in some": [f"{v} kg" if v % 2 else str(v) for v in COUNTS],
    "numbers beside text": [int(v) if v % 2 else str(v) for v in COUNTS],
    "a unit in most, of few values": ["2 doors", "3 doors", "4 doors", "5"] * (N // 4),
}


@pytest.mark.parametrize("cells", MEANT.values(), ids=MEANT)
def test_a_sign_a_fraction_or_a_unit_makes_numbers_of_text(cells):
    encoder, _ = TableEncoder.learn(pd.DataFrame({"c": pd.Series(cells, dtype=object)}))
    assert isinstance(encoder.schema.columns[0], NumericColumn)
