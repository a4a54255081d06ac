"""Weighted counts of classes and of cells per class: raw, so that they merge exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.statistics.terms import Codes

    Floats = NDArray[np.float64]
    Labels = NDArray[np.int64]


def class_weights(labels: Labels, n_classes: int, row_weight: Floats | None = None) -> Floats:
    """Return the total weight of each class, in rows where rows are unweighted."""
    return np.bincount(labels, row_weight, minlength=n_classes).astype(np.float64)


@dataclass(frozen=True)
class TupleCounts:
    """How much weight fell into each cell of each term, class by class.

    ``a + b`` counts the rows of both. Whole weights are added without rounding (up to 2**53 rows), so
    the order of the rows and the way they were cut into chunks leave no trace; fractional weights are
    added in double precision.

    Parameters
    ----------
    terms : Terms
        What was counted.
    counts : ndarray of shape (n_cells, n_classes)
        The weight of each cell and class.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0], [1], [1]], dtype=np.uint8)
    >>> counts = TupleCounts.of(codes, np.array([0, 1, 1]), Terms.singles([2]), n_classes=2)
    >>> counts.block(0)
    array([[1., 0.],
           [0., 2.]])
    >>> (counts + counts).block(0)
    array([[2., 0.],
           [0., 4.]])
    """

    terms: Terms
    counts: Floats

    @classmethod
    def of(
        cls,
        codes: Codes,
        labels: Labels,
        terms: Terms,
        n_classes: int,
        row_weight: Floats | None = None,
    ) -> TupleCounts:
        """Count the rows of an encoded table, in one pass for single columns, in one per tuple else."""
        from seminaive.kernels.counting import count_singles, count_singles_weighted, count_tuple

        shape = (terms.n_cells, n_classes)
        if terms.features == tuple((j,) for j in range(codes.shape[1])):
            if row_weight is None:
                whole = np.zeros(shape, dtype=np.int64)
                count_singles(codes, labels, terms.offsets, whole)
                return cls(terms, whole.astype(np.float64))
            counts = np.zeros(shape)
            count_singles_weighted(codes, labels, row_weight, terms.offsets, counts)
            return cls(terms, counts)
        counts = np.zeros(shape)
        weights = np.ones(len(codes)) if row_weight is None else row_weight
        cardinalities = np.array(terms.cardinalities, dtype=np.int64)
        for term, columns in enumerate(terms.features):
            own = counts[terms.offsets[term] : terms.offsets[term + 1]]
            count_tuple(codes, labels, weights, np.array(columns, dtype=np.int64), cardinalities, own)
        return cls(terms, counts)

    def __add__(self, other: TupleCounts) -> TupleCounts:
        """Count the rows of both; their terms must be the same."""
        if self.terms != other.terms:
            raise ValueError(f"cannot add counts of different terms: {self.terms} and {other.terms}")
        return TupleCounts(self.terms, self.counts + other.counts)

    def block(self, term: int) -> Floats:
        """Return one term's counts, (combinations, classes), without the cell of no evidence."""
        return self.counts[self.terms.block(term)]

    def joint(self, term: int) -> Floats:
        """Return one term's counts with one axis per column and the classes last."""
        return self.block(term).reshape(*self.terms.shape(term), -1)

    def recoded(self, moves: Sequence[NDArray[np.int64]], cardinalities: Sequence[int]) -> TupleCounts:
        """Return the same counts under larger codings.

        ``moves[j][v]`` is the new code of value ``v`` of column ``j``. Rows of no evidence stay so.
        """
        terms = Terms(self.terms.features, tuple(cardinalities))
        counts = np.zeros((terms.n_cells, self.counts.shape[1]))
        for term, columns in enumerate(terms.features):
            fresh = counts[terms.block(term)].reshape(*terms.shape(term), -1)
            fresh[np.ix_(*(moves[j] for j in columns))] = self.joint(term)
        counts[terms.no_evidence] = self.counts[self.terms.no_evidence]
        return TupleCounts(terms, counts)

    def with_classes(self, moves: NDArray[np.int64], n_classes: int) -> TupleCounts:
        """Return the same counts among more classes; ``moves[c]`` is the new label of class ``c``."""
        counts = np.zeros((len(self.counts), n_classes))
        counts[:, moves] = self.counts
        return TupleCounts(self.terms, counts)
