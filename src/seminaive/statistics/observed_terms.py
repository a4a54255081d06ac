"""Terms that keep a cell only for the combinations that occurred, for tables too large to be dense."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.statistics.distinct import distinct_numbers
from seminaive.statistics.terms import Terms, subsets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Booleans, Codes, Indices


@dataclass(frozen=True, eq=False)
class ObservedTerms(Terms):
    """Tuples of coded columns, with cells for the combinations that occurred and for their margins.

    A margin of a combination has no evidence on one or more of its axes. Term ``t`` owns one cell per
    combination and margin kept, in the order of `Terms`, then one cell for everything else.

    Parameters
    ----------
    kept : ndarray of shape (n_kept,)
        The combinations that occurred and all their margins, as cells of the dense `Terms` of the same
        features, increasing. `of_combinations` adds the margins.

    Examples
    --------
    Of six combinations two occurred, which have five margins; a third combination, and a margin of values
    none of which occurred, fall into the cell of everything else.

    >>> import numpy as np
    >>> pair = ObservedTerms.of_combinations(((0, 1),), (2, 3), np.array([0, 6]))
    >>> pair.n_cells
    8
    >>> pair.cells(np.array([[0, 0], [1, 2], [1, 3], [1, 1], [2, 1]], dtype=np.uint8)).ravel()
    array([0, 2, 3, 7, 7])
    """

    kept: Indices

    @classmethod
    def of_combinations(
        cls, features: tuple[tuple[int, ...], ...], cardinalities: tuple[int, ...], combinations: Indices
    ) -> ObservedTerms:
        """Keep some cells of the dense terms, and all their margins."""
        dense = Terms(features, cardinalities)
        term_orders = dense.orders[dense.term_of(combinations)]
        margins = [
            distinct_numbers(dense.without_evidence(combinations[term_orders > max(axes)], axes))
            for axes in subsets(int(dense.orders.max(initial=0)))
        ]
        return cls(features, cardinalities, distinct_numbers(np.concatenate([combinations, *margins])))

    def __eq__(self, other: object) -> bool:
        """Compare features, cardinalities and the combinations kept."""
        return (
            isinstance(other, ObservedTerms)
            and self.features == other.features
            and self.cardinalities == other.cardinalities
            and np.array_equal(self.kept, other.kept)
        )

    @cached_property
    def _dense(self) -> Terms:
        return Terms(self.features, self.cardinalities)

    @cached_property
    def _starts_of_kept(self) -> Indices:
        """Where each term's cells begin among those kept."""
        return np.searchsorted(self.kept, self._dense.offsets)

    @cached_property
    def _cells_of_kept(self) -> Indices:
        """The cells of the combinations kept: each earlier term has one cell more than it keeps."""
        n_kept = np.diff(self._starts_of_kept)
        return np.arange(len(self.kept)) + np.repeat(np.arange(len(self.features)), n_kept)

    @cached_property
    def n_cells(self) -> int:
        """Return the number of cells of all terms together."""
        return len(self.kept) + len(self.features)

    def is_consistent(self) -> bool:
        """Tell whether the cells kept increase and exist in the dense terms."""
        kept = self.kept
        return (
            self._dense.is_consistent()
            and kept.ndim == 1
            and kept.dtype == np.int64
            and bool((np.diff(kept) > 0).all())
            and (not len(kept) or (bool(kept[0] >= 0) and int(kept[-1]) < self._dense.n_cells))
        )

    @cached_property
    def offsets(self) -> Indices:
        """Return the first cell of each term and, last, the number of all cells."""
        # Each term before has, besides its kept cells, one for everything else.
        return self._starts_of_kept + np.arange(len(self.features) + 1)

    @cached_property
    def elsewhere(self) -> Indices:
        """Return the cell of each term for everything that was not kept."""
        return self.offsets[1:] - 1

    def cells_of(self, term: int, codes: Codes) -> Indices:
        """Return the cell of one term that each row falls into."""
        return self.cells_from_dense(self._dense.cells_of(term, codes))

    def cells(self, codes: Codes | Indices) -> Indices:
        """Return the cell of every term, one row per table row and one column per term."""
        return self.cells_from_dense(self._dense.cells(codes))

    def cells_from_dense(self, dense_cells: Indices) -> Indices:
        """Return the cell here of each cell of the dense terms."""
        term = self._dense.term_of(dense_cells)
        if not len(self.kept):
            return self.elsewhere[term]
        position = np.searchsorted(self.kept, dense_cells)
        found = self.kept[np.minimum(position, len(self.kept) - 1)] == dense_cells
        cells: Indices = np.where(found, position + term, self.elsewhere[term])
        return cells

    @cached_property
    def known(self) -> Booleans:
        """Return which cells are combinations of known values; the cell of everything else is none."""
        known = np.zeros(self.n_cells, dtype=bool)
        known[self._cells_of_kept] = self._dense.are_known(self.kept)
        return known

    def are_known(self, cells: Indices) -> Booleans:
        """Return which of some cells are combinations of known values."""
        known: Booleans = self.known[cells]
        return known

    def margins(self) -> Iterator[tuple[tuple[int, ...], Indices, Indices]]:
        """Yield cells together with their margins, the cells where some of their axes carry no evidence."""
        for axes, positions, margins in self._dense.margins_of(self.kept):
            yield axes, self._cells_of_kept[positions], self.cells_from_dense(margins)

    def subset(self, kept_terms: Sequence[int]) -> ObservedTerms:
        """Return some of the terms."""
        smaller = self._dense.subset(kept_terms)
        starts = self._starts_of_kept
        shifted = [
            self.kept[starts[term] : starts[term + 1]] - self._dense.offsets[term] + smaller.offsets[position]
            for position, term in enumerate(kept_terms)
        ]
        kept: Any = np.concatenate([np.empty(0, np.int64), *shifted])
        return ObservedTerms(smaller.features, smaller.cardinalities, kept)
