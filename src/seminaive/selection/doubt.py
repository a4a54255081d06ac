"""Doubt about small gains: the best of many trials gains over the class shares even where all is noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Gains over the class shares, in standard errors: up to the first they may be chance, from the second on they
# are believed. Found on noise and on 13 small real tables (docs/decisions/0008-doubt-small-gains.md).
CHANCE, BELIEVED = 1.5, 3.0


def standard_errors_of_gain(log_posterior: Floats, of_shares: Floats, weight: Floats) -> float:
    """Return the mean gain in held-out log posterior over the class shares, over its standard error.

    ``weight`` is the share of each held-out row in the weight of all of them. Rows of a class that the
    training rows of their fold lack are left out: no model has learned it, and the share of the class is 0.
    """
    known = np.isfinite(of_shares)
    if not known.any():
        return np.inf
    gain, weight = (log_posterior - of_shares)[known], weight[known] / weight[known].sum()
    mean = float(weight @ gain)
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)))
    return mean / error if error > 0 else 0.0


def loss_of_shares(of_shares: Floats, weight: Floats) -> float:
    """Return the mean log loss of the class shares on the same rows."""
    known = np.isfinite(of_shares)
    return -float(weight[known] @ of_shares[known]) / float(weight[known].sum()) if known.any() else np.inf
