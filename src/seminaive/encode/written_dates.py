"""Dates and times as numbers: days since the start of 1970, of typed columns and of text like `2024-03-01`.

Text like `31.12.2024` or `12/31/2024` is dates, too, where days above 12 prove which comes first.
A time zone is taken off by going to universal time, so that the same moment is the same number however it is
written; a time without a zone is read as it stands.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.encode.written_numbers import AGREEMENT, FEWEST_VALUES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats

STANDARD = "ISO 8601"
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - universal time, without its name
MICROSECOND = dt.timedelta(microseconds=1)
MICROSECONDS_PER_DAY = 86_400_000_000
# What pandas calls the cells of a column of objects that are dates.
DATES_OF_PANDAS = ("date", "datetime", "datetime64")
# Formats of a moment, the coarsest first.
PRECISIONS = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")

# Year, month, day; hour, minute, second and its fraction; zone. Python and JavaScript read it alike.
_TIME = (
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?\s?(Z|[+-][0-9]{2}:?[0-9]{2})?)?\s*$"
)
PATTERN = r"^\s*([1-9][0-9]{3})-([0-9]{2})-([0-9]{2})" + _TIME
# Dates with the year last, and which of the groups are year, month and day.
YEAR_LAST = r"^\s*([0-9]{1,2})[./-]([0-9]{1,2})[./-]([1-9][0-9]{3})" + _TIME
ORDERS = {"day first": (2, 1, 0), "month first": (2, 0, 1)}
_matches, _matches_year_last = re.compile(PATTERN).match, re.compile(YEAR_LAST).match


@dataclass(frozen=True)
class DateFormat(SavedByFields):
    """Dates as the international standard or a country writes them, read as days since the start of 1970.

    Parameters
    ----------
    standard : {"ISO 8601", "day first", "month first"}, default="ISO 8601"
        Dates whose year is last are read besides those of the standard where it says what comes first.

    Examples
    --------
    >>> dates = DateFormat()
    >>> [dates.read(text) for text in ("1970-01-02", "1970-01-01 06:00", "1970-01-01T01:00+01:00", "soon")]
    [1.0, 0.25, 0.0, nan]
    >>> dates.texts([19783.0, 19784.0]), dates.texts([19783.25, 19783.5])
    (['2024-03-01', '2024-03-02'], ['2024-03-01 06:00', '2024-03-01 12:00'])
    >>> DateFormat("day first").read("2.1.1970"), DateFormat("month first").read("2/1/1970")
    (1.0, 31.0)
    """

    standard: str = STANDARD

    @property
    def described(self) -> str:
        """Return what the numbers of a column mean."""
        how = "" if self.standard == STANDARD else f" with the {self.standard}"
        return f"dates{how}, in days since 1970"

    @property
    def reader(self) -> dict[str, Any]:
        """Return what a program in another language needs to read cells."""
        order = ORDERS.get(self.standard)
        local = {} if order is None else {"year_last": YEAR_LAST, "order": list(order)}
        return {"standard": self.standard, "pattern": PATTERN, **local}

    @property
    def is_known(self) -> bool:
        """Tell whether there is such a format; another may come from a damaged file."""
        return self.standard == STANDARD or self.standard in ORDERS

    @property
    def example(self) -> str:
        """Return a date in this format."""
        return "2024-03-01"

    def read(self, text: str) -> float:
        """Return the days that a cell says, NaN where it says no date."""
        found = _moment(text, self.standard)
        if found is None:
            return math.nan
        moment, minutes_east = found
        microseconds = (moment - EPOCH) // MICROSECOND
        return (microseconds - 60_000_000 * minutes_east) / MICROSECONDS_PER_DAY

    def read_cell(self, cell: Any) -> float:
        """Return the days of a cell that is text, a date, or a number of days already."""
        if isinstance(cell, str):
            return self.read(cell)
        if isinstance(cell, np.datetime64):
            cell = cell.astype("datetime64[us]").item()  # None where there is none
        if isinstance(cell, dt.date) or cell is None:
            return self.read(str(cell))  # "NaT" where there is none
        return math.nan if isinstance(cell, bool) else float(cell)

    def write(self, number: float) -> str:
        """Return the text that `read` reads as this number of days, to the microsecond."""
        for precision in PRECISIONS:
            text = _text(number, precision)
            if self.read(text) == number:
                break
        return text

    def texts(self, numbers: Sequence[float]) -> list[str]:
        """Return dates as text, with times of day where dates alone would not tell them apart."""
        for precision in PRECISIONS:
            texts = [_text(number, precision) for number in numbers]
            if len(set(texts)) == len(set(numbers)):
                break
        return texts


def _moment(text: str, standard: str = STANDARD) -> tuple[dt.datetime, int] | None:
    """Return what a text says of the clock on the wall, and the minutes by which it is ahead; or None."""
    found, order = _matches(text), (0, 1, 2)
    if found is None and standard in ORDERS:
        found, order = _matches_year_last(text), ORDERS[standard]
    if found is None:
        return None
    parts = [int(part or 0) for part in found.groups()[:6]]
    (year, month, day), (hour, minute, second) = (parts[k] for k in order), parts[3:]
    fraction = int((found[7] or "0")[:6].ljust(6, "0"))
    try:
        moment = dt.datetime(year, month, day, hour, minute, second, fraction)  # noqa: DTZ001 - as on the wall
    except ValueError:  # the 30th of February
        return None
    return moment, _minutes_east(found[8])


def _minutes_east(zone: str | None) -> int:
    """Return by how many minutes a zone is ahead of universal time."""
    if zone is None or zone == "Z":
        return 0
    minutes = 60 * int(zone[1:3]) + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes


def _text(number: float, precision: str) -> str:
    """Return a moment as text; beyond the years that a calendar has, the number of days."""
    try:
        moment = EPOCH + round(number * MICROSECONDS_PER_DAY) * MICROSECOND
    except OverflowError:
        return f"{number:g} days since 1970"
    return moment.strftime(precision)


def may_write_dates(values: Sequence[Any]) -> bool:
    """Tell whether half of some different texts are dates, or there is none."""
    texts = [value for value in values if isinstance(value, str)]
    dates = (_matches(text) or _matches_year_last(text) for text in texts)
    return 2 * sum(found is not None for found in dates) >= len(texts)


def find_dates(counts: Mapping[Any, int]) -> DateFormat | None:
    """Return how a column of text writes dates, None where fewer than 99 % of its cells are dates.

    Parameters
    ----------
    counts : mapping
        How many cells have each value. Missing cells are left out.

    Examples
    --------
    >>> find_dates({"2024-03-01": 3, "2024-03-02": 2, "2024-04-01 12:30": 1})
    DateFormat(standard='ISO 8601')
    >>> find_dates({"2024-03-01": 3, "01/04/2024": 2, "later": 1}) is None
    True
    >>> find_dates({"31.12.2024": 1, "1.2.2024": 1, "3.2.2024": 1})
    DateFormat(standard='day first')
    """
    values = [value for value in counts if not (isinstance(value, str) and not value.strip())]
    if len(values) < FEWEST_VALUES or not all(isinstance(value, str) for value in values):
        return None
    enough = AGREEMENT * sum(counts[value] for value in values)
    found = [
        form
        for form in map(DateFormat, (STANDARD, *ORDERS))
        if sum(counts[value] for value in values if not math.isnan(form.read(value))) >= enough
    ]
    # Either order reads dates of the standard and, where no day is above 12, all others: nothing is proved.
    return found[0] if len(found) == 1 or found[:1] == [DateFormat()] else None


# Typed columns


def holds_dates(column: Any) -> bool:
    """Tell whether a column is one of dates, by its type or, where that is object, by its cells."""
    column = _unwrapped(column)
    if hasattr(column, "null_count"):
        import pyarrow as pa

        return bool(pa.types.is_date(column.type) or pa.types.is_timestamp(column.type))
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind != "O":
        return bool(kind == "M")
    import pandas as pd

    return pd.api.types.infer_dtype(column, skipna=True) in DATES_OF_PANDAS


def days_of(column: Any) -> Floats:
    """Return a column of dates as days since 1970, NaN where a cell is missing."""
    column = _unwrapped(column)
    if _holds_objects(column):
        return np.array([DateFormat().read_cell(cell) for cell in _without_none(column)], dtype=np.float64)
    moments = _moments(column, "UTC")
    days = moments.astype(np.int64) / MICROSECONDS_PER_DAY
    days[np.isnat(moments)] = np.nan
    return np.asarray(days, dtype=np.float64)


def moments_of(days: Floats) -> NDArray[np.datetime64]:
    """Return days since 1970 as moments, to the microsecond."""
    return np.rint(days * MICROSECONDS_PER_DAY).astype(np.int64).astype("datetime64[us]")


def wall_clock(column: Any, standard: str = STANDARD) -> NDArray[np.datetime64]:
    """Return the moments of a column of dates or text as the clock on the wall showed them.

    Text is read as a `DateFormat` of this standard reads it.
    """
    column = _unwrapped(column)
    if holds_dates(column) and not _holds_objects(column):
        return _moments(column, None)
    cells = column.to_pylist() if hasattr(column, "null_count") else _without_none(column)
    texts = (cell if isinstance(cell, str) else getattr(cell, "isoformat", str)() for cell in cells)
    found = (_moment(text, standard) for text in texts)
    return np.array([None if moment is None else moment[0] for moment in found], dtype="datetime64[us]")


def _holds_objects(column: Any) -> bool:
    return getattr(getattr(column, "dtype", None), "kind", "") == "O"


def _without_none(column: Any) -> list[Any]:
    """Return cells, a missing one as NaN."""
    return [math.nan if cell is None else cell for cell in column]


def _moments(column: Any, zone: str | None) -> NDArray[np.datetime64]:
    """Return a typed column of dates in universal time or, for None, as the clock on the wall showed them."""
    if hasattr(column, "null_count"):
        return _arrow_moments(column, zone)
    if getattr(column.dtype, "tz", None) is not None:
        column = (column if zone is None else column.dt.tz_convert(zone)).dt.tz_localize(None)
    return np.asarray(column, dtype="datetime64[us]")


def _unwrapped(column: Any) -> Any:
    """Return the arrow array of a pandas series that holds one; any other column as it is."""
    return (
        column.array.__arrow_array__() if hasattr(getattr(column, "dtype", None), "pyarrow_dtype") else column
    )


def _arrow_moments(column: Any, zone: str | None) -> NDArray[np.datetime64]:
    """Return the moments of an arrow column as `_moments` does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if getattr(column.type, "tz", None) is not None and zone is None:
        column = pc.local_timestamp(column)
    counted = column.cast(pa.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False).cast(
        pa.int64()
    )
    present = ~np.asarray(column.is_null())
    moments = np.full(len(column), np.datetime64("NaT"), dtype="datetime64[us]")
    moments[present] = np.asarray(counted.drop_null()).astype("datetime64[us]")
    return moments
