"""Entropy and mutual information, in nats, of tables of counts.

Every function takes counts, not probabilities, so that it can be fed from ``TupleCounts.joint``; leading
axes are the variables, and the class comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from seminaive.arrays import Floats


def entropy(counts: Floats) -> float:
    """Return ``-sum p log p`` with ``p = counts / counts.sum()``; 0 for no counts.

    >>> print(round(entropy(np.array([5, 5])) / np.log(2), 12))
    1.0
    """
    total = counts.sum()
    if total <= 0:
        return 0.0
    # Written so that one occupied cell gives exactly 0.
    return float(np.log(total) - xlogy(counts, counts).sum() / total)


def mutual_information(counts: Floats) -> float:
    """Return ``I(X; Y) = H(X) + H(Y) - H(X, Y)`` of a two-way table, never below 0.

    >>> mutual_information(np.array([[1, 1], [1, 1]]))
    0.0
    """
    information = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0)) - entropy(counts)
    return max(information, 0.0)


def symmetrical_uncertainty(counts: Floats) -> float:
    """Return ``2 I(X; Y) / (H(X) + H(Y))`` of a two-way table, between 0 and 1, with 0/0 = 0.

    >>> symmetrical_uncertainty(np.array([[3, 0], [0, 5]]))
    1.0
    """
    entropies = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0))
    return min(2.0 * mutual_information(counts) / entropies, 1.0) if entropies > 0 else 0.0


def conditional_mutual_information(counts: Floats) -> float:
    """Return ``I(X; Y | C)``, the class-weighted mean of the information within each class.

    The axes of ``counts`` are X, Y and C.
    """
    total = counts.sum()
    if total <= 0:
        return 0.0
    within = [counts[..., c].sum() * mutual_information(counts[..., c]) for c in range(counts.shape[-1])]
    return float(sum(within) / total)


def normalized_conditional_mutual_information(counts: Floats) -> float:
    """Return ``I(X; Y | C) / sqrt(H(X | C) H(Y | C))``, between 0 and 1, with 0/0 = 0.

    Two copies of one feature have 1, features independent within each class 0. The axes of ``counts``
    are X, Y and C.
    """
    scale = np.sqrt(_conditional_entropy(counts.sum(axis=1)) * _conditional_entropy(counts.sum(axis=0)))
    information = conditional_mutual_information(counts)
    return float(min(information / scale, 1.0)) if scale > 0 else 0.0


def _conditional_entropy(counts: Floats) -> float:
    """Return ``H(X | C)`` of a table with axes X and C."""
    return entropy(counts) - entropy(counts.sum(axis=0))
