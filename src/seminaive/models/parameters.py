"""Checks of constructor parameters, with one sentence for each way to be wrong: what it is, and what came."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

# Whole numbers beyond do not fit the index type of compiled loops, and mean nothing.
LARGEST_WHOLE = int(np.iinfo(np.intc).max)
# Defaults that models share: what is added to every variance, as a share of the largest; completed tables
# where cells are missing; steps of a greedy search in a row without a gain; folds of a search, and those of
# many rows, of which fewer folds hold out enough.
VARIANCE_FLOOR, N_IMPUTATIONS, PATIENCE, N_FOLDS, FEW_FOLDS, MANY_ROWS = 1e-9, 5, 5, 5, 3, 3000


def folds_by_size(n_rows: int) -> int:
    """Return the number of folds of a search that chooses it by the rows."""
    return N_FOLDS if n_rows < MANY_ROWS else FEW_FOLDS


def is_number(value: Any) -> bool:
    """Tell whether a parameter is a finite number; true and false are none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all doubles
        return False


def is_whole(value: Any) -> bool:
    """Tell whether a parameter is a whole number; true and false are none."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def check_number(
    name: str,
    value: Any,
    meaning: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: bool = False,
) -> None:
    """Refuse what is not a number from ``low`` (more than it, where ``above``) to ``high``.

    Parameters
    ----------
    meaning : str
        What the parameter is, with its unit: "a number of rows, 0 or more".
    """
    if not is_number(value) or not low <= value <= high or (above and value == low):
        raise InputError(f"{name} is {meaning}, got {value!r}")


def check_whole(name: str, value: Any, meaning: str, *, low: int) -> None:
    """Refuse what is not a whole number from ``low`` to about two thousand million."""
    if not is_whole(value) or not low <= value <= LARGEST_WHOLE:
        beyond = f", at most {LARGEST_WHOLE:,}" if is_whole(value) and value > LARGEST_WHOLE else ""
        raise InputError(f"{name} is {meaning}{beyond}, got {value!r}")


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Refuse what is not one of the names allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} is one of {', '.join(map(repr, allowed))}, got {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is True or False, got {value!r}")


def check_variance_floor(value: Any) -> None:
    """Refuse a smallest variance that is no share of the overall one."""
    check_number("variance_floor", value, "a share, more than 0, at most 1", low=0.0, high=1.0, above=True)


def check_order(value: Any) -> None:
    """Refuse an order that is not a whole number of 1 or more."""
    check_whole("order", value, "the number of features in a term, a whole number of 1 or more", low=1)


def check_jobs(value: Any) -> None:
    """Refuse a number of threads that is neither None nor a whole number besides 0."""
    if value is not None and (not is_whole(value) or value == 0 or abs(value) > LARGEST_WHOLE):
        raise InputError(
            f"n_jobs is None or a number of threads, -1 for all cores and never 0, got {value!r}"
        )


def refuse_groups(groups: Any, why: str) -> None:
    """Refuse groups of rows where there are no folds that could keep them together."""
    if groups is not None:
        raise InputError(f"groups keep rows together in folds, and {why}: leave groups out")


def check_search(tol: float, max_iter: int) -> None:
    """Refuse a tolerance that is no positive number, or a number of iterations below 1."""
    check_number("tol", tol, "a positive number", low=0.0, above=True)
    check_whole("max_iter", max_iter, "a whole number of iterations, 1 or more", low=1)


def _is_listed(value: Any) -> bool:
    """Tell whether a parameter is a list, tuple or array with one axis; its entries are not looked at."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def check_strengths(name: str, value: Any, count: int, meaning: str) -> None:
    """Refuse what is neither a number of 0 or more nor ``count`` of them."""
    if is_number(value) and value >= 0:
        return
    numbers = list(value) if _is_listed(value) else []
    if len(numbers) != count or not all(is_number(number) and number >= 0 for number in numbers):
        raise InputError(f"{name} is {meaning}, got {value!r}")


def check_numbers(name: str, value: Any, meaning: str, *, low: float = 0.0) -> None:
    """Refuse what is not a list of numbers from ``low`` on, at least one."""
    numbers = list(value) if _is_listed(value) else []
    if not numbers or not all(is_number(number) and number >= low for number in numbers):
        raise InputError(f"{name} is {meaning}, got {value!r}")
