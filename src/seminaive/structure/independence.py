"""Tests of conditional independence, each a function of counts or of a partial correlation.

Names are those of the R package bnlearn, which the hybrid paper used:

=========== ===========================================================================================
``mi``      G test: 2 n times the conditional mutual information, chi-square
``mi-adf``  the same statistic; rows and columns of a stratum that are empty give no degrees of freedom
``mi-sh``   G of James and Stein's shrinkage estimate of the cell probabilities, toward equal ones
``cor``     Student's t of the partial correlation
``zf``      Fisher's z of the partial correlation, normal
``mi-g``    2 n times the mutual information of a Gaussian pair, chi-square with one degree of freedom
``mi-g-sh`` the same, from a covariance matrix whose off-diagonal elements are shrunk toward 0
=========== ===========================================================================================

The paper describes its ``mi-g-sh`` as a sequential Monte Carlo permutation test. In bnlearn that name is the
shrinkage estimator, and the permutation test is called ``smc-mi-g``; here a name means what it means there,
and the latter is `SequentialPermutationTests`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, chdtrc, gammaln, log_ndtr, stdtr, xlogy

from seminaive.structure.results import IndependenceResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats

    CountsTest = Callable[[Floats, int | None], IndependenceResult]
    CorrelationTest = Callable[[float, float, int], IndependenceResult]

# Below it a p-value is taken from the leading term of its tail.
SMALLEST_P = 1e-290
# A correlation closer to 1 has no finite statistic.
LARGEST_CORRELATION = 1 - 1e-15


def mutual_information_test(counts: Floats, n_strata: int | None = None) -> IndependenceResult:
    """Test by the asymptotic chi-square distribution of the conditional mutual information (``mi``).

    Parameters
    ----------
    counts : ndarray of shape (n_x, n_y) or (n_x, n_y, n_observed_strata)
        Weight of each combination; a stratum is a combination of values of the conditioning variables.
    n_strata : int or None
        Number of all strata, those that never occurred included; they count for the degrees of freedom.

    Examples
    --------
    >>> print(mutual_information_test(np.array([[30.0, 10.0], [10.0, 30.0]])))
    mi = 20.93, df = 1, p = 4.764e-06
    """
    counts, n_strata = _stratified(counts, n_strata)
    n_x, n_y = counts.shape[:2]
    return _chi_square("mi", _deviance(counts), (n_x - 1) * (n_y - 1) * n_strata, counts, n_strata)


def adjusted_mutual_information_test(counts: Floats, n_strata: int | None = None) -> IndependenceResult:
    """Test as ``mi`` does, with degrees of freedom of the values that occur in each stratum (``mi-adf``).

    A stratum in which a of X's values and b of Y's occur has (a - 1) (b - 1) degrees of freedom.
    """
    counts, n_strata = _stratified(counts, n_strata)
    of_x = (counts.sum(axis=1) > 0).sum(axis=0)
    of_y = (counts.sum(axis=0) > 0).sum(axis=0)
    degrees = int((np.maximum(of_x - 1, 0) * np.maximum(of_y - 1, 0)).sum())
    return _chi_square("mi-adf", _deviance(counts), degrees, counts, n_strata)


def shrinkage_mutual_information_test(counts: Floats, n_strata: int | None = None) -> IndependenceResult:
    """Test as ``mi`` does, on cell probabilities that are shrunk toward equal ones (``mi-sh``).

    With relative frequencies p over m cells, of which 1/m is the target, the intensity is ``(1 - sum p**2) /
    ((n - 1) sum (p - 1/m)**2)``, between 0 and 1 (Hausser and Strimmer, 2009). Strata without rows become
    uniform, and so independent: they enter the intensity only.
    """
    counts, n_strata = _stratified(counts, n_strata)
    n_x, n_y = counts.shape[:2]
    total = counts.sum()
    deviance = 0.0
    if total > 1:
        share = counts / total
        target = 1.0 / (n_x * n_y * n_strata)
        squares = float((share**2).sum())
        # sum over all m cells of (p - 1/m)**2, those of strata that never occurred included
        distance = squares - target
        intensity = min(max((1 - squares) / ((total - 1) * distance), 0.0), 1.0) if distance > 0 else 1.0
        deviance = float(total * _deviance(intensity * target + (1 - intensity) * share))
    return _chi_square("mi-sh", deviance, (n_x - 1) * (n_y - 1) * n_strata, counts, n_strata)


def pearson_test(counts: Floats, n_strata: int | None = None) -> IndependenceResult:
    """Test by Pearson's chi-square, added up over the strata (``x2``); for pairs given the class."""
    counts, n_strata = _stratified(counts, n_strata)
    n_x, n_y = counts.shape[:2]
    total = np.maximum(counts.sum(axis=(0, 1)), np.finfo(float).tiny)
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0)[None] / total
    present = expected > 0
    statistic = float(((counts[present] - expected[present]) ** 2 / expected[present]).sum())
    return _chi_square("x2", statistic, (n_x - 1) * (n_y - 1) * n_strata, counts, n_strata)


