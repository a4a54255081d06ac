"""Information that every pair of features shares within the classes, all pairs in one pass per feature."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from seminaive.statistics.counts import TupleCounts
    from seminaive.statistics.terms import Codes

    Floats = NDArray[np.float64]

# Cells counted in one pass, about 64 MB of counts.
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
        labels: NDArray[np.int64],
        cardinalities: Sequence[int],
        n_classes: int,
        row_weight: Floats | None = None,
    ) -> PairwiseInformation:
        """Count all pairs of columns of an encoded table, and keep their information only."""
        columns = np.ascontiguousarray(codes.T)
        joints = _pair_counts(columns, labels, tuple(cardinalities), n_classes, row_weight)
        return cls._of_joints(len(cardinalities), joints)

    @classmethod
    def of_counts(cls, counts: TupleCounts) -> PairwiseInformation:
        """Read the pairs, and the single columns, off counts that have them."""
        joints = (
            (columns[0], columns[-1], _as_pair(counts.joint(term)))
            for term, columns in enumerate(counts.terms.features)
            if len(columns) <= 2
        )
        return cls._of_joints(len(counts.terms.cardinalities), joints)

    @classmethod
    def _of_joints(cls, n_columns: int, joints: Iterator[tuple[int, int, Floats]]) -> PairwiseInformation:
        information = np.zeros((n_columns, n_columns))
        entropy = np.zeros((n_columns, n_columns))
        for i, j, counts in joints:
            total = counts.sum()
            if total <= 0:
                continue
            of_pair, of_class = _sum_n_log_n(counts), _sum_n_log_n(counts.sum(axis=(0, 1)))
            of_i, of_j = _sum_n_log_n(counts.sum(axis=1)), _sum_n_log_n(counts.sum(axis=0))
            shared = max(of_pair - of_i - of_j + of_class, 0.0) / total
            information[i, j] = information[j, i] = shared
            entropy[i, j] = max(of_class - of_i, 0.0) / total
            entropy[j, i] = max(of_class - of_j, 0.0) / total
        return cls(information, entropy)

    @property
    def normalized(self) -> Floats:
        """Return ``I(X; Y | C) / sqrt(H(X | C) H(Y | C))``, between 0 and 1, with 0/0 = 0."""
        scale = np.sqrt(self.entropy * self.entropy.T)
        share = np.divide(self.information, scale, out=np.zeros_like(scale), where=scale > 0)
        return np.minimum(share, 1.0)


def _sum_n_log_n(counts: Floats) -> float:
    return float(xlogy(counts, counts).sum())


def _as_pair(joint: Floats) -> Floats:
    """Return the counts of a pair; those of a single column as the pair of the column with itself."""
    if joint.ndim == 3:
        return joint
    n_values, n_classes = joint.shape
    diagonal = np.zeros((n_values, n_values, n_classes))
    diagonal[np.arange(n_values), np.arange(n_values)] = joint
    return diagonal


def _pair_counts(
    columns: Codes,
    labels: NDArray[np.int64],
    cardinalities: tuple[int, ...],
    n_classes: int,
    row_weight: Floats | None,
) -> Iterator[tuple[int, int, Floats]]:
    """Yield every pair i <= j with its counts: axes i, j, class, without rows of no evidence."""
    from seminaive.kernels.counting import count_last_columns, count_last_columns_weighted

    for i in range(len(cardinalities)):
        lead = (columns[i] * np.int64(n_classes) + labels).astype(np.uint32)
        width = (cardinalities[i] + 1) * n_classes
        for first, stop in pairwise(_batches(cardinalities, i, width)):
            offsets = np.zeros(stop + 1, np.int64)
            offsets[first + 1 :] = np.cumsum([(k + 1) * width for k in cardinalities[first:stop]])
            cells: NDArray[np.float64] | NDArray[np.int64]
            if row_weight is None:
                cells = np.zeros(int(offsets[-1]), np.int64)
                count_last_columns(columns[:stop], lead, width, first, offsets, cells)
            else:
                cells = np.zeros(int(offsets[-1]))
                count_last_columns_weighted(columns[:stop], lead, row_weight, width, first, offsets, cells)
            for j in range(first, stop):
                block = cells[offsets[j] : offsets[j + 1]].reshape(-1, cardinalities[i] + 1, n_classes)
                yield i, j, block[:-1, :-1].transpose(1, 0, 2).astype(np.float64)


def _batches(cardinalities: tuple[int, ...], first: int, width: int) -> list[int]:
    """Return the borders of runs of columns from ``first`` on, each run with few enough cells."""
    borders, cells = [first], 0
    for j in range(first, len(cardinalities)):
        own = (cardinalities[j] + 1) * width
        if cells + own > CELLS_AT_ONCE and j > borders[-1]:
            borders.append(j)
            cells = 0
        cells += own
    return [*borders, len(cardinalities)]
