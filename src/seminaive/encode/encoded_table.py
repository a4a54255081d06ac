"""From a mixed table to codes and numbers, by a schema that is learned once and then followed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.column_codes import (
    COMPILED_ROWS,
    bins_of,
    cuts_of,
    encode_categories,
    interleave,
    learn_categories,
    number_block,
)
from seminaive.encode.column_kinds import ColumnKinds, identifier_of
from seminaive.encode.column_types import CategoricalColumn, EmptyColumn, IdentifierColumn, NumericColumn
from seminaive.encode.few_rows import cells_of, encode_cells
from seminaive.encode.frame_parts import training_columns
from seminaive.encode.frames import open_table
from seminaive.encode.integer_table import learn_integers
from seminaive.encode.nodes import RowCoordinates
from seminaive.encode.schema import Schema
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from seminaive.arrays import Codes, Floats, Integers
    from seminaive.encode.column_kinds import CategoricalFeatures
    from seminaive.encode.column_types import Column, Format
    from seminaive.encode.frames import Kind, Table
    from seminaive.encode.schema import MissingPolicy

    CutRule = Callable[[Floats, Integers, Floats | None], Floats]


@dataclass(frozen=True)
class EncodedTable:
    """A table as the models see it.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_coded)
        The codes of the categorical columns and of cut numbers, row-major, in the smallest unsigned
        type. A code equal to the column's cardinality is no evidence: unseen, or neutrally missing.
    numbers : ndarray of shape (n_rows, n_numeric)
        The numeric columns, NaN where missing.
    schema : Schema
        What the codes mean.
    """

    codes: Codes
    numbers: Floats
    schema: Schema

    @classmethod
    def of_codes(cls, codes: Codes, schema: Schema) -> EncodedTable:
        """Return a table that has no numbers."""
        return cls(codes, np.empty((len(codes), 0)), schema)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Return the number of values of each coded column."""
        return self.schema.cardinalities

    @property
    def coordinates(self) -> RowCoordinates:
        """Return where the rows stand on the axes of coded columns: at codes, or between nodes."""
        nodes = self.schema.nodes
        if nodes is None:
            return RowCoordinates(
                self.codes.astype(np.int64, order="F"), np.zeros(self.codes.shape, order="F")
            )
        return nodes.coordinates(self)

    def without_cut_numbers(self) -> EncodedTable:
        """Return the table with each column once: where numbers were cut, all of them as codes alone."""
        cut = set(self.schema.numeric) <= set(self.schema.coded)
        return EncodedTable.of_codes(self.codes, self.schema) if cut else self

    def rows(self, index: Any) -> EncodedTable:
        """Return some of the rows, by slice, mask or positions."""
        return EncodedTable(self.codes[index], self.numbers[index], self.schema)


