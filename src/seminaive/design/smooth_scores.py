"""Coefficients of smooth columns as additive scores: slopes, curves, tables of categories and of pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import by_class
from seminaive.design.smooth_columns import knot_positions
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
    parts: list[Floats] = []
    features: list[tuple[int, ...]] = []
    for j, block in zip(columns.mains, blocks[n_slopes:], strict=False):
        own = columns.columns[j]
        if own.number is None:
            features.append((own.coded or 0,))
            parts.append(own.main @ by_class(coefficients[block]))
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
    curves = number_curves(columns, coefficients)
    return AdditiveScores(by_class(coefficients[:1])[0], terms, tables, NumericTerms.none(n_classes), curves)


def number_curves(columns: SmoothColumns, coefficients: Floats) -> CurveTerms:
    """Return slope and curve of each number as one piecewise-linear curve.

    Its knots are those of the curve and the ends of the range to which the slope is clipped.
    """
    blocks, n_slopes = term_blocks(columns), len(columns.slopes)
    n_classes = by_class(coefficients[:1]).shape[1]
    slopes = dict(zip(columns.slopes, by_class(coefficients[1 : 1 + n_slopes]), strict=True))
    mains = {
        columns.columns[j].number: (columns.columns[j], by_class(coefficients[block]))
        for j, block in zip(columns.mains, blocks[n_slopes:], strict=False)
    }
    curves = []
    for number in sorted({*slopes, *(number for number in mains if number is not None)}):
        low, high = columns.low[number], columns.high[number]
        knots, values = np.array([low]), np.zeros((2, n_classes))
        if number in mains:
            own, block = mains[number]
            knots, values = own.knots, own.main @ block
        missing = values[-1]
        if number in slopes:
            finer = np.unique(np.concatenate([knots, [low, high]]))
            level, along = knot_positions(knots, finer)
            following = values[np.minimum(level + 1, len(knots) - 1)]
            scaled = (np.clip(finer, low, high) - columns.centres[number]) / columns.spreads[number]
            values = values[level] + along[:, None] * (following - values[level])
            values += scaled[:, None] * slopes[number]
            knots = finer
        else:
            values = values[:-1]
        curves.append((number, knots, values, missing))
    return CurveTerms.of(curves) if curves else CurveTerms.none(n_classes)


def cell_weights(terms: Terms, table: EncodedTable, row_weight: Floats) -> Floats:
    """Return the training weight of each cell."""
    weights = np.zeros(terms.n_cells)
    for term in range(len(terms.features)):
        block = terms.block(term)
        cells = terms.cells_of(term, table.codes) - block.start
        weights[block] = np.bincount(cells, row_weight, minlength=block.stop - block.start)
    return weights
