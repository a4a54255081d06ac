"""Hill climbing over directed acyclic graphs on the Bayesian information criterion."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from seminaive.statistics.distinct import distinct_rows, joint_counts
from seminaive.structure.bayesian_network import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seminaive.arrays import Codes, Floats

# Gains below this share of the log likelihood are the rounding of its sum.
ROUNDING = 1e-12
# Cells of a table of conditional probabilities; a larger one never pays its price in parameters.
MOST_CELLS = 10_000_000


@dataclass
class FamilyScores:
    """BIC of a node given a set of parents, ``log L - log(n) / 2 * parameters``, each computed once.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_nodes)
        Distinct complete rows.
    row_weight : ndarray of shape (n_rows,)
    """

    codes: Codes
    cardinalities: Sequence[int]
    row_weight: Floats
    known: dict[tuple[int, frozenset[int]], float] = field(default_factory=dict)

    def __call__(self, node: int, parents: frozenset[int]) -> float:
        """Return the score of a node given its parents."""
        if (node, parents) not in self.known:
            self.known[node, parents] = self._score(node, sorted(parents))
        return self.known[node, parents]

    def _score(self, node: int, parents: list[int]) -> float:
        configurations = prod(self.cardinalities[j] for j in parents)
        if configurations * self.cardinalities[node] > MOST_CELLS:
            return -np.inf
        counts = joint_counts(self.codes, (*parents, node), self.cardinalities, self.row_weight)
        counts = counts.reshape(configurations, self.cardinalities[node])
        totals = counts.sum(axis=1)
        log_likelihood = float(xlogy(counts, counts).sum() - xlogy(totals, totals).sum())
        parameters = configurations * (self.cardinalities[node] - 1)
        return float(log_likelihood - 0.5 * np.log(self.row_weight.sum()) * parameters)


def bic_parents(
    codes: Codes,
    cardinalities: Sequence[int],
    row_weight: Floats | None = None,
    *,
    allowed: Callable[[int, int], bool] | None = None,
    step: Callable[[str], None] | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Return the parents of each node in the graph to which hill climbing on BIC leads from no edges.

    In each step the edge is added, removed or reversed that raises the criterion most, until none does.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_nodes)
        Complete rows.
    row_weight : ndarray of shape (n_rows,), default=None
    allowed : callable, default=None
        Whether an edge from one node to another is; all are by default.
    step : callable, default=None
        Called after each change of the graph with what was done.
    """
    distinct, distinct_row = distinct_rows(codes, cardinalities)
    scores = FamilyScores(distinct, cardinalities, np.bincount(distinct_row, row_weight).astype(np.float64))
    parents: list[frozenset[int]] = [frozenset()] * len(cardinalities)
    least = ROUNDING * abs(sum(scores(node, frozenset()) for node in range(len(parents))))
    while True:
        best, changes = least, None
        for candidate in _changes(parents, allowed):
            gain = sum(
                scores(node, node_parents) - scores(node, parents[node]) for node, node_parents in candidate
            )
            if gain > best:
                best, changes = gain, candidate
        if changes is None:
            return tuple(tuple(sorted(node_parents)) for node_parents in parents)
        for node, node_parents in changes:
            parents[node] = node_parents
        if step is not None:
            step(f"{sum(map(len, parents))} edges")


def bic_network(
    codes: Codes,
    cardinalities: Sequence[int],
    row_weight: Floats | None = None,
    *,
    smoothing: float = 1.0,
    allowed: Callable[[int, int], bool] | None = None,
    step: Callable[[str], None] | None = None,
) -> Network:
    """Return the dense network: the graph of `bic_parents`, with tables of smoothed shares.

    Examples
    --------
    A copy of a column has it as its parent, or the other way round:

    >>> copied = np.tile([0, 1, 0, 1, 1], 20)
    >>> codes = np.column_stack([copied, np.repeat([0, 1], 50), copied])
    >>> bic_network(codes, (2, 2, 2)).edges
    ((0, 2),)
    """
    parents = bic_parents(codes, cardinalities, row_weight, allowed=allowed, step=step)
    return Network.of_parents(codes, parents, cardinalities, row_weight, smoothing)


def _changes(
    parents: Sequence[frozenset[int]], allowed: Callable[[int, int], bool] | None
) -> Iterator[list[tuple[int, frozenset[int]]]]:
    """Yield changes of one edge that leave the graph acyclic: new parents of the nodes concerned."""
    n_nodes = len(parents)
    below = _descendants(parents)
    for start in range(n_nodes):
        for end in range(n_nodes):
            if start == end:
                continue
            if start in parents[end]:
                without = (end, parents[end] - {start})
                yield [without]
                # Reversing makes a cycle where another child of the parent leads to the node.
                others = [child for child in range(n_nodes) if start in parents[child] and child != end]
                cyclic = any(child in parents[end] or end in below[child] for child in others)
                if not cyclic and (allowed is None or allowed(end, start)):
                    yield [without, (start, parents[start] | {end})]
            elif start not in below[end] and (allowed is None or allowed(start, end)):
                yield [(end, parents[end] | {start})]


def _descendants(parents: Sequence[frozenset[int]]) -> list[set[int]]:
    """Return all nodes below each node."""
    below: list[set[int]] = [set() for _ in parents]
    changed = True
    while changed:
        changed = False
        for child, child_parents in enumerate(parents):
            for parent in child_parents:
                new = {child} | below[child]
                if not new <= below[parent]:
                    below[parent] |= new
                    changed = True
    return below
