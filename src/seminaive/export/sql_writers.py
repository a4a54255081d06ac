"""What SQL of a fitted model consists of, in the words of each dialect: codes, tables, curves, softmax."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError
from seminaive.export.sql_literals import (
    class_literal,
    joined,
    number_literal,
    quoted_name,
    relation_name,
    text_literal,
)
from seminaive.export.sql_unknown import UnknownRelations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from seminaive.arrays import Floats
    from seminaive.explain.portable import Portable


class Writer(UnknownRelations):
    """What both kinds of dialects share: codes, pieces of curves, softmax."""

    def __init__(self, portable: Portable, dialect: str) -> None:
        self.portable = portable
        self.dialect = dialect
        self.schema = portable.schema
        self.floats = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgresql": "double precision"}[dialect]
        self.larger = "max" if dialect == "sqlite" else "greatest"

    def source(self, position: int) -> str:
        """Return a column as it is read: text as text, anything else as a double, NaN as NULL."""
        column = self.schema.columns[position]
        name = quoted_name(column.name)
        if isinstance(column, CategoricalColumn):
            if column.is_text:
                return f"CAST({name} AS {'VARCHAR' if self.dialect == 'duckdb' else 'TEXT'})"
            if column.is_text is None and column.categories:
                raise InputError(
                    f"column {column.name!r} holds text and numbers, a column of a database has one type: "
                    "make it text and fit again"
                )
            if self.dialect == "postgresql" and all(
                isinstance(category, bool) for category in column.categories
            ):
                return f"CAST(CAST({name} AS integer) AS {self.floats})"
        cast = f"CAST({name} AS {self.floats})"
        if self.dialect == "postgresql":
            return f"NULLIF({cast}, 'NaN'::double precision)"
        return f"CASE WHEN isnan({cast}) THEN NULL ELSE {cast} END" if self.dialect == "duckdb" else cast

    def categories(self, position: int) -> list[str]:
        """Return the categories of a column as literals."""
        column = self.schema.columns[position]
        assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
        return [
            text_literal(category) if isinstance(category, str) else number_literal(category)
            for category in column.categories
        ]

    def n_below(self, x: str, edges: Iterable[float]) -> str:
        """Return how many edges are below x."""
        cases = [f"WHEN {x} <= {number_literal(edge)} THEN {k}" for k, edge in enumerate(edges)]
        return f"CASE {' '.join(cases)} ELSE {len(cases)} END" if cases else "0"

    def used(self) -> list[int]:
        """Return the columns that the model looks at."""
        return sorted({*self.portable.coded, *self.portable.curves})

    def read(self) -> str:
        """Return the columns as they are read, x and their position being their names."""
        return (
            ", ".join(f"{self.source(position)} AS x{position}" for position in self.used()) or "1 AS nothing"
        )

    def code(self, position: int) -> str:
        """Return the code of a column's cell, c and its position being its name."""
        column, x = self.schema.columns[position], f"x{position}"
        if isinstance(column, CategoricalColumn):
            known = self.category_code(position, self.schema.n_values(column))
        elif self.portable.nodes(position) is not None:
            known = self.node_below(position)
        else:
            known = self.n_below(x, column.cuts or ())  # type: ignore[union-attr]
        return f"CASE WHEN {x} IS NULL THEN {column.n_present} ELSE {known} END AS c{position}"

    def node_below(self, position: int) -> str:
        """Return the last node that is not above a number, the first where all are above."""
        x, later = f"x{position}", (self.portable.nodes(position) or ())[1:]
        cases = [f"WHEN {x} < {number_literal(node)} THEN {k}" for k, node in enumerate(later)]
        return f"CASE {' '.join(cases)} ELSE {len(cases)} END" if cases else "0"

    def along(self, position: int) -> str:
        """Return how far a number is on the way to the next node, a and its position being its name."""
        x, nodes = f"x{position}", self.portable.nodes(position) or ()
        cases = [f"WHEN {x} IS NULL OR {x} <= {number_literal(nodes[0])} THEN 0.0"]
        cases += [
            f"WHEN {x} < {number_literal(b)} "
            f"THEN ({x} - {number_literal(a)}) / ({number_literal(b)} - {number_literal(a)})"
            for a, b in pairwise(nodes)
        ]
        return f"CASE {' '.join(cases)} ELSE 0.0 END AS a{position}"

    def corners(self, positions: tuple[int, ...]) -> list[tuple[str, str]]:
        """Return the cells of a tuple that a row is read from, and the share of each.

        A number that is at a node, beyond the outer ones or missing is read from its cell twice, once with a
        share of 0.
        """
        corners = [("", "")]
        for position, size in zip(positions, self.portable.shape(positions), strict=True):
            sides = [(f"c{position}", "")]
            if self.portable.nodes(position) is not None:
                after = f"(c{position} + CASE WHEN a{position} > 0.0 THEN 1 ELSE 0 END)"
                sides = [(f"c{position}", f"(1.0 - a{position})"), (after, f"a{position}")]
            corners = [
                (
                    f"({cell} * {size} + {code})" if cell else code,
                    f"{share} * {part}" if share and part else share or part,
                )
                for cell, share in corners
                for code, part in sides
            ]
        return corners

    def category_code(self, position: int, unseen: int) -> str:
        """Return the code of a category that is not missing."""
        raise NotImplementedError

    def codes(self) -> list[str]:
        """Return the codes of columns, and how far numbers are on the way to the next node."""
        coded = self.portable.coded
        between = [position for position in coded if self.portable.nodes(position) is not None]
        return [*(self.code(position) for position in coded), *(self.along(position) for position in between)]

    def categories_relation(self) -> list[str]:
        """Return the relation of the codes of all categories where the dialect needs one."""
        return []

    def weights(self, source: str, keep: Sequence[str], *, numbered: bool) -> str:
        """Return relations up to ``weights``, from scores s0, s1, ... and perhaps row_id of one relation."""
        n_outputs = self.portable.n_outputs
        scores = [number_literal(0.0), "s0"] if n_outputs == 1 else [f"s{k}" for k in range(n_outputs)]
        kept = "".join(f"{quoted_name(name)}, " for name in keep)
        # Beyond -700 some databases refuse to underflow.
        weights = ", ".join(
            f"exp({self.larger}({score} - highest, -7.0e+02)) AS w{k}" for k, score in enumerate(scores)
        )
        row = ", row_id" if numbered else ""
        return (
            f"highest_score AS (SELECT {kept}{', '.join(f's{k}' for k in range(n_outputs))}, "
            f"{self.larger}({', '.join(scores)}) AS highest{row} FROM {source}),\n"
            f"weights AS (SELECT {kept}{weights}{row} FROM highest_score)"
        )

    def answers(self, keep: Sequence[str]) -> str:
        """Return what is selected from ``weights``: columns kept, prediction, probabilities."""
        classes = self.portable.classes
        kept = "".join(f"{quoted_name(name)}, " for name in keep)
        total = " + ".join(f"w{k}" for k in range(len(classes)))
        labels = [class_literal(label) for label in classes]
        cases = " ".join(f"WHEN w{k} = 1.0e+00 THEN {label}" for k, label in enumerate(labels[:-1]))
        probabilities = ", ".join(
            f"w{k} / ({total}) AS {quoted_name(f'probability_{label}')}" for k, label in enumerate(classes)
        )
        return f"{kept}CASE {cases} ELSE {labels[-1]} END AS prediction, {probabilities}"


