"""A Bayesian network over coded columns: posteriors with missing cells, draws and conditional queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.errors import InputError
from seminaive.statistics.distinct import distinct_rows, joint_counts
from seminaive.statistics.smoothing import log_shares
from seminaive.structure.elimination import eliminate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seminaive.arrays import Codes, Floats, Integers
    from seminaive.structure.kernels.network_sums import NetworkArrays

# Values of a row's missing cells, together, up to which they are summed out one by one.
MOST_CONFIGURATIONS = 4096
# Cells of a table that a conditional query may make.
MOST_CELLS = 4_000_000
# Sweeps of the Gibbs sampler, where there are more: of one posterior, and between two draws.
POSTERIOR_SWEEPS = 100
DRAW_SWEEPS = 20
# Rows between two looks at the keyboard.
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Network:
    """A directed acyclic graph, in which each node given its parents is the softmax of an additive score.

    A logistic regression has one term per parent; a table of conditional probabilities is a single term of
    all parents together. A term without parents is an intercept.

    Parameters
    ----------
    cardinalities : tuple of int
        Number of values of each node.
    order : tuple of int
        The nodes, parents before children.
    children : tuple of int
        The node to which each term belongs, never decreasing.
    features : tuple of tuple of int
        The parents of each term.
    tables : ndarray
        The scores of all terms, one after the other: an axis per parent, then the values of the child.

    Examples
    --------
    Rain makes grass wet. Wet grass makes rain more likely, 0.2 without a look at it:

    >>> wet_if_rain = np.log([0.9, 0.1, 0.2, 0.8])
    >>> network = Network((2, 2), (0, 1), (0, 1), ((), (0,)), np.r_[np.log([0.8, 0.2]), wet_if_rain])
    >>> network.probabilities(0, {1: 1}).round(2)
    array([0.33, 0.67])
    """

    cardinalities: tuple[int, ...]
    order: tuple[int, ...]
    children: tuple[int, ...]
    features: tuple[tuple[int, ...], ...]
    tables: Floats

    @classmethod
    def of_parents(
        cls,
        codes: Codes,
        parents: Sequence[Sequence[int]],
        cardinalities: Sequence[int],
        row_weight: Floats | None = None,
        smoothing: float = 1.0,
    ) -> Network:
        """Return the network of a graph, with tables of smoothed shares of complete rows.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_nodes)
            Without missing cells.
        parents : sequence of sequence of int
            The parents of each node; no node is an ancestor of itself.
        row_weight : ndarray of shape (n_rows,) or None
        smoothing : float, default=1.0
            Added to every count, in rows (Laplace's correction).
        """
        tables = []
        for node, node_parents in enumerate(parents):
            counts = joint_counts(codes, (*node_parents, node), cardinalities, row_weight)
            counts = counts.reshape(-1, cardinalities[node])
            shares = log_shares(counts, counts.sum(axis=1, keepdims=True), cardinalities[node], smoothing)
            tables.append(shares.ravel())
        return cls(
            tuple(int(k) for k in cardinalities),
            topological_order(parents),
            tuple(range(len(parents))),
            tuple(tuple(int(j) for j in node_parents) for node_parents in parents),
            np.concatenate(tables),
        )

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.cardinalities)

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the parents of each node, increasing."""
        found: list[set[int]] = [set() for _ in self.cardinalities]
        for child, term_parents in zip(self.children, self.features, strict=True):
            found[child].update(term_parents)
        return tuple(tuple(sorted(node_parents)) for node_parents in found)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Return (parent, child) pairs, by child."""
        return tuple(
            (parent, child) for child, node_parents in enumerate(self.parents) for parent in node_parents
        )

    def markov_boundary(self, node: int) -> tuple[int, ...]:
        """Return parents, children and the children's other parents: given them, no other node matters."""
        boundary = set(self.parents[node])
        for child, node_parents in enumerate(self.parents):
            if node in node_parents:
                boundary |= {child, *node_parents}
        return tuple(sorted(boundary - {node}))

    def check_fits(self, cardinalities: Sequence[int]) -> None:
        """Refuse a network, read from a file, of other nodes, with a cycle, or with tables of other sizes."""
        n_nodes = len(cardinalities)
        if self.cardinalities != tuple(cardinalities) or sorted(self.order) != list(range(n_nodes)):
            raise ValueError("the network does not fit the schema")
        if len(self.children) != len(self.features) or list(self.children) != sorted(self.children):
            raise ValueError("the terms of the network are not in the order of its nodes")
        rank_of = {node: rank for rank, node in enumerate(self.order)}
        for child, term_parents in zip(self.children, self.features, strict=True):
            if child not in rank_of or not all(
                j in rank_of and rank_of[j] < rank_of[child] for j in term_parents
            ):
                raise ValueError("a node of the network precedes its parent")
        if self.tables.ndim != 1 or len(self.tables) != sum(prod(shape) for shape in self._shapes):
            raise ValueError("the tables of the network do not fit its nodes")

    def table_of(self, term: int) -> Floats:
        """Return the scores of a term: an axis per parent, then one for the child's values."""
        shape = self._shapes[term]
        start = self._offsets[term]
        return self.tables[start : start + prod(shape)].reshape(shape)

    def log_conditional(self, node: int, known: Mapping[int, int]) -> tuple[tuple[int, ...], Floats]:
        """Return the log probabilities of a node given its parents, those known fixed at their values.

        Returns
        -------
        free : tuple of int
            The parents that are not known, then the node.
        logs : ndarray
            An axis for each of them.
        """
        free = (*(parent for parent in self.parents[node] if parent not in known), node)
        axis_of = {parent: axis for axis, parent in enumerate(free)}
        scores = np.zeros([self.cardinalities[parent] for parent in free])
        for term, term_parents in enumerate(self.features):
            if self.children[term] != node:
                continue
            index = tuple(known.get(parent, slice(None)) for parent in term_parents)
            table = self.table_of(term)[index]
            axes = [axis_of[parent] for parent in term_parents if parent not in known] + [axis_of[node]]
            table = np.transpose(table, np.argsort(axes))
            shape = [self.cardinalities[free[axis]] if axis in axes else 1 for axis in range(len(free))]
            scores += table.reshape(shape)
        return free, np.asarray(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])

    # Questions

    def joint_log_scores(self, codes: Codes, target: int) -> Floats:
        """Return the log probability of each value of a node and of each row's observed cells together.

        Equal up to a constant per row. Cells that are missing (their code is the cardinality) are summed out;
        where they take more than `MOST_CONFIGURATIONS` values, the posterior is averaged over Gibbs draws
        that depend on the row alone.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_nodes)
            The column of the target is not read.
        """
        from seminaive.structure.kernels.network_draws import gibbs_log_scores
        from seminaive.structure.kernels.network_sums import joint_log_scores, scratch_of

        distinct, inverse = distinct_rows(np.delete(codes, target, axis=1), self._most_of(target))
        rows = np.insert(distinct, target, 0, axis=1)
        found = np.empty((len(rows), self.cardinalities[target]))
        beyond = np.empty(len(rows), dtype=bool)
        scratch = scratch_of(self._arrays)
        for low in range(0, len(rows), ROWS_AT_ONCE):
            block = slice(low, low + ROWS_AT_ONCE)
            part = rows[block].astype(np.int64)
            joint_log_scores(
                self._arrays, part, target, MOST_CONFIGURATIONS, scratch, found[block], beyond[block]
            )
        left = np.flatnonzero(beyond)
        uniforms = np.random.default_rng(0).random((POSTERIOR_SWEEPS + 1, self.n_nodes))
        for low in range(0, len(left), ROWS_AT_ONCE):
            some = left[low : low + ROWS_AT_ONCE]
            averaged = np.empty((len(some), found.shape[1]))
            gibbs_log_scores(self._arrays, rows[some].astype(np.int64), target, uniforms, scratch, averaged)
            found[some] = averaged
        return found[inverse]

    def _most_of(self, target: int) -> list[int]:
        return [k + 1 for node, k in enumerate(self.cardinalities) if node != target]

    def probabilities(self, node: int, known: Mapping[int, int]) -> Floats:
        """Return the probabilities of a node's values given the values of some others.

        By variable elimination; where that needs tables of more than `MOST_CELLS` cells, averaged over draws.
        """
        if node in known:
            return np.asarray(np.arange(self.cardinalities[node]) == known[node], dtype=np.float64)
        needed = self._ancestors({node, *known})
        factors = []
        for child in needed:
            cells = prod(self.cardinalities[j] for j in (*self.parents[child], child) if j not in known)
            if cells > MOST_CELLS:
                return self._averaged(node, known)
            free, logs = self.log_conditional(child, {j: k for j, k in known.items() if j != child})
            shares = np.exp(logs)
            if child in known:
                free, shares = free[:-1], shares[..., known[child]]
            factors.append((free, shares))
        found = eliminate(factors, node, MOST_CELLS)
        return self._averaged(node, known) if found is None else np.asarray(found / found.sum())

    def _averaged(self, node: int, known: Mapping[int, int]) -> Floats:
        row = np.array([[known.get(j, k) for j, k in enumerate(self.cardinalities)]])
        scores = self.joint_log_scores(row, node)[0]
        shares = np.exp(scores - scores.max())
        return np.asarray(shares / shares.sum())

    def _ancestors(self, nodes: set[int]) -> list[int]:
        """Return some nodes and all that is above them, increasing."""
        found, parents = set(nodes), self.parents
        for node in reversed(self.order):
            if node in found:
                found.update(parents[node])
        return sorted(found)

    # Draws

    def draw_missing(self, codes: Codes, n_draws: int, generator: np.random.Generator) -> Codes:
        """Return draws of each row's missing cells given its observed ones, (n_draws, n_rows, n_nodes) codes.

        Exact where the missing cells take at most `MOST_CONFIGURATIONS` values together; else a Gibbs sampler
        makes `DRAW_SWEEPS` sweeps before each draw.
        """
        from seminaive.structure.kernels.network_draws import draw_missing
        from seminaive.structure.kernels.network_sums import scratch_of

        scratch, thresholds = scratch_of(self._arrays), np.empty(n_draws)
        one_row = np.empty((n_draws, self.n_nodes), dtype=np.int64)
        drawn = np.empty(
            (n_draws, len(codes), self.n_nodes), dtype=np.min_scalar_type(max(self.cardinalities))
        )
        for low in range(0, len(codes), ROWS_AT_ONCE):
            block = slice(low, low + ROWS_AT_ONCE)
            rows = codes[block].astype(np.int64)
            found = np.empty((n_draws, *rows.shape), dtype=np.int64)
            draw_missing(
                self._arrays,
                rows,
                MOST_CONFIGURATIONS,
                DRAW_SWEEPS,
                generator,
                scratch,
                thresholds,
                one_row,
                found,
            )
            drawn[:, block] = found
        return drawn

    def sample(self, n_rows: int, generator: np.random.Generator) -> Codes:
        """Return rows drawn from the network, (n_rows, n_nodes) codes."""
        missing = np.tile(np.array(self.cardinalities), (n_rows, 1))
        return np.asarray(self.draw_missing(missing, 1, generator)[0])

    # Arrays for compiled passes

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        return [
            tuple(self.cardinalities[j] for j in (*term_parents, child))
            for term_parents, child in zip(self.features, self.children, strict=True)
        ]

    @cached_property
    def _offsets(self) -> Integers:
        return np.concatenate([[0], np.cumsum([prod(shape) for shape in self._shapes])]).astype(np.int64)

    @cached_property
    def _arrays(self) -> NetworkArrays:
        from seminaive.structure.kernels.network_sums import NetworkArrays

        strides = [prod(shape[axis + 1 :]) for shape in self._shapes for axis in range(len(shape) - 1)]
        return NetworkArrays(
            np.array(self.order, dtype=np.int64),
            np.array(self.cardinalities, dtype=np.int64),
            np.searchsorted(self.children, np.arange(self.n_nodes + 1)).astype(np.int64),
            np.concatenate([[0], np.cumsum([len(term_parents) for term_parents in self.features])]).astype(
                np.int64
            ),
            np.array([j for term_parents in self.features for j in term_parents], dtype=np.int64),
            np.array(strides, dtype=np.int64),
            self._offsets[:-1],
            np.ascontiguousarray(self.tables, dtype=np.float64),
        )


def topological_order(parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the nodes with parents before children, the earliest position first among those possible."""
    order: list[int] = []
    waiting = list(range(len(parents)))
    while waiting:
        ready = [node for node in waiting if set(parents[node]) <= set(order)]
        if not ready:
            raise InputError("the graph has a cycle: a node may not be an ancestor of itself")
        order.append(ready[0])
        waiting.remove(ready[0])
    return tuple(order)
