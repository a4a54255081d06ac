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

    ``weight`` is the share of each held-out row in the weight of all of them.
    """
    gain = log_posterior - of_shares
    if not np.isfinite(gain).all():  # a class that some fold's training rows lack
        return np.inf
    mean = float(weight @ gain)
    error = float(np.sqrt(np.sum((weight * (gain - mean)) ** 2)))
    return mean / error if error > 0 else 0.0
