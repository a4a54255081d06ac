"""SQL of a fitted model for SQLite, which has no lists: all tables are one relation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seminaive.encode import CategoricalColumn
from seminaive.export.sql_literals import joined, number_literal, quoted_name, relation_name
from seminaive.export.sql_writers import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats

# Parts of one UNION ALL: SQLite allows 500.
MOST_PARTS = 400


class SQLiteWriter(Writer):
    """SQLite: no lists, so that all tables are one relation, joined to the cells of each row."""

    def statement(self, table: str, keep: Sequence[str]) -> str:
        """Return the SELECT of a prediction and of probabilities."""
        kept = "".join(f"{quoted_name(name)}, " for name in keep)
        coded = [f"x{position}" for position in self.used()] + self.codes()
        values, cells = self.cells()
        groups = [cells[start : start + MOST_PARTS] for start in range(0, len(cells), MOST_PARTS)]
        numbered = f"{self.read()}, row_number() OVER () AS row_id"
        relations = [
            f"read_rows AS (SELECT {kept}{numbered} FROM {relation_name(table)})",
            *self.categories_relation(),
            f"coded AS MATERIALIZED (SELECT {kept}row_id, {', '.join(coded) or 'nothing'} FROM read_rows)",
            *self.flags(),
            *self.cells_relation(values),
            *(self.sums(k, group) for k, group in enumerate(groups)),
            self.scores(len(groups), keep),
            *self.attenuated(keep, numbered=True),
            self.weights(self.scored, keep, numbered=True),
        ]
        return f"WITH {joined(relations)}\nSELECT {self.answers(keep)}\nFROM weights ORDER BY row_id"

    def category_code(self, position: int, unseen: int) -> str:
        """Return the code of a category, looked up in the relation of all categories."""
        found = f"(SELECT code FROM categories WHERE position = {position} AND category = x{position})"
        return f"coalesce({found}, {unseen})"

    def categories_relation(self) -> list[str]:
        """Return the relation of the codes of all categories, or none."""
        rows = [
            f"({position}, {value}, {code})"
            for position in self.portable.coded
            if isinstance(self.schema.columns[position], CategoricalColumn)
            for code, value in enumerate(self.categories(position))
        ]
        head = "categories(position, category, code) AS MATERIALIZED"
        return [f"{head} (VALUES {', '.join(rows)})"] if rows else []

    def cells(self) -> tuple[list[str], list[str]]:
        """Return the rows of all cells, which are numbered, and each table's number of a row's cell.

        Numbers of cells stand beside the share of the cell, 1 where a table is read by codes alone.
        """
        tables: list[tuple[tuple[int, ...], Floats]] = [
            *(((position,), values) for position, values in self.portable.tables.items()),
            *self.portable.dense_tuples,
        ]
        rows, cells, first = [], [], 0
        for positions, values in tables:
            rows += cell_rows(first, values)
            cells += [
                f"{cell} + {first} AS cell, {share or '1.0'} AS share"
                for cell, share in self.corners(positions)
            ]
            first += len(values)
        # Where all cells are 0, there is no relation to look them up in.
        return rows, cells if rows else []

    def cells_relation(self, rows: list[str]) -> list[str]:
        """Return the relation of the scores of all cells, or none."""
        outputs = ", ".join(f"s{k}" for k in range(self.portable.n_outputs))
        return [f"cells(cell, {outputs}) AS MATERIALIZED (VALUES {', '.join(rows)})"] if rows else []

    def sums(self, group: int, cells: list[str]) -> str:
        """Return the relation of each row's scores, summed over a group of tables."""
        sums = ", ".join(f"sum(share * s{k}) AS s{k}" for k in range(self.portable.n_outputs))
        looked = " UNION ALL ".join(f"SELECT row_id, {cell} FROM coded" for cell in cells)
        return (
            f"sums{group} AS (SELECT row_id, {sums} FROM ({looked}) JOIN cells USING (cell) GROUP BY row_id)"
        )

    def scores(self, n_groups: int, keep: Sequence[str]) -> str:
        """Return the relation of each row's scores: the intercept, the groups of tables and the curves."""
        scores = []
        for k in range(self.portable.n_outputs):
            terms = [number_literal(self.portable.intercept[k])]
            terms += [f"coalesce(sums{group}.s{k}, 0.0)" for group in range(n_groups)]
            terms += [self.curve(position, k) for position in self.portable.curves]
            scores.append(f"{' + '.join(terms)} AS s{k}")
        scores += self.variance()
        joins = [f"LEFT JOIN sums{group} ON sums{group}.row_id = coded.row_id" for group in range(n_groups)]
        kept = "".join(f"coded.{quoted_name(name)}, " for name in keep)
        return (
            f"scores AS (SELECT {kept}coded.row_id AS row_id, {', '.join(scores)} "
            f"FROM {self.flagged} {' '.join(joins)})"
        )

    def curve(self, position: int, k: int) -> str:
        """Return a curve as one CASE over its pieces."""
        curve, x = self.portable.curves[position], f"x{position}"
        pieces = []
        for anchor, (constant, linear, quadratic) in zip(
            curve.anchors, curve.coefficients[:, :, k], strict=True
        ):
            z = f"(({x} - {number_literal(anchor)}) * {number_literal(curve.scale)})"
            value = number_literal(constant)
            if linear or quadratic:
                value = f"({value} + {z} * ({number_literal(linear)} + {z} * {number_literal(quadratic)}))"
            pieces.append(value)
        cases = [f"WHEN {x} IS NULL THEN {number_literal(curve.missing[k])}"]
        cases += [
            f"WHEN {x} <= {number_literal(edge)} THEN {piece}"
            for edge, piece in zip(curve.edges, pieces, strict=False)
        ]
        return f"CASE {' '.join(cases)} ELSE {pieces[-1]} END"


def cell_rows(first: int, values: Floats) -> list[str]:
    """Return rows of the relation of cells; those of zeros are left out."""
    return [
        f"({first + cell}, {', '.join(map(number_literal, outputs))})"
        for cell, outputs in enumerate(values)
        if outputs.any()
    ]
