"""Information that every pair of features shares within the classes, all pairs in one pass per feature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Codes, Floats, Indices, Integers
    from seminaive.statistics.counts import TupleCounts

# Cells counted in one pass, about 64 MB of counts. Two columns that need more alone are counted by rows.
CELLS_AT_ONCE = 8_000_000


@dataclass(frozen=True)
class PairwiseInformation:
    """Conditional mutual information of all pairs of coded columns given the class, in nats.

    Rows in which one of two columns is no evidence are left out of that pair.

    Parameters
    ----------
    information : ndarray of shape (p, p)
        ``I(X; Y | C)``; on the diagonal ``H(X | C)``.
    entropy : ndarray of shape (p, p)
        In row X and column Y ``H(X | C)`` over the rows where both are known.

    Examples
    --------
    >>> codes = np.array([[0, 0], [1, 1], [0, 0], [1, 1]], dtype=np.uint8)
    >>> PairwiseInformation.of(codes, np.array([0, 0, 1, 1]), (2, 2), n_classes=2).normalized
    array([[1., 1.],
           [1., 1.]])
    """

    information: Floats
    entropy: Floats

    @classmethod
    def of(
        cls,
        codes: Codes,
        labels: Integers,
        cardinalities: Sequence[int],
        n_classes: int,
        row_weight: Floats | None = None,
    ) -> PairwiseInformation:
        """Count all pairs of columns of an encoded table, and keep their information only."""
        columns = np.ascontiguousarray(codes.T)
        pairs = _count_pairs(columns, labels, tuple(cardinalities), n_classes, row_weight)
        return cls._of_pairs(len(cardinalities), pairs)

    @classmethod
    def of_counts(cls, counts: TupleCounts) -> PairwiseInformation:
        """Read the pairs, and the single columns, off counts that have them."""
        pairs = (
            (columns[0], columns[-1], _EntropySums.of_joint(counts.joint(term)))
            for term, columns in enumerate(counts.terms.features)
            if len(columns) <= 2
        )
        return cls._of_pairs(len(counts.terms.cardinalities), pairs)

    @classmethod
    def _of_pairs(cls, n_columns: int, pairs: Iterator[tuple[int, int, _EntropySums]]) -> PairwiseInformation:
        information = np.zeros((n_columns, n_columns))
        entropy = np.zeros((n_columns, n_columns))
        for i, j, sums in pairs:
            if sums.total <= 0:
                continue
            shared = max(sums.pair - sums.first - sums.second + sums.by_class, 0.0) / sums.total
            information[i, j] = information[j, i] = shared
            entropy[i, j] = max(sums.by_class - sums.first, 0.0) / sums.total
            entropy[j, i] = max(sums.by_class - sums.second, 0.0) / sums.total
        return cls(information, entropy)

    @property
    def normalized(self) -> Floats:
        """Return ``I(X; Y | C) / sqrt(H(X | C) H(Y | C))``, between 0 and 1, with 0/0 = 0."""
        scale = np.sqrt(self.entropy * self.entropy.T)
        share = np.divide(self.information, scale, out=np.zeros_like(scale), where=scale > 0)
        return np.minimum(share, 1.0)


@dataclass(frozen=True)
class _EntropySums:
    """Sums of n log n over the cells of two columns and the class, and of their margins with the class.

    Attributes
    ----------
    total : float
        The weight of the rows in which both columns are known.
    pair, first, second, by_class : float
    """

    total: float
    pair: float
    first: float
    second: float
    by_class: float

    @classmethod
    def of_joint(cls, counts: Floats) -> _EntropySums:
        """Sum over counts with the axes first, second, class; or value, class: a column with itself."""
        total, by_class = float(counts.sum()), _sum_n_log_n(counts.sum(axis=tuple(range(counts.ndim - 1))))
        if counts.ndim == 2:
            alone = _sum_n_log_n(counts)
            return cls(total, alone, alone, alone, by_class)
        margins = (_sum_n_log_n(counts.sum(axis=1)), _sum_n_log_n(counts.sum(axis=0)))
        return cls(total, _sum_n_log_n(counts), *margins, by_class)

    @classmethod
    def of_rows(cls, first: Indices, second: Indices, labels: Indices, row_weight: Floats) -> _EntropySums:
        """Sum over the cells that occur: most do not where both columns have many values."""
        n_classes = int(labels.max(initial=0)) + 1
        pair = first * (int(second.max(initial=0)) + 1) + second
        occurring = np.unique(pair, return_inverse=True)[1]
        sums = [
            _sum_n_log_n(np.bincount(column * n_classes + labels, row_weight).astype(np.float64))
            for column in (occurring, first, second, np.zeros_like(first))
        ]
        return cls(float(row_weight.sum()), *sums)


def _sum_n_log_n(counts: Floats) -> float:
    return float(xlogy(counts, counts).sum())


def _count_pairs(
    columns: Codes,
    labels: Integers,
    cardinalities: tuple[int, ...],
    n_classes: int,
    row_weight: Floats | None,
) -> Iterator[tuple[int, int, _EntropySums]]:
    """Yield every pair i <= j with its sums, without rows of no evidence."""
    from seminaive.kernels.counting import count_last_columns, count_last_columns_weighted

    for i in range(len(cardinalities)):
        lead = (columns[i] * np.int64(n_classes) + labels).astype(np.uint32)
        width = (cardinalities[i] + 1) * n_classes
        alone = np.bincount(lead, row_weight, width).reshape(-1, n_classes)
        yield i, i, _EntropySums.of_joint(alone[:-1].astype(np.float64))
        for first, stop in pairwise(_batches(cardinalities, i + 1, width)):
            offsets = np.zeros(stop + 1, np.int64)
            offsets[first + 1 :] = np.cumsum([(k + 1) * width for k in cardinalities[first:stop]])
            if offsets[-1] > CELLS_AT_ONCE:
                yield i, first, _sums_of_rows(columns, labels, cardinalities, (i, first), row_weight)
                continue
            cells: Floats | Integers
            if row_weight is None:
                cells = np.zeros(int(offsets[-1]), np.int64)
                count_last_columns(columns[:stop], lead, width, first, offsets, cells)
            else:
                cells = np.zeros(int(offsets[-1]))
                count_last_columns_weighted(columns[:stop], lead, row_weight, width, first, offsets, cells)
            for j in range(first, stop):
                block = cells[offsets[j] : offsets[j + 1]].reshape(-1, cardinalities[i] + 1, n_classes)
                yield i, j, _EntropySums.of_joint(block[:-1, :-1].transpose(1, 0, 2).astype(np.float64))


def _sums_of_rows(
    columns: Codes,
    labels: Indices,
    cardinalities: tuple[int, ...],
    pair: tuple[int, int],
    row_weight: Floats | None,
) -> _EntropySums:
    """Return the sums of two columns of too many cells for a table."""
    first, second = (columns[j].astype(np.int64) for j in pair)
    known = (first < cardinalities[pair[0]]) & (second < cardinalities[pair[1]])
    weight = np.ones(len(labels)) if row_weight is None else row_weight
    return _EntropySums.of_rows(first[known], second[known], labels[known], weight[known])


def _batches(cardinalities: tuple[int, ...], first: int, width: int) -> list[int]:
    """Return the borders of runs of columns from ``first`` on.

    Each run has few enough cells, or is a single column that has too many.
    """
    borders, cells = [first], 0
    for j in range(first, len(cardinalities)):
        column_cells = (cardinalities[j] + 1) * width
        if cells + column_cells > CELLS_AT_ONCE and j > borders[-1]:
            borders.append(j)
            cells = 0
        cells += column_cells
    return [*borders, len(cardinalities)]
