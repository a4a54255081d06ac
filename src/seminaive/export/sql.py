"""A fitted model as one SELECT over a table of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError, TooLargeError
from seminaive.explain.portable import Portable, warn_of_text
from seminaive.export.sql_reasons import ListReasons, SQLiteReasons
from seminaive.export.sql_writers import ListWriter
from seminaive.export.sqlite_writer import SQLiteWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

DIALECTS = ("duckdb", "sqlite", "postgresql")
# Numbers in tables of tuples beyond which databases take seconds to read the statement.
MOST_VALUES = 500_000


def to_sql(
    model: Any, table: str = "rows", dialect: str = "duckdb", *, keep: Sequence[str] = (), reasons: int = 0
) -> str:
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
    reasons : int, default=0
        How many reasons for, and how many against, the prediction to select as well, as `reasons` gives them
        against the mean of training: columns ``base_log_odds``, ``for_1``, ``for_1_log_odds`` and so on,
        ``against_1``, ``against_1_log_odds`` and so on, and ``rest_log_odds``, what all other columns add.
        The log odds add up to those of the prediction against the other, or most probable other, class.

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
    if isinstance(reasons, bool) or not isinstance(reasons, int) or reasons < 0:
        raise InputError(f"reasons is how many are selected on either side, 0 or more, got {reasons!r}")
    portable = Portable.of_effects(model) if reasons else Portable.of(model)
    if portable.n_values > MOST_VALUES:
        raise TooLargeError(
            f"the tables of pairs and tuples have {portable.n_values:,} numbers, a statement may have "
            f"{MOST_VALUES:,}: keep fewer pairs, fewer bins or a lower order"
        )
    warn_of_text(portable, "SQL")
    if reasons:
        with_reasons = (SQLiteReasons if dialect == "sqlite" else ListReasons)(portable, dialect)
        return with_reasons.reasoned(table, keep, reasons)
    writer = (SQLiteWriter if dialect == "sqlite" else ListWriter)(portable, dialect)
    return writer.statement(table, keep)
