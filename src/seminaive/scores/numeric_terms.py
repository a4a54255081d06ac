"""Polynomials of single numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.scores.kind import TermKind, is_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NumericTerms(TermKind):
    """One polynomial per numeric feature and class: ``constant + linear z + quadratic z**2``.

    Parameters
    ----------
    features : tuple of int
        The numeric columns that have a term.
    centres : ndarray of shape (n_terms,)
        ``z = x - centre``; close to the data, so that large numbers cancel before they are squared.
    coefficients : ndarray of shape (n_terms, 4, n_classes)
        What a missing number contributes, then constant, linear and quadratic.
    low, high : ndarray of shape (n_terms,), default=-inf and inf
        Numbers beyond count as these: the polynomial is constant outside of the range.
    """

    features: tuple[int, ...]
    centres: Floats
    coefficients: Floats
    low: Floats = field(default=None)  # type: ignore[assignment]
    high: Floats = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Leave numbers unclipped where no range is given."""
        self._fill_ranges()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields; files of version 0.1 have no ranges."""
        vars(self).update(state)
        self._fill_ranges()

    def _fill_ranges(self) -> None:
        for name, infinity in (("low", -np.inf), ("high", np.inf)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, np.full(len(self.features), infinity))

    @classmethod
    def none(cls, n_classes: int) -> NumericTerms:
        """Return no terms at all."""
        return cls((), np.empty(0), np.empty((0, 4, n_classes)))

    @property
    def n_terms(self) -> int:
        """Return the number of terms."""
        return len(self.features)

    def contributions(self, table: EncodedTable) -> Floats:
        """Return the value of each polynomial, (n_rows, n_terms, n_classes)."""
        return self.at(table.numbers)

    def at(self, numbers: Floats) -> Floats:
        """Return the value of each polynomial at each row of numbers, (n_rows, n_terms, n_classes)."""
        x = numbers[:, list(self.features)]
        z = (np.minimum(np.maximum(x, self.low), self.high) - self.centres)[:, :, None]
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
        add_number_scores(
            table.numbers, features, self.centres, self.low, self.high, self.coefficients, scores
        )

    def scaled(self, weights: Floats) -> NumericTerms:
        """Multiply each polynomial by its weight."""
        return replace(self, coefficients=self.coefficients * weights[:, None, None])

    def restricted(self, kept: Sequence[int]) -> NumericTerms:
        """Keep some of the polynomials."""
        kept = list(kept)
        return NumericTerms(
            tuple(self.features[term] for term in kept),
            self.centres[kept],
            self.coefficients[kept],
            self.low[kept],
            self.high[kept],
        )

    def centred(self) -> NumericTerms:
        """Take the mean over the classes off each coefficient."""
        return replace(self, coefficients=self.coefficients - self.coefficients.mean(axis=2, keepdims=True))

    def interpolated(self, other: NumericTerms, share: float) -> NumericTerms:
        """Interpolate between polynomials of the same numbers about the same centres."""
        if self.features != other.features or not all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("centres", "low", "high")
        ):
            raise ValueError("scores over different terms cannot be interpolated: restrict or add them first")
        return replace(self, coefficients=(1 - share) * self.coefficients + share * other.coefficients)

    def joined(self, other: NumericTerms) -> NumericTerms:
        """Return these polynomials, then the others."""
        arrays = ("centres", "coefficients", "low", "high")
        both = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in arrays)
        return NumericTerms(self.features + other.features, *both)

    def fits(self, cardinalities: Sequence[int], n_numbers: int, n_classes: int) -> bool:
        """Tell whether the numbers exist in such a table and all coefficients are finite."""
        del cardinalities
        n = self.n_terms
        return (
            all(0 <= j < n_numbers for j in self.features)
            and is_block(self.centres, (n,))
            and is_block(self.coefficients, (n, 4, n_classes))
            and self.low.shape == self.high.shape == (n,)
            and self.low.dtype == self.high.dtype == np.float64
            and bool((self.low <= self.high).all())
        )