class ListWriter(Writer):
    """DuckDB and PostgreSQL: tables are list literals, indexed by one-based positions.

    Relations are materialized: PostgreSQL would write the expression of a code or score wherever it is used.
    """

    def literal(self, values: Iterable[str], kind: str) -> str:
        """Return a list of literals of one type."""
        joined = ", ".join(values)
        if self.dialect == "duckdb":
            return f"CAST([{joined}] AS {kind}[])"
        return f"(ARRAY[{joined}]::{kind}[])"

    def pick(self, values: Floats, code: str) -> str:
        """Return the element of a list of numbers at a place that is counted from 0."""
        return f"({self.literal(map(number_literal, values), self.floats)})[{code} + 1]"

    def category_code(self, position: int, unseen: int) -> str:
        """Return the code of a category: its place in the list of categories."""
        text = self.schema.columns[position].is_text  # type: ignore[union-attr]
        kind = ("VARCHAR" if self.dialect == "duckdb" else "text") if text else self.floats
        values = self.literal(self.categories(position), kind)
        found = "list_position" if self.dialect == "duckdb" else "array_position"
        return f"coalesce(nullif({found}({values}, x{position}), 0) - 1, {unseen})"

    def codes(self) -> list[str]:
        """Return the codes of columns, and which piece of its curve each number is on."""
        pieces = self.portable.curves.items()
        return [
            *super().codes(),
            *(f"{self.n_below(f'x{position}', curve.edges)} AS p{position}" for position, curve in pieces),
        ]

    def statement(self, table: str, keep: Sequence[str]) -> str:
        """Return the SELECT of a prediction and of probabilities."""
        portable = self.portable
        kept = "".join(f"{quoted_name(name)}, " for name in keep)
        parts = [f"SELECT {kept}{', '.join(f'x{position}' for position in self.used()) or 'nothing'}"]
        scores = []
        for k in range(portable.n_outputs):
            terms = [number_literal(portable.intercept[k])]
            terms += [self.pick(values[:, k], f"c{position}") for position, values in portable.tables.items()]
            terms += [self.curve(position, k) for position in portable.curves]
            terms += [self.together(term, k) for term in range(len(self.tuples))]
            scores.append(f"{' + '.join(terms)} AS s{k}")
        selected = f"SELECT {kept}{', '.join([*scores, *self.variance()])}"
        relations = [
            f"read_rows AS (SELECT {kept}{self.read()} FROM {relation_name(table)})",
            f"coded AS MATERIALIZED ({', '.join([*parts, *self.codes()])} FROM read_rows)",
            *self.flags(),
            *self.tables_relation(),
            f"scores AS MATERIALIZED ({selected} FROM {self.flagged}{self.with_tables()})",
            *self.attenuated(keep, numbered=False),
            self.weights(self.scored, keep, numbered=False),
        ]
        return f"WITH {joined(relations)}\nSELECT {self.answers(keep)}\nFROM weights"

    @cached_property
    def tuples(self) -> list[tuple[tuple[int, ...], Floats]]:
        """Return columns and dense tables of tuples."""
        return self.portable.dense_tuples

    @cached_property
    def firsts(self) -> dict[int, int]:
        """Return where the cells of each tuple that is read between nodes begin in one list of them all."""
        firsts, first = {}, 0
        for term, (positions, dense) in enumerate(self.tuples):
            if len(self.corners(positions)) > 1:
                firsts[term] = first
                first += len(dense)
        return firsts

    def tables_relation(self) -> list[str]:
        """Return the relation of one row with the cells of these tuples, one list per output; or none."""
        if not self.firsts:
            return []
        cells = np.concatenate([self.tuples[term][1] for term in self.firsts])
        lists = [
            f"{self.literal(map(number_literal, cells[:, k]), self.floats)} AS t{k}"
            for k in range(self.portable.n_outputs)
        ]
        return [f"tables AS MATERIALIZED (SELECT {', '.join(lists)})"]

    def with_tables(self) -> str:
        """Return what joins the relation of cells, where there is one."""
        return " CROSS JOIN tables" if self.firsts else ""

    def together(self, term: int, k: int, divisor: int = 1) -> str:
        """Return what a tuple says, or an equal share of it: a cell, or several between nodes."""
        positions, dense = self.tuples[term]
        corners = self.corners(positions)
        if len(corners) == 1:
            return self.pick(dense[:, k] / divisor, corners[0][0])
        first = self.firsts[term] + 1
        parts = [f"{share} * t{k}[{cell} + {first}]" for cell, share in corners]
        return f"({' + '.join(parts)}) / {divisor}" if divisor > 1 else f"({' + '.join(parts)})"

    def curve(self, position: int, k: int) -> str:
        """Return a curve: the coefficients of the piece are picked from lists."""
        curve, x, piece = self.portable.curves[position], f"x{position}", f"p{position}"
        missing = number_literal(curve.missing[k])
        constant, linear, quadratic = (curve.coefficients[:, power, k] for power in range(3))

        def of_piece(values: Floats) -> str:
            return number_literal(values[0]) if len(values) == 1 else self.pick(values, piece)

        value = of_piece(constant)
        if linear.any() or quadratic.any():
            z = f"(({x} - {of_piece(curve.anchors)}) * {number_literal(curve.scale)})"
            inner = (
                f"({of_piece(linear)} + {z} * {of_piece(quadratic)})" if quadratic.any() else of_piece(linear)
            )
            value = f"({value} + {z} * {inner})"
        return f"CASE WHEN {x} IS NULL THEN {missing} ELSE {value} END"
