"""A fitted model as one SELECT over a table of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seminaive.encode import CategoricalColumn
from seminaive.errors import InputError, TooLargeError
from seminaive.explain.portable import Portable, warn_of_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DIALECTS = ("duckdb", "sqlite", "postgresql")
# Numbers in tables of tuples beyond which databases take seconds to read the statement.
MOST_VALUES = 500_000
# Parts of one UNION ALL: SQLite allows 500.
MOST_PARTS = 400


def to_sql(model: Any, table: str = "rows", dialect: str = "duckdb", *, keep: Sequence[str] = ()) -> str:
    """Return a fitted additive model as a SELECT of ``prediction`` and one ``probability_<class>`` per class.

    NULL and NaN are missing; values that training never had carry no evidence. Tables of the model are list
    literals in DuckDB and PostgreSQL, and joined in SQLite.

    Parameters
    ----------
    model : a fitted additive model
    table : str, default="rows"
        The table or view to read, perhaps with its schema: ``main.rows``. It has the training columns, under
        their names.
    dialect : {"duckdb", "sqlite", "postgresql"}, default="duckdb"
    keep : sequence of str, default=()
        Columns to carry along, a key for instance.

    Examples
    --------
    >>> import sqlite3
    >>> from seminaive import NaiveBayes
    >>> model = NaiveBayes().fit([["wet"], ["wet"], ["dry"]], ["slip", "slip", "hold"])
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE rows AS SELECT 'wet' AS x0")
    >>> prediction, hold, slip = connection.execute(to_sql(model, dialect="sqlite")).fetchone()
    >>> prediction, round(slip, 3)
    ('slip', 0.818)
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect is one of {', '.join(DIALECTS)}, got {dialect!r}")
    portable = Portable.of(model)
    if portable.n_values > MOST_VALUES:
        raise TooLargeError(
            f"the tables of pairs and tuples have {portable.n_values:,} numbers, a statement may have "
            f"{MOST_VALUES:,}: keep fewer pairs, fewer bins or a lower order"
        )
    warn_of_text(portable, "SQL")
    writer = (_SQLite if dialect == "sqlite" else _Lists)(portable, dialect)
    return writer.statement(table, keep)


def _number(value: float) -> str:
    """Return a double that every dialect reads as such."""
    return f"{float(value):.17e}"


def _name(name: str) -> str:
    if "\0" in name:
        raise InputError(f"a name with a null character cannot be written in SQL: {name!r}")
    return '"' + name.replace('"', '""') + '"'


def _relation(table: str) -> str:
    """Return the name of a table, perhaps with its schema."""
    return ".".join(map(_name, table.split(".")))


def _text(value: str) -> str:
    if "\0" in value:
        raise InputError(f"a category with a null character cannot be written in SQL: {value!r}")
    return "'" + value.replace("'", "''") + "'"


class _Writer:
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
        name = _name(column.name)
        if isinstance(column, CategoricalColumn):
            if column.is_text:
                return f"CAST({name} AS {'VARCHAR' if self.dialect == 'duckdb' else 'TEXT'})"
            if column.is_text is None and column.categories:
                raise InputError(
                    f"column {column.name!r} holds text and numbers, a column of a database has one type: "
                    "make it text and fit again"
                )
            if self.dialect == "postgresql" and all(isinstance(own, bool) for own in column.categories):
                return f"CAST(CAST({name} AS integer) AS {self.floats})"
        cast = f"CAST({name} AS {self.floats})"
        if self.dialect == "postgresql":
            return f"NULLIF({cast}, 'NaN'::double precision)"
        return f"CASE WHEN isnan({cast}) THEN NULL ELSE {cast} END" if self.dialect == "duckdb" else cast

    def categories(self, position: int) -> list[str]:
        """Return the categories of a column as literals."""
        column = self.schema.columns[position]
        assert isinstance(column, CategoricalColumn)  # noqa: S101 - narrows the type
        return [_text(own) if isinstance(own, str) else _number(own) for own in column.categories]

    def place(self, x: str, edges: Iterable[float]) -> str:
        """Return how many edges are below x."""
        cases = [f"WHEN {x} <= {_number(edge)} THEN {k}" for k, edge in enumerate(edges)]
        return f"CASE {' '.join(cases)} ELSE {len(cases)} END" if cases else "0"

    def used(self) -> list[int]:
        return sorted({*self.portable.coded, *self.portable.curves})

    def read(self) -> str:
        """Return the columns as they are read, x and their position being their names."""
        return ", ".join(f"{self.source(own)} AS x{own}" for own in self.used()) or "1 AS nothing"

    def code(self, position: int) -> str:
        """Return the code of a column's cell, c and its position being its name."""
        column, x = self.schema.columns[position], f"x{position}"
        if isinstance(column, CategoricalColumn):
            known = self.category_code(position, self.schema.n_values(column))
        else:
            known = self.place(x, column.cuts or ())  # type: ignore[union-attr]
        return f"CASE WHEN {x} IS NULL THEN {column.n_present} ELSE {known} END AS c{position}"

    def category_code(self, position: int, unseen: int) -> str:
        """Return the code of a category that is not missing."""
        raise NotImplementedError

    def cell(self, positions: tuple[int, ...]) -> str:
        """Return the cell of a tuple's table that the codes of its columns name."""
        cell = ""
        for own, size in zip(positions, self.portable.shape(positions), strict=True):
            cell = f"({cell} * {size} + c{own})" if cell else f"c{own}"
        return cell

    def final(self, source: str, keep: Sequence[str], order: str = "") -> str:
        """Return the SELECT of probabilities from scores s0, s1, ... of one relation."""
        portable = self.portable
        n_classes = len(portable.classes)
        scores = [f"s{k}" for k in range(portable.n_outputs)]
        if n_classes == 2:
            scores = [_number(0.0), "s0"]
        kept = "".join(f"{_name(name)}, " for name in keep)
        # Beyond -700 some databases refuse to underflow.
        weights = ", ".join(
            f"exp({self.larger}({own} - highest, -7.0e+02)) AS w{k}" for k, own in enumerate(scores)
        )
        row = ", row_id" if order else ""
        total = " + ".join(f"w{k}" for k in range(n_classes))
        labels = [
            _text(own)
            if isinstance(own, str)
            else ("TRUE" if own else "FALSE")
            if isinstance(own, bool)
            else str(own)
            for own in portable.classes
        ]
        cases = " ".join(f"WHEN w{k} = 1.0e+00 THEN {label}" for k, label in enumerate(labels[:-1]))
        probabilities = ", ".join(
            f"w{k} / ({total}) AS {_name(f'probability_{label}')}" for k, label in enumerate(portable.classes)
        )
        return (
            f"highest_score AS (SELECT {kept}{', '.join(f's{k}' for k in range(portable.n_outputs))}, "
            f"{self.larger}({', '.join(scores)}) AS highest{row} FROM {source}),\n"
            f"weights AS (SELECT {kept}{weights}{row} FROM highest_score)\n"
            f"SELECT {kept}CASE {cases} ELSE {labels[-1]} END AS prediction, {probabilities}\n"
            f"FROM weights{order}"
        )


