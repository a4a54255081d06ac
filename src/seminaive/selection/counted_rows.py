"""Rows that stand for several: their counts are dealt to the parts of a cross-validation, one by one.

A table of counts has one row per combination of values, and a weight that says how often it occurs. Held out
whole, a row would be judged by models that have seen nothing like it; dealt out, its copies go to different
folds, as those of repeated rows do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from seminaive.arrays import Indices, Integers


# NumPy draws exactly from less than this many copies. Of more, each goes to a part independently of the
# others, which moves the share of a part by a few hundredths of a thousandth.
MOST_DRAWN_EXACTLY = 1_000_000_000


def deal_to_folds(counts: Indices, labels: Indices, n_folds: int, generator: np.random.Generator) -> Integers:
    """Return how many copies of each row every fold holds out, as an array (rows, folds).

    Copies of one class, in random order, go to the folds in turn: folds differ by at most one copy, in all
    and in each class.

    Examples
    --------
    >>> dealt = deal_to_folds(np.array([7, 5]), np.array([0, 1]), 3, np.random.default_rng(0))
    >>> dealt.sum(axis=0), dealt.sum(axis=1)
    (array([4, 4, 4]), array([7, 5]))
    """
    dealt = np.zeros((len(counts), n_folds), dtype=np.int64)
    first = 0
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        total = int(counts[rows].sum())
        # Of the places first, ..., first + total - 1, those with the remainder f belong to fold f.
        sizes = [
            (first + total - fold - 1) // n_folds - (first - fold - 1) // n_folds for fold in range(n_folds)
        ]
        dealt[rows] = deal(counts[rows], sizes, generator)
        first += total
    return dealt


def deal(counts: Indices, sizes: Sequence[int], generator: np.random.Generator) -> Integers:
    """Return how many copies of each row go to each of several parts, which take them all, at random.

    Parameters
    ----------
    counts : ndarray of shape (n_rows,)
    sizes : sequence of int
        How many copies each part takes; they sum to those of all rows.
    """
    exact = int(counts.sum()) < MOST_DRAWN_EXACTLY
    left = counts.copy()
    dealt = np.zeros((len(counts), len(sizes)), dtype=np.int64)
    for part, size in enumerate(sizes[:-1]):
        if exact:
            dealt[:, part] = generator.multivariate_hypergeometric(left, size, method="marginals")
        else:
            dealt[:, part] = generator.binomial(left, size / sum(sizes[part:]))
        left -= dealt[:, part]
    dealt[:, -1] = left
    return dealt
