"""Reasons in SQL: each column's share of the log odds, ranked row by row, the first ones as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seminaive.export.sql_literals import joined, number_literal, quoted_name, relation_name, text_literal
from seminaive.export.sql_writers import ListWriter, Writer
from seminaive.export.sqlite_writer import MOST_PARTS, SQLiteWriter, cell_rows

if TYPE_CHECKING:
    from collections.abc import Sequence


class ReasonWriter(Writer):
    """What both kinds of dialects share: from shares of columns to the strongest ones of each row.

    The portable model must be one of effects: then a tuple's effect is shared out equally among its columns.
    """

    def shares(self) -> list[str]:
        """Return relations up to ``shares`` of row_id, position and s0, s1, ..., one row per column."""
        raise NotImplementedError

    def reasoned(self, table: str, keep: Sequence[str], n: int) -> str:
        """Return the SELECT of a prediction, of probabilities and of reasons."""
        kept = "".join(f"{quoted_name(name)}, " for name in keep)
        kept_of_rows = "".join(f"coded.{quoted_name(name)} AS {quoted_name(name)}, " for name in keep)
        texts = [f"{self.text(position)} AS t{position}" for position in self.used()]
        carried = [f"{kind}{position}" for position in self.used() for kind in "xt"]
        shown = ", ".join(["row_id", *(f"t{position}" for position in self.used())])
        numbered = ", ".join([self.read(), *texts, "row_number() OVER () AS row_id"])
        coded = ", ".join(["row_id", *carried, *self.codes()])
        scores = ", ".join([f"{kept_of_rows}totals.*", *self.variance()])
        relations = [
            f"read_rows AS MATERIALIZED (SELECT {kept}{numbered} FROM {relation_name(table)})",
            *self.categories_relation(),
            f"coded AS MATERIALIZED (SELECT {kept}{coded} FROM read_rows)",
            *self.flags(),
            f"texts AS (SELECT {shown} FROM coded)",
            f"names(position, name) AS (VALUES {self.names()})",
            *self.shares(),
            self.totals(),
            f"scores AS MATERIALIZED (SELECT {scores} FROM {self.flagged} {_join('totals', 'coded')})",
            *self.attenuated(keep, numbered=True),
            *self.compared(),
            *self.ranked(),
            self.reasons(n),
            self.weights(self.scored, keep, numbered=True),
        ]
        named = ", ".join(f"{side}_{k}, {side}_{k}_log_odds" for side, k in _sides_and_ranks(n))
        return (
            f"WITH {joined(relations)}\n"
            f"SELECT {self.answers(keep)}, base_log_odds, {named}, rest_log_odds\n"
            f"FROM weights {_join('reasons', 'weights')} ORDER BY weights.row_id"
        )

    def names(self) -> str:
        """Return the rows of the relation of names."""
        used = self.used()
        rows = [f"({position}, {text_literal(self.schema.columns[position].name)})" for position in used]
        return ", ".join(rows) or "(-1, '')"

    def text(self, position: int) -> str:
        """Return a cell as text."""
        name = quoted_name(self.schema.columns[position].name)
        cell = f"CAST({name} AS {'VARCHAR' if self.dialect == 'duckdb' else 'TEXT'})"
        return f"CASE WHEN {self.source(position)} IS NULL THEN 'missing' ELSE {cell} END"

    def by_position(self, cases: dict[int, str], default: str) -> str:
        """Return an expression that depends on the position of the column among names."""
        if not cases:
            return default
        written = " ".join(f"WHEN {k} THEN {value}" for k, value in cases.items())
        return f"CASE names.position {written} ELSE {default} END"

    def totals(self) -> str:
        """Return the relation of each row's scores."""
        sums = [
            f"{number_literal(base)} + sum(s{k}) AS s{k}" for k, base in enumerate(self.portable.intercept)
        ]
        return f"totals AS MATERIALIZED (SELECT row_id, {', '.join(sums)} FROM shares GROUP BY row_id)"

    def compared(self) -> list[str]:
        """Return the relations of the predicted and of the most probable other class of each row."""
        binary = self.portable.n_outputs == 1
        scores = [number_literal(0.0), "s0"] if binary else [f"s{k}" for k in range(self.portable.n_outputs)]
        classes = ", ".join(f"({k})" for k in range(len(scores)))
        score = " ".join(f"WHEN {k} THEN {score}" for k, score in enumerate(scores))
        order = (
            f"row_number() OVER (PARTITION BY row_id ORDER BY CASE class {score} END DESC, class) AS place"
        )
        first_two = ", ".join(
            f"max(CASE WHEN place = {k} THEN class END) AS {name}"
            for k, name in ((1, "target"), (2, "other"))
        )
        return [
            f"classes(class) AS (VALUES {classes})",
            f"class_order AS (SELECT row_id, class, {order} FROM {self.scored} CROSS JOIN classes)",
            f"compared AS (SELECT row_id, {first_two} FROM class_order GROUP BY row_id)",
        ]

    def log_odds(self, values: Sequence[str]) -> str:
        """Return values per output as log odds of the predicted class against the other one."""
        if len(values) == 1:
            return f"CASE target WHEN 1 THEN {values[0]} ELSE -({values[0]}) END"
        target, other = (
            f"CASE {which} {' '.join(f'WHEN {k} THEN {value}' for k, value in enumerate(values))} END"
            for which in ("target", "other")
        )
        return f"({target}) - ({other})"

    def ranked(self) -> list[str]:
        """Return the relations of each column's log odds, ranked on its side."""
        share = self.log_odds([f"s{k}" for k in range(self.portable.n_outputs)])
        side, order = "PARTITION BY row_id, log_odds > 0", "ORDER BY abs(log_odds) DESC, position"
        spoken = f"SELECT shares.row_id AS row_id, shares.position AS position, {share} AS log_odds"
        return [
            f"spoken AS ({spoken} FROM shares {_join('compared', 'shares')})",
            f"ranked AS (SELECT spoken.*, row_number() OVER ({side} {order}) AS place FROM spoken)",
        ]

    def words(self) -> str:
        """Return what a reason says: the column, its cell, the factor of the odds, the side and the class."""
        smaller = "min" if self.dialect == "sqlite" else "least"
        factor = f"exp({smaller}(abs(log_odds), 1.0e+01))"
        times = (
            f"CASE WHEN {factor} < 1.095 THEN {self.rounded(factor, 2)} "
            f"WHEN {factor} < 9.95 THEN {self.rounded(factor, 1)} "
            f"WHEN {factor} < 999.5 THEN {self.rounded(factor, 0)} ELSE 'more than 1,000' END"
        )
        labels = " ".join(
            f"WHEN {k} THEN {text_literal(str(label))}" for k, label in enumerate(self.portable.classes)
        )
        cell = self.by_position({position: f"t{position}" for position in self.used()}, "''")
        side = "CASE WHEN log_odds > 0 THEN 'for' ELSE 'against' END"
        return (
            f"name || ' ' || ({cell}) || ': ' || ({times}) || ' times the odds ' || ({side}) || ' ' || "
            f"CASE target {labels} END"
        )

    def rounded(self, value: str, digits: int) -> str:
        """Return a number as text with some digits after the point."""
        if self.dialect == "postgresql":
            return f"CAST(round(CAST({value} AS numeric), {digits}) AS text)"
        return f"printf('%.{digits}f', {value})"

    def reasons(self, n: int) -> str:
        """Return the relation of the strongest columns of each row, side by side."""
        base = self.log_odds([number_literal(value) for value in self.portable.intercept])
        columns = [f"min({base}) AS base_log_odds"]
        for side, k in _sides_and_ranks(n):
            sign = ">" if side == "for" else "<"
            here = f"CASE WHEN place = {k} AND log_odds {sign} 0 THEN"
            columns += [
                f"max({here} {self.words()} END) AS {side}_{k}",
                f"max({here} log_odds END) AS {side}_{k}_log_odds",
            ]
        columns.append(f"sum(CASE WHEN place > {n} THEN log_odds ELSE 0.0 END) AS rest_log_odds")
        joins = " ".join(_join(relation, "ranked") for relation in ("compared", "texts"))
        return (
            f"reasons AS (SELECT ranked.row_id AS row_id, {', '.join(columns)} FROM ranked {joins} "
            "JOIN names USING (position) GROUP BY ranked.row_id)"
        )


