"""Weight, mean and sum of squared deviations of numbers per class: raw sums, so that they merge exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics import pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


# A pair rounds at 2**-106 of its value; a million additions and a few products later, at about 2**-84.
RESOLUTION = 2.0**-84


@dataclass(frozen=True)
class Moments:
    """Weight, sum and sum of squares of each numeric feature within each class.

    ``sums[k]`` is the weighted sum of the k-th powers (0, 1, 2), each a pair of doubles (106 bits).
    Therefore ``a + b`` equals the moments of all rows at once, whatever the order and the chunks, and
    the deviations derived on reading keep full precision even where the mean exceeds the spread a hundred
    million times.

    Parameters
    ----------
    sums : ndarray of shape (3, 2, n_numbers, n_classes)
        Power, (high, low), feature, class.

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

    @classmethod
    def none(cls, n_numbers: int, n_classes: int) -> Moments:
        """Return the moments of no rows, the neutral element of ``+``."""
        return cls(np.zeros((3, 2, n_numbers, n_classes)))

    @classmethod
    def of(
        cls,
        numbers: Floats,
        labels: NDArray[np.int64],
        n_classes: int,
        row_weight: Floats | None = None,
    ) -> Moments:
        """Sum up the rows; a missing number (NaN) counts for nothing."""
        n_numbers = numbers.shape[1]
        if not numbers.size:
            return cls.none(n_numbers, n_classes)
        from seminaive.kernels.moments import add_moments, add_weighted_moments

        sums = np.zeros((n_classes, 6, n_numbers))
        if row_weight is None:
            add_moments(numbers, labels, sums)
        else:
            add_weighted_moments(numbers, labels, row_weight, sums)
        return cls(np.ascontiguousarray(sums.reshape(n_classes, 3, 2, n_numbers).transpose(1, 2, 3, 0)))

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        if not self.sums.size:
            return self
        both = pairs.add(self.sums.swapaxes(0, 1), other.sums.swapaxes(0, 1))
        return Moments(np.ascontiguousarray(both.swapaxes(0, 1)))

    @property
    def weight(self) -> Floats:
        """Return the total weight of the rows where the feature is present, per feature and class."""
        weight: Floats = self.sums[0, 0]
        return weight

    @property
    def mean(self) -> Floats:
        """Return the mean per feature and class; 0 where there is no weight."""
        mean: Floats = self._mean_pair()[0]
        return mean

    @property
    def squared_deviations(self) -> Floats:
        """Return the sum of squared deviations from the class mean: square - total * mean, in pairs.

        What is below the rounding of the pairs, summed over any number of rows, is 0.
        """
        return self.mean_and_squared_deviations()[1]

    def mean_and_squared_deviations(self) -> tuple[Floats, Floats]:
        """Return both; the deviations need the mean anyway."""
        mean = self._mean_pair()
        deviations = pairs.add(self.sums[2], -pairs.multiply(self.sums[1], mean))[0]
        return mean[0], np.where(deviations > RESOLUTION * self.sums[2, 0], deviations, 0.0)

    def _mean_pair(self) -> Floats:
        present = self.weight > 0
        return pairs.divide(self.sums[1], np.where(present, self.sums[0], [[[1.0]], [[0.0]]]))

    def pooled(self) -> Moments:
        """Return the moments of all classes taken as one."""
        pooled = Moments.none(self.sums.shape[2], 1)
        for c in range(self.sums.shape[3]):
            pooled += Moments(self.sums[..., c : c + 1])
        return pooled

    def with_classes(self, moves: NDArray[np.int64], n_classes: int) -> Moments:
        """Return the same moments among more classes; ``moves[c]`` is the new label of class ``c``."""
        wider = Moments.none(self.sums.shape[2], n_classes)
        wider.sums[..., moves] = self.sums
        return wider
