"""The weight of training rows in each cell of tables, by codes or between nodes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.counts import TupleCounts

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.encode import EncodedTable
    from seminaive.encode.nodes import RowCoordinates
    from seminaive.statistics.terms import Terms


def weigh_cells(terms: Terms, table: EncodedTable, row_weight: Floats | None = None) -> Floats:
    """Return the weight of the rows in each cell of some terms, (n_cells,).

    A row whose number stands between two nodes counts at both, by its share of the way: so that the mean of a
    table over its cells is the mean over the rows of what is read between the nodes.

    Parameters
    ----------
    row_weight : ndarray of shape (n_rows,) or None
        None where every row counts once.
    """
    nodes = table.schema.nodes
    if nodes is None:
        nothing = np.zeros(len(table), dtype=np.int64)
        counts = TupleCounts.of(table.codes, nothing, terms, 1, row_weight).counts
        return np.asarray(counts[:, 0])
    rows = np.ones(len(table)) if row_weight is None else row_weight
    if terms.orders.max(initial=0) > 2:
        return _weigh_tuples(terms, table.coordinates, rows)
    from seminaive.kernels.node_interpolation import weigh_interpolated_cells

    weights = np.zeros(terms.n_cells)
    layout = (terms.columns, terms.strides, terms.starts, terms.offsets)
    weigh_interpolated_cells(
        table.codes, table.numbers, nodes.numbers, nodes.starts, nodes.nodes, *layout, rows, weights
    )
    return weights


def _weigh_tuples(terms: Terms, coordinates: RowCoordinates, row_weight: Floats) -> Floats:
    """Return the weight of the rows in each cell of tuples of any order, corner by corner."""
    weights = np.zeros(terms.n_cells)
    corners = [coordinates.axis(j).corners() for j in range(coordinates.codes.shape[1])]
    for term, columns in enumerate(terms.features):
        shape, block = terms.shape(term), terms.block(term)
        for corner in product(*(corners[j] for j in columns)):
            cells = np.ravel_multi_index(tuple(codes for codes, _ in corner), shape)
            share = np.multiply.reduce([part for _, part in corner], axis=0)
            weights[block] += np.bincount(cells, row_weight * share, minlength=block.stop - block.start)
    return weights
