"""Second derivatives of the conditional log-likelihood: weighted counts of pairs of cells.

Legend: i row, t, u terms, p, q parameters, f, e fused cells of two groups of terms, w weight; n rows, F fused
cells, T terms, P parameters.
"""

import numpy as np

from seminaive.kernels.compilation import njit


@njit(cache=True, nogil=True)
def count_pairs(positions, weights, gram):
    """Add each row's weight to all pairs of its parameters, the lower triangle only.

    positions (n, T) uint32 parameters, increasing along each row; weights (n,) float64; gram (P, P) float64
    is added to.
    """
    for i in range(positions.shape[0]):
        w = weights[i]
        for t in range(positions.shape[1]):
            p = positions[i, t]
            for u in range(t + 1):
                gram[p, positions[i, u]] += w


@njit(cache=True, nogil=True)
def weigh_cells(cells, weights, totals):
    """Add each row's weight to its cell: cells (n,) uint32, weights (n,), totals (F,) float64."""
    for i in range(cells.shape[0]):
        totals[cells[i]] += weights[i]


@njit(cache=True, nogil=True)
def pair_members(members, totals, gram):
    """Add each fused cell's weight to all pairs of its parameters.

    members (F, T) uint32, totals (F,) float64; gram (P, P) float64 is added to, both triangles.
    """
    for f in range(members.shape[0]):
        w = totals[f]
        for t in range(members.shape[1]):
            for u in range(members.shape[1]):
                gram[members[f, t], members[f, u]] += w


@njit(cache=True, nogil=True)
def cross_members(cells, members, other_cells, other_members, weights, block):
    """Add each row's weight to all pairs of a parameter of one group and one of another.

    cells, other_cells (n,) uint32; members (F, T), other_members (E, U) uint32; weights (n,) float64; block
    (P, Q) float64 is added to.
    """
    for i in range(cells.shape[0]):
        f, e, w = cells[i], other_cells[i], weights[i]
        for t in range(members.shape[1]):
            p = members[f, t]
            for u in range(other_members.shape[1]):
                block[p, other_members[e, u]] += w


@njit(cache=True, nogil=True)
def cross_cells(cells, other_cells, other_members, weights, table):
    """Add each row's weight to the pairs of its fused cell and its parameters of another group.

    cells, other_cells (n,) uint32; other_members (E, U) uint32; weights (n,) float64; table (F, Q) float64 is
    added to.
    """
    for i in range(cells.shape[0]):
        f, e, w = cells[i], other_cells[i], weights[i]
        for u in range(other_members.shape[1]):
            table[f, other_members[e, u]] += w


@njit(cache=True, nogil=True)
def spread_members(members, table, block):
    """Add the rows of fused cells to those of their parameters.

    members (F, T) uint32, table (F, Q) float64; block (P, Q) float64 is added to.
    """
    for f in range(members.shape[0]):
        for t in range(members.shape[1]):
            p = np.int64(members[f, t])
            for q in range(table.shape[1]):
                block[p, q] += table[f, q]
