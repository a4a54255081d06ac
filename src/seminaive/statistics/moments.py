"""Weight, mean and sum of squared deviations of numbers per class: raw sums, so that they merge exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.encode.saved_by_fields import NOT_GIVEN, SavedByFields
from seminaive.statistics import pairs

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers, Labels

# A pair rounds at 2**-106 of its value; a million additions and a few products later, at about 2**-84.
RESOLUTION = 2.0**-84
# Numbers of which the root mean square is below this are scaled: the low parts of their squares would vanish.
SMALL = 1e-100

# The exponent of the smallest number that has all its digits.
SMALLEST_EXPONENT = int(np.finfo(np.float64).minexp) + 1


@dataclass(frozen=True)
class Moments(SavedByFields):
    """Weight, sum and sum of squares of each numeric feature within each class.

    ``sums[k]`` is the weighted sum of the k-th powers (0, 1, 2), each a pair of doubles (106 bits), of the
    numbers times ``2**-exponent``: 1 except for numbers so small that the squares would lose digits.
    Therefore ``a + b`` equals the moments of all rows at once, whatever the order and the chunks, and
    the deviations derived on reading keep full precision even where the mean exceeds the spread a hundred
    million times.

    Parameters
    ----------
    sums : ndarray of shape (3, 2, n_numbers, n_classes)
        Power, (high, low), feature, class.
    exponents : ndarray of shape (n_numbers,), default=0

    Examples
    --------
    >>> import numpy as np
    >>> heights = np.array([[1.0], [3.0], [np.nan], [5.0]])
    >>> moments = Moments.of(heights, np.array([0, 0, 0, 1]), n_classes=2)
    >>> moments.mean
    array([[2., 5.]])
    >>> moments.squared_deviations
    array([[2., 0.]])
    """

    sums: Floats
    exponents: Integers = NOT_GIVEN

    def __post_init__(self) -> None:
        """Take numbers as they are where nothing is said."""
        if self.exponents is NOT_GIVEN:
            object.__setattr__(self, "exponents", np.zeros(self.sums.shape[2], dtype=np.int64))

    @classmethod
    def none(cls, n_numbers: int, n_classes: int) -> Moments:
        """Return the moments of no rows, the neutral element of ``+``."""
        return cls(np.zeros((3, 2, n_numbers, n_classes)))

    @classmethod
    def of(
        cls,
        numbers: Floats,
        labels: Integers,
        n_classes: int,
        row_weight: Floats | None = None,
    ) -> Moments:
        """Sum up the rows; a missing number (NaN) counts for nothing."""
        n_numbers = numbers.shape[1]
        if not numbers.size:
            return cls.none(n_numbers, n_classes)
        moments = cls(_sums(numbers, labels, n_classes, row_weight))
        mean_square = moments.sums[2, 0].sum(axis=1), moments.weight.sum(axis=1)
        small = np.flatnonzero(mean_square[0] < SMALL**2 * mean_square[1])
        if len(small):
            moments._rescale(numbers, labels, row_weight, small)
        return moments

    def _rescale(self, numbers: Floats, labels: Labels, row_weight: Floats | None, small: Integers) -> None:
        """Sum up some features once more, as multiples of the power of two next to their largest number."""
        largest = np.fmax.reduce(np.abs(numbers[:, small]), axis=0)
        # Below the smallest normal number the unit stays, so that its inverse is finite.
        exponents = np.where(largest > 0, np.maximum(np.frexp(largest)[1], SMALLEST_EXPONENT), 0)
        scaled = np.ldexp(numbers[:, small], -exponents)
        self.sums[:, :, small] = _sums(scaled, labels, self.sums.shape[3], row_weight)
        self.exponents[small] = exponents

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        if not self.sums.size:
            return self
        exponents = np.maximum(self.exponents, other.exponents)
        for one, two in ((self, other), (other, self)):
            # Zeros have no exponent.
            exponents = np.where((one.sums[2] == 0).all(axis=(0, 2)), two.exponents, exponents)
        first, second = self._at(exponents), other._at(exponents)
        both = pairs.add(first.swapaxes(0, 1), second.swapaxes(0, 1))
        return Moments(np.ascontiguousarray(both.swapaxes(0, 1)), exponents)

    def _at(self, exponents: Integers) -> Floats:
        """Return the sums of numbers times other powers of two."""
        if np.array_equal(exponents, self.exponents):
            return self.sums
        shift = (self.exponents - exponents)[:, None] * np.arange(3)[:, None, None, None]
        sums: Floats = np.ldexp(self.sums, shift)
        return sums

    def standardised(self) -> Moments:
        """Return the moments of the numbers times ``2**-exponent``."""
        return Moments(self.sums)

    @property
    def weight(self) -> Floats:
        """Return the total weight of the rows where the feature is present, per feature and class."""
        weight: Floats = self.sums[0, 0]
        return weight

    @property
    def mean(self) -> Floats:
        """Return the mean per feature and class; 0 where there is no weight."""
        mean: Floats = np.ldexp(self._mean_pair()[0], self.exponents[:, None])
        return mean

    @property
    def squared_deviations(self) -> Floats:
        """Return the sum of squared deviations from the class mean: square - total * mean, in pairs.

        What is below the rounding of the pairs, summed over any number of rows, is 0; so are deviations of
        numbers below 1e-154, whose squares no double holds (`standardised` has them).
        """
        return self.mean_and_squared_deviations()[1]

    def mean_and_squared_deviations(self) -> tuple[Floats, Floats]:
        """Return both; the deviations need the mean anyway."""
        mean = self._mean_pair()
        deviations = pairs.add(self.sums[2], -pairs.multiply(self.sums[1], mean))[0]
        deviations = np.where(deviations > RESOLUTION * self.sums[2, 0], deviations, 0.0)
        exponents = self.exponents[:, None]
        return np.ldexp(mean[0], exponents), np.ldexp(deviations, 2 * exponents)

    def _mean_pair(self) -> Floats:
        present = self.weight > 0
        return pairs.divide(self.sums[1], np.where(present, self.sums[0], [[[1.0]], [[0.0]]]))

    def pooled(self) -> Moments:
        """Return the moments of all classes taken as one."""
        pooled = Moments.none(self.sums.shape[2], 1)
        for c in range(self.sums.shape[3]):
            pooled += Moments(self.sums[..., c : c + 1], self.exponents)
        return pooled

    def with_classes(self, moves: Integers, n_classes: int) -> Moments:
        """Return the same moments among more classes; ``moves[c]`` is the new label of class ``c``."""
        wider = Moments.none(self.sums.shape[2], n_classes)
        wider.sums[..., moves] = self.sums
        return Moments(wider.sums, self.exponents)


def _sums(numbers: Floats, labels: Labels, n_classes: int, row_weight: Floats | None) -> Floats:
    """Return the sums of powers 0, 1 and 2, (power, (high, low), feature, class)."""
    from seminaive.kernels.moment_sums import add_moments, add_weighted_moments

    sums = np.zeros((n_classes, 6, numbers.shape[1]))
    if row_weight is None:
        add_moments(numbers, labels, sums)
    else:
        add_weighted_moments(numbers, labels, row_weight, sums)
    return np.ascontiguousarray(sums.reshape(n_classes, 3, 2, -1).transpose(1, 2, 3, 0))
