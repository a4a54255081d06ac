"""Where the numbers of one column lie: a mergeable histogram that knows no extreme exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats

    Bits = NDArray[np.uint64]

WORD = 64
# Bits of the first pass: sign, exponent and 7 bits of the fraction.
FIRST_BITS = 19
# Sign and exponent: bins are never coarser than from one power of two to the next.
OCTAVES = 12
# Counters of one pass: they stay in the second-level cache.
COUNTERS = 1 << 20
# The largest number of bins.
MOST_BINS = 1024
# Rows between two quantiles, beyond the outermost bins, and per bin on average.
FEWEST_ROWS = 10.0
QUANTILES = 101
FEW_VALUES = 32
# Rows from which a compiled pass is faster: its counters, 4 MB for each column, cost a fixed time.
COMPILED_ROWS = 30_000
# Columns whose counters, 4 MB each, are kept at once, and rows of them that are copied side by side at once.
COLUMNS_AT_ONCE = 8
ROWS_AT_ONCE = 8192
SIGN = np.uint64(1 << 63)


@dataclass(frozen=True)
class NumberSketch:
    """A histogram of numbers over nested bins: the numbers that agree in the leading bits of their doubles.

    Bins are the finest of which at most 1,024, and at most one per 10 rows, are occupied, but never coarser
    than from one power of two to the next; so they adapt to numbers far from zero and to heavy tails. The
    outermost 10 rows on either side count in the bin of the 10th. ``a + b`` has the coarser bins of the two
    (coarser still where too many are occupied), into which the finer ones fall exactly. The rank of a
    quantile is therefore wrong by at most the weight of its bin; merging displaces at most the outer 10 rows
    of each part besides. Weights count as repeated rows.

    Parameters
    ----------
    precision : int
        The number of leading bits that tell bins apart; 64 where each bin is one value.
    bins : ndarray of shape (n_bins,), uint64
        The leading bits of the numbers in each bin, increasing, in an order that is that of the numbers.
    weights : ndarray of shape (n_bins,)
    missing : float
        The weight of the rows without a number.

    Examples
    --------
    >>> import numpy as np
    >>> sketch = NumberSketch.of(np.repeat([1.0, 2.0, 7.0], 20))
    >>> sketch.values
    array([1., 2., 7.])
    >>> sketch.quantiles()
    array([1., 1., 2., 2., 7., 7., 7.])
    """

    precision: int
    bins: Bits
    weights: Floats
    missing: float

    @classmethod
    def of(cls, numbers: Floats, row_weight: Floats | None = None) -> NumberSketch:
        """Sketch a column of numbers, NaN where missing."""
        present = ~np.isnan(numbers)
        whole = bool(present.all())
        weight = None if row_weight is None else (row_weight if whole else row_weight[present])
        bits = ordered_bits(numbers if whole else numbers[present])
        total = float(len(bits) if weight is None else weight.sum())
        everything = float(len(numbers) if row_weight is None else row_weight.sum())
        sketch = _histogram(bits, weight, _most_bins(total))
        return cls(*_without_extremes(*sketch), max(everything - total, 0.0))

    @classmethod
    def of_weighted(cls, values: Floats, weights: Floats, missing: float) -> NumberSketch:
        """Sketch distinct numbers, given the weight of each and that of the rows without a number."""
        sketch = _histogram(ordered_bits(values), weights, _most_bins(float(weights.sum())))
        return cls(*_without_extremes(*sketch), missing)

    def __add__(self, other: NumberSketch) -> NumberSketch:
        """Sketch the rows of both."""
        occupied = [sketch.precision for sketch in (self, other) if len(sketch.bins)]
        precision = min(occupied, default=WORD)
        bins = np.concatenate([self._bins_at(precision), other._bins_at(precision)])
        merged = _merged(bins, np.concatenate([self.weights, other.weights]))
        coarsened = _coarsened(precision, *merged, _most_bins(float(merged[1].sum())))
        return NumberSketch(*_without_extremes(*coarsened), self.missing + other.missing)

    def _bins_at(self, precision: int) -> Bits:
        return self.bins >> np.uint64(self.precision - precision) if len(self.bins) else self.bins

    @property
    def weight(self) -> float:
        """Return the weight of the rows that have a number."""
        return float(self.weights.sum())

    @property
    def is_exact(self) -> bool:
        """Tell whether each bin is one value."""
        return self.precision == WORD

    @property
    def values(self) -> Floats | None:
        """Return the distinct values, whose weights are ``weights``; None where they are many."""
        if not self.is_exact or len(self.bins) > FEW_VALUES:
            return None
        return self._edges()[0]

    def middles(self) -> Floats:
        """Return the middle of each bin, whose weights are ``weights``; of a single value, the value.

        The bin that begins at zero ends at a number that hardly differs from it, so it stands for zero.
        """
        low, high = self._edges()
        return np.where(low == 0, 0.0, low + (high - low) / 2)

    def largest_numbers(self) -> Floats:
        """Return the largest double of each bin; of a single value, the value."""
        low, high = self._edges()
        return low if self.is_exact else np.nextafter(high, -np.inf)

    def weights_between(self, edges: Floats) -> Floats:
        """Return the weight below and between increasing edges, and above the last: one more than edges.

        A number at an edge counts below it. The numbers of a bin count as evenly spread over it.
        """
        low, high = self._edges()
        width = high - low
        away = np.asarray(edges, dtype=np.float64)[:, None] - low
        spread = np.clip(away, 0.0, width) / np.where(width > 0, width, 1.0)
        below = np.where(width > 0, spread, away >= 0) @ self.weights
        return np.diff(below, prepend=0.0, append=self.weight)

    def quantiles(self) -> Floats:
        """Return up to 101 equally spaced quantiles, fewer where two would have less than 10 rows between."""
        total = self.weight
        n = int(min(QUANTILES, total // FEWEST_ROWS + 1))
        if total < FEWEST_ROWS:
            return np.empty(0)
        low, high = self._edges()
        ends = np.cumsum(self.weights)
        rank = np.linspace(0, ends[-1], n)
        bin_number = np.minimum(np.searchsorted(ends, rank, side="right"), len(ends) - 1)
        inside = (rank - (ends - self.weights)[bin_number]) / self.weights[bin_number]
        quantiles: Floats = low[bin_number] + np.clip(inside, 0.0, 1.0) * (high - low)[bin_number]
        return quantiles

    def _edges(self) -> tuple[Floats, Floats]:
        """Return the smallest number of each bin, and the smallest of the next one; of a value, itself."""
        shift = np.uint64(WORD - self.precision)
        if not shift:
            return _numbers(self.bins), _numbers(self.bins)
        return _numbers(self.bins << shift), _numbers((self.bins + np.uint64(1)) << shift)


def sketch_columns(numbers: Floats, row_weight: Floats | None = None) -> tuple[NumberSketch, ...]:
    """Sketch each column of a table of numbers; many rows by one compiled pass."""
    n_rows, n_columns = numbers.shape
    if n_rows < COMPILED_ROWS:
        return tuple(NumberSketch.of(np.ascontiguousarray(column), row_weight) for column in numbers.T)
    everything = float(n_rows if row_weight is None else row_weight.sum())
    sketches = []
    for start in range(0, n_columns, COLUMNS_AT_ONCE):
        columns = numbers[:, start : start + COLUMNS_AT_ONCE]
        for column, counted in zip(columns.T, _leading_bits(columns, row_weight), strict=True):
            occupied = np.flatnonzero(counted != 0)  # truth values are searched ten times as fast
            total = float(counted[occupied].sum())
            if len(occupied) <= _most_bins(total):  # finer bins are wanted
                sketches.append(NumberSketch.of(np.ascontiguousarray(column), row_weight))
                continue
            bins = _coarsened(FIRST_BITS, occupied.astype(np.uint64), counted[occupied], _most_bins(total))
            sketches.append(NumberSketch(*_without_extremes(*bins), max(everything - total, 0.0)))
    return tuple(sketches)


def _leading_bits(columns: Floats, row_weight: Floats | None) -> Floats:
    """Return the weight of the numbers of each column by their first bits, (columns, counters).

    Rows are copied side by side into the same few pages: a copy of all would be fresh memory at each call.
    """
    from seminaive.kernels.sketching import count_leading_bits

    n_rows, n_columns = columns.shape
    counts = np.zeros((n_columns, 1 << FIRST_BITS))
    copied = np.empty((min(n_rows, ROWS_AT_ONCE), n_columns))
    for start in range(0, n_rows, ROWS_AT_ONCE):
        rows = columns[start : start + ROWS_AT_ONCE]
        contiguous = copied[: len(rows)]
        contiguous[...] = rows
        weights = np.ones(1) if row_weight is None else row_weight[start : start + ROWS_AT_ONCE]
        count_leading_bits(contiguous.view(np.uint64), weights, np.uint64(WORD - FIRST_BITS), counts)
    return counts


def _most_bins(total: float) -> int:
    return max(1, min(MOST_BINS, int(total // FEWEST_ROWS)))


def ordered_bits(numbers: Floats) -> Bits:
    """Return the bits of doubles as integers that are ordered like the numbers."""
    bits = (numbers + 0.0).view(np.uint64)
    ordered: Bits = np.where(bits & SIGN, ~bits, bits | SIGN)
    return ordered


def _numbers(ordered: Bits) -> Floats:
    """Return the doubles of which `ordered_bits` made these integers."""
    bits: Any = np.where(ordered & SIGN, ordered ^ SIGN, ~ordered)
    numbers: Floats = bits.view(np.float64)
    return numbers


def _histogram(bits: Bits, weight: Floats | None, most_bins: int) -> tuple[int, Bits, Floats]:
    """Return the finest bins of which not too many are occupied, by passes over ever finer ones."""
    if len(bits) < COMPILED_ROWS:
        return _sorted_histogram(bits, weight, most_bins)
    index = (bits >> np.uint64(WORD - FIRST_BITS)).astype(np.int64)
    precision, bins, weights = FIRST_BITS, np.arange(1 << FIRST_BITS, dtype=np.uint64), None
    while True:
        counts = np.bincount(index, weight, minlength=len(bins))
        occupied = np.flatnonzero(counts)
        bins, weights = bins[occupied], counts[occupied].astype(np.float64)
        if len(occupied) > most_bins or not len(occupied):
            return _coarsened(precision, bins, weights, most_bins)
        new_index = np.empty(len(counts), dtype=np.int64)
        new_index[occupied] = np.arange(len(occupied))
        index = new_index[index]
        example = np.empty(len(occupied), dtype=np.uint64)
        example[index] = bits
        if precision == WORD or (example[index] == bits).all():
            return WORD, example, weights
        more = min(WORD - precision, (COUNTERS // len(occupied)).bit_length() - 1)
        precision += more
        finer = np.arange(1 << more, dtype=np.uint64)
        bins = ((bins[:, None] << np.uint64(more)) | finer).ravel()
        below = (bits >> np.uint64(WORD - precision)) & np.uint64((1 << more) - 1)
        index = (index << more) | below.astype(np.int64)


def _sorted_histogram(bits: Bits, weight: Floats | None, most_bins: int) -> tuple[int, Bits, Floats]:
    """Return the bins of `_histogram` by sorting, which is faster for few rows."""
    values, weights = _merged(bits, np.ones(len(bits)) if weight is None else weight)
    values, weights = values[weights != 0], weights[weights != 0]
    if len(values) <= most_bins:
        return WORD, values, weights
    precise, too_precise = OCTAVES, WORD
    while too_precise - precise > 1:
        precision = (precise + too_precise) // 2
        bins = values >> np.uint64(WORD - precision)
        if 1 + np.count_nonzero(bins[1:] != bins[:-1]) <= most_bins:
            precise = precision
        else:
            too_precise = precision
    return precise, *_merged(values >> np.uint64(WORD - precise), weights)


def _coarsened(precision: int, bins: Bits, weights: Floats, most_bins: int) -> tuple[int, Bits, Floats]:
    """Leave out last bits until not too many bins are occupied."""
    while len(bins) > most_bins and precision > OCTAVES:
        precision -= 1
        bins, weights = _merged(bins >> np.uint64(1), weights)
    return precision, bins, weights


def _merged(bins: Bits, weights: Floats) -> tuple[Bits, Floats]:
    """Return each bin once, with its weight."""
    bins, bin_of = np.unique(bins, return_inverse=True)
    return bins, np.bincount(bin_of, weights, minlength=len(bins)).astype(np.float64)


def _without_extremes(precision: int, bins: Bits, weights: Floats) -> tuple[int, Bits, Floats]:
    """Count the outermost rows on either side in the first bin that has enough rows beyond."""
    if len(bins) < 2:
        return precision, bins, weights
    below = np.cumsum(weights)
    above = np.cumsum(weights[::-1])
    first = int(np.searchsorted(below, FEWEST_ROWS))
    last = len(bins) - 1 - int(np.searchsorted(above, FEWEST_ROWS))
    if first > last:
        first = last = int(np.searchsorted(below, below[-1] / 2))
    inner = weights[first : last + 1].copy()
    inner[0] += weights[:first].sum()
    inner[-1] += weights[last + 1 :].sum()
    return precision, bins[first : last + 1], inner
