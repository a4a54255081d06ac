"""Correlation-based feature selection: subsets that tell the class and do not repeat themselves (Hall)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.rounding import ROUNDING
from seminaive.statistics import symmetrical_uncertainty

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.encode import EncodedTable


@dataclass(frozen=True)
class Uncertainties:
    """Symmetrical uncertainties of coded columns with the class and with each other.

    Parameters
    ----------
    table : EncodedTable
        All of whose columns are coded.
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,) or None
    """

    table: EncodedTable
    labels: Integers
    n_classes: int
    row_weight: Floats | None

    @cached_property
    def with_class(self) -> Floats:
        """Return the uncertainty that each feature shares with the class."""
        return np.array([self._of(j, self.labels, self.n_classes) for j in range(self.n_features)])

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return int(self.table.codes.shape[1])

    @cached_property
    def _between(self) -> dict[int, Floats]:
        return {}

    def between(self, feature: int) -> Floats:
        """Return the uncertainty that one feature shares with each, computed on first use."""
        if feature not in self._between:
            codes, n_values = self.table.codes[:, feature], self.table.cardinalities[feature]
            self._between[feature] = np.array([self._of(j, codes, n_values) for j in range(self.n_features)])
        return self._between[feature]

    def _of(self, feature: int, other: NDArray[np.integer], n_others: int) -> float:
        """Return the uncertainty of a feature and another column, over rows where both are known."""
        n_values = self.table.cardinalities[feature]
        cells = self.table.codes[:, feature].astype(np.int64) * (n_others + 1) + other
        size = (n_values + 1) * (n_others + 1)
        counts = np.bincount(cells, self.row_weight, minlength=size).reshape(n_values + 1, n_others + 1)
        return symmetrical_uncertainty(counts[:n_values, :n_others].astype(np.float64))

    def merit(self, features: tuple[int, ...]) -> float:
        """Return ``k r_cf / sqrt(k + k (k - 1) r_ff)``: mean uncertainties with the class and in pairs."""
        chosen = list(features)
        shared = sum(float(self.between(j)[chosen].sum() - self.between(j)[j]) for j in chosen)
        k = len(chosen)
        # k + k (k - 1) r_ff, in which the sum over ordered pairs is k (k - 1) r_ff.
        return float(self.with_class[chosen].sum() / np.sqrt(k + shared)) if k else 0.0


@dataclass(frozen=True)
class BestSubset:
    """The subset that a best-first search found.

    Parameters
    ----------
    features : tuple of int
        Increasing.
    n_evaluations : int
        Subsets whose merit was computed.
    """

    features: tuple[int, ...]
    merit: float
    n_evaluations: int


def best_first_search(
    merit: Callable[[tuple[int, ...]], float], order: Integers, patience: int
) -> BestSubset:
    """Add features one by one, always to the best subset not extended yet.

    The search ends after ``patience`` extensions in a row without a better subset. Among equal merits the
    subset found first wins; features are tried in ``order``.
    """
    best = BestSubset((), 0.0, 0)
    waiting: list[tuple[float, int, tuple[int, ...]]] = [(0.0, 0, ())]
    seen: set[tuple[int, ...]] = {()}
    stale = 0
    while waiting and stale < patience:
        _, _, subset = heappop(waiting)
        stale += 1
        for feature in order.tolist():
            larger = tuple(sorted({*subset, feature}))
            if larger in seen:
                continue
            seen.add(larger)
            value = merit(larger)
            heappush(waiting, (-value, len(seen), larger))
            if value > best.merit + ROUNDING:
                best = BestSubset(larger, value, 0)
                stale = 0
    return BestSubset(best.features, best.merit, len(seen) - 1)
