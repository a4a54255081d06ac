"""Two tables under one schema: the columns of the one, with the values and cut points that either knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.column_codes import bins_of, interleave
from seminaive.encode.column_types import CategoricalColumn, EmptyColumn, NumericColumn
from seminaive.encode.encoded_table import EncodedTable
from seminaive.encode.nodes import Axis, at_codes, axis_of
from seminaive.encode.schema import Schema
from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seminaive.encode.column_types import Column

# The least distance of two nodes at a step: a rise divided by it is finite.
LEAST_GAP = 1e-280


def joined_schema(schema: Schema, other: Schema) -> Schema:
    """Return a schema whose columns also know the values and cut points that another one has for them.

    Columns belong together by name. One that the other schema lacks, or that is empty in either, stays as it
    is.

    >>> new = Schema((NumericColumn("age", missing_seen=False, cuts=(30.0,)),))
    >>> old = Schema((NumericColumn("age", missing_seen=True, cuts=(50.0,)),))
    >>> joined_schema(new, old).columns[0].cuts
    (30.0, 50.0)
    """
    if schema.missing != other.missing:
        raise InputError(
            f"missing is {schema.missing!r} here and {other.missing!r} in the earlier model: fit both with "
            "the same"
        )
    known = dict(zip(other.names, other.columns, strict=True))
    columns = tuple(_joined(column, known.get(column.name, column)) for column in schema.columns)
    return Schema(columns, schema.missing)


def _joined(column: Column, other: Column) -> Column:
    """Return a column with the values, or the cut points, of both."""
    if isinstance(column, EmptyColumn) or isinstance(other, EmptyColumn):
        return column
    if isinstance(column, CategoricalColumn) and isinstance(other, CategoricalColumn):
        column.codes_of(other.categories, unseen=-1)  # refuses text where there were numbers
        if column.merged != other.merged:
            raise InputError(
                f"the spellings of column {column.name!r} are merged in one of two models: fit both with the "
                "same merge_spellings"
            )
        return column.union(other)
    if isinstance(column, NumericColumn) and isinstance(other, NumericColumn):
        return _joined_numbers(column, other)
    kinds = ["categories" if isinstance(one, CategoricalColumn) else "numbers" for one in (column, other)]
    raise InputError(
        f"column {column.name!r} holds {kinds[0]} here and held {kinds[1]} in the earlier model: name it in "
        "categorical_features, or leave it out, so that it is the same in both"
    )


def _joined_numbers(column: NumericColumn, other: NumericColumn) -> NumericColumn:
    """Return a column with the cut points of both or, where one is read between nodes, the nodes of both.

    A step at a cut point is a line between two neighbouring numbers, so that nodes represent it, too.
    """
    missing_seen = column.missing_seen or other.missing_seen
    if column.nodes is None and other.nodes is None:
        cuts = None
        if column.cuts is not None or other.cuts is not None:
            cuts = tuple(sorted({*(column.cuts or ()), *(other.cuts or ())}))
        return replace(column, cuts=cuts, missing_seen=missing_seen)
    nodes = tuple(sorted({*_nodes_of(column), *_nodes_of(other)}))
    return replace(column, cuts=nodes[:-1], nodes=nodes, missing_seen=missing_seen)


def _nodes_of(column: NumericColumn) -> Iterator[float]:
    """Yield the nodes between which a column's tables are linear: of bins, both sides of each cut point."""
    if column.nodes is not None:
        yield from column.nodes
        return
    for cut in column.cuts or ():
        yield cut
        yield max(float(np.nextafter(cut, np.inf)), cut + LEAST_GAP)


def codes_before(joined: Schema, schema: Schema) -> dict[int, tuple[int, Axis]]:
    """Return where each coded column of a schema is in a joined one, and what its codes were.

    The keys are coded columns of ``schema``. The values are the coded column of ``joined`` and, for each of
    its codes, that of no evidence last, the coordinate on the axis of the column in ``schema``: a code, or a
    point between two nodes. Columns that ``joined`` lacks have no entry.
    """
    joined_index = {name: j for j, name in enumerate(joined.coded_names)}
    found = {}
    for j, position in enumerate(schema.coded):
        column = schema.columns[position]
        if column.name in joined_index:
            k = joined_index[column.name]
            found[j] = k, _codes_before(joined, joined.columns[joined.coded[k]], schema, column)
    return found


def _codes_before(joined: Schema, larger: Column, schema: Schema, column: Column) -> Axis:
    unseen = schema.n_values(column)
    if isinstance(column, CategoricalColumn) and isinstance(larger, CategoricalColumn):
        present = at_codes(column.codes_of(larger.categories, unseen))
    else:
        assert isinstance(column, NumericColumn)  # noqa: S101 - narrows the type
        assert isinstance(larger, NumericColumn)  # noqa: S101 - narrows the type
        present = axis_of(column, np.array(larger.nodes or (*(larger.cuts or ()), np.inf)))
    missing = min(column.n_present, unseen)
    has_missing = joined.n_values(larger) > larger.n_present
    others = [missing] * has_missing + [unseen]
    return Axis(
        np.concatenate([present.codes, others]).astype(np.int64),
        np.concatenate([present.along, np.zeros(len(others))]),
    )


def recoded_table(table: EncodedTable, joined: Schema) -> EncodedTable:
    """Return the rows of a table in the codes of a schema that was joined to its schema."""
    schema = table.schema
    moves = dict(zip(schema.coded, schema.moves_to(joined), strict=True))
    coded = []
    for position, cardinality in zip(joined.coded, joined.cardinalities, strict=True):
        column = joined.columns[position]
        if isinstance(column, NumericColumn):
            coded.append(bins_of(column, table.numbers[:, schema.numeric_index[position]]))
        else:
            coded.append(
                np.append(moves[position], cardinality)[table.codes[:, schema.coded_index[position]]]
            )
    return EncodedTable(interleave(coded, joined, len(table)), table.numbers, joined)
