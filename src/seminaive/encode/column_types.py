"""What a model knows of one column: a category, a number, a column without values or one that names rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seminaive.encode.calendar_cycles import is_cycle
from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.encode.spelling import fold
from seminaive.encode.written_dates import DateFormat
from seminaive.encode.written_numbers import NumberFormat
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seminaive.arrays import Integers


Category = str | int | float | bool
Format = NumberFormat | DateFormat


def _order(value: Category) -> tuple[bool, Any]:
    """Sort numbers and booleans by value, then text by code point."""
    return (isinstance(value, str), value)


def _arranged(values: Iterable[Category], order: Sequence[Category] | None) -> tuple[Category, ...]:
    """Return values by their rank in an order or, without one, sorted."""
    if order is None:
        return tuple(sorted(values, key=_order))
    rank = {level: k for k, level in enumerate(order)}
    return tuple(sorted(values, key=rank.__getitem__))


@dataclass(frozen=True)
class CategoricalColumn(SavedByFields):
    """A column of categories.

    Parameters
    ----------
    name : str
        The column's name, or ``x0``, ``x1``, ... in a table without names.
    categories : tuple
        The values seen in training, by ``order`` or, where there is none, sorted: numbers, then text. A
        value's position is its code.
    missing_seen : bool
        Whether training had missing cells here. Their code is the number of categories.
    merged : bool
        Whether capitals and spaces around a value do not matter: "Yes", "yes" and "yes " have one code.
    order : tuple or None
        The levels of an ordered type in their order, those that training never had among them; None where
        categories are names.
    """

    name: str
    categories: tuple[Category, ...]
    missing_seen: bool
    merged: bool = False
    order: tuple[Category, ...] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        values: Iterable[Category],
        *,
        missing_seen: bool,
        order: tuple[Category, ...] | None = None,
    ) -> CategoricalColumn:
        """Return the column with these values, in their order."""
        return cls(name, _arranged(values, order), missing_seen, order=order)

    @property
    def is_cyclic(self) -> bool:
        """Tell whether the first level follows the last one, as January follows December."""
        return self.order is not None and is_cycle(self.order)

    @cached_property
    def code_of(self) -> dict[Category, int]:
        """Return the code of each category; where spellings are merged, of each folded one."""
        return {self.key(value): code for code, value in enumerate(self.categories)}

    def key(self, value: Category) -> Category:
        """Return by what a value is looked up in ``code_of``."""
        return fold(value) if self.merged else value

    @property
    def is_text(self) -> bool | None:
        """Tell whether the categories are text; None where they are mixed, or where there are none."""
        return self._is_text(self.categories)

    @property
    def n_present(self) -> int:
        """Return the number of values that a present cell can take; also the code of a missing one."""
        return len(self.categories)

    def codes_of(self, values: Sequence[Category], unseen: int) -> Integers:
        """Return the code of each value, ``unseen`` where training never had it."""
        if {self._is_text(self.categories), self._is_text(values)} == {True, False}:
            raise InputError(
                f"column {self.name!r} held {self._describe(self.categories)} at training and holds "
                f"{self._describe(values)} now: convert it to the training type, or refit"
            )
        return np.array([self.code_of.get(self.key(value), unseen) for value in values], dtype=np.int64)

    @staticmethod
    def _is_text(values: Sequence[Category]) -> bool | None:
        """Tell text from numbers; a mixture, or nothing but missing cells, counts as either."""
        text = {isinstance(value, str) for value in values if value == value}  # NaN is missing
        return text.pop() if len(text) == 1 else None

    @staticmethod
    def _describe(values: Sequence[Category]) -> str:
        value = values[0]
        return f"text, such as {value!r}," if isinstance(value, str) else f"numbers, such as {value!r},"

    def union(self, other: CategoricalColumn) -> CategoricalColumn:
        """Return the column that has the values of both."""
        new = [value for value in other.categories if self.key(value) not in self.code_of]
        order = None if self.order is None else self._united_order(other)
        return replace(
            self,
            categories=_arranged([*self.categories, *new], order),
            missing_seen=self.missing_seen or other.missing_seen,
            order=order,
        )

    def _united_order(self, other: CategoricalColumn) -> tuple[Category, ...]:
        """Return the levels of both columns, those that only the other one has last."""
        rank = {self.key(level): k for k, level in enumerate(self.order or ())}
        theirs = other.categories if other.order is None else other.order
        ranks = [rank[self.key(level)] for level in theirs if self.key(level) in rank]
        if other.order is not None and ranks != sorted(ranks):
            raise InputError(
                f"the levels of column {self.name!r} come in two orders, {list(self.order or ())} and "
                f"{list(theirs)}: give both tables the same ordered type"
            )
        return (*(self.order or ()), *(level for level in theirs if self.key(level) not in rank))


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers, with cut points where the model wants categories.

    Parameters
    ----------
    name : str
        The column's name, or ``x0``, ``x1``, ... in a table without names.
    missing_seen : bool
        Whether training had missing cells here. As a bin, their code is the number of bins.
    cuts : tuple of float or None
        Increasing cut points; bin b holds ``cuts[b - 1] < x <= cuts[b]``. None leaves the numbers as
        they are.
    written : NumberFormat, DateFormat or None
        How cells that are text write their numbers, or that cells are dates; None where the column came as
        numbers.
    nodes : tuple of float or None
        Increasing numbers, one in each bin, at which the tables of a model hold; between two of them tables
        are interpolated, and beyond the outer ones constant. None: a table has one value per bin.
    """

    name: str
    missing_seen: bool
    cuts: tuple[float, ...] | None = None
    written: Format | None = None
    nodes: tuple[float, ...] | None = None

    @property
    def has_dates(self) -> bool:
        """Tell whether the numbers are dates, in days."""
        return isinstance(self.written, DateFormat)

    @property
    def n_present(self) -> int:
        """Return the number of bins of present cells; also the code of a missing one."""
        return len(self.cuts or ()) + 1

    def union(self, other: NumericColumn) -> NumericColumn:
        """Return the column that has the missing cells of both; cut points must be the same."""
        if self.cuts != other.cuts:
            raise InputError(
                f"column {self.name!r} is cut at {self._describe_cuts()} in the one table and at "
                f"{other._describe_cuts()} in the other: cut both at the same points"
            )
        return replace(self, missing_seen=self.missing_seen or other.missing_seen)

    def _describe_cuts(self) -> str:
        return "no point" if not self.cuts else ", ".join(self.cut_texts)

    @property
    def cut_texts(self) -> list[str]:
        """Return the cut points as text."""
        cuts = self.cuts or ()
        if isinstance(self.written, DateFormat):
            return self.written.texts(cuts)
        return [f"{cut:g}" for cut in cuts]


