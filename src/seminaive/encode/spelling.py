"""Spellings of one category: `Yes`, `yes` and `yes ` differ in capitals and in spaces around them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Value = TypeVar("Value")


def fold(value: Value) -> Value | str:
    """Return text without capitals and without spaces around it; anything else as it is.

    Examples
    --------
    >>> fold(" Yes "), fold(3)
    ('yes', 3)
    """
    return value.strip().lower() if isinstance(value, str) else value


def spelt_alike(values: Iterable[Value]) -> list[list[Value]]:
    """Return the groups of two and more values that are one value but for their spelling.

    Examples
    --------
    >>> spelt_alike(["Yes", "no", "yes", "no ", "perhaps"])
    [['Yes', 'yes'], ['no', 'no ']]
    """
    groups: dict[Value | str, list[Value]] = defaultdict(list)
    for value in values:
        groups[fold(value)].append(value)
    return [group for group in groups.values() if len(group) > 1]


def usual_spelling(counts: Mapping[Value, int]) -> dict[Value, Value]:
    """Return the spelling that stands for each value: the most frequent of those alike, the first of equals.

    Examples
    --------
    >>> usual_spelling({"Yes": 2, "yes": 5, "no": 1})
    {'Yes': 'yes', 'yes': 'yes', 'no': 'no'}
    """
    best: dict[Value | str, Value] = {}
    for value, count in counts.items():
        known = best.setdefault(fold(value), value)
        if (-count, str(value)) < (-counts[known], str(known)):
            best[fold(value)] = value
    return {value: best[fold(value)] for value in counts}
