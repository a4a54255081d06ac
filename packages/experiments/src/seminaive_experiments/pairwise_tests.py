"""Is one model better than another: over many tables, or over the folds of one table.

Every function takes paired losses (smaller is better), one pair per table or per fold.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from seminaive.arrays import Floats
from seminaive.errors import InputError


@dataclass(frozen=True)
class TestResult:
    """A two-sided test: its statistic and the probability of one as extreme under equality."""

    __test__ = False  # not a test case, whatever its name suggests to pytest

    statistic: float
    p_value: float


@dataclass(frozen=True)
class WinDrawLoss:
    """On how many tables the first model is better, equal and worse."""

    win: int
    draw: int
    loss: int

    def __str__(self) -> str:
        return f"{self.win}/{self.draw}/{self.loss}"


def _pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise InputError(
            f"expected two equally long lists of losses, got shapes {first.shape} and {second.shape}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("losses must be finite: leave out the pairs in which a model failed.")
    return first, second


def win_draw_loss(first: npt.ArrayLike, second: npt.ArrayLike, *, tolerance: float = 0.0) -> WinDrawLoss:
    """Count the tables on which the first loss is smaller, equal and larger.

    Parameters
    ----------
    first, second : arrays of shape (n_tables,)
        Losses of the two models.
    tolerance : float, default=0.0
        Differences up to this size, in the unit of the loss, are draws.

    Examples
    --------
    >>> print(win_draw_loss([0.1, 0.2, 0.3], [0.2, 0.2, 0.2]))
    1/1/1
    """
    first, second = _pairs(first, second)
    difference = first - second
    return WinDrawLoss(
        win=int(np.sum(difference < -tolerance)),
        draw=int(np.sum(np.abs(difference) <= tolerance)),
        loss=int(np.sum(difference > tolerance)),
    )


def sign_test(first: npt.ArrayLike, second: npt.ArrayLike, *, tolerance: float = 0.0) -> TestResult:
    """Binomial sign test: whether a fair coin would win so often. Draws are left out.

    The statistic is the number of wins of the first model.
    """
    counts = win_draw_loss(first, second, tolerance=tolerance)
    decided = counts.win + counts.loss
    p_value = float(stats.binomtest(counts.win, decided).pvalue) if decided else 1.0
    return TestResult(float(counts.win), p_value)


def wilcoxon_test(first: npt.ArrayLike, second: npt.ArrayLike) -> TestResult:
    """Wilcoxon's signed ranks: whether the larger differences point one way.

    scipy's test: exact up to 50 tables without ties or zero differences, the normal approximation
    otherwise; zero differences are left out.
    """
    first, second = _pairs(first, second)
    if np.all(first == second):
        return TestResult(0.0, 1.0)
    result = stats.wilcoxon(first, second)
    return TestResult(float(result.statistic), float(result.pvalue))


def paired_t_test(first: npt.ArrayLike, second: npt.ArrayLike) -> TestResult:
    """Student's t of paired differences, as if the pairs were independent.

    Right for repetitions with fresh data (simulations). Folds of one table share training rows, so use
    ``corrected_resampled_t_test`` there: this one finds differences that do not exist.
    """
    first, second = _pairs(first, second)
    return _t_test(first - second, variance_factor=1 / len(first))


def corrected_resampled_t_test(
    first: npt.ArrayLike, second: npt.ArrayLike, *, n_train: int, n_test: int
) -> TestResult:
    """Nadeau and Bengio's t of the folds of one table, which share training rows.

    The variance of the mean difference is ``(1 / folds + n_test / n_train)`` times the variance of one
    difference, instead of ``1 / folds`` times.

    Parameters
    ----------
    first, second : arrays of shape (n_folds,)
        Losses of the two models in the same folds.
    n_train, n_test : int
        Rows on either side of a split.
    """
    first, second = _pairs(first, second)
    if n_train < 1 or n_test < 1:
        raise InputError(f"n_train and n_test must be positive, got {n_train} and {n_test}.")
    return _t_test(first - second, variance_factor=1 / len(first) + n_test / n_train)


def _t_test(difference: Floats, variance_factor: float) -> TestResult:
    if len(difference) < 2:
        raise InputError("a t test needs at least two pairs.")
    variance = float(difference.var(ddof=1))
    mean = float(difference.mean())
    if variance == 0:
        return TestResult(0.0, 1.0) if mean == 0 else TestResult(float(np.copysign(np.inf, mean)), 0.0)
    statistic = mean / float(np.sqrt(variance_factor * variance))
    return TestResult(statistic, float(2 * stats.t.sf(abs(statistic), len(difference) - 1)))
