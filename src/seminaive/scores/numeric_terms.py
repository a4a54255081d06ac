"""Polynomials of single numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.few_rows import LARGEST_NUMBER
from seminaive.encode.saved_by_fields import NOT_GIVEN, SavedByFields
from seminaive.scores.kind import NumberTermKind, is_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Booleans, Floats
    from seminaive.encode import EncodedTable

# The largest value of a part of a polynomial; sums of any number of terms stay finite.
LARGEST_VALUE = 1e290
# Where a polynomial would exceed this it is constant: a thousand times its value is still below the largest.
SATURATED_VALUE = 1e286
# Deviations up to here are scaled without overflow.
LARGEST_DEVIATION = LARGEST_NUMBER / 2
ARRAYS = ("centres", "coefficients", "low", "high", "scales")


@dataclass(frozen=True)
class NumericTerms(SavedByFields, NumberTermKind):
    """One polynomial per numeric feature and class: ``constant + linear z + quadratic z**2``.

    Parameters
    ----------
    features : tuple of int
        The numeric columns that have a term.
    centres : ndarray of shape (n_terms,)
        ``z = (x - centre) scale``; close to the data, so that large numbers cancel before they are squared.
    coefficients : ndarray of shape (n_terms, 4, n_classes)
        What a missing number contributes, then constant, linear and quadratic.
    low, high : ndarray of shape (n_terms,), default=-inf and inf
        Numbers beyond count as these: the polynomial is constant outside of the range.
    scales : ndarray of shape (n_terms,), default=1
        Powers of two, other than 1 for numbers so small that their squares would vanish.
    """

    features: tuple[int, ...]
    centres: Floats
    coefficients: Floats
    low: Floats = NOT_GIVEN
    high: Floats = NOT_GIVEN
    scales: Floats = NOT_GIVEN

    def __post_init__(self) -> None:
        """Neither clip nor scale where nothing is said."""
        for name, value in (("low", -np.inf), ("high", np.inf), ("scales", 1.0)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(len(self.features), value))

    @classmethod
    def none(cls, n_classes: int) -> NumericTerms:
        """Return no terms at all."""
        return cls((), np.empty(0), np.empty((0, 4, n_classes)))

    def at(self, numbers: Floats) -> Floats:
        """Return the value of each polynomial at each row of numbers, (n_rows, n_terms, n_classes)."""
        x = numbers[:, list(self.features)]
        z = ((np.minimum(np.maximum(x, self.low), self.high) - self.centres) * self.scales)[:, :, None]
        missing, constant, linear, quadratic = self.coefficients.swapaxes(0, 1)
        polynomials: Floats = constant + z * (linear + z * quadratic)
        absent = np.isnan(x)
        if absent.any():
            polynomials = np.where(absent[:, :, None], missing, polynomials)
        return polynomials

    def add_compiled(self, table: EncodedTable, scores: Floats) -> None:
        """Evaluate and add by a compiled pass."""
        from seminaive.kernels.scoring import add_number_scores

        features = np.array(self.features, dtype=np.int64)
        ranges = np.stack([self.low, self.high, self.centres, self.scales], axis=1)
        add_number_scores(table.numbers, features, ranges, self.coefficients, scores)

    def with_unit_scales(self) -> NumericTerms:
        """Return the same polynomials of ``x - centre``; of very small numbers they may overflow."""
        coefficients = self.coefficients.copy()
        coefficients[:, 2:] *= self.scales[:, None, None]
        coefficients[:, 3] *= self.scales[:, None]
        return replace(self, coefficients=coefficients, scales=np.ones_like(self.scales))

    def saturating(self) -> NumericTerms:
        """Return polynomials that stay finite: constant beyond numbers whose values would be immense.

        Only polynomials that are immense somewhere among the numbers that a table may hold get such ends.

        >>> steep = NumericTerms((0,), np.zeros(1), np.array([[[0.0], [0], [0], [1e200]]])).saturating()
        >>> steep.high, steep.at(np.array([[1e100]])).item()
        (array([1.e+43]), 1e+286)
        """
        linear, quadratic = np.abs(self.coefficients[:, 2:]).max(axis=2, initial=0.0).T
        # Coefficients up to 1 need no end.
        reach = np.minimum(SATURATED_VALUE / np.maximum(linear, 1.0), LARGEST_DEVIATION)
        reach = np.minimum(np.sqrt(SATURATED_VALUE / np.maximum(quadratic, 1.0)), reach)
        unbounded = (reach == LARGEST_DEVIATION) & (self.scales == 1.0)
        reach = np.where(unbounded, np.inf, reach / self.scales)
        low, high = np.maximum(self.low, self.centres - reach), np.minimum(self.high, self.centres + reach)
        return replace(self, low=low, high=high)

    def scaled(self, weights: Floats) -> NumericTerms:
        """Multiply each polynomial by its weight."""
        return replace(self, coefficients=self.coefficients * weights[:, None, None])

    def restricted(self, kept: Sequence[int]) -> NumericTerms:
        """Keep some of the polynomials."""
        kept = list(kept)
        features = tuple(self.features[term] for term in kept)
        return NumericTerms(features, *(getattr(self, name)[kept] for name in ARRAYS))

    def centred(self) -> NumericTerms:
        """Take the mean over the classes off each coefficient."""
        return replace(self, coefficients=self.coefficients - self.coefficients.mean(axis=2, keepdims=True))

    def joined(self, other: NumericTerms) -> NumericTerms:
        """Return these polynomials, then the others."""
        both = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in ARRAYS)
        return NumericTerms(self.features + other.features, *both)

    def fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> bool:
        """Tell whether the numbers exist in such a table and all coefficients are finite."""
        del cardinalities
        n = self.n_terms
        return (
            all(0 <= j < n_numbers for j in self.features)
            and is_block(self.centres, (n,))
            and bool((np.abs(self.centres) <= LARGEST_NUMBER).all())
            and is_block(self.scales, (n,))
            and is_block(self.coefficients, (n, 4, n_classes))
            and self._is_bounded()
            and self.low.shape == self.high.shape == (n,)
            and self.low.dtype == self.high.dtype == np.float64
            and bool(
                ((self.low <= self.high) & _is_end(self.low, -np.inf) & _is_end(self.high, np.inf)).all()
            )
        )

    def _is_bounded(self) -> bool:
        """Tell whether the polynomials of all numbers that a table may hold, and their sums, are finite."""
        ends = np.clip(np.stack([self.low, self.high]), -LARGEST_NUMBER, LARGEST_NUMBER)
        with np.errstate(over="ignore", invalid="ignore"):
            farthest = np.abs((ends - self.centres) * self.scales).max(axis=0)
            powers = farthest[:, None, None] ** np.array([0, 0, 1, 2])[:, None]
            inside = (self.scales == 1.0) | (farthest <= LARGEST_NUMBER)
            return bool(inside.all() and (np.abs(self.coefficients) * powers <= LARGEST_VALUE).all())


def _is_end(ends: Floats, open_end: float) -> Booleans:
    """Tell which ends of ranges are open, or numbers that a table may hold."""
    allowed: Booleans = (ends == open_end) | (np.abs(ends) <= LARGEST_NUMBER)
    return allowed
