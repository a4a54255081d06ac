"""What a model learned about the columns of its table: names, kinds, categories, cut points."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
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

    from numpy.typing import NDArray

    from seminaive.encode.few_rows import CellReader
    from seminaive.encode.integer_table import IntegerCodes
    from seminaive.encode.nodes import Nodes

Category = str | int | float | bool
Format = NumberFormat | DateFormat
MissingPolicy = Literal["value", "neutral"]


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds ``largest``."""
    return np.min_scalar_type(largest)


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

    def codes_of(self, values: Sequence[Category], unseen: int) -> NDArray[np.int64]:
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
    """A column that had no value in training, all cells being missing: no model looks at it.

    Parameters
    ----------
    name : str
    """

    name: str

    @property
    def missing_seen(self) -> bool:
        """Return True: every cell was missing."""
        return True

    @property
    def n_present(self) -> int:
        """Return 0: there was no value."""
        return 0

    def union(self, other: Column) -> EmptyColumn:  # noqa: ARG002 - whatever comes later is not looked at
        """Return the column itself."""
        return self


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


@dataclass(frozen=True)
class Schema(SavedByFields):
    """The columns of a table as a model knows them; the encoder's whole memory.

    Parameters
    ----------
    columns : tuple of CategoricalColumn, NumericColumn or EmptyColumn
        In the order of the training table.
    missing : {"value", "neutral"}
        Whether a missing category is a value like others, where training saw one, or no evidence.

    Examples
    --------
    >>> schema = Schema((CategoricalColumn.of("sky", ["wet", "dry"], missing_seen=True),))
    >>> schema.cardinalities
    (3,)
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    missing: MissingPolicy = "value"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of all columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def coded(self) -> tuple[int, ...]:
        """Return the positions of the columns that have codes: categories, and numbers with cuts."""
        return tuple(
            position
            for position, column in enumerate(self.columns)
            if isinstance(column, CategoricalColumn)
            or (isinstance(column, NumericColumn) and column.cuts is not None)
        )

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """Return the positions of the numeric columns, cut or not."""
        return tuple(
            position for position, column in enumerate(self.columns) if isinstance(column, NumericColumn)
        )

    @property
    def features(self) -> tuple[int, ...]:
        """Return the positions of all columns that are read: those with codes, then numbers without cuts."""
        coded = set(self.coded)
        return (*self.coded, *(position for position in self.numeric if position not in coded))

    def can_be_unknown(self, position: int) -> bool:
        """Tell whether a column may have unknown cells: numbers have none where missing is a value."""
        column = self.columns[position]
        return isinstance(column, CategoricalColumn) or self.n_values(column) == column.n_present

    @cached_property
    def uncut_numbers(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the numeric columns without cut points, by their positions, and which can be unknown."""
        coded = set(self.coded)
        indices = [k for k, position in enumerate(self.numeric) if position not in coded]
        can_be = [self.can_be_unknown(self.numeric[k]) for k in indices]
        return np.array(indices, dtype=np.int64), np.array(can_be, dtype=bool)

    def by_column(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values given for each of `features`, along the last axis, for each column: 0 for empty ones.

        >>> Schema((NumericColumn("age", missing_seen=False), EmptyColumn("note"))).by_column(np.array([0.5]))
        array([0.5, 0. ])
        """
        ordered = np.zeros((*values.shape[:-1], len(self.columns)))
        ordered[..., list(self.features)] = values
        return ordered

    @property
    def coded_names(self) -> tuple[str, ...]:
        """Return the names of the columns that have codes."""
        return tuple(self.columns[position].name for position in self.coded)

    @property
    def numeric_names(self) -> tuple[str, ...]:
        """Return the names of the numeric columns."""
        return tuple(self.columns[position].name for position in self.numeric)

    @property
    def text_names(self) -> tuple[str, ...]:
        """Return the names of the columns whose cells are text: categories, dates, written numbers."""
        return tuple(
            column.name
            for column in self.columns
            if (isinstance(column, NumericColumn) and column.written is not None)
            or (
                isinstance(column, CategoricalColumn)
                and all(isinstance(category, str) for category in column.categories)
            )
        )

    def n_values(self, column: Column) -> int:
        """Return how many values a column has for a model, a missing cell being one where it counts."""
        return column.n_present + (column.missing_seen and self.missing == "value")

    @cached_property
    def cardinalities(self) -> tuple[int, ...]:
        """Return the number of values of each coded column; that number as a code is no evidence."""
        return tuple(self.n_values(self.columns[position]) for position in self.coded)

    @cached_property
    def integer_codes(self) -> IntegerCodes | None:
        """Return look-up tables for integers, or None where some column's range is too wide."""
        from seminaive.encode.integer_table import IntegerCodes

        return IntegerCodes.of(self)

    @cached_property
    def cell_readers(self) -> tuple[CellReader | None, ...]:
        """Return how single cells of each column are read, None where they are not looked at."""
        from seminaive.encode.few_rows import CellReader

        return tuple(
            None
            if isinstance(column, EmptyColumn)
            else CellReader(
                column.code_of if isinstance(column, CategoricalColumn) else None,
                column.is_text if isinstance(column, CategoricalColumn) else None,
                self.n_values(column),
                column.n_present,
                column.cuts if isinstance(column, NumericColumn) else None,
                column.written if isinstance(column, NumericColumn) else None,
                merged=isinstance(column, CategoricalColumn) and column.merged,
            )
            for column in self.columns
        )

    def nodes_of(self, coded: int) -> tuple[float, ...] | None:
        """Return between which numbers a coded column is read, None where tables look at its code."""
        return getattr(self.columns[self.coded[coded]], "nodes", None)

    @cached_property
    def nodes(self) -> Nodes | None:
        """Return between which numbers tables are interpolated, None where all are read by code."""
        from seminaive.encode.nodes import Nodes

        return Nodes.of(self)

    @cached_property
    def code_type(self) -> np.dtype[Any]:
        """Return the smallest unsigned type that holds every code, that of no evidence included."""
        return smallest_unsigned(max(self.cardinalities, default=0))

    def labels(self, position: int) -> tuple[str, ...]:
        """Return a readable label for each code of the column at ``position``, in the order of codes."""
        column = self.columns[position]
        if isinstance(column, CategoricalColumn):
            names = [str(category) for category in column.categories]
        else:
            edges = column.cut_texts if isinstance(column, NumericColumn) else []
            low = ["-inf", *edges]
            names = [f"({a}, {b}]" for a, b in zip(low, [*edges, "inf"], strict=True)]
        return (*names, "missing") if self.n_values(column) > column.n_present else tuple(names)

    def union(self, other: Schema) -> Schema:
        """Return the schema that knows what both know."""
        if self == other:
            return self
        if self.names != other.names:
            raise InputError(f"columns changed from {list(self.names)} to {list(other.names)}")
        if self.missing != other.missing:
            raise InputError(
                f"missing is {self.missing!r} in the one table and {other.missing!r} in the other: encode "
                "both by one policy"
            )
        merged = tuple(_united(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        return Schema(merged, self.missing)

    def moves_to(self, larger: Schema) -> tuple[NDArray[np.int64], ...]:
        """Return, for each coded column, the code that each of its values has in ``larger``."""
        return tuple(self._moves(larger, position) for position in self.coded)

    def _moves(self, larger: Schema, position: int) -> NDArray[np.int64]:
        column, target = self.columns[position], larger.columns[position]
        if isinstance(column, CategoricalColumn) and isinstance(target, CategoricalColumn):
            moves = target.codes_of(column.categories, unseen=-1)
        else:
            moves = np.arange(column.n_present)
        return np.append(moves, target.n_present)[: self.n_values(column)]

    def to_json(self) -> str:
        """Return the schema as JSON text."""
        columns = [{"kind": KINDS[type(column)], **asdict(column)} for column in self.columns]
        return json.dumps({"missing": self.missing, "columns": columns}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Return the schema that ``to_json`` wrote."""
        document = json.loads(text)
        return cls(tuple(_column_from_json(entry) for entry in document["columns"]), document["missing"])


KINDS: dict[type, Literal["categorical", "numeric", "empty", "identifier"]] = {
    CategoricalColumn: "categorical",
    NumericColumn: "numeric",
    EmptyColumn: "empty",
    IdentifierColumn: "identifier",
}


def _united(one: Column, other: Column) -> Column:
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


def _format_from_json(fields: dict[str, Any]) -> Format:
    return DateFormat(**fields) if "standard" in fields else NumberFormat(**fields)


def _column_from_json(entry: dict[str, Any]) -> Column:
    """Return a column; what older files do not have takes its default."""
    name = entry["name"]
    if entry["kind"] == "empty":
        return EmptyColumn(name)
    if entry["kind"] == "identifier":
        return IdentifierColumn(name, entry["n_values"], entry["n_missing"])
    missing_seen = entry["missing_seen"]
    if entry["kind"] == "categorical":
        merged, order = entry.get("merged", False), entry.get("order")
        order = None if order is None else tuple(order)
        return CategoricalColumn(name, tuple(entry["categories"]), missing_seen, merged, order)
    cuts, written = entry["cuts"], entry.get("written")
    return NumericColumn(
        name,
        missing_seen,
        None if cuts is None else tuple(cuts),
        None if written is None else _format_from_json(written),
        None if entry.get("nodes") is None else tuple(entry["nodes"]),
    )
