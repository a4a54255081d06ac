"""Changes of one effect that somebody decides on, and the record that is kept of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.encode.few_rows import LARGEST_NUMBER
from seminaive.errors import InputError
from seminaive.scores.curve_algebra import clipped_curve, constant_between, curve_through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Booleans, Floats
    from seminaive.scores.feature_curve import FeatureCurve

# Effects beyond this are no opinion any more: odds of e**100.
LARGEST_EFFECT = 100.0


@dataclass(frozen=True)
class EffectChange:
    """A change of one effect, in log odds or in the score of one class."""

    def of_levels(self, levels: Sequence[Any], effect: Floats, weight: Floats) -> Floats:
        """Return the effect of each level of a category, changed.

        Parameters
        ----------
        levels : sequence
        effect, weight : ndarray of shape (n_levels,)
            The effect, and the training weight, of each.
        """
        raise NotImplementedError

    def of_curve(self, curve: FeatureCurve, seen: Floats, weight: Floats) -> FeatureCurve:
        """Return the effect of a number, changed.

        Parameters
        ----------
        curve : FeatureCurve
            Of one value.
        seen, weight : ndarray of shape (n_seen,)
            Numbers of training, and their weights.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class SetTo(EffectChange):
    """Give some levels, or a range of numbers, one effect.

    Parameters
    ----------
    value : float
        The effect.
    at : tuple
        Levels; or the lowest and the highest number, both included. Empty: everything.
    """

    value: float
    at: tuple[Any, ...] = ()

    def of_levels(self, levels: Sequence[Any], effect: Floats, weight: Floats) -> Floats:  # noqa: ARG002
        """Return the effect of each level of a category, changed."""
        return np.where(_chosen(levels, self.at), checked_effect(self.value), effect)

    def of_curve(self, curve: FeatureCurve, seen: Floats, weight: Floats) -> FeatureCurve:
        """Return the effect of a number, changed."""
        low, high = _range(self.at, seen, weight)
        return constant_between(curve, low, high, np.array([checked_effect(self.value)]))


@dataclass(frozen=True)
class Flatten(EffectChange):
    """Give some levels, or a range of numbers, their mean effect over the training rows.

    Parameters
    ----------
    at : tuple
        Levels; or the lowest and the highest number, both included. Empty: everything.
    """

    at: tuple[Any, ...] = ()

    def of_levels(self, levels: Sequence[Any], effect: Floats, weight: Floats) -> Floats:
        """Return the effect of each level of a category, changed."""
        chosen = _chosen(levels, self.at)
        return np.where(chosen, _mean(effect[chosen], weight[chosen]), effect)

    def of_curve(self, curve: FeatureCurve, seen: Floats, weight: Floats) -> FeatureCurve:
        """Return the effect of a number, changed."""
        low, high = _range(self.at, seen, weight)
        inside = (seen >= low) & (seen <= high)
        if not (weight[inside] > 0).any():
            raise InputError(
                f"training had no number from {low:g} to {high:g}, so there is no mean effect: use SetTo"
            )
        mean = _mean(curve.at(seen[inside])[:, 0], weight[inside])
        return constant_between(curve, low, high, np.array([mean]))


@dataclass(frozen=True)
class Clip(EffectChange):
    """Limit an effect to a range of values.

    Parameters
    ----------
    lowest, highest : float
        In log odds, or in the score of the class.
    """

    lowest: float
    highest: float

    def _limits(self) -> tuple[float, float]:
        lowest, highest = checked_effect(self.lowest), checked_effect(self.highest)
        if lowest > highest:
            raise InputError(f"the lowest effect {lowest:g} is above the highest {highest:g}: exchange them")
        return lowest, highest

    def of_levels(self, levels: Sequence[Any], effect: Floats, weight: Floats) -> Floats:  # noqa: ARG002
        """Return the effect of each level of a category, changed."""
        return np.clip(effect, *self._limits())

    def of_curve(self, curve: FeatureCurve, seen: Floats, weight: Floats) -> FeatureCurve:  # noqa: ARG002
        """Return the effect of a number, changed."""
        return clipped_curve(curve, *self._limits())


@dataclass(frozen=True)
class Monotone(EffectChange):
    """Make an effect rise, or fall: the monotone effect that is closest to it over the training rows.

    Closest is meant in least squares (isotonic regression). A number's effect is then a straight line between
    numbers of training, and constant beyond them.

    Parameters
    ----------
    rising : bool, default=True
    order : tuple, default=()
        The levels of a category in the order in which the effect rises or falls; not for numbers.
    """

    rising: bool = True
    order: tuple[Any, ...] = ()

    def of_levels(self, levels: Sequence[Any], effect: Floats, weight: Floats) -> Floats:
        """Return the effect of each level of a category, changed."""
        if not self.order:
            raise InputError("the levels of a category have no order: name them in order=")
        _chosen(levels, self.order)
        index = [list(levels).index(level) for level in self.order]
        changed = effect.copy()
        changed[index] = self._fitted(effect[index], weight[index])
        return changed

    def of_curve(self, curve: FeatureCurve, seen: Floats, weight: Floats) -> FeatureCurve:
        """Return the effect of a number, changed."""
        if self.order:
            raise InputError("numbers are ordered by their size: leave order= out")
        kept = weight > 0
        numbers = seen[kept]
        if not len(numbers):
            raise InputError("training had no number in this column: there is nothing to make monotone")
        fitted = self._fitted(curve.at(numbers)[:, 0], weight[kept])
        return curve_through(numbers, fitted[:, None], curve)

    def _fitted(self, effect: Floats, weight: Floats) -> Floats:
        from sklearn.isotonic import isotonic_regression

        weight = np.maximum(weight, 1e-9 * max(float(weight.max(initial=0.0)), 1.0))
        fitted: Floats = isotonic_regression(effect, sample_weight=weight, increasing=bool(self.rising))
        return fitted


