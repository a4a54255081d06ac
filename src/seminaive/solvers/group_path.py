"""Naive Bayes under a group penalty on what tells its classes apart: one line search per feature.

The objective ``-log L + strength * sum_j factor_j * alpha_j`` separates by feature. On the line from pooled
to class-wise parameters the group norm of feature j is ``alpha_j`` times its distance; the factor is that
distance (plain penalty) or 1 (adaptive penalty, the distance divided by itself).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.rounding import ROUNDING

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import Interpolation


@dataclass(frozen=True)
class GroupAlphas:
    """Solutions along decreasing strengths.

    Parameters
    ----------
    strengths : ndarray of shape (n_strengths,)
    alphas : ndarray of shape (n_strengths, n_features)
    entry_strengths : ndarray of shape (n_features,)
        The strength below which each alpha is above 0: the slope of the log likelihood at alpha = 0 over the
        feature's factor. With the adaptive penalty and without smoothing, Pearson's chi-square of a category.
    """

    strengths: Floats
    alphas: Floats
    entry_strengths: Floats


def entry_strengths(interpolation: Interpolation, *, adaptive: bool) -> Floats:
    """Return the strength at which each feature leaves alpha = 0."""
    from seminaive.kernels.feature_lines import slopes_at_zero

    slopes = slopes_at_zero(*_parameters(interpolation))
    # The slope is a difference of two sums of the weights; below their rounding a feature says nothing.
    weights = np.concatenate(
        [interpolation.sum_by_term(interpolation.counts), interpolation.weight.sum(axis=1)]
    )
    slopes[slopes <= ROUNDING * weights] = 0.0
    factor = _factors(interpolation, adaptive=adaptive)
    entries: Floats = np.divide(slopes, factor, out=np.zeros_like(slopes), where=factor > 0)
    return entries


def geometric_strengths(largest: float, n_strengths: int, ratio: float) -> Floats:
    """Return strengths from the largest down to ``ratio`` times it."""
    return np.geomspace(largest, ratio * largest, n_strengths) if largest > 0 else np.zeros(1)


def group_alphas(interpolation: Interpolation, strengths: Floats, *, adaptive: bool) -> GroupAlphas:
    """Solve at every strength; strengths decrease."""
    from seminaive.kernels.feature_lines import group_paths

    penalties = np.outer(_factors(interpolation, adaptive=adaptive), strengths)
    alphas = np.zeros_like(penalties)
    arguments: Any = (*_parameters(interpolation), penalties, alphas)
    group_paths(*arguments)
    entries = entry_strengths(interpolation, adaptive=adaptive)
    alphas[entries <= 0] = 0.0
    return GroupAlphas(strengths, np.ascontiguousarray(alphas.T), entries)


def _factors(interpolation: Interpolation, *, adaptive: bool) -> Floats:
    return np.ones(interpolation.n_features) if adaptive else interpolation.distances


def _parameters(interpolation: Interpolation) -> tuple[Any, ...]:
    # In units of the overall deviation: slopes do not depend on the unit, but their cubes may overflow.
    normal = interpolation.normal
    overall = np.sqrt(normal.variance)
    return (
        interpolation.terms.offsets,
        interpolation.counts,
        interpolation.lift,
        np.where(normal.varies[:, None], interpolation.weight, 0.0),
        normal.shift / overall[:, None],
        np.sqrt(normal.class_variance) / overall[:, None],
        np.ones(len(overall)),
    )
