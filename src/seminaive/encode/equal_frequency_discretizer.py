"""Unsupervised discretisation into bins of about equal weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from seminaive.encode.cuts import EqualFrequencyCuts
from seminaive.encode.discretizer import Discretizer
from seminaive.errors import InputError

# More bins than any table is cut into; the cut points of each are computed.
MOST_BINS = 1_000_000


class EqualFrequencyDiscretizer(Discretizer):
    """Bins that hold about the same weight of rows each.

    Parameters
    ----------
    n_bins : int, default=10
        Largest number of bins; equal values stay together, so there may be fewer.

    Attributes
    ----------
    cuts_ : list of ndarray
        Increasing cut points of each column; bin b holds ``cuts[b - 1] < x <= cuts[b]``.

    Examples
    --------
    Most of the numbers are 0, so that 0 fills a bin alone:

    >>> X = [[0], [0], [0], [0], [1], [2], [3], [4]]
    >>> EqualFrequencyDiscretizer(n_bins=4).fit_transform(X).ravel()
    array([0., 0., 0., 0., 1., 1., 2., 2.])
    """

    def __init__(self, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EqualFrequencyDiscretizer:  # noqa: ARG002 - y as in any transformer
        """Find the cut points.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
            Numbers; a missing one (NaN) is left out of its column.
        y : ignored
        sample_weight : array-like of shape (n_rows,), default=None
            How often each row counts.
        """
        if not isinstance(self.n_bins, (int, np.integer)) or not 1 <= self.n_bins <= MOST_BINS:
            raise InputError(f"n_bins is a whole number, 1 to {MOST_BINS:,}, got {self.n_bins!r}")
        n_rows = len(self._numbers(X, reset=True))
        self._fit_cuts(X, np.zeros(n_rows, np.int64), sample_weight, EqualFrequencyCuts(int(self.n_bins)))
        return self
