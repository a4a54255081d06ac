"""Tables of tuples made pure: what any fewer of their columns say is taken out of them.

A table is pure under weights of its cells where its weighted mean over each axis is zero for every
combination of codes of the others. Every table is a pure one plus tables of one axis less, which are a
weighted least-squares fit: for two axes the two-way analysis of variance with unequal weights. It is solved
directly for two axes and by conjugate gradients for more. Taking tables of fewer axes out of a table and
adding them elsewhere leaves the sum as it is, however exactly the fit is solved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve
from scipy.sparse.linalg import LinearOperator, cg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats

# Share of a code that training never had: what it says is averaged over the other axes as if it had rows.
LEAST_SHARE = 1e-9
# Rows of independence that are added to the joint weights. They bound the means of a pure table under the
# joint weights alone by INDEPENDENT_ROWS / n_rows of its range: below 1e-3 from 100 rows on.
INDEPENDENT_ROWS = 0.1
# Conjugate gradients stop at this norm of the scaled residual, relative to the start.
TOLERANCE = 1e-9
MOST_ITERATIONS = 500


def cell_weights(joint: Floats | None, shares: Sequence[Floats], total: float) -> Floats:
    """Return the weights under which a table is made pure: the joint ones and a little independence.

    Two columns one of which determines the other would leave undecided which of them says what. A tenth of a
    row's worth of the product of the marginal shares decides it, and hardly changes anything else.

    Parameters
    ----------
    joint : ndarray or None
        Training weight of each combination of codes; None where unknown, which counts as independence.
    shares : sequence of ndarray
        For each axis the share of each code.
    total : float
        Training weight of all rows.
    """
    product = np.ones(())
    for share in shares:
        floored = np.maximum(share, LEAST_SHARE)
        product = np.multiply.outer(product, floored / floored.sum())
    return total * product if joint is None else joint + INDEPENDENT_ROWS * product


def purify(table: Floats, weight: Floats) -> tuple[Floats, list[Floats]]:
    """Split a table into a pure one and tables without one of its axes.

    Parameters
    ----------
    table : ndarray of shape (n_codes, ..., n_classes)
    weight : ndarray of shape (n_codes, ...)
        Positive.

    Returns
    -------
    pure : ndarray, as ``table``
    margins : list of ndarray
        For each axis a table of the others. ``table`` is ``pure`` plus all of them, spread along their axis.

    Examples
    --------
    An exclusive or says nothing in either of its columns:

    >>> table = np.array([[[0.0], [3.0]], [[3.0], [0.0]]])
    >>> pure, (of_columns, of_rows) = purify(table, np.ones((2, 2)))
    >>> pure[..., 0].round(6)
    array([[-1.5,  1.5],
           [ 1.5, -1.5]])
    """
    margins = _two_way(table, weight) if weight.ndim == 2 else _many_ways(table, weight)
    return table - _spread(margins), margins


def _spread(margins: Sequence[Floats]) -> Floats:
    """Return the sum of tables that each lack one axis."""
    total: Floats = sum(np.expand_dims(margin, axis) for axis, margin in enumerate(margins))  # type: ignore[assignment]
    return total


def _two_way(table: Floats, weight: Floats) -> list[Floats]:
    """Return what columns say and what rows say: the normal equations, the longer side eliminated."""
    if len(weight) < weight.shape[1]:
        return _two_way(table.swapaxes(0, 1), weight.T)[::-1]
    # D r + W s = row sums and W' r + E s = column sums, in coordinates where D and E are identities.
    of_rows, of_columns = np.sqrt(weight.sum(axis=1)), np.sqrt(weight.sum(axis=0))
    scaled = weight / of_rows[:, None] / of_columns
    weighted = weight[:, :, None] * table
    row_sums = weighted.sum(axis=1) / of_rows[:, None]
    column_sums = weighted.sum(axis=0) / of_columns[:, None]
    # A constant may lie in rows or in columns: the added square puts it into the rows.
    constant = of_columns / np.linalg.norm(of_columns)
    schur = np.eye(len(of_columns)) - scaled.T @ scaled + np.outer(constant, constant)
    columns = solve(schur, column_sums - scaled.T @ row_sums, assume_a="pos")
    columns -= np.outer(constant, constant @ columns)
    rows = row_sums - scaled @ columns
    return [columns / of_columns[:, None], rows / of_rows[:, None]]


def _many_ways(table: Floats, weight: Floats) -> list[Floats]:
    """Return the margins of three axes or more by conjugate gradients on the scaled normal equations."""
    sums = [weight.sum(axis=axis) for axis in range(weight.ndim)]
    root = np.sqrt(np.concatenate([total.ravel() for total in sums]))
    ends = np.cumsum([total.size for total in sums])[:-1]

    def margins(scaled: Floats) -> list[Floats]:
        parts = np.split(scaled / root, ends)
        return [part.reshape(total.shape) for part, total in zip(parts, sums, strict=True)]

    def scaled_sums(values: Floats) -> Floats:
        weighted = weight * values
        totals = np.concatenate([weighted.sum(axis=axis).ravel() for axis in range(weight.ndim)])
        return np.asarray(totals / root)

    normal = LinearOperator(2 * root.shape, matvec=lambda z: scaled_sums(_spread(margins(z))), dtype=float)
    of_classes = [
        margins(cg(normal, scaled_sums(of_class), rtol=TOLERANCE, maxiter=MOST_ITERATIONS)[0])
        for of_class in np.moveaxis(table, -1, 0)
    ]
    return [np.stack(of_axis, axis=-1) for of_axis in zip(*of_classes, strict=True)]