@dataclass(frozen=True)
class EmptyColumn:
    """A column that had no value in training, all cells being missing: no model looks at it."""

    name: str

    @property
    def missing_seen(self) -> bool:
        """Return True: every cell was missing."""
        return True

    @property
    def n_present(self) -> int:
        """Return 0: there was no value."""
        return 0


@dataclass(frozen=True)
class IdentifierColumn(EmptyColumn):
    """A column with about as many categories as rows: it names rows, and no model looks at it.

    Parameters
    ----------
    name : str
    n_values : int
        Different values in training.
    n_missing : int
        Missing cells in training.
    """

    n_values: int
    n_missing: int


Column = CategoricalColumn | NumericColumn | EmptyColumn

KINDS: dict[type, Literal["categorical", "numeric", "empty", "identifier"]] = {
    CategoricalColumn: "categorical",
    NumericColumn: "numeric",
    EmptyColumn: "empty",
    IdentifierColumn: "identifier",
}


def united(one: Column, other: Column) -> Column:
    """Return the column that knows what both know; refuse one that changed its kind."""
    if isinstance(one, CategoricalColumn) and isinstance(other, CategoricalColumn):
        return one.union(other)
    if isinstance(one, NumericColumn) and isinstance(other, NumericColumn):
        return one.union(other)
    if isinstance(one, EmptyColumn) or isinstance(other, EmptyColumn):
        return one
    kinds = ["categories" if isinstance(column, CategoricalColumn) else "numbers" for column in (one, other)]
    raise InputError(
        f"column {one.name!r} holds {kinds[0]} in the one table and {kinds[1]} in the other: name the same "
        "categorical_features for both"
    )


def column_from_json(entry: dict[str, Any]) -> Column:
    """Return the column that is listed by its kind and its fields."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
    }
    made = next(type_ for type_, kind in KINDS.items() if kind == fields["kind"])
    del fields["kind"]
    if fields.get("written") is not None:
        form = DateFormat if "standard" in fields["written"] else NumberFormat
        fields["written"] = form(**fields["written"])
    column: Column = made(**fields)
    return column