def _join(relation: str, other: str) -> str:
    """Return the clause that joins a relation to another one row by row."""
    return f"JOIN {relation} ON {relation}.row_id = {other}.row_id"


def _sides_and_ranks(n: int) -> list[tuple[str, int]]:
    """Return each side and rank of the reasons that are selected."""
    return [(side, k) for side in ("for", "against") for k in range(1, n + 1)]


class ListReasons(ReasonWriter, ListWriter):
    """DuckDB and PostgreSQL: a share is a sum of list elements and pieces of curves."""

    def shares(self) -> list[str]:
        """Return the relation of shares."""
        portable = self.portable
        outputs = []
        for k in range(portable.n_outputs):
            terms: dict[int, list[str]] = {position: [] for position in self.used()}
            for position, values in portable.tables.items():
                terms[position].append(self.pick(values[:, k], f"c{position}"))
            for position in portable.curves:
                terms[position].append(self.curve(position, k))
            for term, (positions, _) in enumerate(self.tuples):
                for position in positions:
                    terms[position].append(self.together(term, k, len(positions)))
            cases = {position: " + ".join(parts) for position, parts in terms.items()}
            outputs.append(f"{self.by_position(cases, '0.0')} AS s{k}")
        selected = f"SELECT row_id, position, {', '.join(outputs)}"
        shares = f"shares AS MATERIALIZED ({selected} FROM coded CROSS JOIN names{self.with_tables()})"
        return [*self.tables_relation(), shares]


