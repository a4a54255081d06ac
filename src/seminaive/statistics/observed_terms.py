"""Terms that keep a cell only for the combinations that occurred, for tables too large to be dense."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.statistics.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.statistics.terms import Codes


@dataclass(frozen=True, eq=False)
class ObservedTerms(Terms):
    """Tuples of coded columns, with cells for the combinations that occurred and one for all others.

    Term ``t`` owns one cell per combination that occurred, in the order of `Terms`, then one cell for
    every other combination of known values, then the cell of no evidence.

    Parameters
    ----------
    kept : ndarray of shape (n_kept,)
        The combinations that occurred, as cells of the dense `Terms` of the same features, increasing.

    Examples
    --------
    Of six combinations two occurred; a third one falls into the cell of all others.

    >>> import numpy as np
    >>> pair = ObservedTerms(((0, 1),), (2, 3), np.array([0, 5]))
    >>> pair.n_cells
    4
    >>> pair.cells(np.array([[0, 0], [1, 2], [1, 1], [2, 0]], dtype=np.uint8)).ravel()
    array([0, 1, 2, 3])
    """

    kept: NDArray[np.int64]

    @classmethod
    def of_cells(cls, terms: Terms, cells: NDArray[np.int64]) -> ObservedTerms:
        """Shim."""
        kept = np.setdiff1d(cells, terms.no_evidence, assume_unique=True)
        return cls(terms.features, terms.cardinalities, kept)

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
    def _starts(self) -> NDArray[np.int64]:
        """Where each term's combinations begin among those kept."""
        return np.searchsorted(self.kept, self._dense.offsets)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of cells of each term, without its cell of no evidence."""
        return np.diff(self._starts) + 1

    def shape(self, term: int) -> tuple[int, ...]:
        """Return the number of values of each column of one term; its cells do not fill that shape."""
        return self._dense.shape(term)

    def cells_of(self, term: int, codes: Codes) -> NDArray[np.int64]:
        """Return the cell of one term that each row falls into."""
        return self.places(term, self._dense.cells_of(term, codes))

    def places(self, term: int, dense_cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cell of each cell of the dense terms."""
        own = self.kept[self._starts[term] : self._starts[term + 1]]
        position = np.searchsorted(own, dense_cells)
        found = (
            own[np.minimum(position, len(own) - 1)] == dense_cells
            if len(own)
            else np.zeros(len(dense_cells), bool)
        )
        cell = np.where(found, position, len(own))
        cell[dense_cells == self._dense.no_evidence[term]] = len(own) + 1
        places: NDArray[np.int64] = cell + self.offsets[term]
        return places

    def subset(self, kept_terms: Sequence[int]) -> ObservedTerms:
        """Return some of the terms."""
        smaller = self._dense.subset(kept_terms)
        shifted = [
            self.kept[self._starts[term] : self._starts[term + 1]]
            - self._dense.offsets[term]
            + smaller.offsets[position]
            for position, term in enumerate(kept_terms)
        ]
        kept: Any = np.concatenate([np.empty(0, np.int64), *shifted])
        return ObservedTerms(smaller.features, smaller.cardinalities, kept)
