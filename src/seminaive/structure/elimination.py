"""Variable elimination: the product of factors, summed over all variables but one."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats

    Factor = tuple[tuple[int, ...], Floats]


def eliminate(factors: Sequence[Factor], target: int, most_cells: int) -> Floats | None:
    """Return the product of the factors summed over all variables but the target, or None if that is large.

    The variable goes first whose sum makes the smallest table (minimum weight).

    Parameters
    ----------
    factors : sequence of (tuple of int, ndarray)
        The variables of a factor, and an array with an axis for each.
    most_cells : int
        Size of the largest product that may be made; beyond it the answer is None.

    Examples
    --------
    >>> prior, given = np.array([0.8, 0.2]), np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> eliminate([((0,), prior), ((0, 1), given)], 1, 100)
    array([0.76, 0.24])
    """
    waiting = list(factors)
    sizes = {name: size for names, table in waiting for name, size in zip(names, table.shape, strict=True)}
    while left := {name for names, _ in waiting for name in names} - {target}:
        scopes = {name: _scope(waiting, name) for name in sorted(left)}
        cells = {name: prod(sizes[other] for other in scope) for name, scope in scopes.items()}
        name = min(cells, key=lambda variable: (cells[variable], variable))
        if cells[name] > most_cells:
            return None
        kept = tuple(other for other in scopes[name] if other != name)
        touched = [factor for factor in waiting if name in factor[0]]
        waiting = [factor for factor in waiting if name not in factor[0]]
        waiting.append((kept, _product(touched, scopes[name]).sum(axis=scopes[name].index(name))))
    return _product(waiting, (target,))


def _scope(factors: Sequence[Factor], name: int) -> tuple[int, ...]:
    """Return the variables of all factors that have one of them."""
    return tuple(sorted({other for names, _ in factors if name in names for other in names}))


def _product(factors: Sequence[Factor], scope: tuple[int, ...]) -> Floats:
    """Return the product of factors, an axis for each variable of the scope."""
    product: Floats = np.ones((1,) * len(scope))
    for names, table in factors:
        axes = [scope.index(name) for name in names]
        moved = np.transpose(table, np.argsort(axes))
        shape = [1] * len(scope)
        for axis, size in zip(sorted(axes), moved.shape, strict=True):
            shape[axis] = size
        product = product * moved.reshape(shape)
    return product
