"""Whether probabilities still hold on labelled rows: as a whole, and column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.special import expit

from seminaive.design.weighted_gram import weighted_gram
from seminaive.selection.recalibration import recalibrate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats

    Bins = NDArray[np.integer]

# Log odds beyond which labels are separated by the score: a probability of e**-30 is none.
MOST_LOG_ODDS = 30.0
# Expected rows of either class from which a bin of a column is judged by itself.
FEWEST_EXPECTED = 5.0


@dataclass(frozen=True)
class Calibration:
    """How the log odds of a class must be recalibrated to fit labels, and what would still not fit.

    Parameters
    ----------
    observed, expected : float
        The share of the class, and its mean probability.
    intercept, slope : float
        Of the recalibrated log odds ``intercept + slope * log odds``; 0 and 1 where nothing is to be done.
    p_value : float
        Of the test that they are 0 and 1.
    columns : dict of column to p-value
        Of the tests that, after recalibration, the class is as frequent as expected in every bin of a column.
    """

    observed: float
    expected: float
    intercept: float
    slope: float
    p_value: float
    columns: dict[str, float]

    @classmethod
    def of(cls, log_odds: Floats, labels: Floats, bins: dict[str, Bins]) -> Calibration:
        """Judge log odds.

        Parameters
        ----------
        log_odds : ndarray of shape (n_rows,)
        labels : ndarray of shape (n_rows,)
            1 where a row is of the class, else 0.
        bins : dict of column to ndarray of shape (n_rows,)
        """
        design = np.column_stack([np.ones_like(log_odds), log_odds])
        expected = expit(log_odds)
        score, information = _score(design, labels, expected)
        statistic = float(score @ np.linalg.pinv(information) @ score)
        freedom = int(np.linalg.matrix_rank(information)) or 1
        found = recalibrate(log_odds[:, None], labels.astype(np.int64), np.ones_like(labels), 2)
        fitted = expit(np.clip(found.scores(log_odds[:, None])[:, 0], -MOST_LOG_ODDS, MOST_LOG_ODDS))
        return cls(
            float(labels.mean()),
            float(expected.mean()),
            float(found.intercept[0]),
            found.slope,
            float(stats.chi2.sf(statistic, freedom)),
            {name: _beyond(design, labels, fitted, codes) for name, codes in bins.items()},
        )


def _score(design: Floats, labels: Floats, probability: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of the log likelihood and the Fisher information, X'(y - p) and X'WX."""
    weight = probability * (1 - probability)
    return design.T @ (labels - probability), weighted_gram(design, weight)


def _beyond(design: Floats, labels: Floats, fitted: Floats, bins: Bins) -> float:
    """Return the p-value of the score test that no bin needs a constant beside a recalibration."""
    bins = _merged(bins, fitted)
    n_bins = int(bins.max()) + 1
    weight = fitted * (1 - fitted)
    score = np.bincount(bins, labels - fitted, n_bins)
    within = np.diag(np.bincount(bins, weight, n_bins))
    cross = np.stack([np.bincount(bins, weight * column, n_bins) for column in design.T], axis=1)
    base = np.linalg.pinv(weighted_gram(design, weight))
    covariance = within - cross @ base @ cross.T
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * max(float(within.max(initial=0.0)), 1e-300)
    if not kept.any():
        return 1.0
    along = vectors[:, kept].T @ score
    return float(stats.chi2.sf(float((along**2 / values[kept]).sum()), int(kept.sum())))


def _merged(bins: Bins, fitted: Floats) -> Bins:
    """Return bins in which those with few expected rows of either class are one."""
    expected = np.minimum(np.bincount(bins, fitted), np.bincount(bins, 1 - fitted))
    large = np.flatnonzero(expected >= FEWEST_EXPECTED)
    new_code = np.full(len(expected), len(large), dtype=np.int64)
    new_code[large] = np.arange(len(large))
    merged: Bins = new_code[bins]
    return merged
