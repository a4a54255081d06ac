"""How many cells the terms of a table have, in Python's integers and before any term is built."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.statistics.terms import Terms

# Bytes of a double, and of a term: a tuple of a few small integers with its offset and size.
DOUBLE, TERM = 8, 120


def dense_cells(cardinalities: Sequence[int], order: int, *, hierarchical: bool = False) -> int:
    """Return the number of cells of all terms of ``order`` columns, no evidence being a code of each column.

    It is the elementary symmetric polynomial of degree ``order`` in the numbers of codes, so that nothing is
    enumerated: the sum over all sets of columns of the product of their codes.

    Parameters
    ----------
    cardinalities : sequence of int
        The number of values of each coded column; it has one code more, that of no evidence.
    order : int
        Columns in a term; where the table has fewer, all of them.
    hierarchical : bool
        Whether every lower order has terms too.

    Examples
    --------
    Two columns of 2 and 3 values: 3 + 4 cells of single columns, and 3 * 4 of the pair.

    >>> dense_cells([2, 3], 2), dense_cells([2, 3], 2, hierarchical=True)
    (12, 19)
    """
    sums = [1] + [0] * min(order, len(cardinalities))
    for cardinality in cardinalities:
        for degree in range(len(sums) - 1, 0, -1):
            sums[degree] += sums[degree - 1] * (int(cardinality) + 1)
    return sum(sums[1:]) if hierarchical else sums[-1]


def n_terms(n_columns: int, order: int, *, hierarchical: bool = False) -> int:
    """Return the number of sets of ``order`` columns, or of 1 to ``order``."""
    order = min(order, n_columns)
    return sum(comb(n_columns, size) for size in range(1 if hierarchical else order, order + 1))


def table_parts(
    cardinalities: Sequence[int], order: int, n_classes: int, *, copies: int, hierarchical: bool = False
) -> dict[str, int]:
    """Return what dense tables over all terms take, in bytes, for `refuse_beyond_memory`.

    Parameters
    ----------
    copies : int
        Arrays of (cells, classes) doubles that exist at the same time: counts and scores, say.
    """
    cells = dense_cells(cardinalities, order, hierarchical=hierarchical)
    terms = n_terms(len(cardinalities), order, hierarchical=hierarchical)
    return {
        f"{copies} tables of {cells:,} cells by {n_classes} classes": DOUBLE * copies * cells * n_classes,
        f"{terms:,} terms": TERM * terms,
    }


def stream_parts(terms: Terms, n_known: int, n_rows: int, n_classes: int) -> dict[str, int]:
    """Return what stochastic descent takes at most, in bytes: a chunk of a stream, or epochs over one table.

    Counts of old and new rows and their sum, log estimates, scales, penalties and targets, coefficients and
    squared gradients with the copies that a refused chunk is put back from: 12 arrays over the observed
    cells.

    Parameters
    ----------
    n_known : int
        Cells that earlier chunks brought.
    n_rows : int
        Rows that may bring new ones.
    """
    cells = min(terms.n_cells, n_known + n_rows * len(terms.features))
    return {
        f"at most {cells:,} observed cells by {n_classes} classes, twelve times": DOUBLE
        * 12
        * cells
        * n_classes,
        f"{len(terms.features):,} terms": TERM * len(terms.features),
    }


def dependence_parts(cardinalities: Sequence[int], order: int, n_classes: int) -> dict[str, int]:
    """Return what averaged dependence estimators take, in bytes: counts, and columns given their parents."""
    given = f"columns given each combination of {order} others, by {n_classes} classes"
    counts = table_parts(cardinalities, order + 1, n_classes, copies=2, hierarchical=True)
    return counts | {given: DOUBLE * child_cells(cardinalities, order) * n_classes}


def child_cells(cardinalities: Sequence[int], order: int) -> int:
    """Return the cells, no evidence included, of each column given each combination of ``order`` others.

    The sum over all sets of parents, and over all columns beside them, of the product of the parents' values
    and the column's codes, by one pass over the columns.

    Examples
    --------
    Two columns of 2 and 3 values: 4 codes given each of 2 values, 3 codes given each of 3.

    >>> child_cells([2, 3], 1)
    17
    """
    without, with_child = [1] + [0] * order, [0] * (order + 1)
    for cardinality in map(int, cardinalities):
        for degree in range(order, -1, -1):
            with_child[degree] += without[degree] * (cardinality + 1)
            if degree:
                with_child[degree] += with_child[degree - 1] * cardinality
                without[degree] += without[degree - 1] * cardinality
    return with_child[order]
