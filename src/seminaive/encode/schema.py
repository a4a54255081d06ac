"""What a model learned about the columns of its table: names, kinds, categories, cut points."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from seminaive.encode.column_types import (
    KINDS,
    CategoricalColumn,
    Column,
    EmptyColumn,
    NumericColumn,
    column_from_json,
    united,
)
from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.errors import InputError

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats, Integers
    from seminaive.encode.few_rows import CellReader
    from seminaive.encode.integer_table import IntegerCodes
    from seminaive.encode.nodes import Nodes

MissingPolicy = Literal["value", "neutral"]


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds ``largest``."""
    return np.min_scalar_type(largest)


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

    @cached_property
    def coded_index(self) -> dict[int, int]:
        """Return the index of each column with codes among those with codes, by its position."""
        return {position: j for j, position in enumerate(self.coded)}

    @cached_property
    def numeric_index(self) -> dict[int, int]:
        """Return the index of each numeric column among the numeric ones, by its position."""
        return {position: j for j, position in enumerate(self.numeric)}

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
    def uncut_numbers(self) -> tuple[Integers, Booleans]:
        """Return the numeric columns without cut points, by their positions, and which can be unknown."""
        coded = set(self.coded)
        indices = [k for k, position in enumerate(self.numeric) if position not in coded]
        can_be = [self.can_be_unknown(self.numeric[k]) for k in indices]
        return np.array(indices, dtype=np.int64), np.array(can_be, dtype=bool)

    def by_column(self, values: Floats) -> Floats:
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
        merged = tuple(united(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        return Schema(merged, self.missing)

    def moves_to(self, larger: Schema) -> tuple[Integers, ...]:
        """Return, for each coded column, the code that each of its values has in ``larger``."""
        return tuple(self._moves(larger, position) for position in self.coded)

    def _moves(self, larger: Schema, position: int) -> Integers:
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
        return cls(tuple(column_from_json(entry) for entry in document["columns"]), document["missing"])
