"""Log probabilities of parents with the class, and of children given both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.additive import AdditiveScores
from seminaive.scores.generative import log_or_veto
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.statistics import TableStatistics
    from seminaive.statistics.terms import Codes

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

ROWS_PER_TASK = 4096


@dataclass(frozen=True)
class _Layout:
    """Where the cells of each set of parents, and of each child given them, lie.

    Parameters
    ----------
    parents : list of tuples of int
    parent_offsets : ndarray of shape (n_parents + 1,)
    child_sizes, child_offsets : ndarray of shape (n_parents, n_columns)
        Cells of each child given the parents, and where they begin; -1 for the parents themselves.
    """

    parents: list[tuple[int, ...]]
    parent_offsets: Indices
    child_sizes: Indices
    child_offsets: Indices

    @classmethod
    def of(cls, cardinalities: Sequence[int], order: int) -> _Layout:
        parents = list(combinations(range(len(cardinalities)), order))
        sizes = np.array([prod(cardinalities[j] for j in columns) for columns in parents], dtype=np.int64)
        is_child = np.ones((len(parents), len(cardinalities)), dtype=bool)
        for s, columns in enumerate(parents):
            is_child[s, list(columns)] = False
        child_sizes = np.where(is_child, sizes[:, None] * np.array(cardinalities, dtype=np.int64), 0)
        starts = np.cumsum(child_sizes.ravel()).reshape(child_sizes.shape) - child_sizes
        return cls(
            parents,
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            child_sizes,
            np.where(is_child, starts, -1),
        )


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

        layout = _Layout.of(cardinalities, order)
        parents, parent_offsets = layout.parents, layout.parent_offsets
        child_offsets, child_sizes = layout.child_offsets, layout.child_sizes
        joint = np.empty((parent_offsets[-1], n_classes))
        children = np.empty((int(child_sizes.sum()), n_classes))
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
            for j in np.flatnonzero(child_offsets[s] >= 0):
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

    def check_fits(self, cardinalities: Sequence[int], order: int, n_classes: int) -> None:
        """Refuse tables that do not belong to a table of this shape, or that point outside of themselves."""
        layout = _Layout.of(cardinalities, min(order, len(cardinalities)))
        expected = (
            (self.cardinalities, np.array(cardinalities, dtype=np.int64)),
            (self.parents, np.array(layout.parents, dtype=np.int64).reshape(len(layout.parents), -1)),
            (self.parent_offsets, layout.parent_offsets[:-1]),
            (self.child_offsets, layout.child_offsets),
        )
        n_parent_cells, n_child_cells = int(layout.parent_offsets[-1]), int(layout.child_sizes.sum())
        shapes = (
            (self.parent_weight, (n_parent_cells,)),
            (self.parent_log, (n_parent_cells, n_classes)),
            (self.child_log, (n_child_cells, n_classes)),
        )
        if not all(
            own.dtype == right.dtype and np.array_equal(own, right) for own, right in expected
        ) or not all(array.shape == shape and array.dtype == np.float64 for array, shape in shapes):
            raise ValueError("the tables do not fit the schema")
        self.naive.check_fits(cardinalities, 0, n_classes)

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