def correlation_test(correlation: float, n_rows: float, n_given: int) -> IndependenceResult:
    """Test by Student's t of a partial correlation (``cor``).

    The degrees of freedom are ``n_rows - n_given - 2``. The statistic is the partial correlation itself.
    """
    degrees = n_rows - n_given - 2
    if degrees <= 0:
        return IndependenceResult("cor", correlation, 0.0, 1.0, 0.0, n_rows)
    bounded = _bounded(correlation)
    t = abs(bounded) * np.sqrt(degrees) / np.sqrt(1 - bounded**2)
    p_value = float(2 * stdtr(degrees, -t))
    if p_value > SMALLEST_P:
        return IndependenceResult("cor", correlation, degrees, p_value, float(np.log(p_value)), n_rows)
    # Leading term of the incomplete beta function: I_x(a, 1/2) ~ x**a / ((1 - x)**(1/2) a B(a, 1/2))
    half, x = degrees / 2, 1 - bounded**2
    log_p = half * np.log(x) - 0.5 * np.log1p(-x) - np.log(half) - betaln(half, 0.5)
    return IndependenceResult("cor", correlation, degrees, p_value, float(log_p), n_rows)


def fisher_z_test(correlation: float, n_rows: float, n_given: int) -> IndependenceResult:
    """Test by Fisher's z, ``artanh(r) sqrt(n_rows - n_given - 3)``, which is nearly normal (``zf``).

    What is given as degrees of freedom is ``n_rows - n_given - 3``.
    """
    degrees = n_rows - n_given - 3
    if degrees <= 0:
        return IndependenceResult("zf", 0.0, 0.0, 1.0, 0.0, n_rows)
    z = float(np.arctanh(_bounded(correlation)) * np.sqrt(degrees))
    log_p = float(min(np.log(2) + log_ndtr(-abs(z)), 0.0))
    return IndependenceResult("zf", z, degrees, float(np.exp(log_p)), log_p, n_rows)


def gaussian_information_test(correlation: float, n_rows: float, n_given: int) -> IndependenceResult:
    """Test by ``-n log(1 - r**2)``, twice n times the information of a Gaussian pair (``mi-g``)."""
    del n_given  # the asymptotic distribution does not know it
    return _gaussian_information("mi-g", correlation, n_rows)


def shrinkage_gaussian_information_test(
    correlation: float, n_rows: float, n_given: int
) -> IndependenceResult:
    """Test as ``mi-g`` does; the correlation is to come from `shrunken_covariance` (``mi-g-sh``)."""
    del n_given
    return _gaussian_information("mi-g-sh", correlation, n_rows)


