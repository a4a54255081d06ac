"""Weighted counts of classes and of cells per class: raw, so that they merge exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Codes, Floats, Integers, Labels


def class_weights(labels: Labels, n_classes: int, row_weight: Floats | None = None) -> Floats:
    """Return the total weight of each class, in rows where rows are unweighted."""
    return np.bincount(labels, row_weight, minlength=n_classes).astype(np.float64)


# What a file that does not fit may be.
OTHER_LAYOUT = "version 0.1 laid out tuples of columns differently: fit such a model again"


@dataclass(frozen=True)
class TupleCounts(SavedByFields):
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
    >>> counts.joint(0)
    array([[1., 0.],
           [0., 2.]])
    >>> (counts + counts).joint(0)
    array([[2., 0.],
           [0., 4.]])
    """

    terms: Terms
    counts: Floats

    def __post_init__(self) -> None:
        """Refuse counts of other cells than those of the terms."""
        if len(self.counts) != self.terms.n_cells:
            raise ValueError(
                f"counts of {len(self.counts)} cells do not fit terms of {self.terms.n_cells} cells "
                f"({OTHER_LAYOUT})"
            )

    @classmethod
    def of(
        cls,
        codes: Codes,
        labels: Labels,
        terms: Terms,
        n_classes: int,
        row_weight: Floats | None = None,
    ) -> TupleCounts:
        """Count the rows of an encoded table.

        Terms that differ in their last column only are counted in one pass: the number of passes for all
        pairs is the number of columns.
        """
        shape = (terms.n_cells, n_classes)
        if terms.features == tuple((j,) for j in range(codes.shape[1])):
            from seminaive.kernels.counting import count_singles, count_singles_weighted

            if row_weight is None:
                whole = np.zeros(shape, dtype=np.int64)
                count_singles(codes, labels, terms.offsets, whole)
                return cls(terms, whole.astype(np.float64))
            counts = np.zeros(shape)
            count_singles_weighted(codes, labels, row_weight, terms.offsets, counts)
            return cls(terms, counts)
        counts = np.zeros(shape)
        by_column = np.ascontiguousarray(codes.T)
        by_lead: dict[tuple[int, ...], dict[int, int]] = {}
        for term, columns in enumerate(terms.features):
            by_lead.setdefault(columns[:-1], {})[columns[-1]] = term
        for lead, lasts in by_lead.items():
            for last, cells in _count_lead(
                by_column, labels, terms, n_classes, row_weight, lead, list(lasts)
            ):
                term = lasts[last]
                table = counts[terms.block(term)].reshape(*terms.shape(term), n_classes)
                table[...] = cells
        return cls(terms, counts)

    def __add__(self, other: TupleCounts) -> TupleCounts:
        """Count the rows of both; their terms must be the same."""
        if self.terms != other.terms:
            raise ValueError(f"cannot add counts of different terms: {self.terms} and {other.terms}")
        return TupleCounts(self.terms, self.counts + other.counts)

    def block(self, term: int) -> Floats:
        """Return one term's counts, (cells, classes), the cells of no evidence included."""
        return self.counts[self.terms.block(term)]

    def joint(self, term: int) -> Floats:
        """Return one term's counts of known values with one axis per column and the classes last."""
        known = tuple(slice(self.terms.cardinalities[j]) for j in self.terms.features[term])
        return self._table(term)[known]

    def _table(self, term: int) -> Floats:
        return self.block(term).reshape(*self.terms.shape(term), self.counts.shape[1])

    def recoded(self, moves: Sequence[Integers], cardinalities: Sequence[int]) -> TupleCounts:
        """Return the same counts under larger codings.

        ``moves[j][v]`` is the new code of value ``v`` of column ``j``. No evidence stays no evidence.
        """
        terms = Terms(self.terms.features, tuple(cardinalities))
        counts = TupleCounts(terms, np.zeros((terms.n_cells, self.counts.shape[1])))
        codes = [np.append(new_codes, k) for new_codes, k in zip(moves, cardinalities, strict=True)]
        for term, columns in enumerate(terms.features):
            counts._table(term)[np.ix_(*(codes[j] for j in columns))] = self._table(term)
        return counts

    def with_classes(self, moves: Integers, n_classes: int) -> TupleCounts:
        """Return the same counts among more classes; ``moves[c]`` is the new label of class ``c``."""
        counts = np.zeros((len(self.counts), n_classes))
        counts[:, moves] = self.counts
        return TupleCounts(self.terms, counts)


def _count_lead(
    by_column: Codes,
    labels: Labels,
    terms: Terms,
    n_classes: int,
    row_weight: Floats | None,
    lead: tuple[int, ...],
    lasts: list[int],
) -> Iterator[tuple[int, Floats]]:
    """Count the terms that begin with the columns ``lead``, one for each last column.

    Yields the last column and its counts: one axis per column, no evidence being a code like any other,
    and the classes last.
    """
    from seminaive.kernels.counting import count_last_columns, count_last_columns_weighted, join_labels

    n_codes = [k + 1 for k in terms.cardinalities]
    joint = np.zeros(len(labels), dtype=np.uint32)
    for j in lead:
        join_labels(joint, by_column[j], n_codes[j])
    join_labels(joint, labels, n_classes)
    width = int(np.prod([n_codes[j] for j in lead], dtype=np.int64)) * n_classes
    first = min(lasts)
    consecutive = lasts == list(range(first, len(by_column)))
    columns = by_column if consecutive else np.ascontiguousarray(by_column[lasts])
    widths = np.array([n_codes[j] * width for j in (range(len(by_column)) if consecutive else lasts)])
    if consecutive:
        widths[:first] = 0
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)])
    start = first if consecutive else 0
    cells: Any
    if row_weight is None:
        cells = np.zeros(int(offsets[-1]), dtype=np.int64)
        count_last_columns(columns, joint, width, start, offsets, cells)
    else:
        cells = np.zeros(int(offsets[-1]))
        count_last_columns_weighted(columns, joint, row_weight, width, start, offsets, cells)
    lead_shape = tuple(n_codes[j] for j in lead)
    for position, last in enumerate(lasts, start=start):
        table = cells[offsets[position] : offsets[position + 1]].reshape(
            n_codes[last], *lead_shape, n_classes
        )
        yield last, table.transpose(*range(1, len(lead) + 1), 0, len(lead) + 1)
