"""Is a model worth acting on? Net benefit, in true positives per row, of acting above a threshold.

Whoever acts where the probability is above ``t`` takes ``(1 - t) / t`` false alarms for one hit. The net
benefit ``TP / n - FP / n * t / (1 - t)`` counts hits less false alarms at this rate of exchange.

Vickers and Elkin, Decision curve analysis, Medical Decision Making 26, 2006.
"""

import numpy as np
import numpy.typing as npt

from seminaive.arrays import Floats

THRESHOLDS = np.round(np.arange(0.01, 1.0, 0.01), 2)


def net_benefit(has_class: npt.ArrayLike, probability: Floats, weight: Floats, thresholds: Floats) -> Floats:
    """Return the net benefit of acting on rows whose probability is at least each threshold.

    Parameters
    ----------
    has_class : array of shape (n_rows,)
        True where the row has the class that is acted upon.
    probability, weight : ndarray of shape (n_rows,)
    thresholds : ndarray of shape (n_thresholds,)
        Above 0 and below 1.

    Examples
    --------
    Two rows, one of the class, both acted upon at even odds: a hit and a false alarm cancel out.

    >>> net_benefit([True, False], np.array([0.9, 0.6]), np.ones(2), np.array([0.5, 0.7])).tolist()
    [0.0, 0.5]
    """
    order = np.argsort(-probability, kind="stable")
    share = weight[order] / weight.sum()
    hits = np.append(0.0, np.cumsum(share * np.asarray(has_class)[order]))
    acted = np.append(0.0, np.cumsum(share))
    n_acted = np.searchsorted(-probability[order], -thresholds, side="right")
    return np.asarray(hits[n_acted] - (acted[n_acted] - hits[n_acted]) * thresholds / (1 - thresholds))


def net_benefit_of_all(share: float, thresholds: Floats) -> Floats:
    """Return the net benefit of acting on every row, where a share of them has the class."""
    return share - (1 - share) * thresholds / (1 - thresholds)