def shrunken_covariance(covariance: Floats, product_variance: Floats, n_rows: float) -> Floats:
    """Shrink the off-diagonal elements of a covariance matrix toward 0 (Schaefer and Strimmer, 2005).

    Parameters
    ----------
    covariance : ndarray of shape (k, k)
        With the divisor ``n_rows - 1``.
    product_variance : ndarray of shape (k, k)
        Sum over the rows of the squared deviations of ``(x_i - mean_i) (x_j - mean_j)`` from its mean.
    """
    upper = np.triu_indices(len(covariance), 1)
    covariances = float((covariance[upper] ** 2).sum())
    intensity = 0.0
    if covariances > 0 and n_rows > 1:
        intensity = min(float(product_variance[upper].sum()) * n_rows / (n_rows - 1) ** 3 / covariances, 1.0)
    shrunken: Floats = covariance * (1 - intensity)
    np.fill_diagonal(shrunken, np.diag(covariance))
    return shrunken


COUNTS_TESTS: dict[str, CountsTest] = {
    "mi": mutual_information_test,
    "mi-adf": adjusted_mutual_information_test,
    "mi-sh": shrinkage_mutual_information_test,
}
PAIR_TESTS: dict[str, CountsTest] = {**COUNTS_TESTS, "x2": pearson_test}
CORRELATION_TESTS: dict[str, CorrelationTest] = {
    "cor": correlation_test,
    "zf": fisher_z_test,
    "mi-g": gaussian_information_test,
    "mi-g-sh": shrinkage_gaussian_information_test,
}


def _stratified(counts: Floats, n_strata: int | None) -> tuple[Floats, int]:
    """Return counts with an axis of strata, and the number of all strata."""
    if counts.ndim == 2:
        counts = counts[:, :, None]
    return counts, counts.shape[2] if n_strata is None else n_strata


def _deviance(counts: Floats) -> float:
    """Return twice the sum over strata of ``n_xyz log(n_xyz n_z / (n_xz n_yz))``, never below 0."""
    parts = (
        _sum_n_log_n(counts)
        - _sum_n_log_n(counts.sum(axis=1))
        - _sum_n_log_n(counts.sum(axis=0))
        + _sum_n_log_n(counts.sum(axis=(0, 1)))
    )
    return max(2 * parts, 0.0)


def _sum_n_log_n(counts: Floats) -> float:
    occupied = counts[counts > 0]
    return float(xlogy(occupied, occupied).sum())


def _chi_square(
    test: str, statistic: float, degrees_of_freedom: int, counts: Floats, n_strata: int
) -> IndependenceResult:
    n_cells = counts.shape[0] * counts.shape[1] * n_strata
    p_value, log_p = _chi_square_tail(float(degrees_of_freedom), statistic)
    return IndependenceResult(
        test, statistic, float(degrees_of_freedom), p_value, log_p, float(counts.sum()), n_cells
    )


def _chi_square_tail(degrees_of_freedom: float, statistic: float) -> tuple[float, float]:
    """Return P(chi-square > statistic) and its logarithm; 1 without degrees of freedom."""
    if degrees_of_freedom <= 0 or statistic <= 0:
        return 1.0, 0.0
    p_value = float(chdtrc(degrees_of_freedom, statistic))
    if p_value > SMALLEST_P:
        return p_value, float(np.log(p_value))
    # Leading term of the incomplete gamma function: x**(k/2 - 1) exp(-x) / Gamma(k/2), x = statistic / 2
    x, half = statistic / 2, degrees_of_freedom / 2
    return p_value, float((half - 1) * np.log(x) - x - gammaln(half))


def _gaussian_information(test: str, correlation: float, n_rows: float) -> IndependenceResult:
    statistic = float(-n_rows * np.log1p(-(_bounded(correlation) ** 2)))
    p_value, log_p = _chi_square_tail(1.0, statistic)
    return IndependenceResult(test, statistic, 1.0, p_value, log_p, n_rows)


def _bounded(correlation: float) -> float:
    return float(np.clip(correlation, -LARGEST_CORRELATION, LARGEST_CORRELATION))
