"""The covariance of coefficients of smooth columns as that of additive scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.centred_levels import CentredLevels
from seminaive.design.smooth_column import knot_positions
from seminaive.design.smooth_scores import term_blocks
from seminaive.scores.score_posterior import ScorePosterior, through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Singles
    from seminaive.design.smooth_column import SmoothColumn
    from seminaive.design.smooth_columns import SmoothColumns


def smooth_posterior(
    columns: SmoothColumns, entries: Floats, signs: Floats, cardinalities: Sequence[int]
) -> ScorePosterior:
    """Return the posterior of the scores that `smooth_scores` makes of coefficients.

    Parameters
    ----------
    entries : ndarray of shape (n_coefficients, 1 + n_directions, n_columns)
        The variance of each coefficient, and its place in each direction, the intercept first.
    signs : ndarray of shape (n_directions,)
    cardinalities : sequence of int
        The number of codes of each coded column of the table, without that of no evidence.
    """
    blocks = term_blocks(columns)
    n_slopes = len(columns.slopes)
    main_blocks = dict(zip(columns.mains, blocks[n_slopes:], strict=False))
    tables = [
        _of_levels(columns.columns[j], entries[block])
        for j, block in main_blocks.items()
        if columns.columns[j].number is None
    ]
    slopes = {number: entries[1 + k : 2 + k] for k, number in enumerate(columns.slopes)}
    mains = {
        columns.columns[j].number: (columns.columns[j], entries[block])
        for j, block in main_blocks.items()
        if columns.columns[j].number is not None
    }
    at_knots, missing = [], []
    for number in sorted({*slopes, *(number for number in mains if number is not None)}):
        features, absent = _curve_features(columns, number, mains.get(number, (None,))[0])
        of_number = [slopes[number]] if number in slopes else []
        of_coefficients = np.concatenate([*of_number, *([mains[number][1]] if number in mains else [])])
        at_knots.append(through(features, of_coefficients))
        missing.append(through(absent[None], of_coefficients))
    first = 1 + int(columns.sizes[: n_slopes + len(columns.mains)].sum())
    shape = entries.shape[1:]
    functions = [np.zeros((size + 1, 0), dtype=np.float32) for size in cardinalities]
    for j in {j for pair in columns.pairs for j in pair}:
        functions[columns.columns[j].coded or 0] = columns.columns[j].pair.astype(np.float32)
    return ScorePosterior(
        signs,
        entries[0].copy(),
        _singles(tables, shape),
        _singles([*at_knots, *missing], shape),
        np.zeros((0, *shape)),
        _compact(entries[first:], signs),
        tuple(functions),
    )


def _compact(entries: Floats, signs: Floats) -> NDArray[np.float16] | Singles:
    """Return the entries of pairs in half precision where that changes no variance by more than a hundredth.

    A variance is what is left of its first entry after the squares of places that rows have told about; their
    rounding errors stand out where little is left. Then they are kept in single precision.
    """
    learned = np.square(entries[:, 1:][:, signs < 0]).sum(axis=1)
    half = np.finfo(np.float16)
    precise = (learned * half.eps <= 0.01 * (entries[:, 0] - learned)).all()
    if precise and np.abs(entries).max(initial=0.0) < half.max:
        return entries.astype(np.float16)
    return entries.astype(np.float32)


def _singles(parts: list[Floats], shape: tuple[int, ...]) -> Singles:
    return np.concatenate([np.empty((0, *shape)), *parts]).astype(np.float32)


def _of_levels(column: SmoothColumn, entries: Floats) -> Floats:
    """Return the entries of each code of a category."""
    if not isinstance(column.main, CentredLevels):
        return through(column.main, entries)
    flat = entries.reshape(len(entries), -1)
    found = (column.main @ flat).reshape(-1, *entries.shape[1:])
    # The square of 1 - s at the function of a level, and those of the shares s of all others.
    shares, variance = column.main.shares[:, None], entries[:, 0]
    found[:-1, 0] = (1.0 - 2.0 * shares) * variance + np.square(shares[:, 0]) @ variance
    return np.asarray(found)


def _curve_features(
    columns: SmoothColumns, number: int, column: SmoothColumn | None
) -> tuple[Floats, Floats]:
    """Return slope and functions of a number at the knots of its curve, and where it is missing."""
    low, high = columns.low[number], columns.high[number]
    has_slope = number in columns.slopes
    knots = np.array([low]) if column is None else column.knots
    functions = np.zeros((2, 0)) if column is None else column.curve
    if not has_slope:
        return functions[:-1], functions[-1]
    finer = np.unique(np.concatenate([knots, [low, high]]))
    level, along = knot_positions(knots, finer)
    following = functions[np.minimum(level + 1, len(knots) - 1)]
    between = functions[level] + along[:, None] * (following - functions[level])
    slope = (np.clip(finer, low, high) - columns.centres[number]) / columns.spreads[number]
    return np.column_stack([slope, between]), np.append(0.0, functions[-1])
