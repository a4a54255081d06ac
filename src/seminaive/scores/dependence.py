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
        weights, parent_logs, child_logs = [], [], []
        parent_offsets = np.zeros(len(parents), dtype=np.int64)
        child_offsets = np.full((len(parents), n_columns), -1, dtype=np.int64)
        n_parent_cells = n_child_cells = 0
        total = statistics.class_weight.sum()
        for s, columns in enumerate(parents):
            own = counts.joint(position[columns])
            n_states = own.size
            log = log_or_veto((own + added(n_states)) / (total + added(n_states) * n_states))
            parent_offsets[s] = n_parent_cells
            weights.append(own.sum(axis=-1).ravel())
            parent_logs.append(log.reshape(-1, n_classes))
            n_parent_cells += len(weights[-1])
            for j in set(range(n_columns)) - set(columns):
                family = tuple(sorted((*columns, j)))
                joint = np.moveaxis(counts.joint(position[family]), family.index(j), -2)
                block = joint.reshape(-1, cardinalities[j], n_classes) + added(cardinalities[j])
                given = block.sum(axis=1, keepdims=True)
                share = np.divide(
                    block, given, out=np.full_like(block, 1 / cardinalities[j]), where=given > 0
                )
                child_offsets[s, j] = n_child_cells
                child_logs.append(log_or_veto(share.reshape(-1, n_classes)))
                n_child_cells += len(child_logs[-1])
        return cls(
            np.array(cardinalities, dtype=np.int64),
            np.array(parents, dtype=np.int64).reshape(len(parents), order),
            parent_offsets,
            np.concatenate(weights),
            np.concatenate(parent_logs),
            child_offsets,
            np.concatenate([np.zeros((0, n_classes)), *child_logs]),
            _naive(statistics, added),
        )

    def joint_log_scores(self, codes: Codes, min_count: float, n_threads: int) -> Floats:
        """Return the log of the mean joint probability of each row and class."""
        from seminaive.kernels.dependence import average_parents

        scores = np.empty((len(codes), self.parent_log.shape[1]))

        def fill(start: int) -> None:
            average_parents(
                codes,
                self.parents,
                self.cardinalities,
                self.parent_offsets,
                self.parent_weight,
                self.parent_log,
                self.child_offsets,
                self.child_log,
                float(min_count),
                start,
                min(start + ROWS_PER_TASK, len(codes)),
                scores,
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
