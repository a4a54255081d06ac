"""How much better a model looks on the rows that it learned from than on others, and what is left without it.

Repeated cross-validation asks fits to 19 rows of 20 about the twentieth. Harrell's bootstrap takes off the
mean difference, over the replays, between a statistic on the rows that a replay drew and the same statistic
of the same fit on all rows. Most of these rows it has seen, so that a model which memorises is corrected by
about a third only. The .632+ rule mixes the apparent value with that of rows which replays left out; the more
a model overfits, relative to one whose answers have nothing to do with the classes, the more these count.

Harrell, Lee and Mark, Multivariable prognostic models, Statistics in Medicine 15, 1996.
Efron and Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92, 1997.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from seminaive.arrays import Booleans, Floats, Indices
from seminaive.errors import InputError
from seminaive.evaluate.replays import Replays

Statistic = Callable[[Indices, Floats, Floats], Any]
"""Takes true classes, probabilities and row weights; returns a number, or an array of a fixed shape."""

METHODS = ("cross-validation", ".632+", "harrell")
# The share of different rows in a large bootstrap sample, 1 - 1/e.
_SHARE_DRAWN = 0.632


def plus_weight(apparent: Any, left_out: Any, no_information: Any) -> Any:
    """Return the weight of rows that were left out by the .632+ rule, between .632 and 1.

    Parameters
    ----------
    apparent, left_out, no_information : float or ndarray
        A statistic on the training rows, on rows that were left out, and of answers that do not depend on the
        class.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        overfitting = (np.asarray(left_out) - apparent) / (np.asarray(no_information) - apparent)
    overfitting = np.clip(np.nan_to_num(overfitting, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    return _SHARE_DRAWN / (1 - (1 - _SHARE_DRAWN) * overfitting)


@dataclass(frozen=True)
class Corrected:
    """A statistic with its optimism taken off.

    Attributes
    ----------
    apparent : float or ndarray
        On the training rows.
    corrected : float or ndarray
        As is to be expected of new rows.
    low, high : float or ndarray
        Bounds of an interval around ``corrected``.
    """

    apparent: Any
    corrected: Any
    low: Any
    high: Any

    @property
    def optimism(self) -> Any:
        """How much the apparent value exceeds the corrected one."""
        return self.apparent - self.corrected


def check_correction(method: str, coverage: float) -> None:
    """Refuse a way to take optimism off that is not known, and a coverage that is no share."""
    if method not in METHODS:
        raise InputError(f"method is {' or '.join(map(repr, METHODS))}, got {method!r}")
    if not 0 < coverage < 1:
        raise InputError(f"coverage is above 0 and below 1, got {coverage}")


class Correction:
    """Corrects statistics by the replays of a fit.

    Intervals are of the rows: the spread of the statistic over the bootstrap samples, when every row is
    predicted by fits that were made without it. These probabilities stay the same from sample to
    sample, so that a model which memorises does not look as good, and as certain, as on its training rows.

    Parameters
    ----------
    method : {"cross-validation", ".632+", "harrell"}
    coverage : float
        Of the intervals.
    among : ndarray of shape (n_rows,) or None, default=None
        True for the rows that are judged; None judges all.
    """

    def __init__(
        self,
        replays: Replays,
        method: str,
        coverage: float,
        among: Booleans | None = None,
    ) -> None:
        check_correction(method, coverage)
        self.replays = replays
        self.method = method
        self.coverage = coverage
        weight = replays.rows.weights
        self.weight = weight if among is None else np.where(among, weight, 0.0)

    def __call__(
        self, statistic: Statistic, no_information: Statistic | None = None, *, mix: float = _SHARE_DRAWN
    ) -> Corrected:
        """Correct one statistic.

        Parameters
        ----------
        no_information : Statistic or None
            Gives the value of answers that do not depend on the class; for the .632+ rule.
        mix : float, default=0.632
            The weight of left-out rows in the .632+ rule where ``no_information`` is not given.
        """
        counts, said = self.replays.counts, self.replays.probabilities
        apparent = self._value(statistic, self.replays.apparent, self.weight)
        if self.method == "cross-validation":
            corrected = _mean(
                [self._value(statistic, values, self.weight) for values in self.replays.held_out]
            )
        elif self.method == "harrell":
            on_drawn = [self._value(statistic, p, self.weight * n) for p, n in zip(said, counts, strict=True)]
            on_all = [self._value(statistic, p, self.weight) for p in said]
            corrected = apparent - _mean(np.subtract(on_drawn, on_all))
        else:
            left_out = _mean(
                [self._value(statistic, p, self.weight * (n == 0)) for p, n in zip(said, counts, strict=True)]
            )
            if no_information is not None:
                worst = self._value(no_information, self.replays.apparent, self.weight)
                mix = plus_weight(apparent, left_out, worst)
                # Beyond what answers without information give, only chance lies.
                left_out = np.where(np.sign(left_out - worst) == np.sign(worst - apparent), worst, left_out)
            corrected = (1 - mix) * apparent + mix * left_out
        spread = self._spread(statistic)
        beyond = (1 - self.coverage) / 2
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="All-NaN slice"
            )  # a point that no sample reaches has no band
            low, high = np.nanquantile(spread, [beyond, 1 - beyond], axis=0)
        return Corrected(apparent, corrected, corrected + low, corrected + high)

    def left_out_weight(self, statistic: Statistic, no_information: Statistic) -> float:
        """Return the weight that the .632+ rule gives to rows that were left out."""
        pairs = zip(self.replays.probabilities, self.replays.counts, strict=True)
        left_out = _mean([self._value(statistic, p, self.weight * (n == 0)) for p, n in pairs])
        apparent = self._value(statistic, self.replays.apparent, self.weight)
        worst = self._value(no_information, self.replays.apparent, self.weight)
        return float(plus_weight(apparent, left_out, worst))

    def _spread(self, statistic: Statistic) -> Floats:
        """Return differences of the statistic between bootstrap samples and all rows, one per replay."""
        of_all = self._value(statistic, self.unseen, self.weight)
        pairs = [self._value(statistic, self.unseen, self.weight * n) for n in self.replays.counts]
        return np.asarray(np.asarray(pairs) - of_all)

    @cached_property
    def unseen(self) -> Floats:
        """The mean probabilities of each row by fits that were made without it, (n_rows, n_classes)."""
        return np.asarray(self.replays.held_out.mean(axis=0))

    def _value(self, statistic: Statistic, probabilities: Floats, weight: Floats) -> Any:
        """Return a statistic of the rows that count."""
        used = weight > 0
        if not used.any():
            return np.nan
        return statistic(self.replays.rows.truth[used], probabilities[used], weight[used])


def _mean(values: Any) -> Any:
    """Return the mean over the replays for which a value is defined, NaN where none is."""
    values = np.asarray(values, dtype=np.float64)
    defined = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)