@dataclass(frozen=True)
class TableEncoder:
    """Turns tables into codes and numbers as a schema says.

    Examples
    --------
    >>> encoder, table = TableEncoder.learn([["wet", 3.0], ["dry", None], [None, 1.0]])
    >>> table.codes.ravel()
    array([1, 0, 2], dtype=uint8)
    >>> encoder.encode([["snow", 2.0]]).codes  # never seen: no evidence
    array([[3]], dtype=uint8)
    """

    schema: Schema

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        categorical_features: CategoricalFeatures = "from_dtype",
        missing: MissingPolicy = "value",
        cut_rule: CutRule | None = None,
        labels: Integers | None = None,
        row_weight: Floats | None = None,
        known: Schema | None = None,
        allow_empty: bool = False,
        as_typed: bool = False,
        merge_spellings: bool = False,
        formats: Mapping[int, Format] | None = None,
    ) -> tuple[TableEncoder, EncodedTable]:
        """Learn a schema from a training table, and encode the table by it.

        Parameters
        ----------
        X : frame, array or list of rows
        categorical_features : {"from_dtype", "all"}, names, positions or mask
            Which columns are categories: those that do not hold numbers, all, or those and the listed ones.
        missing : {"value", "neutral"}
            Whether a missing category is a value like others or no evidence.
        cut_rule : callable or None
            Cut points of (values, labels, weights), applied to the present cells of each numeric column.
        labels, row_weight : ndarray or None
            For the cut rule; a row's weight is how often it counts.
        known : Schema or None
            A schema whose kinds and cut points are kept, for the next chunk of a stream.
        allow_empty : bool
            Whether a column without any value keeps its kind, because later chunks may bring some, and one
            that names rows its categories, because later chunks may share them. Else they are an
            `EmptyColumn` and an `IdentifierColumn`, which no model looks at.
        as_typed : bool
            Whether the type of a column alone decides: text is categories, however many there are.
        merge_spellings : bool
            Whether capitals and spaces around a category do not matter.
        formats : mapping of int to NumberFormat or DateFormat, or None
            How columns of text, by position, write numbers or dates; None looks for it.
        """
        if not isinstance(missing, str) or missing not in ("value", "neutral"):
            raise InputError(f"missing is 'value' or 'neutral', got {missing!r}")
        table = open_table(X)
        if known is not None:
            kinds = ColumnKinds.known(table, known)
        else:
            kinds = ColumnKinds.find(table, categorical_features, {} if as_typed else formats)
        encoded = _learn_integers(table, kinds, missing, known)
        if encoded is None:
            numbers = number_block(table, kinds)
            if not allow_empty:
                kinds, numbers = _without_empty_numbers(kinds, numbers)
            cut = _Cutting(cut_rule, labels, row_weight, known)
            columns, coded = _learn_columns(table, kinds, numbers, cut, merge_spellings=merge_spellings)
            if not allow_empty:
                columns = [
                    EmptyColumn(column.name) if _has_no_category(column) else column for column in columns
                ]
            schema = Schema(tuple(columns), missing)
            kept = [coded[position] for position in schema.coded]
            encoded = EncodedTable(interleave(kept, schema, table.n_rows), numbers, schema)
        if not allow_empty and not as_typed:
            encoded = _without_identifiers(encoded, kinds.listed, row_weight)
        check_evidence(encoded.schema)
        return cls(encoded.schema), encoded

    def encode_few(self, X: Any, *, named: bool) -> EncodedTable | None:
        """Encode a handful of rows cell by cell, or return None where they need a closer look.

        ``named`` tells whether training had column names; then the same names must come again.
        """
        read = cells_of(X, self.schema.names)
        if read is None:
            return None
        rows, names = read
        if (names is not None) != named or (named and names != self.schema.names):
            return None
        encoded = encode_cells(rows, self.schema)
        return None if encoded is None else EncodedTable(*encoded, self.schema)

    def encode(self, X: Any) -> EncodedTable:
        """Encode a table by the schema; columns are matched by name where the table has names."""
        table = open_table(training_columns(X, self.schema.names))
        schema = self.schema
        kinds = ColumnKinds.known(table, schema)
        integers = _integer_block(table, kinds)
        if integers is not None and schema.integer_codes is not None:
            return EncodedTable.of_codes(schema.integer_codes.translate(integers, schema)[0], schema)
        numbers = number_block(table, kinds)
        number_of = schema.numeric_index
        coded = []
        for position, unseen in zip(schema.coded, schema.cardinalities, strict=True):
            column = schema.columns[position]
            if isinstance(column, CategoricalColumn):
                coded.append(encode_categories(column, table.columns[position], unseen))
            elif isinstance(column, NumericColumn):
                coded.append(bins_of(column, numbers[:, number_of[position]]))
        return EncodedTable(interleave(coded, schema, table.n_rows), numbers, schema)


@dataclass(frozen=True)
class _Cutting:
    """How numbers are cut: by a rule, at the points of a known schema, or not at all."""

    rule: CutRule | None
    labels: Integers | None
    row_weight: Floats | None
    known: Schema | None

    def column(self, position: int, name: str, values: Floats, written: Format | None) -> NumericColumn:
        """Return a column of numbers with its cut points."""
        missing_seen = bool(np.isnan(values).any())
        old = None if self.known is None else self.known.columns[position]
        if isinstance(old, NumericColumn):
            return NumericColumn(name, missing_seen, old.cuts, written)
        if self.rule is None:
            return NumericColumn(name, missing_seen, None, written)
        labels = np.zeros(len(values), dtype=np.int64) if self.labels is None else self.labels
        return NumericColumn(name, missing_seen, cuts_of(values, self.rule, labels, self.row_weight), written)


