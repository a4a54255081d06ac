"""Sparse networks: the group lasso of every node on those before it in an ordering, for several strengths.

A node's problem depends on the set of its candidate parents alone, not on their order. Solutions are kept, so
that a search over orderings solves what a swap changes and nothing else; every problem starts from the
solution of the nearest one that was solved before.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.distinct import distinct_rows
from seminaive.structure.bayesian_network import Network
from seminaive.structure.group_lasso_path import GroupLassoProblem, GroupSolution, LabelCounts
from seminaive.structure.ordering import OrderSearch, search_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Codes, Floats, Integers

    Family = tuple[int, frozenset[int]]

# Memory for problems that may be solved again at the next strength, of all networks of a search together.
KEPT_BYTES = 400_000_000
# Rows that a value would have that is absent from a training part: it is rare, not impossible.
ABSENT_ROWS = 0.5


@dataclass(frozen=True)
class NodeSolution:
    """A node given its candidate parents at one strength.

    Parameters
    ----------
    blocks : dict of int to ndarray of shape (n_tables, n_levels, n_values)
        The coefficients of the parents, in each table.
    intercepts : ndarray of shape (n_tables, n_values)
    gap : float
        Duality gap, as a share of the objective.
    """

    blocks: dict[int, Floats]
    intercepts: Floats
    objective: float
    gap: float


@dataclass
class _Node:
    """A node's problem, with the nodes and the values that take part in it."""

    problem: GroupLassoProblem | None
    columns: tuple[int, ...]
    present: Integers
    n_bytes: int


