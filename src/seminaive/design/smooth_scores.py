"""Coefficients of smooth columns as additive scores: slopes, curves, tables of categories and of pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import by_class
from seminaive.design.smooth_column import knot_positions
from seminaive.memory import refuse_beyond_memory
from seminaive.scores import AdditiveScores, CurveTerms, NumericTerms, fill_unknown
from seminaive.statistics import Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from seminaive.arrays import Floats
    from seminaive.design.smooth_columns import SmoothColumns


def term_blocks(columns: SmoothColumns) -> list[slice]:
    """Return where the coefficients of each term lie, the intercept being the first."""
    starts = (1 + np.concatenate([[0], np.cumsum(columns.sizes)])).tolist()
    return [slice(a, b) for a, b in pairwise(starts)]


def fill_pair_tables(columns: SmoothColumns, by_term: Floats, tables: Floats) -> None:
    """Write the table U_j Theta U_k' of each pair, (codes of j, codes of k, classes), one after the other.

    ``by_term`` are the coefficients Theta of all pairs, (features, classes).
    """
    n_classes = tables.shape[1]
    feature = cell = 0
    for j, k in columns.pairs:
        left, right = columns.columns[j].pair, columns.columns[k].pair
        n_functions, n_cells = left.shape[1] * right.shape[1], len(left) * len(right)
        theta = by_term[feature : feature + n_functions].reshape(left.shape[1], -1)
        half = (left @ theta).reshape(len(left), right.shape[1], n_classes)
        table = tables[cell : cell + n_cells].reshape(len(left), len(right), n_classes)
        np.matmul(right, half, out=table)
        feature, cell = feature + n_functions, cell + n_cells


def smooth_scores(
    columns: SmoothColumns,
    coefficients: Floats,
    cardinalities: Sequence[int],
    weights_of: Callable[[Terms], Floats],
) -> tuple[AdditiveScores, Floats]:
    """Return additive scores, and the training weight of each cell of their terms.

    Codes never seen with others get their training-weighted mean contribution. ``weights_of`` returns the
    training weight of each cell of some terms.
    """
    blocks = term_blocks(columns)
    n_slopes, n_mains = len(columns.slopes), len(columns.mains)
    n_classes = by_class(coefficients[:1]).shape[1]
    parts: list[Floats] = []
    features: list[tuple[int, ...]] = []
    for j, block in zip(columns.mains, blocks[n_slopes:], strict=False):
        column = columns.columns[j]
        if column.number is None:
            features.append((column.coded or 0,))
            parts.append(column.main @ by_class(coefficients[block]))
    codes = [column.coded or 0 for column in columns.columns]
    features += [(codes[j], codes[k]) for j, k in columns.pairs]
    terms = Terms(tuple(features), tuple(cardinalities))
    refuse_beyond_memory(
        {f"{terms.n_cells:,} cells by {n_classes} classes": 16 * terms.n_cells * n_classes},
        "name fewer interactions, or merge rare categories",
    )
    tables = np.empty((terms.n_cells, n_classes))
    n_single = sum(map(len, parts))
    np.concatenate([np.empty((0, n_classes)), *parts], out=tables[:n_single])
    first = 1 + int(columns.sizes[: n_slopes + n_mains].sum())
    fill_pair_tables(columns, by_class(coefficients[first:]), tables[n_single:])
    weights = weights_of(terms)
    fill_unknown(terms, tables, weights)
    curves = number_curves(columns, coefficients, blocks)
    prior, no_polynomials = by_class(coefficients[:1])[0], NumericTerms.none(n_classes)
    return AdditiveScores(prior, terms, tables, no_polynomials, curves), weights


def number_curves(columns: SmoothColumns, coefficients: Floats, blocks: list[slice]) -> CurveTerms:
    """Return slope and curve of each number as one piecewise-linear curve.

    Its knots are those of the curve and the ends of the range to which the slope is clipped.
    """
    n_slopes = len(columns.slopes)
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
            column, block = mains[number]
            knots, values = column.knots, column.main @ block
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