def _learn_columns(
    table: Table, kinds: ColumnKinds, numbers: Floats, cut: _Cutting, *, merge_spellings: bool
) -> tuple[list[Column], dict[int, Codes]]:
    """Return the columns of a table, and the codes of those that have some, by position."""
    columns: list[Column] = []
    coded: dict[int, Codes] = {}
    number_of = {position: k for k, position in enumerate(kinds.positions("numeric"))}
    for position, (name, kind) in enumerate(zip(table.names, kinds.kinds, strict=True)):
        if kind == "categorical":
            column, codes = learn_categories(name, table.columns[position], merge=merge_spellings)
            columns.append(column)
            coded[position] = codes
        elif kind == "numeric":
            values = numbers[:, number_of[position]]
            number = cut.column(position, name, values, kinds.formats.get(position))
            columns.append(number)
            if number.cuts is not None:
                coded[position] = bins_of(number, values)
        else:
            known = None if cut.known is None else cut.known.columns[position]
            columns.append(EmptyColumn(name) if known is None else known)
    return columns, coded


def _has_no_category(column: Column) -> bool:
    return isinstance(column, CategoricalColumn) and not column.categories


def _without_empty_numbers(kinds: ColumnKinds, numbers: Floats) -> tuple[ColumnKinds, Floats]:
    """Leave columns without any number out."""
    positions = kinds.positions("numeric")
    empty = [k for k in range(len(positions)) if np.isnan(numbers[0, k]) and np.isnan(numbers[:, k]).all()]
    if not empty:
        return kinds, numbers
    moved = {positions[k] for k in empty}
    kept: list[Kind] = ["empty" if position in moved else kind for position, kind in enumerate(kinds.kinds)]
    return replace(kinds, kinds=tuple(kept)), np.ascontiguousarray(np.delete(numbers, empty, axis=1))


def _without_identifiers(
    encoded: EncodedTable, listed: frozenset[int], row_weight: Floats | None
) -> EncodedTable:
    """Take the columns that name rows out of the codes; listed ones are meant."""
    columns, kept = list(encoded.schema.columns), []
    for k, position in enumerate(encoded.schema.coded):
        column, found = columns[position], None
        if isinstance(column, CategoricalColumn) and position not in listed:
            found = identifier_of(column, encoded.codes[:, k], row_weight)
        if found is None:
            kept.append(k)
        else:
            columns[position] = found
    if len(kept) == encoded.codes.shape[1]:
        return encoded
    schema = Schema(tuple(columns), encoded.schema.missing)
    codes = np.ascontiguousarray(encoded.codes[:, kept].astype(schema.code_type))
    return EncodedTable(codes, encoded.numbers, schema)


def check_evidence(schema: Schema) -> None:
    """Refuse a table none of whose columns may be looked at."""
    if schema.coded or schema.numeric:
        return
    named = [column.name for column in schema.columns if isinstance(column, IdentifierColumn)]
    if not named:
        raise InputError("no column has any value, all cells are missing: pass a column with values")
    raise InputError(
        f"no column carries evidence: {', '.join(map(repr, named))} have about as many values as rows and "
        "identify them. Pass a column whose values rows share, or list one of these in categorical_features"
    )


def _integer_block(table: Table, kinds: ColumnKinds) -> NDArray[Any] | None:
    """Return the table as one array where it is large and all of it is integers that stand for categories."""
    array = table.array
    if (
        array is not None
        and (array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8))
        and array.flags.c_contiguous
        and table.n_rows * len(kinds.kinds) >= COMPILED_ROWS
        and set(kinds.kinds) == {"categorical"}
    ):
        return array
    return None


def _learn_integers(
    table: Table, kinds: ColumnKinds, missing: MissingPolicy, known: Schema | None
) -> EncodedTable | None:
    """Encode a large table of integers by compiled passes; None where the table is another."""
    integers = _integer_block(table, kinds)
    if integers is None:
        return None
    if known is not None and known.integer_codes is not None:
        codes, any_unseen = known.integer_codes.translate(integers, known)
        if not any_unseen:  # nothing new in this chunk
            return EncodedTable.of_codes(codes, known)
    learned = learn_integers(integers, table.names, missing)
    return None if learned is None else EncodedTable.of_codes(learned[1], learned[0])
