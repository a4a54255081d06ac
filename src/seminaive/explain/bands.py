"""Bands around effects and bars at the scores of rows: how sure a model is of what is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.errors import InputError
from seminaive.scores import deviate

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
    """Half the lengths of the intervals of a model's effects.

    Parameters
    ----------
    errors : EffectErrors
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
        return self._half(self.errors.of_intercept)

    def of_feature(self, effect: FeatureEffect, numbers: Floats | None = None) -> Floats:
        """Return those of a category at each code, or of a number at some numbers; classes come last."""
        return self._half(self.errors.of_feature(effect, numbers))

    def of_tuple(self, effect: TupleEffect) -> Floats:
        """Return those of each cell of a pair, by class on the last axis."""
        return self._half(self.errors.of_tuple(effect))

    def _half(self, errors: Floats) -> Floats:
        half: Floats = deviate(self.interval) * errors
        return half


def of_class(half: Floats, target: int) -> Floats:
    """Return the half lengths of one class; those of two classes are the same."""
    of_target: Floats = half[..., 0 if half.shape[-1] == 1 else target]
    return of_target


def half_of_row(model: Any, table: Any, interval: float | None, target: int, against: int) -> float | None:
    """Return half the length of the interval of one row's log odds of two classes; None without interval."""
    if interval is None:
        return None
    coverage = check_interval(interval)
    covariance = model.score_covariances(table)[0]
    if len(covariance) == 1:
        variance = covariance[0, 0]
    else:
        variance = covariance[target, target] + covariance[against, against] - 2 * covariance[target, against]
    return deviate(coverage) * float(np.sqrt(max(variance, 0.0)))