class _Lists(_Writer):
    """DuckDB and PostgreSQL: tables are list literals, indexed by one-based positions."""

    def literal(self, values: Iterable[str], kind: str) -> str:
        joined = ", ".join(values)
        if self.dialect == "duckdb":
            return f"CAST([{joined}] AS {kind}[])"
        return f"(ARRAY[{joined}]::{kind}[])"

    def pick(self, values: Floats, place: str) -> str:
        return f"({self.literal(map(_number, values), self.floats)})[{place} + 1]"

    def category_code(self, position: int, unseen: int) -> str:
        text = self.schema.columns[position].is_text  # type: ignore[union-attr]
        kind = ("VARCHAR" if self.dialect == "duckdb" else "text") if text else self.floats
        values = self.literal(self.categories(position), kind)
        found = "list_position" if self.dialect == "duckdb" else "array_position"
        return f"coalesce(nullif({found}({values}, x{position}), 0) - 1, {unseen})"

    def statement(self, table: str, keep: Sequence[str]) -> str:
        portable = self.portable
        kept = "".join(f"{_name(name)}, " for name in keep)
        coded = [self.code(own) for own in portable.coded]
        coded += [f"{self.place(f'x{own}', curve.edges)} AS p{own}" for own, curve in portable.curves.items()]
        parts = [f"SELECT {kept}{', '.join(f'x{own}' for own in self.used()) or 'nothing'}"]
        scores = []
        for k in range(portable.n_outputs):
            terms = [_number(portable.intercept[k])]
            terms += [self.pick(values[:, k], f"c{own}") for own, values in portable.tables.items()]
            terms += [self.curve(own, k) for own in portable.curves]
            terms += [
                self.pick(dense[:, k], self.cell(positions)) for positions, dense in portable.dense_tuples
            ]
            scores.append(f"{' + '.join(terms)} AS s{k}")
        return (
            f"WITH read_rows AS (SELECT {kept}{self.read()} FROM {_relation(table)}),\n"
            f"coded AS ({', '.join([*parts, *coded])} FROM read_rows),\n"
            f"scores AS (SELECT {kept}{', '.join(scores)} FROM coded),\n{self.final('scores', keep)}"
        )

    def curve(self, position: int, k: int) -> str:
        curve, x, piece = self.portable.curves[position], f"x{position}", f"p{position}"
        missing = _number(curve.missing[k])
        constant, linear, quadratic = (curve.coefficients[:, power, k] for power in range(3))

        def own(values: Floats) -> str:
            return _number(values[0]) if len(values) == 1 else self.pick(values, piece)

        value = own(constant)
        if linear.any() or quadratic.any():
            z = f"(({x} - {own(curve.anchors)}) * {_number(curve.scale)})"
            inner = f"({own(linear)} + {z} * {own(quadratic)})" if quadratic.any() else own(linear)
            value = f"({value} + {z} * {inner})"
        return f"CASE WHEN {x} IS NULL THEN {missing} ELSE {value} END"