@dataclass(frozen=True)
class Points(EffectChange):
    """Draw an effect anew: through points, or level by level.

    Parameters
    ----------
    at : tuple
        Levels; or increasing numbers, between which the effect is a straight line, and beyond which it is
        constant.
    values : tuple of float
        The effect at each.
    """

    at: tuple[Any, ...]
    values: tuple[float, ...]

    def _checked(self) -> Floats:
        if not self.at or len(self.at) != len(self.values):
            raise InputError(
                f"there are {len(self.at)} points and {len(self.values)} effects: give one for each, and one "
                "at least"
            )
        return np.array([checked_effect(value) for value in self.values])

    def of_levels(self, levels: Sequence[Any], effect: Floats, weight: Floats) -> Floats:  # noqa: ARG002
        """Return the effect of each level of a category, changed."""
        values = self._checked()
        _chosen(levels, self.at)
        changed = effect.copy()
        changed[[list(levels).index(level) for level in self.at]] = values
        return changed

    def of_curve(self, curve: FeatureCurve, seen: Floats, weight: Floats) -> FeatureCurve:  # noqa: ARG002
        """Return the effect of a number, changed."""
        values = self._checked()
        numbers = np.array([_number(point) for point in self.at])
        if (np.diff(numbers) <= 0).any():
            raise InputError("the numbers of the points do not increase: sort them, and give each one once")
        return curve_through(numbers, values[:, None], curve)


@dataclass(frozen=True, kw_only=True)
class Record:
    """What somebody did to a fitted model: who, when and why.

    Parameters
    ----------
    who, why : str
    date : str
        As of ISO 8601.
    loss_before, loss_after : float or None
        The log loss on rows that were given, before and after.
    """

    who: str
    why: str
    date: str
    loss_before: float | None = None
    loss_after: float | None = None


@dataclass(frozen=True, kw_only=True)
class Edit(Record):
    """A change of one effect.

    Parameters
    ----------
    column : str
    change : EffectChange
    target : label
        The class whose log odds, or score, was changed.
    """

    column: str
    change: EffectChange
    target: Any

    def __str__(self) -> str:
        return f"{self.column}: {self.change}"


@dataclass(frozen=True, kw_only=True)
class Refit(Record):
    """A fit of all effects around those of some columns, which were held.

    Parameters
    ----------
    held : tuple of str
        The columns whose effects stayed.
    order : int
        How many columns an effect that was fitted has at most.
    ridge : float
        The strength of the penalty, in rows.
    n_rows : int
        How many rows it was fitted to.
    """

    held: tuple[str, ...]
    order: int
    ridge: float
    n_rows: int

    def __str__(self) -> str:
        held = ", ".join(self.held)
        return (
            f"all but {held} fitted again to {self.n_rows:,} rows, order {self.order}, ridge {self.ridge:g}"
        )


def checked_effect(value: Any) -> float:
    """Return an effect as a float; refuse what is no number, or more than any opinion."""
    number = float(value) if _is_number(value) else np.nan
    if not abs(number) <= LARGEST_EFFECT:
        raise InputError(
            f"an effect is a number between {-LARGEST_EFFECT:g} and {LARGEST_EFFECT:g}, got {value!r}"
        )
    return number


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


def _number(value: Any) -> float:
    number = float(value) if _is_number(value) else np.nan
    if not abs(number) <= LARGEST_NUMBER:
        raise InputError(f"the column holds numbers up to {LARGEST_NUMBER:g}, and {value!r} is none")
    return number


def _chosen(levels: Sequence[Any], at: tuple[Any, ...]) -> Booleans:
    """Return which levels are meant; refuse one that training never had."""
    foreign = [level for level in at if level not in levels]
    if foreign:
        raise InputError(f"training had no level {foreign[0]!r}: it had {list(levels)[:20]}")
    return np.array([not at or level in at for level in levels], dtype=bool)


def _range(at: tuple[Any, ...], seen: Floats, weight: Floats) -> tuple[float, float]:
    """Return the lowest and the highest number that are meant."""
    if not at:
        present = seen[weight > 0]
        return (float(present[0]), float(present[-1])) if len(present) else (0.0, 0.0)
    if len(at) != 2:
        raise InputError(f"a range is the lowest and the highest number, got {at!r}")
    low, high = map(_number, at)
    if low > high:
        raise InputError(f"the lowest number {low:g} is above the highest {high:g}: exchange them")
    return low, high


def _mean(values: Floats, weight: Floats) -> float:
    total = float(weight.sum())
    return float(weight @ values) / total if total > 0 else float(values.mean())
