"""Log probabilities of parents with the class, and of children given both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.additive_scores import AdditiveScores
from seminaive.scores.generative_terms import laplace_tables, m_estimate_tables
from seminaive.statistics import VETO, Terms, TupleCounts, log_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Codes, Floats, Indices
    from seminaive.statistics import TableStatistics

ROWS_PER_TASK = 4096


@dataclass(frozen=True)
class DependenceTables:
    """What an averaged dependence estimator knows, laid out for predicting.

    Given the values of its parents, a model is naive Bayes: each cell of the parents has one table for every
    other column, side by side as in ``naive``.

    Parameters
    ----------
    parents : ndarray of shape (n_parents, order)
        The columns of each set of parents.
    parent_offsets : ndarray of shape (n_parents + 1,)
        Where each set's cells begin and, last, the number of all.
    parent_weight : ndarray of shape (n_parent_cells,)
        How often the parents' values occurred.
    parent_log : ndarray of shape (n_parent_cells, n_classes)
        ``log P(c, x_s)``.
    child_offsets : ndarray of shape (n_parents + 1,)
        Where the tables given each set's first cell begin and, last, the number of all cells of children.
    child_log : ndarray of shape (n_child_cells, n_classes)
        ``log P(x_j | c, x_s)``, for every cell of ``naive.terms`` but those of the parents.
    naive : AdditiveScores
        Naive Bayes, for rows without a parent that is frequent enough.
    """

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
        from seminaive.kernels.parent_averages import fill_children

        counts = statistics.counts
        term_of = {columns: term for term, columns in enumerate(counts.terms.features)}
        cardinalities, n_classes = counts.terms.cardinalities, len(statistics.class_weight)
        parents, parent_offsets, child_offsets = _layout(cardinalities, order)
        sizes = np.diff(parent_offsets)
        joint = np.concatenate([counts.joint(term_of[columns]).reshape(-1, n_classes) for columns in parents])
        total = statistics.class_weight.sum()
        states = np.repeat(sizes, sizes)[:, None] * n_classes
        pseudo_count = smoothing / states if shared else smoothing
        offsets = counts.terms.offsets.tolist()
        families = [
            [
                -1 if j in columns else offsets[term_of[tuple(sorted((*columns, j)))]]
                for j in range(len(cardinalities))
            ]
            for columns in parents
        ]
        singles = Terms.singles(cardinalities)
        child_log = np.zeros((int(child_offsets[-1]), n_classes))
        fill_children(
            counts.counts,
            np.array(families, dtype=np.int64),
            np.array(parents, dtype=np.int64),
            np.array(cardinalities, dtype=np.int64),
            parent_offsets,
            singles.offsets,
            child_offsets,
            np.array([smoothing / max(k, 1) if shared else smoothing for k in cardinalities]),
            VETO,
            child_log,
        )
        return cls(
            np.array(parents, dtype=np.int64),
            parent_offsets,
            joint.sum(axis=1),
            log_shares(joint, total, states, pseudo_count),
            child_offsets,
            child_log,
            _naive(statistics, smoothing, shared=shared),
        )

    def check_fits(self, cardinalities: Sequence[int], order: int, n_classes: int) -> None:
        """Refuse tables that do not belong to a table of this shape, or that point outside of themselves."""
        parents, parent_offsets, child_offsets = _layout(tuple(cardinalities), order)
        expected = (
            (self.parents, np.array(parents, dtype=np.int64)),
            (self.parent_offsets, parent_offsets),
            (self.child_offsets, child_offsets),
        )
        n_cells = int(parent_offsets[-1])
        shapes = (
            (self.parent_weight, (n_cells,)),
            (self.parent_log, (n_cells, n_classes)),
            (self.child_log, (int(child_offsets[-1]), n_classes)),
        )
        if not all(
            left.dtype == right.dtype and np.array_equal(left, right) for left, right in expected
        ) or not all(array.shape == shape and array.dtype == np.float64 for array, shape in shapes):
            raise ValueError("the tables do not fit the schema")
        self.naive.check_fits(cardinalities, 0, n_classes)

    def joint_log_scores(self, codes: Codes, min_count: float, n_threads: int) -> Floats:
        """Return the log of the mean joint probability of each row and class."""
        from seminaive.kernels.parent_averages import average_parents

        terms = self.naive.terms
        cardinalities = np.array(terms.cardinalities, dtype=np.int64)
        scores = np.empty((len(codes), self.parent_log.shape[1]))

        def fill(start: int) -> None:
            rows = slice(start, start + ROWS_PER_TASK)
            average_parents(
                codes[rows],
                self.parents,
                cardinalities,
                self.parent_offsets,
                self.parent_weight,
                self.parent_log,
                terms.offsets,
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
            cells = terms.cells(codes[orphans])
            scores[orphans] = self.naive.prior + self.naive.tables[cells].sum(axis=1)
        return scores


def _layout(
    cardinalities: tuple[int, ...], order: int
) -> tuple[tuple[tuple[int, ...], ...], Indices, Indices]:
    """Return the sets of parents, and where the cells and children of each start."""
    terms = Terms.of_order(cardinalities, min(order, len(cardinalities)))
    codes = np.array(cardinalities, dtype=np.int64) + 1
    n_children = [int(codes.sum() - codes[list(columns)].sum()) for columns in terms.features]
    given = terms.n_combinations
    parent_offsets, child_offsets = (
        np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]) for sizes in (given, given * n_children)
    )
    return terms.features, parent_offsets, child_offsets


def _naive(statistics: TableStatistics, smoothing: float, *, shared: bool) -> AdditiveScores:
    """Return naive Bayes from the counts of single columns, which are the first terms."""
    terms = Terms.singles(statistics.counts.terms.cardinalities)
    counts = TupleCounts(terms, statistics.counts.counts[: terms.n_cells])
    tables = (m_estimate_tables if shared else laplace_tables)(counts, smoothing)
    weight = statistics.class_weight
    added = smoothing / len(weight) if shared else smoothing
    return AdditiveScores.of_tables(log_shares(weight, weight.sum(), len(weight), added), terms, tables)
