"""The smoothed logarithm of counts, from which every generative estimate here is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from seminaive.arrays import Floats

# The log probability of what has probability zero: it outweighs any other evidence, and stays finite, so
# that a row to which every class objects still has a posterior (that of the fewest objections).
VETO = -1e5


def log_shares(counts: ArrayLike, totals: ArrayLike, n_values: ArrayLike, added: ArrayLike) -> Floats:
    """Return ``log((counts + added) / (totals + added * n_values))``; the arguments broadcast.

    Where there is neither a row nor a pseudo-count nothing is known, and the share is ``1 / n_values``. A
    share of zero has the log `VETO`.

    Parameters
    ----------
    counts : array-like
        Weight of each value, in rows.
    totals : array-like
        Weight of all values together.
    n_values : array-like
        Among how many values the total is shared.
    added : array-like
        Pseudo-count added to each value, in rows.

    Examples
    --------
    >>> np.exp(log_shares([3, 1, 0], 4, 3, 1.0)).round(3)
    array([0.571, 0.286, 0.143])
    >>> log_shares([4, 0], 4, 2, 0.0)
    array([     0., -100000.])
    """
    totals = np.asarray(totals, dtype=np.float64) + np.multiply(added, n_values)
    unknown = totals <= 0
    shares = np.add(counts, added) / np.where(unknown, 1.0, totals)
    if unknown.any():
        shares = np.where(unknown, 1.0 / np.maximum(n_values, 1), shares)
    return log_or_veto(shares)


def log_or_veto(probability: Floats) -> Floats:
    """Return the logarithm, and a finite veto for zero."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(probability), VETO)
