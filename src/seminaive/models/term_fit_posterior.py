"""How uncertain a logistic regression over the values of single columns is, under its ridge.

The score of a row is an intercept plus one coefficient per column. Indicators of values, each less its share
of the training rows, span the same scores, and their intercept is the mean score: so effects are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.design.dense import DenseDesign
from seminaive.objective.pointwise import posterior_of
from seminaive.scores.score_posterior import ScorePosterior, through
from seminaive.solvers.laplace import FREE, RowCurvature, laplace_covariance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.design.table_design import TableDesign
    from seminaive.models.training_set import TrainingSet

    Floats = NDArray[np.float64]

# Coefficients, and entries of the matrix of features, up to which intervals are computed: 128 MB.
MOST_COEFFICIENTS, MOST_ENTRIES = 1000, 1 << 24
# Directions that are kept.
N_KEPT = 24


def has_posterior(design: TableDesign) -> bool:
    """Tell whether a design has tables of single columns alone, and few enough coefficients."""
    listed = design.coefficients
    return (
        listed.n_numbers == 0
        and bool((listed.terms.orders <= 1).all())
        and listed.layout[0] is listed.terms
        and design.n_coefficients * n_columns_of(listed.n_classes) <= MOST_COEFFICIENTS
        and design.n_coefficients * design.n_rows <= MOST_ENTRIES
    )


def posterior_of_terms(
    design: TableDesign, strength: Floats, solution: Floats, rows: TrainingSet
) -> ScorePosterior:
    """Return the posterior of the scores of a fit.

    Parameters
    ----------
    design : TableDesign
        That has a posterior.
    strength : ndarray of shape (n_coefficients, 1) or (n_coefficients, n_columns)
        Of the ridge; 0 leaves a coefficient free.
    solution : ndarray of shape (n_coefficients, n_columns)
    rows : TrainingSet
    """
    listed = design.coefficients
    curvature = RowCurvature(posterior_of(design.scores(solution)), rows.weights)
    features = design.scores(np.eye(design.n_coefficients))
    shares = rows.weights @ features / rows.weights.sum()
    features[:, 1:] -= shares[1:]
    # Of classes with ridges of their own, the ridge along each contrast.
    strength = np.broadcast_to(strength, solution.shape) @ np.square(curvature.contrasts).T
    free = FREE / np.maximum(np.square(features).T @ curvature.diagonal, 1.0 / FREE)
    prior = np.where(strength > 0, np.divide(1.0, strength, out=free.copy(), where=strength > 0), free)
    prior[listed.fixed] = 0.0
    found = laplace_covariance(DenseDesign(features), curvature, prior, N_KEPT, np.random.default_rng(0))
    entries = np.concatenate([found.variance[None], found.learned]).transpose(1, 0, 2)
    tables = np.zeros((listed.terms.n_cells, *entries.shape[1:]))
    for term in range(len(listed.terms.features)):
        members = np.flatnonzero(listed.term_of_cell == term)
        functions = np.eye(len(members)) - shares[1 + members]
        tables[listed.cells[members]] = through(functions, entries[1 + members])
    tables[~listed.terms.known] = 0.0
    none = np.zeros((0, *entries.shape[1:]), dtype=np.float32)
    functions_of_pairs = tuple(
        np.zeros((size + 1, 0), dtype=np.float32) for size in listed.terms.cardinalities
    )
    signs = np.full(len(found.learned), -1.0)
    return ScorePosterior(signs, entries[0].copy(), tables.astype(np.float32), none, none, functions_of_pairs)
