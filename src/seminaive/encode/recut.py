"""The same table with cut points that were learned from some of its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from seminaive.encode.column_codes import bins_of, cuts_of, interleave
from seminaive.encode.column_types import NumericColumn
from seminaive.encode.encoded_table import EncodedTable
from seminaive.encode.schema import Schema

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.encode.encoded_table import CutRule


def recut(
    table: EncodedTable, cut_rule: CutRule, labels: Indices, row_weight: Floats | None, rows: Indices
) -> EncodedTable:
    """Return all rows of a table under cut points learned from some of them.

    Categories keep their codes. The rows that are left out so have no influence on the coding of numbers,
    as a fold of a cross-validation asks.
    """
    schema = table.schema
    number_of = schema.numeric_index
    columns = list(schema.columns)
    weight = None if row_weight is None else row_weight[rows]
    coded = []
    for j, position in enumerate(schema.coded):
        column = schema.columns[position]
        if isinstance(column, NumericColumn):
            values = table.numbers[:, number_of[position]]
            column = replace(column, cuts=cuts_of(values[rows], cut_rule, labels[rows], weight))
            columns[position] = column
            coded.append(bins_of(column, values))
        else:
            coded.append(table.codes[:, j])
    recoded = Schema(tuple(columns), schema.missing)
    return EncodedTable(interleave(coded, recoded, len(table)), table.numbers, recoded)
