"""Which features, or tuples of features, a model looks at, and where their cells lie in one packed array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.saved_by_fields import SavedByFields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seminaive.arrays import Booleans, Codes, Indices

# Cells are numbered by 64-bit integers.
MOST_CELLS = 2**63
# Cells of terms of one shape that are looked at together: what is computed of them stays in the cache.
CELLS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Terms(SavedByFields):
    """Tuples of coded columns, and one cell for every combination of their codes.

    The code of **no evidence** of a column (its cardinality: an unseen value, or a neutrally missing one) is
    a code like any other: a term over columns with K and L values has a table of shape (K + 1, L + 1). So the
    cell of a pair with one unseen half still knows the other half. All terms share one packed array of cells.
    Term ``t`` owns the cells from ``offsets[t]`` up to ``offsets[t + 1]``, the last column varying fastest:
    the cell of a row is a number in mixed radix.

    Parameters
    ----------
    features : tuple of tuples of int
        The coded columns of each term, increasing.
    cardinalities : tuple of int
        The number of values of every coded column. A code equal to it means no evidence.

    Examples
    --------
    Two columns with 2 and 3 values: the pair has 3 times 4 cells, of which 2 times 3 are known combinations.

    >>> import numpy as np
    >>> pair = Terms(((0, 1),), (2, 3))
    >>> pair.shape(0), pair.n_cells, int(pair.n_combinations[0])
    ((3, 4), 12, 6)
    >>> pair.cells(np.array([[0, 0], [1, 2], [2, 0]], dtype=np.uint8)).ravel()
    array([0, 6, 8])
    >>> pair.known.nonzero()[0]
    array([0, 1, 2, 4, 5, 6])
    """

    features: tuple[tuple[int, ...], ...]
    cardinalities: tuple[int, ...]

    @classmethod
    def singles(cls, cardinalities: Sequence[int]) -> Terms:
        """Give each column one term: the terms of naive Bayes."""
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

    # Sizes: multiplied as Python integers, which do not wrap around.

    @cached_property
    def n_cells(self) -> int:
        """Return the number of cells of all terms together."""
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        widths = [k + 1 for k in self.cardinalities]
        return [prod([widths[j] for j in term]) for term in self.features]

    @cached_property
    def sizes(self) -> Indices:
        """Return the number of cells of each term."""
        return np.diff(self.offsets)

    @cached_property
    def n_combinations(self) -> Indices:
        """Return the number of combinations of known values of each term."""
        products = [prod(self.cardinalities[j] for j in term) for term in self.features]
        return np.array(products, dtype=np.int64)

    @cached_property
    def offsets(self) -> Indices:
        """Return the first cell of each term and, last, the number of all cells."""
        return np.array(list(accumulate(self._sizes, initial=0)), dtype=np.int64)

    @cached_property
    def orders(self) -> Indices:
        """Return the number of columns of each term."""
        return np.array([len(term) for term in self.features], dtype=np.int64)

    # Columns of all terms, one after the other: the form in which kernels read them.

    @cached_property
    def columns(self) -> Indices:
        """Return the columns of all terms, those of term ``t`` from ``starts[t]`` up to ``starts[t + 1]``."""
        return np.array([j for term in self.features for j in term], dtype=np.int64)

    @cached_property
    def starts(self) -> Indices:
        """Return where each term's columns begin in ``columns`` and, last, their number."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.orders)])

    @cached_property
    def strides(self) -> Indices:
        """Return, for each entry of ``columns``, by how many cells its next code is farther on."""
        strides = np.ones(len(self.columns), dtype=np.int64)
        widths = self._cardinalities[self.columns] + 1
        for axis in range(int(self.orders.max(initial=0)) - 2, -1, -1):
            entry = self.starts[:-1][self.orders > axis + 1] + axis
            strides[entry] = strides[entry + 1] * widths[entry + 1]
        return strides

    @cached_property
    def by_axis(self) -> list[tuple[Indices, Indices]]:
        """Return, for each axis, the column of every term and its stride; 0 and 0 beyond a term's axes."""
        axes = []
        for axis in range(int(self.orders.max(initial=0))):
            has = self.orders > axis
            entry = np.where(has, self.starts[:-1] + axis, 0)
            axes.append((np.where(has, self.columns[entry], 0), np.where(has, self.strides[entry], 0)))
        return axes

    def shape(self, term: int) -> tuple[int, ...]:
        """Return the number of codes, that of no evidence included, of each column of one term."""
        return tuple(self.cardinalities[j] + 1 for j in self.features[term])

    def block(self, term: int) -> slice:
        """Return where one term's cells lie."""
        return slice(int(self.offsets[term]), int(self.offsets[term + 1]))

    def of_one_shape(self) -> Iterator[tuple[Indices, Indices, tuple[int, ...]]]:
        """Yield some terms of the same shape, their cells (terms, cells of each), and the shape."""
        for shape, terms in self._by_shape.items():
            size = prod(shape)
            at_once = max(1, CELLS_AT_ONCE // max(size, 1))
            for start in range(0, len(terms), at_once):
                some = terms[start : start + at_once]
                yield some, self.offsets[some][:, None] + np.arange(size), shape

    @cached_property
    def _by_shape(self) -> dict[tuple[int, ...], Indices]:
        """Return the terms of each shape."""
        terms: dict[tuple[int, ...], list[int]] = {}
        for term in range(len(self.features)):
            terms.setdefault(self.shape(term), []).append(term)
        return {shape: np.array(alike, dtype=np.int64) for shape, alike in terms.items()}

    def subset(self, kept_terms: Sequence[int]) -> Terms:
        """Return some of the terms."""
        return Terms(tuple(self.features[term] for term in kept_terms), self.cardinalities)

    def is_consistent(self) -> bool:
        """Tell whether what was given, from a file for instance, can be numbered at all."""
        return self.n_cells < MOST_CELLS

    # Cells of rows

    def cells_of(self, term: int, codes: Codes) -> Indices:
        """Return the cell of one term that each row falls into."""
        cell = np.full(len(codes), self.offsets[term], dtype=np.int64)
        first, stop = self.starts[term : term + 2]
        for j, stride in zip(self.columns[first:stop], self.strides[first:stop], strict=True):
            cell += codes[:, j] * stride
        return cell

    def cells(self, codes: Codes | Indices) -> Indices:
        """Return the cell of every term, one row per table row and one column per term."""
        if not self.features:
            return np.empty((len(codes), 0), dtype=np.int64)
        local = codes[:, self.columns] * self.strides
        cells: Indices = np.add.reduceat(local, self.starts[:-1], axis=1) + self.offsets[:-1]
        return cells

    def moved(self, cells: Indices, moves: Sequence[Indices], larger: Terms) -> Indices:
        """Return the cells, under larger codings of the same terms, of the same combinations of values.

        ``moves[j][v]`` is the new code of value ``v`` of column ``j``. No evidence stays no evidence.
        """
        term = self.term_of(cells)
        moved_cells = larger.offsets[term]
        for axis in range(int(self.orders.max(initial=0))):
            has = np.flatnonzero(self.orders[term] > axis)
            code, _, _ = self._axis(cells[has], term[has], axis)
            entry = self.starts[term[has]] + axis
            column = self.columns[entry]
            for j in np.unique(column):
                in_column = column == j
                new_codes = np.append(moves[j], larger.cardinalities[j])
                moved_cells[has[in_column]] += new_codes[code[in_column]] * larger.strides[entry[in_column]]
        return moved_cells

    # Cells of no evidence

    @cached_property
    def known(self) -> Booleans:
        """Return which cells are combinations of known values: no column is without evidence."""
        return self.are_known(np.arange(self.n_cells))

    def are_known(self, cells: Indices) -> Booleans:
        """Return which of some cells are combinations of known values, without a list of all cells."""
        known: Booleans = np.logical_and.reduce(self._known_axes(cells), axis=0)
        return known

    def _known_axes(self, cells: Indices) -> Booleans:
        """Return, one row per axis, whether each cell's code is a known value; true beyond a term's axes."""
        term = self.term_of(cells)
        known = np.ones((int(self.orders.max(initial=0)), len(cells)), dtype=bool)
        for axis, known_along in enumerate(known):
            has = np.flatnonzero(self.orders[term] > axis)
            code, cardinality, _ = self._axis(cells[has], term[has], axis)
            known_along[has] = code < cardinality
        return known

    def term_of(self, cells: Indices) -> Indices:
        """Return the term that owns each cell."""
        return np.searchsorted(self.offsets, cells, side="right") - 1

    def margins(self) -> Iterator[tuple[tuple[int, ...], Indices, Indices]]:
        """Yield cells together with their margins, the cells where some of their axes carry no evidence.

        For each nonempty set of axes (positions within a term): the axes, the cells whose other axes are
        known values, and the margin of each. Added up by margin, the cells are all rows that agree with it on
        its known axes.
        """
        yield from self.margins_of(np.arange(self.n_cells))

    def margins_of(self, cells: Indices) -> Iterator[tuple[tuple[int, ...], Indices, Indices]]:
        """Yield axes, positions among some cells, and the margins of the cells there, as `margins` does."""
        known = self._known_axes(cells)
        term_orders = self.orders[self.term_of(cells)]
        for axes in subsets(len(known)):
            others = [axis for axis in range(len(known)) if axis not in axes]
            positions = np.flatnonzero((term_orders > max(axes)) & known[others].all(axis=0))
            yield axes, positions, self.without_evidence(cells[positions], axes)

    def without_evidence(self, cells: Indices, axes: Sequence[int]) -> Indices:
        """Return the cells where the codes of some axes, which every cell's term has, are no evidence."""
        term = self.term_of(cells)
        silenced = cells.copy()
        for axis in axes:
            code, cardinality, stride = self._axis(cells, term, axis)
            silenced += (cardinality - code) * stride
        return silenced

    @cached_property
    def _cardinalities(self) -> Indices:
        return np.array(self.cardinalities, dtype=np.int64)

    def _axis(self, cells: Indices, term: Indices, axis: int) -> tuple[Indices, Indices, Indices]:
        """Return the code of each cell along one axis of its term, the axis' cardinality and its stride."""
        entry = self.starts[term] + axis
        stride = self.strides[entry]
        cardinality = self._cardinalities[self.columns[entry]]
        code = (cells - self.offsets[term]) // stride % (cardinality + 1)
        return code, cardinality, stride


def subsets(order: int) -> Iterator[tuple[int, ...]]:
    """Yield the nonempty subsets of the axes of a term, small ones first."""
    for size in range(1, order + 1):
        yield from combinations(range(order), size)


@lru_cache(maxsize=16)
def _of_order(cardinalities: tuple[int, ...], order: int) -> Terms:
    """Return the terms of one order, kept: chunks and folds of a table need the same ones."""
    return Terms(tuple(combinations(range(len(cardinalities)), order)), cardinalities)
