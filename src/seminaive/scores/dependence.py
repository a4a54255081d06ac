"""Log probabilities of parents with the class, and of children given both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.additive import AdditiveScores
from seminaive.scores.generative import log_or_veto
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.statistics import TableStatistics
    from seminaive.statistics.terms import Codes

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

ROWS_PER_TASK = 4096


@dataclass(frozen=True)
class DependenceTables:
    """What an averaged dependence estimator knows, laid out for predicting.

    Parameters
    ----------
    cardinalities : ndarray of shape (n_columns,)
    parents : ndarray of shape (n_parents, order)
        The columns of each set of parents.
    parent_offsets : ndarray of shape (n_parents,)
        Where each set's cells begin in the two parent arrays.
    parent_weight : ndarray of shape (n_parent_cells,)
        How often the parents' values occurred.
    parent_log : ndarray of shape (n_parent_cells, n_classes)
        ``log P(c, x_s)``.
    child_offsets : ndarray of shape (n_parents, n_columns)
        Where the cells of each child given the parents begin; -1 for the parents themselves.
    child_log : ndarray of shape (n_child_cells, n_classes)
        ``log P(x_j | c, x_s)``, the child varying fastest.
    naive : AdditiveScores
        Naive Bayes, for rows without a parent that is frequent enough.
    """

    cardinalities: Indices
    parents: Indices
    parent_offsets: Indices
    parent_weight: Floats
    parent_log: Floats
    child_offsets: Indices
    child_log: Floats
    naive: AdditiveScores

    @classmethod
    def of(
        cls, statistics: TableStatistics, order: int, *, smoothing: float, shared: bool
    ) -> DependenceTables:
        """Turn counts of all tuples up to ``order + 1`` columns into log probabilities.

        ``shared`` divides the smoothing among the values of an estimate; else each value gets it whole.
        """
        counts = statistics.counts
        position = {columns: term for term, columns in enumerate(counts.terms.features)}
        cardinalities = counts.terms.cardinalities
        n_columns, n_classes = len(cardinalities), len(statistics.class_weight)
        order = min(order, n_columns)

        def added(n_values: int) -> float:
            return smoothing / n_values if shared else smoothing

        parents = list(combinations(range(n_columns), order))
        sizes = [int(np.prod([cardinalities[j] for j in columns])) for columns in parents]
        parent_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        child_sizes = np.array(sizes)[:, None] * np.array(cardinalities)
        is_child = np.ones(child_sizes.shape, dtype=bool)
        for s, columns in enumerate(parents):
            is_child[s, list(columns)] = False
        starts = np.cumsum(np.where(is_child, child_sizes, 0).ravel()).reshape(child_sizes.shape)
        child_offsets = np.where(is_child, starts - child_sizes, -1)
        joint = np.empty((parent_offsets[-1], n_classes))
        children = np.empty((int(child_sizes[is_child].sum()), n_classes))
        given = np.empty_like(children)
        total = statistics.class_weight.sum()
        logs = []
        for s, columns in enumerate(parents):
            own = counts.joint(position[columns])
            joint[parent_offsets[s] : parent_offsets[s + 1]] = own.reshape(-1, n_classes)
            logs.append(
                log_or_veto(
                    (own.reshape(-1, n_classes) + added(own.size)) / (total + added(own.size) * own.size)
                )
            )
            for j in np.flatnonzero(is_child[s]):
                family = tuple(sorted((*columns, int(j))))
                axes = [family.index(column) for column in (*columns, int(j))]
                cells = slice(child_offsets[s, j], child_offsets[s, j] + child_sizes[s, j])
                block = children[cells].reshape(*(cardinalities[c] for c in (*columns, int(j))), n_classes)
                np.add(
                    counts.joint(position[family]).transpose(*axes, order + 1),
                    added(cardinalities[j]),
                    out=block,
                )
                known = block.sum(axis=-2, keepdims=True)
                if smoothing == 0:
                    # A class that was never seen with the parents knows nothing: uniform.
                    block += known == 0
                    known = block.sum(axis=-2, keepdims=True)
                given[cells].reshape(block.shape)[...] = known
        return cls(
            np.array(cardinalities, dtype=np.int64),
            np.array(parents, dtype=np.int64).reshape(len(parents), order),
            parent_offsets[:-1],
            joint.sum(axis=1),
            np.concatenate(logs),
            child_offsets,
            log_or_veto(children / given),
            _naive(statistics, added),
        )

    def joint_log_scores(self, codes: Codes, min_count: float, n_threads: int) -> Floats:
        """Return the log of the mean joint probability of each row and class."""
        from seminaive.kernels.dependence import average_parents

        scores = np.empty((len(codes), self.parent_log.shape[1]))

        def fill(start: int) -> None:
            rows = slice(start, start + ROWS_PER_TASK)
            average_parents(
                codes[rows],
                self.parents,
                self.cardinalities,
                self.parent_offsets,
                self.parent_weight,
                self.parent_log,
                self.child_offsets,
                self.child_log,
                float(min_count),
                scores[rows],
            )

        starts = range(0, len(codes), ROWS_PER_TASK)
        if n_threads == 1:
            for start in starts:
                fill(start)
        else:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(fill, starts))
        orphans = np.isnan(scores[:, 0])
        if orphans.any():
            cells = self.naive.terms.cells(codes[orphans])
            scores[orphans] = self.naive.prior + self.naive.tables[cells].sum(axis=1)
        return scores


def _naive(statistics: TableStatistics, added: Callable[[int], float]) -> AdditiveScores:
    """Return naive Bayes from the counts of single columns."""
    counts = statistics.counts
    terms = Terms.singles(counts.terms.cardinalities)
    tables = np.zeros((terms.n_cells, len(statistics.class_weight)))
    position = {columns: term for term, columns in enumerate(counts.terms.features)}
    for term, columns in enumerate(terms.features):
        own = counts.block(position[columns])
        block = own + added(len(own))
        given = block.sum(axis=0)
        tables[terms.block(term)] = log_or_veto(
            np.divide(block, given, out=np.full_like(block, 1 / len(block)), where=given > 0)
        )
    weight = statistics.class_weight + added(len(statistics.class_weight))
    return AdditiveScores.of_tables(log_or_veto(weight / weight.sum()), terms, tables)
