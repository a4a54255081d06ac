"""How far to believe the best of many trials: it gains over the class shares even where all is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from seminaive.selection.doubt import CHANCE

if TYPE_CHECKING:
    from collections.abc import Callable

# If the labels do not depend on the columns, the sum of held-out gains is about a sum over pairs of rows, in
# which every pair counts twice, once with either row held out. Its standard error is the root of 2 times that
# of as many independent gains.
PAIRED = np.sqrt(2.0)
# Correlation of the two statistics over noise tables in which the search has found a gain.
CORRELATION = 0.5
# Odds that labels depend on the columns, before any is seen, and the variance of the statistic that each row
# adds, over that of noise, where they do.
PRIOR_ODDS, VARIANCE_PER_ROW = 2.0, 0.08
# A gain of fewer standard errors than `CHANCE` is believed only where the p-value is at most this.
SIGNIFICANT = 0.003
# So many standard errors leave no doubt.
BEYOND_DOUBT = 6.0


def belief(standard_errors: float, p_value: Callable[[], float], n_rows: float) -> float:
    """Return the share of a fit in the answer: the probability that its gain is not chance.

    Two statistics count alike: the held-out gain over the class shares in standard errors, which is
    optimistic because the fit is the best of many, and the normal quantile of the p-value of a test that has
    no part in the search. Their sum, divided by its deviation, is taken as standard normal on noise, and as
    normal of a variance that grows with the rows elsewhere; Bayes' rule gives the probability of the latter.

    Parameters
    ----------
    standard_errors : float
        Of the gain of the best trial. Below `CHANCE` it is believed only if the test is significant, and
        without any gain not at all.
    p_value : callable
        Returns the p-value of the hypothesis that labels do not depend on the columns; called in doubt only.
    n_rows : float
        The weight of all rows.
    """
    if standard_errors <= 0:
        return 0.0
    if standard_errors >= BEYOND_DOUBT:
        return 1.0
    p = p_value()
    if standard_errors < CHANCE and p > SIGNIFICANT:
        return 0.0
    total = standard_errors / PAIRED - float(ndtri(p))
    square = max(total, 0.0) ** 2 / (2 * (1 + CORRELATION))
    signal = VARIANCE_PER_ROW * n_rows
    exponent = 0.5 * square * signal / (1 + signal)
    odds = PRIOR_ODDS * float(np.exp(exponent)) / np.sqrt(1 + signal)
    return float(odds / (1 + odds))
