"""The cycles of the calendar: months, weekdays and hours, whose last level is next to the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = tuple(f"{hour:02d}:00" for hour in range(24))
CYCLES = (MONTHS, WEEKDAYS, HOURS, *(tuple(name[:3] for name in names) for names in (MONTHS, WEEKDAYS)))


def is_cycle(levels: Sequence[object]) -> bool:
    """Tell whether ordered levels are all months, weekdays or hours, in the order of the calendar.

    It may begin anywhere: a week with Sunday, a year with April.

    >>> is_cycle(("Sunday", *WEEKDAYS[:6])), is_cycle(("low", "middle", "high"))
    (True, False)
    """
    for cycle in CYCLES:
        if len(levels) == len(cycle) and levels[0] in cycle:
            start = cycle.index(str(levels[0]))
            return tuple(levels) == (*cycle[start:], *cycle[:start])
    return False