class SparseNetworks:
    """All sparse networks of one or several completed tables.

    Parameters
    ----------
    completions : ndarray of shape (n_tables, n_rows, n_nodes)
        Codes without missing cells.
    row_weight : ndarray of shape (n_rows,), default=None
    tol : float, default=1e-6
        Duality gap of each node, as a share of its objective.
    max_iter : int, default=100
        Newton steps of each node.
    kept_bytes : int, default=400_000_000
        Memory for problems that may be solved again at the next strength.

    Attributes
    ----------
    n_iter : int
        Newton steps of all nodes so far.
    """

    def __init__(
        self,
        completions: Codes,
        cardinalities: Sequence[int],
        row_weight: Floats | None = None,
        *,
        tol: float = 1e-6,
        max_iter: int = 100,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.cardinalities = tuple(int(k) for k in cardinalities)
        self.tol, self.max_iter, self.kept_bytes = tol, max_iter, kept_bytes
        self.rows = []
        for codes in completions:
            distinct, distinct_row = distinct_rows(codes, self.cardinalities)
            self.rows.append((distinct, np.bincount(distinct_row, row_weight).astype(np.float64)))
        self.weight = float(self.rows[0][1].sum())
        same = [(codes == completions[0]).all(axis=0) for codes in completions]
        # Nodes with the same cells in all tables need one of them.
        self.complete = np.logical_and.reduce(same)
        self.n_iter = 0
        self._problems: OrderedDict[Family, _Node] = OrderedDict()
        self._solutions: dict[tuple[int, frozenset[int], float], NodeSolution] = {}
        self._last: dict[int, NodeSolution] = {}

    def largest_strength(self, layers: Sequence[int] | None = None) -> float:
        """Return the strength from which on no network of any ordering has an edge."""
        n_nodes = len(self.cardinalities)
        layer = [0] * n_nodes if layers is None else layers
        largest = 0.0
        for node in range(n_nodes):
            above = frozenset(j for j in range(n_nodes) if j != node and layer[j] <= layer[node])
            problem = self._node(node, above, keep=False).problem
            largest = max(largest, problem.largest_strength if problem is not None else 0.0)
        return largest

    def solution(self, node: int, before: frozenset[int], strength: float) -> NodeSolution:
        """Return a node's solution at one strength, given its candidate parents."""
        key = (node, before, strength)
        if key not in self._solutions:
            self._solutions[key] = self._last[node] = self._solve(node, before, strength)
        return self._solutions[key]

    def search(
        self,
        strength: float,
        order: Sequence[int],
        *,
        layers: Sequence[int] | None = None,
        searched: frozenset[int] | None = None,
        tabu: int = 10,
        step: Callable[[str], None] | None = None,
    ) -> OrderSearch:
        """Return the ordering to which hill climbing leads at one strength; see `search_order`.

        The objective is the mean over the nodes of each one's log loss and penalty.
        """
        n_nodes = len(self.cardinalities)

        def objective(node: int, before: frozenset[int]) -> float:
            return self.solution(node, before, strength).objective / n_nodes

        return search_order(objective, order, layers=layers, searched=searched, tabu=tabu, step=step)

    def largest_gap(self, order: Sequence[int], strength: float) -> float:
        """Return the largest duality gap of a node in an ordering, as a share of its objective."""
        return max(
            self.solution(node, frozenset(order[:position]), strength).gap
            for position, node in enumerate(order)
        )

    def forget(self, strength: float) -> None:
        """Drop the solutions at one strength."""
        self._solutions = {key: found for key, found in self._solutions.items() if key[2] != strength}

    def network(self, order: Sequence[int], strength: float, fitted: frozenset[int] | None = None) -> Network:
        """Return the network of an ordering; coefficients are the means over the tables (Rubin).

        Nodes that are not among those ``fitted`` have no parents; all are by default.
        """
        before = [frozenset[int]()] * len(self.cardinalities)
        for position, node in enumerate(order):
            if fitted is None or node in fitted:
                before[node] = frozenset(order[:position])
        return self._assembled(order, before, strength)

    def refitted(self, network: Network, strength: float) -> Network:
        """Return a network with the same edges and other coefficients: those at another strength.

        With a strength near zero this is the relaxed lasso: the penalty has chosen the edges, and no longer
        shrinks what they say.
        """
        return self._assembled(network.order, [frozenset(parents) for parents in network.parents], strength)

    def _assembled(self, order: Sequence[int], before: Sequence[frozenset[int]], strength: float) -> Network:
        """Return the network of the solutions of all nodes, given the candidate parents of each."""
        children: list[int] = []
        features: list[tuple[int, ...]] = []
        tables = []
        for node, candidates in enumerate(before):
            found = self.solution(node, candidates, strength)
            children.append(node)
            features.append(())
            tables.append(found.intercepts.mean(axis=0))
            for parent in sorted(found.blocks):
                children.append(node)
                features.append((parent,))
                tables.append(found.blocks[parent].mean(axis=0).ravel())
        return Network(
            self.cardinalities,
            tuple(int(node) for node in order),
            tuple(children),
            tuple(features),
            np.concatenate(tables),
        )

    # One node

    def _node(self, node: int, before: frozenset[int], *, keep: bool = True) -> _Node:
        """Return a node's problem, built again where it was dropped."""
        family = (node, before)
        if family in self._problems:
            self._problems.move_to_end(family)
            return self._problems[family]
        made = self._build(node, before)
        if keep:
            self._problems[family] = made
            while len(self._problems) > 1 and self._kept() > self.kept_bytes:
                self._problems.popitem(last=False)
        return made

    def _kept(self) -> int:
        return sum(node.n_bytes for node in self._problems.values())

    def _build(self, node: int, before: frozenset[int]) -> _Node:
        columns = tuple(sorted(before))
        rows = self.rows[:1] if self.complete[[*columns, node]].all() else self.rows
        n_values = self.cardinalities[node]
        weights = [np.bincount(codes[:, node], weight, minlength=n_values) for codes, weight in rows]
        present = np.flatnonzero(np.min(weights, axis=0) > 0)
        if len(present) < 2 or not columns:
            return _Node(None, columns, present, 0)
        levels = [self.cardinalities[j] for j in columns]
        tables = []
        for codes, weight in rows:
            label = np.searchsorted(present, codes[:, node])
            kept = np.isin(codes[:, node], present)
            tables.append(
                LabelCounts.of(codes[kept][:, columns], label[kept], levels, len(present), weight[kept])
            )
        return _Node(
            GroupLassoProblem(tables, levels), columns, present, sum(table.n_bytes for table in tables)
        )

    def _solve(self, node: int, before: frozenset[int], strength: float) -> NodeSolution:
        family = self._node(node, before)
        if family.problem is None:
            return self._without_parents(node)
        found = family.problem.solve(
            strength, self._start(node, family), tol=self.tol, max_iter=self.max_iter
        )
        self.n_iter += found.n_iter
        blocks = {}
        n_tables, n_values = len(found.coefficients), self.cardinalities[node]
        for group, parent in enumerate(family.columns):
            block = found.coefficients[:, family.problem.starts[group] : family.problem.starts[group + 1]]
            if block.any():
                blocks[parent] = np.zeros((n_tables, self.cardinalities[parent], n_values))
                blocks[parent][:, :, family.present] = block
        intercepts = np.full((n_tables, n_values), np.log(ABSENT_ROWS / self.weight))
        # Probabilities add up to 1 where all columns are at their mean effect.
        intercepts[:, family.present] = found.intercepts - np.logaddexp.reduce(
            found.intercepts, axis=1, keepdims=True
        )
        return NodeSolution(blocks, intercepts, found.objective, found.gap)

    def _without_parents(self, node: int) -> NodeSolution:
        """Return the shares of a node's values, the mean over the tables."""
        n_values = self.cardinalities[node]
        counts = np.array([np.bincount(codes[:, node], w, minlength=n_values) for codes, w in self.rows])
        intercepts = np.log(np.maximum(counts, ABSENT_ROWS) / self.weight)
        objective = -float(np.sum(counts * intercepts)) / (self.weight * len(self.rows))
        return NodeSolution({}, intercepts, objective, 0.0)

    def _start(self, node: int, family: _Node) -> GroupSolution | None:
        """Return the node's last solution, for other candidates or another strength, as a start."""
        last = self._last.get(node)
        problem = family.problem
        if last is None or problem is None:
            return None
        n_tables = len(problem.tables)
        if last.intercepts.shape[0] not in (1, n_tables):
            return None
        coefficients = np.zeros_like(problem.null.coefficients)
        for group, parent in enumerate(family.columns):
            if parent in last.blocks:
                block = last.blocks[parent][:, :, family.present]
                coefficients[:, problem.starts[group] : problem.starts[group + 1]] = block
        intercepts = np.repeat(last.intercepts[:, family.present], n_tables // len(last.intercepts), axis=0)
        return GroupSolution(np.inf, coefficients, intercepts, np.inf, np.inf, 0)
