"""Minimise a convex quadratic function of nonnegative variables by block principal pivoting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dposv

from seminaive.design.rounding import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats

    Mask = NDArray[np.bool_]

# Exchanges of all infeasible variables at once that may fail to lower their number before single ones are
# made, which cannot cycle; the answer does not depend on it.
PATIENCE = 3


def minimize_quadratic(matrix: Floats, linear: Floats, positive: Mask) -> Floats:
    """Return the minimiser of ``x'M x / 2 + l'x`` over ``x >= 0``.

    Variables are guessed to be positive or 0, the guess solved for, and all of them exchanged that turn out
    negative, or 0 with a negative derivative (Kim and Park, 2011).

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        M, positive definite but for variables whose diagonal is 0, which stay 0.
    linear : ndarray of shape (n,)
    positive : ndarray of bool of shape (n,)
        The first guess, that of a similar problem for instance.
    """
    diagonal = np.diagonal(matrix)
    usable = diagonal > 0
    roots = np.sqrt(np.where(usable, diagonal, 1.0))
    scaled, right = matrix / np.outer(roots, roots), linear / roots
    np.einsum("ii->i", scaled)[:] += len(linear) * np.finfo(float).eps
    allowed = ROUNDING * float(np.abs(right).max(initial=0.0))
    positive = positive & usable
    fewest, patience = len(linear) + 1, PATIENCE
    while True:
        x = _solved(scaled, right, positive)
        wrong = usable & np.where(positive, x < 0, scaled @ x + right < -allowed)
        n_wrong = int(wrong.sum())
        if not n_wrong:
            return np.asarray(x / roots)
        if n_wrong < fewest:
            fewest, patience = n_wrong, PATIENCE
        else:
            patience -= 1
        exchanged = np.flatnonzero(wrong)
        if patience < 0:
            exchanged = exchanged[-1:]
        positive[exchanged] = ~positive[exchanged]


def _solved(matrix: Floats, right: Floats, positive: Mask) -> Floats:
    """Return the minimiser in which some variables are free and all others 0."""
    x = np.zeros(len(right))
    if positive.any():
        _, x[positive], _ = dposv(matrix[np.ix_(positive, positive)], -right[positive], lower=True)
    return x
