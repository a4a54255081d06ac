"""Bands around effects and bars at the scores of rows: how sure a model is of what is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError
from seminaive.scores import Spread

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.scores import EffectErrors, FeatureEffect, TupleEffect


def check_interval(interval: Any) -> float:
    """Return the coverage of intervals; refuse what is not between 0 and 1."""
    if isinstance(interval, bool) or not isinstance(interval, int | float) or not 0 < interval < 1:
        raise InputError(f"interval is a coverage between 0 and 1, such as .95, got {interval!r}")
    return float(interval)


@dataclass(frozen=True)
class Bands:
    """How far the intervals of a model's effects reach below and above what is shown, on a first axis of 2.

    Parameters
    ----------
    interval : float
        The coverage.
    """

    errors: EffectErrors
    interval: float

    @classmethod
    def of(cls, model: Any, interval: float | None) -> Bands | None:
        """Return the bands of a fitted model, None where no interval is wanted."""
        if interval is None:
            return None
        coverage = check_interval(interval)
        if not hasattr(type(model), "effect_errors"):
            raise InputError(f"a {type(model).__name__} does not say how uncertain its effects are")
        return cls(model.effect_errors(), coverage)

    @property
    def name(self) -> str:
        """Return what the bands are called in a legend."""
        return f"{100 * self.interval:.4g} % interval"

    def of_intercept(self) -> Floats:
        """Return that of the intercept, for the log odds of two classes or for each of more."""
        return self.errors.of_intercept.reach(self.interval)

    def of_feature(self, effect: FeatureEffect, numbers: Floats | None = None) -> Floats:
        """Return those of a category at each code, or of a number at some numbers; classes come last."""
        return self.errors.of_feature(effect, numbers).reach(self.interval)

    def of_tuple(self, effect: TupleEffect) -> Floats:
        """Return those of each cell of a pair, by class on the last axis."""
        return self.errors.of_tuple(effect).reach(self.interval)


def of_class(reach: Floats, target: int) -> tuple[Floats, Floats]:
    """Return the reach below and above of one class; of two, that of the first mirrors the other."""
    if reach.shape[-1] > 1:
        return reach[0, ..., target], reach[1, ..., target]
    return (reach[1, ..., 0], reach[0, ..., 0]) if target == 0 else (reach[0, ..., 0], reach[1, ..., 0])


def reach_of_row(
    model: Any, table: Any, interval: float | None, target: int, against: int
) -> tuple[float, float] | None:
    """Return how far the interval of one row's log odds of two classes reaches below and above its answer.

    None without an interval.
    """
    if interval is None:
        return None
    coverage = check_interval(interval)
    distances, covariances = model.score_posterior(table)
    if distances.shape[1] == 1:
        sign = 1.0 if target == 1 else -1.0
        distance, variance = sign * distances[0, 0], covariances[0, 0, 0]
    else:
        contrast = np.zeros(distances.shape[1])
        contrast[[target, against]] = 1.0, -1.0
        distance, variance = contrast @ distances[0], contrast @ covariances[0] @ contrast
    below, above = Spread(distance, np.sqrt(np.maximum(variance, 0.0))).reach(coverage)
    return float(below), float(above)
