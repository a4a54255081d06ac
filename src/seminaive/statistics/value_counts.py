"""How often each value of a number occurs in each class: exactly, or by leading bits where there are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.number_sketch import NumberSketch, ordered_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Integers, Labels
    from seminaive.statistics.number_sketch import Bits

    CutRule = Callable[[Floats, Labels, Floats | None], Floats]

# The largest number of distinct values that are kept apart.
MOST_VALUES = 1 << 16


@dataclass(frozen=True)
class ValueCounts:
    """The class weights of each distinct value of a column or, beyond 65,536 values, of each bin of values.

    A bin holds the numbers whose doubles agree in all but the last ``level`` bits, in an order of bits that
    is that of the numbers; the level is the least at which at most 65,536 bins are occupied. It is therefore
    a function of the set of values alone: ``a + b`` has the level, and with whole weights the counts, of all
    rows at once, however these were split.

    Parameters
    ----------
    level : int
        The last bits that do not tell values apart; 0 where every bin is one value.
    bins : ndarray of shape (n_bins,), uint64
        The other bits, increasing.
    low, high : ndarray of shape (n_bins,)
        The least and the largest number of each bin.
    weights : ndarray of shape (n_bins, n_classes)
    missing : float
        The weight of the rows without a number.

    Examples
    --------
    >>> import numpy as np
    >>> one = ValueCounts.of(np.array([1.0, 2.0, 2.0]), np.array([0, 0, 1]), 2)
    >>> both = one + ValueCounts.of(np.array([0.5, np.nan]), np.array([1, 1]), 2)
    >>> both.low
    array([0.5, 1. , 2. ])
    >>> both.weights
    array([[0., 1.],
           [1., 0.],
           [1., 1.]])
    """

    level: int
    bins: Bits
    low: Floats
    high: Floats
    weights: Floats
    missing: float

    @classmethod
    def of(
        cls, numbers: Floats, labels: Labels, n_classes: int, row_weight: Floats | None = None
    ) -> ValueCounts:
        """Count a column of numbers, NaN where missing."""
        present = ~np.isnan(numbers)
        everything = float(len(numbers) if row_weight is None else row_weight.sum())
        values = numbers[present] + 0.0  # one zero instead of two
        weight = None if row_weight is None else row_weight[present]
        distinct, value_number = np.unique(values, return_inverse=True)
        cells = np.bincount(
            value_number * n_classes + labels[present], weight, minlength=len(distinct) * n_classes
        )
        weights = cells.reshape(-1, n_classes).astype(np.float64)
        counts = cls(
            0,
            ordered_bits(distinct),
            distinct,
            distinct,
            weights,
            max(everything - float(weights.sum()), 0.0),
        )
        return counts._fitted()

    def __add__(self, other: ValueCounts) -> ValueCounts:
        """Count the rows of both."""
        level = max(self.level, other.level)
        first, second = self._at(level), other._at(level)
        joined = ValueCounts(
            level,
            np.concatenate([first.bins, second.bins]),
            np.concatenate([first.low, second.low]),
            np.concatenate([first.high, second.high]),
            np.concatenate([first.weights, second.weights]),
            first.missing + second.missing,
        )
        return joined._merged(joined.bins)._fitted()

    def with_classes(self, moves: Integers, n_classes: int) -> ValueCounts:
        """Return the same counts among more classes; ``moves[c]`` is the new label of class ``c``."""
        weights = np.zeros((len(self.weights), n_classes))
        weights[:, moves] = self.weights
        return ValueCounts(self.level, self.bins, self.low, self.high, weights, self.missing)

    def cuts(self, rule: CutRule, class_weight: Floats | None = None) -> Floats:
        """Return the cut points that a rule finds; where bins hold several values, only between bins.

        Parameters
        ----------
        rule : callable
            Cut points of (values, labels, weights).
        class_weight : ndarray of shape (n_classes,) or None
            What the weights of each class are multiplied by.
        """
        weights = self.weights if class_weight is None else self.weights * class_weight
        bin_number, labels = np.nonzero(weights)
        found = rule(self.low[bin_number], labels, weights[bin_number, labels])
        # The rule saw the least value of each bin; a cut lies midway between the numbers on either side.
        before = np.searchsorted(self.low, found, side="right") - 1
        below, above = self.high[before], self.low[before + 1]
        middle = below + (above - below) / 2
        return np.where(middle < above, middle, below)

    def sketch(self, class_weight: Floats | None = None) -> NumberSketch:
        """Return where the numbers lie, without their extremes; each bin counts at its least number.

        ``class_weight`` is as in `cuts`.
        """
        weights = self.weights if class_weight is None else self.weights * class_weight
        return NumberSketch.of_weighted(self.low, weights.sum(axis=1), self.missing)

    def _at(self, level: int) -> ValueCounts:
        """Return the counts with more bits dropped."""
        if level == self.level:
            return self
        coarser = self._merged(self.bins >> np.uint64(level - self.level))
        return ValueCounts(level, coarser.bins, coarser.low, coarser.high, coarser.weights, coarser.missing)

    def _merged(self, bins: Bits) -> ValueCounts:
        """Return each of the given bins once."""
        distinct, bin_of = np.unique(bins, return_inverse=True)
        low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
        np.minimum.at(low, bin_of, self.low)
        np.maximum.at(high, bin_of, self.high)
        weights = np.stack(
            [np.bincount(bin_of, class_weights, minlength=len(distinct)) for class_weights in self.weights.T],
            axis=1,
        ).astype(np.float64)
        return ValueCounts(self.level, distinct, low, high, weights, self.missing)

    def _fitted(self) -> ValueCounts:
        """Drop as few bits as leave no more than the largest number of bins."""
        if len(self.bins) <= MOST_VALUES:
            return self
        level, bins = self.level, self.bins
        while len(bins) > MOST_VALUES:
            level += 1
            bins = bins >> np.uint64(1)
            bins = bins[np.append(True, bins[1:] != bins[:-1])]
        return self._at(level)
