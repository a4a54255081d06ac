"""Arithmetic of piecewise curves: cutting, subtracting, replacing pieces, and writing them as terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.scores.curve_terms import CurveTerms
from seminaive.scores.numeric_terms import NumericTerms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats, Integers
    from seminaive.scores.feature_curve import FeatureCurve


def curve_through(points: ArrayLike, values: ArrayLike, like: FeatureCurve) -> FeatureCurve:
    """Return straight lines through points, constant beyond the ends; missing numbers stay as they are.

    Parameters
    ----------
    points : array-like of shape (n_points,)
        Increasing.
    values : array-like of shape (n_points, n_classes)
    like : FeatureCurve
        Whose scale, and whose value for missing numbers, is kept.
    """
    edges = np.asarray(points, dtype=np.float64)
    heights = np.asarray(values, dtype=np.float64)
    coefficients = np.zeros((len(edges) + 1, 3, heights.shape[1]))
    coefficients[0, 0] = heights[0]
    coefficients[1:, 0] = heights
    slopes = np.diff(heights, axis=0) / (np.diff(edges)[:, None] * like.scale)
    coefficients[1:-1, 1] = slopes
    return replace(like, edges=edges, anchors=edges[_anchor(len(edges))], coefficients=coefficients)


def _anchor(n_edges: int) -> Integers:
    """Return the edge at which each piece is expanded: the one below it, the first one for the first."""
    return np.maximum(np.arange(n_edges + 1) - 1, 0)


def refined(curve: FeatureCurve, edges: ArrayLike) -> FeatureCurve:
    """Return the same curve, cut at more edges."""
    every = np.unique(np.concatenate([curve.edges, np.asarray(edges, dtype=np.float64)]))
    if not len(every):
        return curve
    piece = np.searchsorted(curve.edges, np.append(every, np.inf), side="left")
    anchors = every[_anchor(len(every))]
    shift = ((anchors - curve.anchors[piece]) * curve.scale)[:, None]
    constant, linear, quadratic = (curve.coefficients[piece, power] for power in range(3))
    coefficients = np.stack(
        [constant + shift * (linear + shift * quadratic), linear + 2 * shift * quadratic, quadratic], axis=1
    )
    return replace(curve, edges=every, anchors=anchors, coefficients=coefficients)


def difference(curve: FeatureCurve, other: FeatureCurve) -> FeatureCurve:
    """Return one curve less another one of the same scale."""
    left, right = refined(curve, other.edges), refined(other, curve.edges)
    if not len(left.edges):  # one piece each, perhaps about different anchors
        shift = ((left.anchors - right.anchors) * right.scale)[:, None]
        constant, linear, quadratic = right.coefficients.swapaxes(0, 1)
        moved = np.stack(
            [constant + shift * (linear + shift * quadratic), linear + 2 * shift * quadratic, quadratic],
            axis=1,
        )
        right = replace(right, coefficients=moved)
    return replace(
        left, coefficients=left.coefficients - right.coefficients, missing=left.missing - right.missing
    )


def constant_between(curve: FeatureCurve, low: float, high: float, value: Floats) -> FeatureCurve:
    """Return the curve with one value for all numbers from ``low`` to ``high``, both included."""
    below = np.nextafter(low, -np.inf)
    cut = refined(curve, [below, high])
    inside = (np.append(-np.inf, cut.edges) >= below) & (np.append(cut.edges, np.inf) <= high)
    coefficients = cut.coefficients.copy()
    coefficients[inside] = 0.0
    coefficients[inside, 0] = value
    return replace(cut, coefficients=coefficients)


def clipped_curve(curve: FeatureCurve, lowest: float, highest: float) -> FeatureCurve:
    """Return a curve of one value with its values limited to a range, that for missing numbers included."""
    crossings = [
        crossing
        for piece in range(curve.n_pieces)
        for level in (lowest, highest)
        for crossing in _crossings(curve, piece, level)
    ]
    cut = refined(curve, crossings)
    values = cut.at(_inside(cut.edges))[:, 0]
    coefficients = cut.coefficients.copy()
    for beyond, level in ((values < lowest, lowest), (values > highest, highest)):
        coefficients[beyond] = 0.0
        coefficients[beyond, 0] = level
    return replace(cut, coefficients=coefficients, missing=np.clip(cut.missing, lowest, highest))


def _inside(edges: Floats) -> Floats:
    """Return a number within each piece between edges; of the outer ones, away from their edge."""
    if not len(edges):
        return np.zeros(1)
    middles = edges[:-1] + np.diff(edges) / 2
    inner = np.where(middles > edges[:-1], middles, edges[1:])  # of neighbouring doubles the upper one
    first, last = edges[0] - 1 - abs(edges[0]), edges[-1] + 1 + abs(edges[-1])
    return np.concatenate([[first], inner, [last]])


def _crossings(curve: FeatureCurve, piece: int, level: float) -> list[float]:
    """Return where one piece of a curve of one value crosses a level."""
    constant, linear, quadratic = curve.coefficients[piece, :, 0].tolist()
    roots = np.roots([quadratic, linear, constant - level])
    lower = -np.inf if piece == 0 else curve.edges[piece - 1]
    upper = np.inf if piece == curve.n_pieces - 1 else curve.edges[piece]
    numbers = curve.anchors[piece] + roots[np.isreal(roots)].real / curve.scale
    return [float(x) for x in numbers if lower < x < upper and np.isfinite(x)]


def curve_as_terms(curve: FeatureCurve, number: int) -> tuple[NumericTerms, CurveTerms]:
    """Return terms whose sum is a curve, to the rounding of sums.

    A piece that is quadratic, or that is not constant and has no end, is a polynomial that is constant
    outside of the piece. What is left is piecewise linear: a term with a knot at each edge, and another one
    at the next double, between which the curve jumps.

    Parameters
    ----------
    number : int
        The numeric column.
    """
    lower, upper = np.append(-np.inf, curve.edges), np.append(curve.edges, np.inf)
    bent = curve.coefficients[:, 2].any(axis=1)
    endless = curve.coefficients[:, 1].any(axis=1) & (np.isinf(lower) | np.isinf(upper))
    pieces = np.flatnonzero(bent | endless)
    n_classes = curve.coefficients.shape[2]
    coefficients = np.concatenate([np.zeros((len(pieces), 1, n_classes)), curve.coefficients[pieces]], axis=1)
    polynomials = NumericTerms(
        (number,) * len(pieces),
        curve.anchors[pieces],
        coefficients,
        lower[pieces],
        upper[pieces],
        np.full(len(pieces), curve.scale),
    )
    if not len(curve.edges):
        if not len(pieces):  # a constant
            knots = CurveTerms.of([(number, curve.anchors, curve.coefficients[:, 0], curve.missing)])
            return polynomials, knots
        coefficients[0, 0] = curve.missing
        return polynomials, CurveTerms.none(n_classes)
    above = np.nextafter(curve.edges, np.inf)
    jumps = np.unique(np.concatenate([curve.edges, above]))
    columns = np.zeros((len(jumps), number + 1))
    columns[:, number] = jumps
    left = curve.at(jumps) - polynomials.at(columns).sum(axis=1)
    return polynomials, CurveTerms.of([(number, jumps, left, curve.missing)])
