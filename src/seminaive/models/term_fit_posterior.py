"""How uncertain a logistic regression over columns and pairs of columns is, under its ridge.

The posterior covariance is the inverse of the Hessian that the fit ends with, and it is kept whole.
Indicators of cells are far from independent: in a covariance of low rank plus diagonal, as `SemiNaive` keeps
one, standard errors of rows were up to 2.4 times too long (docs/decisions/0027-intervals.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.objective.factor import inverse_factor, lower_cholesky
from seminaive.objective.log_loss import posterior_of
from seminaive.objective.softmax_hessian import softmax_hessian
from seminaive.scores.score_posterior import ScorePosterior
from seminaive.solvers.laplace import as_contrasts

if TYPE_CHECKING:
    from seminaive.arrays import Booleans, Floats, Singles
    from seminaive.design.coefficients import Coefficients
    from seminaive.design.table_design import TableDesign

# Coefficients times classes, and these times the cells of all tables, up to which intervals are computed: the
# largest Hessian takes a second, and what is kept 8 MB.
MOST_COEFFICIENTS, MOST_ENTRIES = 1000, 1 << 21
# Why a fit has no intervals.
NO_TERM_POSTERIOR = (
    "intervals are those of fits by likelihood in memory, of order 1 or 2 and of at most 1,000 coefficients, "
    "without a model to start from: lower the order, merge categories or have fewer bins, or see how the fit "
    "varies over replays by seminaive.evaluate.validate"
)


def has_posterior(design: TableDesign) -> bool:
    """Tell whether a design has columns and pairs alone, and few enough coefficients."""
    listed = design.coefficients
    n_columns = n_columns_of(listed.n_classes)
    n_directions = design.n_coefficients * n_columns
    return (
        bool((listed.terms.orders <= 2).all())
        and listed.layout[0] is listed.terms
        and n_directions <= MOST_COEFFICIENTS
        and n_directions * n_columns * listed.terms.n_cells <= MOST_ENTRIES
    )


def posterior_of_terms(
    design: TableDesign,
    strength: Floats,
    solution: Floats,
    row_weight: Floats,
    away: Floats | None = None,
    moved: Booleans | None = None,
) -> ScorePosterior:
    """Return the posterior of the scores of a fit.

    Parameters
    ----------
    design : TableDesign
        That has a posterior.
    strength : ndarray of shape (n_coefficients, 1) or (n_coefficients, n_columns)
        Of the ridge; 0 leaves a coefficient free.
    solution : ndarray of shape (n_coefficients, n_columns)
        The fit about which the posterior is.
    row_weight : ndarray of shape (n_rows,)
    away : ndarray of shape (n_coefficients, n_columns) or None
        That fit less the answer, where they differ.
    moved : ndarray of shape (n_coefficients,) or None
        Which coefficients the fit has; all but those of cells without evidence.
    """
    listed = design.coefficients
    means = design.adjoint(row_weight[:, None] / row_weight.sum())[:, 0]
    means[0] = 0.0
    posterior = posterior_of(design.scores(solution))
    hessian = softmax_hessian(design.gram, posterior, row_weight)
    ridge = np.broadcast_to(strength, solution.shape)
    moved = ~listed.fixed if moved is None else moved
    if (ridge == ridge[:, :1]).all():
        # The sum of all classes is independent of their contrasts then, and no score depends on it.
        n_contrasts = solution.shape[1] - (solution.shape[1] > 1)
        places = _root_of_inverse(_of_contrasts(hessian, solution.shape), ridge[:, :n_contrasts], moved)
    else:
        places = as_contrasts(_root_of_inverse(hessian, ridge, moved))
    if away is not None:
        places = np.concatenate([places, as_contrasts(away)[None]])
    # The intercept that is shown is the mean score: each indicator is less its share of the rows.
    places[:, 0] += np.tensordot(places, means, (1, 0))
    unseen = np.divide(1.0, ridge, out=np.zeros(solution.shape), where=ridge > 0)
    tables, pairs = _of_cells(listed, places, means, unseen[:, : places.shape[2]])
    entries = _entries(places)
    lines = entries[len(entries) - listed.n_numbers :] / listed.spreads[:, None, None]
    paired = {j for columns in listed.terms.features if len(columns) == 2 for j in columns}
    functions = tuple(
        np.eye(size + 1, size if j in paired else 0, dtype=np.float32)
        for j, size in enumerate(listed.terms.cardinalities)
    )
    none = np.zeros((0, *entries.shape[1:]), dtype=np.float32)
    signs = np.ones(len(places))
    signs[len(signs) - (away is not None) :] = 0.0
    return ScorePosterior(signs, entries[0].copy(), tables, none, lines, pairs, functions)


def _of_contrasts(hessian: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the Hessian in contrasts of classes, in which log odds of two are as they are."""
    blocks = as_contrasts(as_contrasts(hessian.reshape(*shape, *shape)).transpose(2, 3, 0, 1))
    size = blocks.shape[0] * blocks.shape[1]
    return np.ascontiguousarray(blocks.reshape(size, size))


def _root_of_inverse(hessian: Floats, ridge: Floats, moved: Booleans) -> Floats:
    """Return directions, (n, *shape of ridge), whose outer products add up to the inverse of both together.

    With the Cholesky factor L of the matrix they are the rows of ``L^-1``. Coefficients that do not move have
    places of 0.
    """
    kept = np.repeat(moved, ridge.shape[1])
    matrix = hessian[np.ix_(kept, kept)]
    np.einsum("ii->i", matrix)[:] += ridge.ravel()[kept]
    found = np.zeros((len(matrix), len(kept)))
    found[:, kept] = inverse_factor(lower_cholesky(matrix))
    return found.reshape(-1, *ridge.shape)


def _entries(places: Floats) -> Floats:
    """Return variances of 0 and places, (n_coefficients, 1 + n_directions, n_contrasts)."""
    of_coefficients = places.transpose(1, 0, 2)
    return np.concatenate([np.zeros_like(of_coefficients[:, :1]), of_coefficients], axis=1)


def _of_cells(
    listed: Coefficients, places: Floats, shares: Floats, unseen: Floats
) -> tuple[Singles, Singles]:
    """Return the entries of the cells of single columns, and those of the cells of known values of pairs.

    What a cell says is its coefficient less the mean over the training rows of the coefficients of its term.
    A combination that training never had has the variance of the prior, ``unseen``.
    """
    terms, shape = listed.terms, (1 + len(places), places.shape[2])
    entries = _entries(places)
    found: dict[int, list[Floats]] = {1: [np.zeros((0, *shape))], 2: [np.zeros((0, *shape))]}
    for term, columns in enumerate(terms.features):
        members = 1 + np.flatnonzero(listed.term_of_cell == term)
        cells = np.repeat(
            -np.tensordot(shares[members], entries[members], 1)[None], int(terms.sizes[term]), axis=0
        )
        at = listed.cells[members - 1] - terms.offsets[term]
        cells[:, 0] = unseen[members].max(axis=0, initial=0.0)
        cells[at, 0] = 0.0
        cells[at] += entries[members]
        cells[~terms.known[terms.block(term)]] = 0.0
        if len(columns) == 2:
            cells = cells.reshape(*terms.shape(term), *shape)[:-1, :-1].reshape(-1, *shape)
        found[len(columns)].append(cells)
    return tuple(np.concatenate(found[order]).astype(np.float32) for order in (1, 2))  # type: ignore[return-value]
