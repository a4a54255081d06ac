"""Which features, or tuples of features, a model looks at, and where their cells lie in one packed array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Terms(SavedByFields):
    """Tuples of coded columns, and one cell for every combination of their values.

    All terms share one packed array of cells. Term ``t`` owns the cells from ``offsets[t]`` up to
    ``offsets[t + 1]``: first one per combination, the last column varying fastest, then one cell of
    **no evidence**, where a row goes when any of the term's columns is unseen or neutrally missing.

    Parameters
    ----------
    features : tuple of tuples of int
        The coded columns of each term, increasing.
    cardinalities : tuple of int
        The number of values of every coded column. A code equal to it means no evidence.

    Examples
    --------
    Two columns with 2 and 3 values: the pair has 6 combinations and its cell of no evidence.

    >>> import numpy as np
    >>> pair = Terms(((0, 1),), (2, 3))
    >>> pair.n_cells
    7
    >>> pair.cells(np.array([[0, 0], [1, 2], [2, 0]], dtype=np.uint8)).ravel()
    array([0, 5, 6])
    """

    features: tuple[tuple[int, ...], ...]
    cardinalities: tuple[int, ...]

    @classmethod
    def singles(cls, cardinalities: Sequence[int]) -> Terms:
        """Give each column a term of its own: the terms of naive Bayes."""
        return cls.of_order(cardinalities, 1)

    @classmethod
    def of_order(cls, cardinalities: Sequence[int], order: int) -> Terms:
        """Give every subset of ``order`` columns a term."""
        return _of_order(tuple(int(k) for k in cardinalities), order)

    @classmethod
    def up_to_order(cls, cardinalities: Sequence[int], order: int) -> Terms:
        """Give every subset of 1 to ``order`` columns a term, the small ones first."""
        columns = range(len(cardinalities))
        features = tuple(term for size in range(1, order + 1) for term in combinations(columns, size))
        return cls(features, tuple(int(k) for k in cardinalities))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of combinations of each term, without its cell of no evidence."""
        sizes = [prod(self.cardinalities[j] for j in term) for term in self.features]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Return the first cell of each term and, last, the number of all cells."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes + 1)])

    @property
    def n_cells(self) -> int:
        """Return the number of cells of all terms together."""
        return int(self.offsets[-1])

    @property
    def no_evidence(self) -> NDArray[np.int64]:
        """Return the cell of no evidence of each term."""
        return self.offsets[1:] - 1

    @property
    def n_combinations(self) -> NDArray[np.int64]:
        """Shim."""
        return self.sizes

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Shim."""
        known = np.ones(self.n_cells, dtype=bool)
        known[self.no_evidence] = False
        return known

    def block(self, term: int) -> slice:
        """Return where one term's combinations lie, without its cell of no evidence."""
        return slice(int(self.offsets[term]), int(self.offsets[term + 1]) - 1)

    def subset(self, kept_terms: Sequence[int]) -> Terms:
        """Return some of the terms."""
        return Terms(tuple(self.features[term] for term in kept_terms), self.cardinalities)

    def shape(self, term: int) -> tuple[int, ...]:
        """Return the number of values of each column of one term."""
        return tuple(self.cardinalities[j] for j in self.features[term])

    def cells_of(self, term: int, codes: Codes) -> NDArray[np.int64]:
        """Return the cell of one term that each row falls into."""
        cell = np.zeros(len(codes), dtype=np.int64)
        known = np.ones(len(codes), dtype=bool)
        for j in self.features[term]:
            column = codes[:, j].astype(np.int64)
            cell = cell * self.cardinalities[j] + column
            known &= column < self.cardinalities[j]
        placed: NDArray[np.int64] = np.where(known, cell, self.sizes[term]) + self.offsets[term]
        return placed

    def cells(self, codes: Codes) -> NDArray[np.int64]:
        """Return the cell of every term, one row per table row and one column per term."""
        cells = np.empty((len(codes), len(self.features)), dtype=np.int64)
        for term in range(len(self.features)):
            cells[:, term] = self.cells_of(term, codes)
        return cells


@lru_cache(maxsize=16)
def _of_order(cardinalities: tuple[int, ...], order: int) -> Terms:
    """Return the same terms for the same question: chunks and folds ask it again and again."""
    return Terms(tuple(combinations(range(len(cardinalities)), order)), cardinalities)
