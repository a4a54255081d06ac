"""Pairs of coded columns as products of factors: never a dense table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields
from seminaive.scores.kind import TermKind, is_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


@dataclass(frozen=True)
class FactoredPairs(SavedByFields, TermKind):
    """Pairs of columns j, k whose contribution to class c at codes a, b is ``U_j[a] Theta_jkc U_k[b]'``.

    Each column has one matrix of factors ``U_j``, a row per code (that of no evidence last) and a column per
    rank, which all its pairs share; each pair has one core ``Theta`` per class. Two columns of 3,000 values
    would have 9 million cells; at rank 4 they have 24,000 factors.

    Parameters
    ----------
    features : tuple of pairs of int
        The two coded columns of each term, increasing.
    cardinalities : tuple of int
        The number of values of every coded column of the table.
    factors : ndarray of shape (n_codes, rank)
        The factors of the columns that occur in ``features``, in increasing order of columns, one row for
        each of their codes. A column of a lower rank has zeros in the last ones.
    cores : ndarray of shape (n_terms, rank, rank, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.array([[1.0], [2.0], [0.0], [3.0], [5.0], [0.0]])
    >>> pair = FactoredPairs(((0, 1),), (2, 2), factors, np.ones((1, 1, 1, 2)))
    >>> pair.table(0)[:, :, 0]
    array([[ 3.,  5.,  0.],
           [ 6., 10.,  0.],
           [ 0.,  0.,  0.]])
    """

    features: tuple[tuple[int, int], ...]
    cardinalities: tuple[int, ...]
    factors: Floats
    cores: Floats

    @classmethod
    def none(cls, cardinalities: Sequence[int], n_classes: int) -> FactoredPairs:
        """Return no pairs at all."""
        return cls((), tuple(cardinalities), np.empty((0, 0)), np.empty((0, 0, 0, n_classes)))

    @property
    def n_terms(self) -> int:
        """Return the number of terms."""
        return len(self.features)

    @property
    def rank(self) -> int:
        """Return the number of factors of a code."""
        return int(self.factors.shape[1])

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """Return the columns that have factors."""
        return tuple(sorted({j for pair in self.features for j in pair}))

    @cached_property
    def _first(self) -> dict[int, int]:
        """Return the first row of each column's factors; under the key -1 the number of all rows."""
        first, row = {}, 0
        for j in self.columns:
            first[j] = row
            row += self.cardinalities[j] + 1
        return {**first, -1: row}

    @cached_property
    def _layout(self) -> tuple[Indices, Indices]:
        """Return the columns of each pair, and the first rows of their factors, both (n_terms, 2)."""
        columns = np.array(self.features, dtype=np.int64).reshape(-1, 2)
        first = np.array([[self._first[j] for j in pair] for pair in self.features], dtype=np.int64)
        return columns, first.reshape(-1, 2)

    def factors_of(self, column: int) -> Floats:
        """Return the factors of one column, (codes, rank)."""
        first = self._first[column]
        return self.factors[first : first + self.cardinalities[column] + 1]

    def table(self, term: int) -> Floats:
        """Return one pair as a dense table, (codes of j, codes of k, classes): for small pairs only."""
        j, k = self.features[term]
        table: Floats = np.einsum(
            "au,uvc,bv->abc", self.factors_of(j), self.cores[term], self.factors_of(k), optimize=True
        )
        return table

    def contributions(self, table: EncodedTable) -> Floats:
        """Return the product of factors of each pair, (n_rows, n_terms, n_classes)."""
        columns, first = self._layout
        rows = table.codes[:, columns] + first
        left, right = self.factors[rows[:, :, 0]], self.factors[rows[:, :, 1]]
        shape = (*rows.shape[:2], self.rank**2, 1)
        products = (left[:, :, :, None] * right[:, :, None, :]).reshape(shape)
        cores = self.cores.reshape(self.n_terms, self.rank**2, -1)
        contributions: Floats = np.add.reduce(products * cores, axis=2)
        return contributions

    def add_compiled(self, table: EncodedTable, scores: Floats) -> None:
        """Multiply and add by a compiled pass."""
        from seminaive.kernels.scoring import add_pair_scores

        columns, first = self._layout
        add_pair_scores(table.codes, columns, first, self.factors, self.cores, scores)

    def compiles(self, n_rows: int) -> bool:
        """Tell whether a compiled pass pays: it has as many products as entries of a core."""
        return super().compiles(n_rows * max(self.rank, 1) ** 2)

    def scaled(self, weights: Floats) -> FactoredPairs:
        """Multiply each core by its weight."""
        return replace(self, cores=self.cores * weights[:, None, None, None])

    def restricted(self, kept: Sequence[int]) -> FactoredPairs:
        """Keep some of the pairs, and the factors of their columns."""
        features = tuple(self.features[term] for term in kept)
        columns = sorted({j for pair in features for j in pair})
        factors = [np.empty((0, self.rank)), *(self.factors_of(j) for j in columns)]
        return FactoredPairs(features, self.cardinalities, np.concatenate(factors), self.cores[list(kept)])

    def centred(self) -> FactoredPairs:
        """Take the mean over the classes off each core."""
        return replace(self, cores=self.cores - self.cores.mean(axis=3, keepdims=True))

    def interpolated(self, other: FactoredPairs, share: float) -> FactoredPairs:
        """Interpolate between the cores of pairs that have the same factors."""
        if (
            self.features != other.features
            or self.cardinalities != other.cardinalities
            or not np.array_equal(self.factors, other.factors)
        ):
            raise ValueError("scores over different terms cannot be interpolated: restrict or add them first")
        return replace(self, cores=(1 - share) * self.cores + share * other.cores)

    def joined(self, other: FactoredPairs) -> FactoredPairs:
        """Return these pairs, then the others; a column has the factors of both side by side."""
        if not other.n_terms:
            return self
        if not self.n_terms:
            return other
        if self.cardinalities != other.cardinalities:
            raise ValueError("scores of differently coded tables cannot be added")
        rank = self.rank + other.rank
        both = FactoredPairs(
            self.features + other.features,
            self.cardinalities,
            np.empty((0, rank)),
            np.zeros((self.n_terms + other.n_terms, rank, rank, self.cores.shape[3])),
        )
        factors = np.zeros((both._first[-1], rank))
        for pairs, ranks in ((self, slice(self.rank)), (other, slice(self.rank, None))):
            for j in pairs.columns:
                first = both._first[j]
                factors[first : first + self.cardinalities[j] + 1, ranks] = pairs.factors_of(j)
        both.cores[: self.n_terms, : self.rank, : self.rank] = self.cores
        both.cores[self.n_terms :, self.rank :, self.rank :] = other.cores
        return replace(both, factors=factors)

    def fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> bool:
        """Tell whether columns and factors belong to such a table and are finite."""
        del n_numbers
        n, rank = self.n_terms, self.rank if self.factors.ndim == 2 else -1
        return (
            tuple(self.cardinalities) == tuple(cardinalities)
            and all(len(pair) == 2 and 0 <= pair[0] < pair[1] < len(cardinalities) for pair in self.features)
            and is_block(self.factors, (self._first[-1], rank))
            and is_block(self.cores, (n, rank, rank, n_classes))
        )
