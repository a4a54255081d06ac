"""Random values by their shares, and random shares by their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seminaive.statistics.smoothing import log_shares

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers


def value_shares(counts: Floats, added: float) -> Floats:
    """Return smoothed relative frequencies along the last axis: the exponential of `log_shares`.

    Examples
    --------
    >>> value_shares(np.array([[3.0, 1.0, 0.0]]), 1.0).round(3)
    array([[0.571, 0.286, 0.143]])
    """
    shares: Floats = np.exp(log_shares(counts, counts.sum(axis=-1, keepdims=True), counts.shape[-1], added))
    return shares


def draw_values(shares: Floats, cells: Integers, generator: np.random.Generator) -> Integers:
    """Draw one value for each row from the distribution in the row's cell.

    Parameters
    ----------
    shares : ndarray of shape (n_cells, n_values)
        Probabilities, up to a factor per cell.
    cells : ndarray of shape (n_rows,)

    Examples
    --------
    >>> draw_values(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0, 1]), np.random.default_rng(0))
    array([1, 0, 1])
    """
    from seminaive.structure.kernels.random_draws import draw_from_cells

    drawn = np.empty(len(cells), dtype=np.int64)
    draw_from_cells(cells, np.cumsum(shares, axis=1), generator.random(len(cells)), drawn)
    return drawn


def draw_shares(weights: Floats, generator: np.random.Generator) -> Floats:
    """Draw probabilities from Dirichlet distributions with these parameters along the last axis.

    Where every parameter is so small that all of the gamma variables underflow, the mean is returned.

    Examples
    --------
    The posterior of a share after 300 rows of 400 is narrow:

    >>> shares = draw_shares(np.tile([300.0, 100.0], (1000, 1)), np.random.default_rng(0))
    >>> shares[:, 0].mean().round(2), shares[:, 0].std().round(3)
    (np.float64(0.75), np.float64(0.022))
    """
    drawn = generator.standard_gamma(weights)
    drawn = np.where(drawn.sum(axis=-1, keepdims=True) > 0, drawn, weights)
    shares: Floats = drawn / drawn.sum(axis=-1, keepdims=True)
    return shares
