"""The coarse space of a table: single cells, and all tuples that contain each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from seminaive.design.coarse import CoarseSpace
from seminaive.design.gram import CellGram

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.design.coefficients import Coefficients
    from seminaive.design.table_design import TableDesign

# With more first-order coefficients, a preconditioner by their Gram matrix, which takes about 15 ms to factor
# at this size, costs more than it saves.
MOST_COARSE = 800


def coarse_space(design: TableDesign) -> CoarseSpace:
    """Return the first-order coefficients, and for each single cell all tuples that contain it."""
    coefficients, fused, terms = design.coefficients, design.fused, design.coefficients.terms
    first = coefficients.first_order
    if len(first) > MOST_COARSE:
        return CoarseSpace(
            first[:1], csr_array((len(coefficients), 0)), lambda row_weight: np.full((1, 1), row_weight.sum())
        )
    singles = {columns[0]: term for term, columns in enumerate(terms.features) if len(columns) == 1}
    gram = CellGram(fused, design.numbers, set(singles.values()))
    moving = np.flatnonzero(np.isin(gram.coefficients, first))
    # A single cell is contained in one cell of each tuple with its column: moving all of these by one moves
    # the scores by the number of such tuples.
    times = sum(len(columns) > 1 and 0 in columns for columns in terms.features)
    cells = coefficients.single_cells if times else first[:0]
    directions = np.concatenate([moving, np.searchsorted(gram.coefficients, cells)])
    factor = np.repeat([1.0, times], [len(moving), len(cells)])

    def products(row_weight: Floats) -> Floats:
        found: Floats = gram(row_weight)[np.ix_(directions, directions)] * factor * factor[:, None]
        return found

    return CoarseSpace(first, _lift(coefficients, singles, cells), products)


def _lift(coefficients: Coefficients, singles: dict[int, int], cells: Indices) -> csr_array:
    """Return which tuples contain each single cell, one column per single cell."""
    shape = (len(coefficients), len(cells))
    if not len(cells):
        return csr_array(shape)
    tuples, parts = _parts_of_tuples(coefficients, singles)
    kept = ~coefficients.fixed[tuples] & ~coefficients.fixed[parts]
    tuples, parts = tuples[kept], np.searchsorted(cells, parts[kept])
    return csr_array((np.ones(len(tuples)), (tuples, parts)), shape=shape)


def _parts_of_tuples(coefficients: Coefficients, singles: dict[int, int]) -> tuple[Indices, Indices]:
    """Return the coefficients of tuples of known values and, for each, that of one of its single cells."""
    terms, observed = coefficients.terms, coefficients.cells
    starts = np.searchsorted(observed, terms.offsets)
    tuples, parts = [], []
    for term, columns in enumerate(terms.features):
        if len(columns) == 1:
            continue
        cells = observed[starts[term] : starts[term + 1]]
        known = terms.are_known(cells)
        positions = starts[term] + np.flatnonzero(known)
        values = np.unravel_index(cells[known] - terms.offsets[term], terms.shape(term))
        for column, value in zip(columns, values, strict=True):
            tuples.append(1 + positions)
            parts.append(1 + np.searchsorted(observed, terms.offsets[singles[column]] + value))
    return np.concatenate(tuples), np.concatenate(parts)
