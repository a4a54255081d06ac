"""Cut points that turn numbers into bins: by description length, decision tree or equal frequency."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from seminaive.errors import InputError

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers, Labels
    from seminaive.encode.encoded_table import CutRule

# Gains below this share of the weight are rounding.
ROUNDING = 1e-12


def mdl_cuts(values: Floats, labels: Labels, row_weight: Floats | None = None) -> Floats:
    """Return Fayyad and Irani's cut points: split while the split pays for its description.

    A segment is cut where the class entropy falls most, and only if the gain exceeds
    ``(log2(n - 1) + log2(3**k - 2) - k H + k1 H1 + k2 H2) / n`` bits per row, for n rows (their weight) of
    k classes with entropy H; then both parts are cut in turn. Cut points lie midway between two values.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Without missing values.
    labels : ndarray of shape (n_rows,)
        Each row's class, as a non-negative integer.
    row_weight : ndarray of shape (n_rows,) or None
    """
    distinct, cumulated = _cumulated(values, labels, row_weight)
    accepted: list[int] = []
    waiting = [(0, len(distinct))]
    while waiting:
        start, stop = waiting.pop()
        cut = _best_cut(cumulated[start : stop + 1])
        if cut is not None:
            accepted.append(start + cut)
            waiting += [(start, start + cut), (start + cut, stop)]
    return _midpoints(distinct, np.sort(np.array(accepted, dtype=np.int64)))


@dataclass(frozen=True)
class TreeCuts:
    """The rule of a small decision tree on one column: cut where the Gini impurity falls most.

    The segment is cut next whose best cut lowers the impurity of all rows most, until there are enough bins
    or no cut lowers it.

    Parameters
    ----------
    n_bins : int
        Largest number of bins, the leaves of the tree.

    Examples
    --------
    >>> TreeCuts(3)(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 1, 0]))
    array([1.5, 3.5])
    """

    n_bins: int

    def __call__(self, values: Floats, labels: Labels, row_weight: Floats | None = None) -> Floats:
        """Return the cut points of the present values of one column."""
        distinct, cumulated = _cumulated(values, labels, row_weight)
        segments = [(0, len(distinct))]
        accepted: list[int] = []
        least = ROUNDING * max(1.0, float(cumulated[-1].sum()))
        while len(accepted) + 1 < self.n_bins:
            gains = [_best_gini_cut(cumulated[start : stop + 1]) for start, stop in segments]
            best = int(np.argmax([gain for gain, _ in gains]))
            if gains[best][0] <= least:
                break
            start, stop = segments.pop(best)
            cut = start + gains[best][1]
            accepted.append(cut)
            segments += [(start, cut), (cut, stop)]
        return _midpoints(distinct, np.sort(np.array(accepted, dtype=np.int64)))


def _best_gini_cut(cumulated: Floats) -> tuple[float, int]:
    """Return how much the best cut lowers the impurity times the weight, and the size of its first part."""
    if len(cumulated) <= 2:
        return 0.0, 0
    left = cumulated[1:-1] - cumulated[0]
    whole = cumulated[-1] - cumulated[0]
    # The weighted impurity of a part is its total less sum n_c^2 / total.
    purity = _purity(left) + _purity(whole - left) - _purity(whole[None])
    best = int(np.argmax(purity))
    return float(purity[best]), best + 1


def _purity(class_weights: Floats) -> Floats:
    purity: Floats = np.square(class_weights).sum(axis=1) / class_weights.sum(axis=1)
    return purity


def _cumulated(values: Floats, labels: Labels, row_weight: Floats | None) -> tuple[Floats, Floats]:
    """Return the distinct values, and the class weights of all values before each, and of all."""
    distinct, position = np.unique(values, return_inverse=True)
    n_classes = int(labels.max(initial=0)) + 1
    cells = np.bincount(position * n_classes + labels, row_weight, minlength=len(distinct) * n_classes)
    cumulated = np.zeros((len(distinct) + 1, n_classes))
    np.cumsum(cells.reshape(-1, n_classes), axis=0, out=cumulated[1:])
    return distinct, cumulated


def _best_cut(cumulated: Floats) -> int | None:
    """Return how many distinct values the best first part has, or None where no cut pays.

    ``cumulated`` (m + 1, n_classes) holds the class weights up to each of m distinct values.
    """
    if len(cumulated) <= 2:
        return None
    left = cumulated[1:-1] - cumulated[0]
    whole = cumulated[-1] - cumulated[0]
    right = whole - left
    n = whole.sum()
    if n <= 1:
        return None
    left_bits, right_bits = _bits(left), _bits(right)
    best = int(np.argmin(left_bits + right_bits))
    gain = (float(_bits(whole[None])[0]) - left_bits[best] - right_bits[best]) / n
    k, k_left, k_right = ((part > 0).sum() for part in (whole, left[best], right[best]))
    entropy = float(_bits(whole[None])[0]) / n
    entropy_left = left_bits[best] / left[best].sum()
    entropy_right = right_bits[best] / right[best].sum()
    price = (
        np.log2(n - 1) + np.log2(3.0**k - 2) - k * entropy + k_left * entropy_left + k_right * entropy_right
    )
    return best + 1 if gain > price / n else None


def _bits(class_weights: Floats) -> Floats:
    """Return the entropy of each row of class weights times its total weight, in bits."""
    total = class_weights.sum(axis=1)
    bits: Floats = (xlogy(total, total) - xlogy(class_weights, class_weights).sum(axis=1)) / np.log(2)
    return bits


def _midpoints(distinct: Floats, cuts: Integers) -> Floats:
    """Return the points midway between value ``cut - 1`` and value ``cut``, kept below the latter."""
    below, above = distinct[cuts - 1], distinct[cuts]
    middle = below + (above - below) / 2
    return np.where(middle < above, middle, below)


@dataclass(frozen=True)
class EqualFrequencyCuts:
    """The rule that puts about the same weight of rows into each bin.

    Equal values stay together, so that a frequent value may fill a bin alone and there may be
    fewer bins than ``n_bins``.

    Parameters
    ----------
    n_bins : int
        Largest number of bins.

    Examples
    --------
    >>> EqualFrequencyCuts(2)(np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(4, int))
    array([2.5])
    """

    n_bins: int

    def __call__(self, values: Floats, labels: Labels, row_weight: Floats | None = None) -> Floats:  # noqa: ARG002 - a cut rule
        """Return the cut points of the present values of one column; labels play no part."""
        distinct, position = np.unique(values, return_inverse=True)
        if len(distinct) < 2:
            return np.empty(0)
        below = np.cumsum(np.bincount(position, row_weight))[:-1]
        targets = np.arange(1, self.n_bins) / self.n_bins * np.bincount(position, row_weight).sum()
        after = np.searchsorted(below, targets).clip(0, len(below) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(targets - below[before] <= below[after] - targets, before, after)
        return _midpoints(distinct, np.unique(nearest) + 1)


def cut_rule(bins: Any) -> CutRule:
    """Return the rule that cuts numbers into bins: "mdl", or a number of equally frequent ones."""
    if isinstance(bins, str) and bins == "mdl":
        return mdl_cuts
    is_whole = isinstance(bins, Integral) and not isinstance(bins, bool | np.bool_)
    if is_whole and 2 <= bins <= np.iinfo(np.intc).max:
        return EqualFrequencyCuts(int(bins))
    raise InputError(f"bins is 'mdl' or a number of equally frequent bins, 2 or more, got {bins!r}")