class SQLiteReasons(ReasonWriter, SQLiteWriter):
    """SQLite: a share is a sum over the cells of a column's tables, and its curve."""

    def shares(self) -> list[str]:
        """Return the relations of cells, of their sums and of shares."""
        portable = self.portable
        tables = [
            *(((position,), values) for position, values in portable.tables.items()),
            *((positions, dense / len(positions)) for positions, dense in portable.dense_tuples),
        ]
        rows: list[str] = []
        parts: list[str] = []
        first = 0
        for positions, values in tables:
            rows += cell_rows(first, values)
            parts += [
                f"SELECT row_id, {position} AS position, {cell} + {first} AS cell, {share or '1.0'} AS share "
                "FROM coded"
                for cell, share in self.corners(positions)
                for position in positions
            ]
            first += len(values)
        groups = [parts[start : start + MOST_PARTS] for start in range(0, len(parts), MOST_PARTS)]
        sums = ", ".join(f"sum(share * s{k}) AS s{k}" for k in range(portable.n_outputs))
        relations = [
            f"sums{k} AS MATERIALIZED (SELECT row_id, position, {sums} FROM ({' UNION ALL '.join(group)}) "
            "JOIN cells USING (cell) GROUP BY row_id, position)"
            for k, group in enumerate(groups)
        ]
        return [*self.cells_relation(rows), *relations, self.summed(len(groups))]

    def summed(self, n_groups: int) -> str:
        """Return the relation of shares from sums over groups of tables, and curves."""
        outputs = []
        for k in range(self.portable.n_outputs):
            curve = self.by_position(
                {position: self.curve(position, k) for position in self.portable.curves}, "0.0"
            )
            groups = [f"coalesce(sums{group}.s{k}, 0.0)" for group in range(n_groups)]
            outputs.append(f"{' + '.join([*groups, curve])} AS s{k}")
        joins = [
            f"LEFT JOIN sums{group} ON sums{group}.row_id = coded.row_id "
            f"AND sums{group}.position = names.position"
            for group in range(n_groups)
        ]
        return (
            f"shares AS MATERIALIZED (SELECT coded.row_id AS row_id, names.position AS position, "
            f"{', '.join(outputs)} FROM coded CROSS JOIN names {' '.join(joins)})"
        )
