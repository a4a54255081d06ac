"""Columns of dates as time and season: months, weekdays and hours beside the days since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from seminaive.encode.calendar_cycles import HOURS, MONTHS, WEEKDAYS
from seminaive.encode.column_kinds import ColumnKinds
from seminaive.encode.frame_parts import frame_like, native_columns, ordered_column
from seminaive.encode.frames import open_table
from seminaive.encode.table_tags import by_name, check_columns, of_tables
from seminaive.encode.written_dates import DateFormat, wall_clock
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.arrays import Indices

    Moments = NDArray[np.datetime64]

TIME = "time"
# The levels of each part, and the place of each moment among them; the first day of 1970 was a Thursday.
PARTS: dict[str, tuple[tuple[str, ...], Callable[[Moments], Indices]]] = {
    "month": (MONTHS, lambda moments: _counted(moments, "M") % 12),
    "weekday": (WEEKDAYS, lambda moments: (_counted(moments, "D") + 3) % 7),
    "hour": (HOURS, lambda moments: _counted(moments, "h") % 24),
}


def _counted(moments: Moments, unit: str) -> Indices:
    """Return the months, days or hours since the start of 1970."""
    return moments.astype(f"datetime64[{unit}]").astype(np.int64)


class DateParts(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Adds the month, the weekday or the hour of dates as columns of ordered levels, which go round.

    A model reads a date as time, a number. What repeats every year, week or day needs more columns.
    `SemiNaive` draws neighbouring levels together, December and January among them; other models read
    categories. Parts are those of the clock on the wall: of a column with a time zone, the local time.

    Parameters
    ----------
    parts : list of {"time", "month", "weekday", "hour"}, or mapping of column to such a list
        Which columns are made of each column of dates, named ``<column>_month`` and so on; default
        ("time", "month", "weekday"). "time" keeps the dates themselves. A list is for every column of dates,
        a mapping for the columns that it names.

    Attributes
    ----------
    parts_ : dict of str to tuple of str
        The parts of each column of dates.

    Examples
    --------
    >>> import pandas as pd
    >>> calls = pd.DataFrame({"when": pd.to_datetime(["2024-03-01 09:30", "2024-12-24 18:00"])})
    >>> DateParts(["weekday", "hour"]).fit_transform(calls)
      when_weekday when_hour
    0       Friday     09:00
    1      Tuesday     18:00
    """

    def __init__(self, parts: Any = (TIME, "month", "weekday")) -> None:
        self.parts = parts

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that text, categories, missing cells and sparse indicators are welcome."""
        tags = of_tables(super().__sklearn_tags__())
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> DateParts:  # noqa: ARG002 - a transformer's signature
        """Find the columns of dates.

        Parameters
        ----------
        X : frame, array or list of rows
        y : None
            Not looked at.
        """
        opened = open_table(X)
        check_columns(self, X, reset=True)
        formats = ColumnKinds.find(opened, "from_dtype", None).formats
        self._standards = {
            opened.names[k]: how.standard for k, how in sorted(formats.items()) if isinstance(how, DateFormat)
        }
        self.parts_ = self._chosen(list(self._standards))
        made = [f"{name}_{part}" for name, parts in self.parts_.items() for part in parts if part != TIME]
        clash = sorted({*made} & {*opened.names})
        if clash:
            raise InputError(f"column {clash[0]!r} would be made of dates, and there is one: rename it")
        self._names = opened.names
        return self

    def transform(self, X: Any) -> Any:
        """Return the table with columns of parts: a frame of the same library, pandas for an array.

        Parameters
        ----------
        X : frame, array or list of rows
            The training columns.
        """
        check_is_fitted(self)
        X = by_name(self, X)
        opened = open_table(X)
        check_columns(self, X, reset=False)
        if not self.parts_:
            return X if hasattr(X, "shape") else np.asarray(X)
        columns: dict[str, Any] = {}
        natives = native_columns(X, opened)
        for name, native, column in zip(self._names, natives, opened.columns, strict=True):
            parts = self.parts_.get(name)
            if parts is None or TIME in parts:
                columns[name] = native
            moments = None if parts is None else wall_clock(column, self._standards[name])
            for part in parts or ():
                if part != TIME and moments is not None:
                    columns[f"{name}_{part}"] = _levels(X, moments, part)
        return frame_like(X, columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002 - scikit-learn's
        """Return the names of the columns that `transform` makes."""
        check_is_fitted(self)
        names = []
        for name in self._names:
            parts = self.parts_.get(name, (TIME,))
            names += [name] * (TIME in parts)
            names += [f"{name}_{part}" for part in parts if part != TIME]
        return np.array(names, dtype=object)

    def _chosen(self, dates: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the parts of each column of dates; refuse what is no part, and other columns."""
        if not isinstance(self.parts, Mapping):
            parts = _checked(self.parts)
            return dict.fromkeys(dates, parts)
        foreign = [name for name in self.parts if name not in dates]
        if foreign:
            raise InputError(f"parts names {foreign[0]!r}, which is no column of dates: there are {dates}")
        return {name: _checked(self.parts[name]) for name in dates if name in self.parts}


def _checked(parts: Any) -> tuple[str, ...]:
    known = (TIME, *PARTS)
    if not isinstance(parts, list | tuple) or not parts or not all(part in known for part in parts):
        raise InputError(f"the parts of a date are a list of {', '.join(map(repr, known))}, got {parts!r}")
    return tuple(dict.fromkeys(parts))


def _levels(X: Any, moments: Moments, part: str) -> Any:
    """Return a part of some moments as a column of ordered levels, in the library of a table."""
    levels, code_of = PARTS[part]
    missing = np.isnat(moments)
    codes = np.where(missing, 0, code_of(np.where(missing, np.datetime64(0, "us"), moments)))
    return ordered_column(X, codes, missing, levels)
