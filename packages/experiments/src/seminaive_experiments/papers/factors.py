"""Tables as Tan's experiments had them in R: columns are factors, with the levels of the whole table.

Numbers were cut by minimum description length with a filter of WEKA, on the whole table and before the rows
were split; a number that is left uncut was split at its median, since R fits no factor of one level. Test
rows have so helped to choose the cut points. Our models never do that; the papers' protocols do, because the
printed values come from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from seminaive.encode import MDLDiscretizer
from seminaive.statistics import PairwiseInformation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Labels


__all__ = ["FactorRows", "factors_of"]


def factors_of(X: pd.DataFrame, y: NDArray[Any], numbers: list[str] | None = None) -> pd.DataFrame:
    """Return a table of factors; a missing cell stays missing, a column of one value is left out.

    Parameters
    ----------
    X : DataFrame
    y : ndarray
        The classes of all rows.
    numbers : list of str or None
        The columns to be cut; None cuts those that hold numbers.

    Examples
    --------
    The first column tells the classes apart and is cut between them; the second is split at its median:

    >>> X = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6, 7, 8], "b": [1.0, 3, 5, 7, 2, 4, 6, 8]})
    >>> factors = factors_of(X, np.array(list("nnnnyyyy")))
    >>> factors["a"].tolist(), factors["b"].tolist()
    (['0', '0', '0', '0', '1', '1', '1', '1'], ['0', '0', '1', '1', '0', '0', '1', '1'])
    """
    numbers = list(X.select_dtypes("number").columns) if numbers is None else numbers
    columns = {name: X[name].astype(object) for name in X.columns}
    if numbers:
        bins = np.asarray(MDLDiscretizer().fit(X[numbers], y).transform(X[numbers]))
        for name, coded in zip(numbers, bins.T, strict=True):
            known = X[name].notna()
            of_rows = pd.Series(coded, index=X.index)
            if of_rows[known].nunique() < 2:
                of_rows = _split_at_median(X[name].astype(float))
            columns[name] = of_rows.where(known).astype("Int64").astype("category")
    factors = pd.DataFrame(columns).astype("category")
    for name in numbers:  # in the order of the cuts, in which the tenth bin comes after the second
        factors[name] = factors[name].cat.rename_categories(str)
    return factors[[name for name in factors if len(factors[name].cat.categories) > 1]]


def _split_at_median(values: pd.Series[float]) -> pd.Series[bool]:
    """Tell which values are above the median; at least the median where none is above it."""
    above = values > values.median()
    return above if above.any() else values >= values.median()


@dataclass(frozen=True)
class FactorRows:
    """Rows of factors with their classes.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features)
        The level of each cell, or the number of levels where the cell is missing.
    sizes : tuple of int
        Levels of each feature in the whole table.
    labels : ndarray of shape (n_rows,)
    numbers : mapping of int to ndarray of shape (n_rows,)
        The features that enter a logistic regression as numbers, with their values.
    """

    codes: NDArray[np.uint16]
    sizes: tuple[int, ...]
    labels: Labels
    n_classes: int
    numbers: Mapping[int, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        factors: pd.DataFrame,
        labels: Labels,
        n_classes: int,
        numbers: Mapping[str, Floats] | None = None,
    ) -> FactorRows:
        """Read a table of factors, and by their names the values of those that are numbers, too."""
        names = list(factors.columns)
        sizes = tuple(len(factors[name].cat.categories) for name in names)
        codes = np.column_stack([factors[name].cat.codes for name in names]).astype(np.int64)
        values = {names.index(name): column for name, column in (numbers or {}).items()}
        return cls(np.where(codes < 0, sizes, codes).astype(np.uint16), sizes, labels, n_classes, values)

    def take(self, rows: Labels | NDArray[np.bool_]) -> FactorRows:
        """Return some of the rows."""
        numbers = {feature: values[rows] for feature, values in self.numbers.items()}
        return FactorRows(self.codes[rows], self.sizes, self.labels[rows], self.n_classes, numbers)

    def keep(self, features: Sequence[int]) -> FactorRows:
        """Return some of the features, numbered anew."""
        numbers = {position: self.numbers[j] for position, j in enumerate(features) if j in self.numbers}
        sizes = tuple(self.sizes[j] for j in features)
        return FactorRows(self.codes[:, list(features)], sizes, self.labels, self.n_classes, numbers)

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Which rows have no missing cell."""
        known: NDArray[np.bool_] = self.codes < np.array(self.sizes)
        return np.asarray(known.all(axis=1))

    def dependence(self) -> Floats:
        """Return the normalised mutual information of every pair of features given the class."""
        return PairwiseInformation.of(self.codes, self.labels, self.sizes, self.n_classes).normalized

    def log_priors(self) -> Floats:
        """Return the logs of the shares of the classes."""
        shares: Floats = np.bincount(self.labels, minlength=self.n_classes) / len(self.labels)
        with np.errstate(divide="ignore"):
            return np.log(shares)

    def log_likelihoods(self, feature: int, smoothing: float) -> Floats:
        """Return log P(level | class), (levels + 1, classes); the last row, of missing cells, is 0."""
        counts = self.level_counts(feature) + smoothing
        return np.vstack([np.log(counts / counts.sum(axis=0)), np.zeros(self.n_classes)])

    def level_counts(self, feature: int) -> Floats:
        """Return the rows of each level in each class, (levels, classes)."""
        size, levels = self.sizes[feature], self.codes[:, feature].astype(np.int64)
        known = levels < size
        cells = levels[known] * self.n_classes + self.labels[known]
        return np.bincount(cells, minlength=size * self.n_classes).reshape(size, -1).astype(np.float64)

    def with_levels_of_these_rows(self) -> FactorRows:
        """Return the rows with levels numbered among those that occur, as in a factor made of these rows."""
        codes = self.codes.copy()
        for feature, size in enumerate(self.sizes):
            levels = np.unique(codes[:, feature])
            known = levels[levels < size]
            number = np.full(size + 1, size, dtype=codes.dtype)
            number[known] = np.arange(len(known))
            codes[:, feature] = number[codes[:, feature]]
        return replace(self, codes=codes)

    def model_matrix(self, features: Sequence[int]) -> Floats:
        """Return R's columns of a linear model: ones, then numbers, or indicators of all levels but one."""
        columns = [np.ones(len(self.codes))]
        for feature in features:
            if feature in self.numbers:
                columns.append(self.numbers[feature])
            else:
                columns += [self.codes[:, feature] == level for level in range(1, self.sizes[feature])]
        return np.column_stack(columns).astype(np.float64)
