"""Tests of conditional independence among numbers, by their partial correlations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.weighted_gram import weighted_gram
from seminaive.solvers.blas import one_blas_thread
from seminaive.structure.independence import CORRELATION_TESTS, shrunken_covariance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Floats
    from seminaive.structure.results import IndependenceResult

# A residual variance below this share of the variance is rounding: the variable is determined by the others.
DETERMINED = 1e-10


@dataclass(frozen=True)
class Covariances:
    """Covariances of columns, and how much the products they are means of vary.

    Parameters
    ----------
    covariance, product_variance : ndarray of shape (k, k)
        See `shrunken_covariance`.
    n_rows : float
        Weight of the rows.
    """

    covariance: Floats
    product_variance: Floats
    n_rows: float

    @classmethod
    def of(cls, columns: Floats, row_weight: Floats | None = None) -> Covariances:
        """Sum up rows (n_rows, k) without missing values."""
        weight = np.ones(len(columns)) if row_weight is None else row_weight
        total = float(weight.sum())
        k = columns.shape[1]
        if total <= 1:
            return cls(np.zeros((k, k)), np.zeros((k, k)), total)
        with one_blas_thread():
            centred = columns - weight @ columns / total
            products = weighted_gram(centred, weight)
            variance = weighted_gram(centred**2, weight) - products**2 / total
        return cls(products / (total - 1), np.maximum(variance, 0.0), total)


@dataclass(frozen=True)
class GaussianTests:
    """A test of conditional independence over numbers: ``tests(target, candidate, given)``.

    A variable is one column, or several, such as the indicators of a class: then each of them is tested, the
    result with the smallest p-value is returned, and that p-value is multiplied by their number
    (Bonferroni), so that more classes do not mean more false rejections. Rows with a missing value in a test
    are left out of it. Covariances are kept, and shared by ``dataclasses.replace(tests, test=...)``.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_columns)
        NaN where missing.
    variables : tuple of tuples of int
        The columns of each variable.
    test : {"cor", "zf", "mi-g", "mi-g-sh"}
    row_weight : ndarray of shape (n_rows,) or None

    Examples
    --------
    Two measurements of one quantity are independent given the quantity:

    >>> rng = np.random.default_rng(0)
    >>> quantity = rng.normal(size=(1000, 1))
    >>> numbers = np.hstack([quantity, quantity + rng.normal(size=(1000, 2))])
    >>> tests = GaussianTests.of_columns(numbers)
    >>> tests(1, 2, ()).dependent(0.05), tests(1, 2, (0,)).dependent(0.05)
    (True, False)
    """

    numbers: Floats
    variables: tuple[tuple[int, ...], ...]
    test: str = "cor"
    row_weight: Floats | None = None
    _known: dict[frozenset[int], Covariances] = field(default_factory=dict, repr=False, compare=False)
    _residual: dict[tuple[int, ...], Floats] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_columns(
        cls, numbers: Floats, test: str = "cor", row_weight: Floats | None = None
    ) -> GaussianTests:
        """Make every column a variable."""
        return cls(numbers, tuple((j,) for j in range(numbers.shape[1])), test, row_weight)

    def __call__(self, target: int, candidate: int, given: Sequence[int]) -> IndependenceResult:
        """Test the independence of target and candidate given some variables."""
        columns_given = tuple(sorted(j for variable in given for j in self.variables[variable]))
        pairs = [(x, y) for x in self.variables[target] for y in self.variables[candidate]]
        results = [self._test_columns(x, y, columns_given) for x, y in pairs]
        best = min(results, key=lambda result: result.log_p_value)
        if len(pairs) == 1:
            return best
        log_p = min(best.log_p_value + float(np.log(len(pairs))), 0.0)
        return replace(best, log_p_value=log_p, p_value=min(best.p_value * len(pairs), 1.0))

    def _test_columns(self, x: int, y: int, given: tuple[int, ...]) -> IndependenceResult:
        test = CORRELATION_TESTS[self.test]
        if self.test == "mi-g-sh":
            # The intensity of the shrinkage depends on all columns of the test.
            sums = self._covariances((x, y, *given))
            among_tested = np.ix_((x, y, *given), (x, y, *given))
            covariance = shrunken_covariance(
                sums.covariance[among_tested], sums.product_variance[among_tested], sums.n_rows
            )
            residual = _residual_covariance(covariance, list(range(2, len(given) + 2)))
            return test(_correlation(residual, covariance, 0, 1), sums.n_rows, len(given))
        if self._incomplete.intersection((x, y, *given)):
            sums = self._covariances((x, y, *given))
            residual = _residual_covariance(sums.covariance, list(given))
            return test(_correlation(residual, sums.covariance, x, y), sums.n_rows, len(given))
        sums = self._covariances(())
        if given not in self._residual:
            self._residual.clear()  # one conditioning set serves all its candidates
            self._residual[given] = _residual_covariance(sums.covariance, list(given))
        correlation = _correlation(self._residual[given], sums.covariance, x, y)
        return test(correlation, sums.n_rows, len(given))

    @cached_property
    def _incomplete(self) -> frozenset[int]:
        """The columns with missing values."""
        return frozenset(np.flatnonzero(np.isnan(self.numbers).any(axis=0)).tolist())

    def _covariances(self, columns: tuple[int, ...]) -> Covariances:
        """Return the covariances over the rows without a missing value in ``columns``.

        Of other columns with missing values nothing is known there; their elements are not to be read.
        """
        lacking = self._incomplete.intersection(columns)
        if lacking not in self._known:
            present = ~np.isnan(self.numbers[:, sorted(lacking)]).any(axis=1)
            weight = None if self.row_weight is None else self.row_weight[present]
            self._known[lacking] = Covariances.of(np.nan_to_num(self.numbers[present]), weight)
        return self._known[lacking]


def _residual_covariance(covariance: Floats, given: list[int]) -> Floats:
    """Return the covariance of all columns given some: S - S_g inverse(S_gg) S_g', by pseudo-inverse."""
    if not given:
        return covariance
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    correlation = covariance / np.outer(scale, scale)
    inverse = np.linalg.pinv(correlation[np.ix_(given, given)], hermitian=True)
    residual = correlation - correlation[:, given] @ inverse @ correlation[given]
    scaled: Floats = residual * np.outer(scale, scale)
    return scaled


def _correlation(residual: Floats, covariance: Floats, x: int, y: int) -> float:
    """Return the partial correlation; 0 where one of the two does not vary given the rest."""
    if any(residual[j, j] <= DETERMINED * covariance[j, j] for j in (x, y)):
        return 0.0
    return float(np.clip(residual[x, y] / np.sqrt(residual[x, x] * residual[y, y]), -1.0, 1.0))
