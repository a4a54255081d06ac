"""Names and values as SQL writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable


def number_literal(value: float) -> str:
    """Return a double that every dialect reads as such."""
    return f"{float(value):.17e}"


def quoted_name(name: str) -> str:
    """Return the name of a column, quoted."""
    if "\0" in name:
        raise InputError(f"a name with a null character cannot be written in SQL: {name!r}")
    return '"' + name.replace('"', '""') + '"'


def relation_name(table: str) -> str:
    """Return the name of a table, perhaps with its schema."""
    return ".".join(map(quoted_name, table.split(".")))


def text_literal(value: str) -> str:
    """Return text, quoted."""
    if "\0" in value:
        raise InputError(f"a category with a null character cannot be written in SQL: {value!r}")
    return "'" + value.replace("'", "''") + "'"


def joined(relations: Iterable[str]) -> str:
    """Return relations of a WITH clause, one per line."""
    return ",\n".join(relations)


def class_literal(label: Any) -> str:
    """Return a class as text, truth value or number."""
    if isinstance(label, str):
        return text_literal(label)
    return ("TRUE" if label else "FALSE") if isinstance(label, bool) else str(label)
