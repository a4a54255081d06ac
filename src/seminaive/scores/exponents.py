"""Exponents for the likelihoods of features, from counts alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.statistics import TupleCounts


def class_shift_exponents(counts: TupleCounts, smoothing: float) -> Floats:
    """Return ``sqrt(sum over values v, classes c of (P(c | v) - P(c))**2)`` of every single-column term.

    Both probabilities are shares of the smoothed counts; rows of no evidence are left out. The sum is not
    weighted by how frequent values or classes are.
    """
    terms = counts.terms
    if not terms.features:
        return np.empty(0)
    smoothed = counts.counts + smoothing
    smoothed[terms.offsets[1:] - 1] = 0.0  # cells of no evidence
    by_value = smoothed.sum(axis=1, keepdims=True)
    by_class = np.add.reduceat(smoothed, terms.offsets[:-1], axis=0)
    total = by_class.sum(axis=1, keepdims=True)
    share = np.divide(by_class, total, out=np.zeros_like(by_class), where=total > 0)
    prior = np.repeat(share, np.diff(terms.offsets), axis=0)
    posterior = np.divide(smoothed, by_value, out=prior.copy(), where=by_value > 0)
    moved = np.square(posterior - prior).sum(axis=1)
    return np.sqrt(np.add.reduceat(moved, terms.offsets[:-1]))