class _SQLite(_Writer):
    """SQLite: no lists, so that all tables are one relation, joined to the cells of each row."""

    def statement(self, table: str, keep: Sequence[str]) -> str:
        kept = "".join(f"{_name(name)}, " for name in keep)
        coded = [f"x{own}" for own in self.used()] + [self.code(own) for own in self.portable.coded]
        values, places = self.cells()
        groups = [places[start : start + MOST_PARTS] for start in range(0, len(places), MOST_PARTS)]
        numbered = f"{self.read()}, row_number() OVER () AS row_id"
        relations = [
            f"read_rows AS (SELECT {kept}{numbered} FROM {_relation(table)})",
            *self.categories_relation(),
            f"coded AS MATERIALIZED (SELECT {kept}row_id, {', '.join(coded) or 'nothing'} FROM read_rows)",
            *self.cells_relation(values),
            *(self.sums(k, group) for k, group in enumerate(groups)),
            self.scores(len(groups), keep),
        ]
        return f"WITH {(',' + chr(10)).join(relations)},\n{self.final('scores', keep, ' ORDER BY row_id')}"

    def category_code(self, position: int, unseen: int) -> str:
        found = f"(SELECT code FROM categories WHERE position = {position} AND category = x{position})"
        return f"coalesce({found}, {unseen})"

    def categories_relation(self) -> list[str]:
        """Return the relation of the codes of all categories, or none."""
        rows = [
            f"({own}, {value}, {code})"
            for own in self.portable.coded
            if isinstance(self.schema.columns[own], CategoricalColumn)
            for code, value in enumerate(self.categories(own))
        ]
        head = "categories(position, category, code) AS MATERIALIZED"
        return [f"{head} (VALUES {', '.join(rows)})"] if rows else []

    def cells(self) -> tuple[list[str], list[str]]:
        """Return the rows of all cells, which are numbered, and each table's number of a row's cell."""
        tables = [(f"c{own}", values) for own, values in self.portable.tables.items()]
        tables += [(self.cell(positions), dense) for positions, dense in self.portable.dense_tuples]
        rows, places, first = [], [], 0
        for cell, values in tables:
            rows += _cells(first, values)
            places.append(f"{cell} + {first}")
            first += len(values)
        return rows, places

    def cells_relation(self, rows: list[str]) -> list[str]:
        """Return the relation of the scores of all cells, or none."""
        outputs = ", ".join(f"s{k}" for k in range(self.portable.n_outputs))
        return [f"cells(cell, {outputs}) AS MATERIALIZED (VALUES {', '.join(rows)})"] if rows else []

    def sums(self, group: int, places: list[str]) -> str:
        """Return the relation of each row's scores, summed over a group of tables."""
        sums = ", ".join(f"sum(s{k}) AS s{k}" for k in range(self.portable.n_outputs))
        looked = " UNION ALL ".join(f"SELECT row_id, {place} AS cell FROM coded" for place in places)
        return (
            f"sums{group} AS (SELECT row_id, {sums} FROM ({looked}) JOIN cells USING (cell) GROUP BY row_id)"
        )

    def scores(self, n_groups: int, keep: Sequence[str]) -> str:
        """Return the relation of each row's scores: the intercept, the groups of tables and the curves."""
        scores = []
        for k in range(self.portable.n_outputs):
            terms = [_number(self.portable.intercept[k])]
            terms += [f"coalesce(sums{group}.s{k}, 0.0)" for group in range(n_groups)]
            terms += [self.curve(own, k) for own in self.portable.curves]
            scores.append(f"{' + '.join(terms)} AS s{k}")
        joins = [f"LEFT JOIN sums{group} ON sums{group}.row_id = coded.row_id" for group in range(n_groups)]
        kept = "".join(f"coded.{_name(name)}, " for name in keep)
        return (
            f"scores AS (SELECT {kept}coded.row_id AS row_id, {', '.join(scores)} "
            f"FROM coded {' '.join(joins)})"
        )

    def curve(self, position: int, k: int) -> str:
        """Return a curve as one CASE over its pieces."""
        curve, x = self.portable.curves[position], f"x{position}"
        pieces = []
        for anchor, (constant, linear, quadratic) in zip(
            curve.anchors, curve.coefficients[:, :, k], strict=True
        ):
            z = f"(({x} - {_number(anchor)}) * {_number(curve.scale)})"
            value = _number(constant)
            if linear or quadratic:
                value = f"({value} + {z} * ({_number(linear)} + {z} * {_number(quadratic)}))"
            pieces.append(value)
        cases = [f"WHEN {x} IS NULL THEN {_number(curve.missing[k])}"]
        cases += [
            f"WHEN {x} <= {_number(edge)} THEN {piece}"
            for edge, piece in zip(curve.edges, pieces, strict=False)
        ]
        return f"CASE {' '.join(cases)} ELSE {pieces[-1]} END"


def _cells(first: int, values: Floats) -> list[str]:
    """Return rows of the relation of cells; those of zeros are left out."""
    return [
        f"({first + cell}, {', '.join(map(_number, own))})" for cell, own in enumerate(values) if own.any()
    ]
