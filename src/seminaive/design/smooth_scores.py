"""Coefficients of smooth columns as additive scores: slopes, curves, tables of categories and of pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import by_class
from seminaive.memory import refuse_beyond_memory
from seminaive.scores import AdditiveScores, CurveTerms, NumericTerms, fill_unknown
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


def term_blocks(columns: SmoothColumns) -> list[slice]:
    """Return where the coefficients of each term lie, the intercept being the first."""
    starts = (1 + np.concatenate([[0], np.cumsum(columns.sizes)])).tolist()
    return [slice(a, b) for a, b in pairwise(starts)]


def pair_tables(columns: SmoothColumns, pair: tuple[int, int], coefficients: Floats) -> Floats:
    """Return the table U_j Theta U_k' of a pair, (codes of j, codes of k, columns)."""
    left, right = (columns.columns[j].pair for j in pair)
    theta = coefficients.reshape(left.shape[1], right.shape[1], -1)
    half = np.tensordot(left, theta, 1)  # codes of j, functions of k, columns
    return np.ascontiguousarray(np.moveaxis(np.tensordot(half, right, ((1,), (1,))), 2, 1))


def smooth_scores(
    columns: SmoothColumns,
    coefficients: Floats,
    cardinalities: Sequence[int],
    weights_of: Callable[[Terms], Floats],
) -> AdditiveScores:
    """Return additive scores; codes never seen with others get their training-weighted mean contribution.

    ``weights_of`` returns the training weight of each cell of some terms.
    """
    blocks = term_blocks(columns)
    n_slopes, n_mains = len(columns.slopes), len(columns.mains)
    n_classes = by_class(coefficients[:1]).shape[1]
    slopes = by_class(coefficients[1 : 1 + n_slopes])
    kept = list(columns.slopes)
    polynomials = np.zeros((n_slopes, 4, n_classes))
    polynomials[:, 2] = slopes / columns.spreads[kept, None]
    numeric = NumericTerms(
        columns.slopes, columns.centres[kept], polynomials, columns.low[kept], columns.high[kept]
    )
    curves, parts = [], []
    features: list[tuple[int, ...]] = []
    for j, block in zip(columns.mains, blocks[n_slopes:], strict=False):
        own = columns.columns[j]
        values = own.main @ by_class(coefficients[block])
        if own.number is not None:
            curves.append((own.number, own.knots, values[:-1], values[-1]))
        else:
            features.append((own.coded or 0,))
            parts.append(values)
    codes = [own.coded or 0 for own in columns.columns]
    for (j, k), block in zip(columns.pairs, blocks[n_slopes + n_mains :], strict=True):
        first, second = codes[j], codes[k]
        features.append((first, second))
        parts.append(pair_tables(columns, (j, k), by_class(coefficients[block])).reshape(-1, n_classes))
    terms = Terms(tuple(features), tuple(cardinalities))
    refuse_beyond_memory(
        {f"{terms.n_cells:,} cells by {n_classes} classes": 16 * terms.n_cells * n_classes},
        "name fewer interactions, or merge rare categories",
    )
    tables = np.ascontiguousarray(np.concatenate([np.empty((0, n_classes)), *parts]))
    fill_unknown(terms, tables, weights_of(terms))
    shapes = CurveTerms.of(curves) if curves else CurveTerms.none(n_classes)
    return AdditiveScores(by_class(coefficients[:1])[0], terms, tables, numeric, shapes)


def cell_weights(terms: Terms, table: EncodedTable, row_weight: Floats) -> Floats:
    """Return the training weight of each cell."""
    weights = np.zeros(terms.n_cells)
    for term in range(len(terms.features)):
        block = terms.block(term)
        cells = terms.cells_of(term, table.codes) - block.start
        weights[block] = np.bincount(cells, row_weight, minlength=block.stop - block.start)
    return weights
