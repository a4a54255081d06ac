"""Hill climbing over orderings of the nodes of a Bayesian network, by swaps of neighbours."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from seminaive.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # The objective of a node when the nodes of a set may be its parents; less is better.
    NodeObjective = Callable[[int, frozenset[int]], float]

# Improvements below this share of the objective are the rounding, and the tolerance, of its parts.
LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class OrderSearch:
    """Where hill climbing ended.

    Parameters
    ----------
    order : tuple of int
        The nodes; each may have those before it as parents.
    objective : float
        The sum over the nodes.
    n_swaps : int
        Swaps that were made.
    """

    order: tuple[int, ...]
    objective: float
    n_swaps: int


def search_order(
    objective: NodeObjective,
    order: Sequence[int],
    *,
    layers: Sequence[int] | None = None,
    searched: frozenset[int] | None = None,
    tabu: int = 10,
    step: Callable[[str], None] | None = None,
) -> OrderSearch:
    """Swap neighbours in an ordering while that lowers the sum of the nodes' objectives.

    In each step the swap is made that lowers it most. It changes the candidate parents of the two nodes
    alone: the first gets one more, the second one less; so an objective that remembers its values computes
    few new ones. A pair that was among the last ``tabu`` swaps is not swapped back.

    Parameters
    ----------
    objective : callable
        Of a node and the frozen set of its candidate parents.
    order : sequence of int
        Where to start.
    layers : sequence of int, default=None
        The layer of each node, never decreasing along the order; neighbours of different layers are not
        swapped. One layer by default.
    searched : frozenset of int, default=None
        The layers in which to swap; all by default.
    step : callable, default=None
        Called after each swap with the objective, as text.

    Examples
    --------
    A node costs 1, and nothing once node 2 may be its parent:

    >>> search_order(lambda node, before: float(2 not in before), [0, 1, 2]).order
    (2, 0, 1)
    """
    now = list(order)
    if layers is not None and any(layers[a] > layers[b] for a, b in pairwise(now)):
        raise InputError("the ordering does not follow the layers: put the nodes of earlier layers first")
    total = sum(objective(node, frozenset(now[:position])) for position, node in enumerate(now))
    recent: deque[frozenset[int]] = deque(maxlen=tabu)
    n_swaps = 0
    while True:
        best, position = LEAST_GAIN * abs(total), -1
        for left in range(len(now) - 1):
            first, second = now[left : left + 2]
            if frozenset((first, second)) in recent or not _may_swap(first, second, layers, searched):
                continue
            before = frozenset(now[:left])
            gain = (
                objective(first, before)
                + objective(second, before | {first})
                - objective(second, before)
                - objective(first, before | {second})
            )
            if gain > best:
                best, position = gain, left
        if position < 0:
            return OrderSearch(tuple(now), total, n_swaps)
        now[position], now[position + 1] = now[position + 1], now[position]
        recent.append(frozenset(now[position : position + 2]))
        total -= best
        n_swaps += 1
        if step is not None:
            step(f"objective {total:.6g}")


def _may_swap(first: int, second: int, layers: Sequence[int] | None, searched: frozenset[int] | None) -> bool:
    layer = (0, 0) if layers is None else (layers[first], layers[second])
    return layer[0] == layer[1] and (searched is None or layer[0] in searched)
