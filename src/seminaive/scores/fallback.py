"""What a term contributes where some of its columns carry no evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.terms import Terms, subsets

if TYPE_CHECKING:
    from seminaive.arrays import Floats


def fill_unknown(terms: Terms, tables: Floats, cell_weight: Floats) -> None:
    """Give every cell of no evidence the training-weighted mean of the cells that agree with it, in place.

    A cell with at least one axis of no evidence, and no training row, gets the mean of the table
    over the combinations of known values that agree with it on its known axes, weighted by their training
    weight; 0 where these have none. A pair with one unseen half therefore contributes what its known half
    contributed on average. A cell that has training rows (of neutrally missing values) keeps its value.

    Parameters
    ----------
    tables : ndarray of shape (n_cells, n_classes)
        Changed in place.
    cell_weight : ndarray of shape (n_cells,)
        Training weight of each cell.
    """
    if type(terms) is Terms:
        for _, cells, shape in terms.of_one_shape():
            tables[cells] = _filled(tables[cells], cell_weight[cells], shape)
        return
    fills = ~terms.known & (cell_weight == 0)
    weight = np.where(terms.known, cell_weight, 0.0)
    sums, totals = np.zeros_like(tables), np.zeros(len(tables))
    for _, cells, margins in terms.margins():
        weighted = np.flatnonzero(weight[cells] > 0)
        source, target = cells[weighted], margins[weighted]
        totals += np.bincount(target, weight[source], minlength=len(totals))
        for c in range(tables.shape[1]):
            sums[:, c] += np.bincount(target, weight[source] * tables[source, c], minlength=len(totals))
    means = np.divide(sums, totals[:, None], out=np.zeros_like(sums), where=totals[:, None] > 0)
    tables[fills] = means[fills]


def _filled(tables: Floats, cell_weight: Floats, shape: tuple[int, ...]) -> Floats:
    """Fill the cells of no evidence of tables of one shape, (terms, cells, classes)."""
    filled = tables.reshape(len(tables), *shape, -1)
    weight = cell_weight.reshape(len(tables), *shape)
    values = tuple(slice(-1) for _ in shape)
    known = weight[:, *values]
    weighted = known[..., None] * filled[:, *values]
    for axes in subsets(len(shape)):
        summed = tuple(1 + axis for axis in axes)
        totals = known.sum(axis=summed, keepdims=True)[..., None]
        sums = weighted.sum(axis=summed, keepdims=True)
        means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        margin = tuple(slice(-1, None) if axis in axes else slice(-1) for axis in range(len(shape)))
        filled[:, *margin] = np.where(weight[:, *margin, None] == 0, means, filled[:, *margin])
    return filled.reshape(tables.shape)
