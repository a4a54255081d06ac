"""Directions of the space of labels, in blocks of which a quadratic model has second derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Integers


def to_blocks(values: Floats, width: int) -> Floats:
    """Return (n_tables, n_cells, n_directions) as (n_blocks, n_coordinates), ``width`` directions a block."""
    n_tables, n_cells, n_directions = values.shape
    n_blocks = n_directions // width
    parted = values.reshape(n_tables, n_cells, n_blocks, width).transpose(0, 2, 1, 3)
    return np.ascontiguousarray(parted.reshape(n_tables * n_blocks, n_cells * width))


def from_blocks(values: Floats, n_tables: int, width: int) -> Floats:
    """Return (n_blocks, n_coordinates) as (n_tables, n_cells, n_directions)."""
    n_cells, n_blocks = values.shape[1] // width, len(values) // n_tables
    parted = values.reshape(n_tables, n_blocks, n_cells, width).transpose(0, 2, 1, 3)
    return parted.reshape(n_tables, n_cells, n_blocks * width)


def label_directions(shares: Floats) -> Floats:
    """Return orthonormal directions of the label space, (n_labels, n_labels - 1), across the constant one.

    They are eigenvectors of the labels' covariance diag(shares) - shares shares', so that on average the
    Hessian has no second derivatives between two of them.
    """
    covariance = np.diag(shares) - np.outer(shares, shares)
    n_labels = len(shares)
    # The constant direction has the eigenvalue 0 here; minus 1 sets it apart from rare labels.
    covariance -= np.ones((n_labels, n_labels)) / n_labels
    return np.ascontiguousarray(np.linalg.eigh(covariance)[1][:, 1:])


def block_eigenvalues(gram: Floats, starts: Integers) -> tuple[Floats, Floats, Integers]:
    """Return eigenvalues and eigenvectors of the diagonal block of every group and direction."""
    widths = np.diff(starts)
    offsets = np.concatenate([[0], np.cumsum(widths**2)])
    values = np.empty(gram.shape[:2])
    vectors = np.empty((len(gram), int(offsets[-1])))
    for width in np.unique(widths):
        groups = np.flatnonzero(widths == width)
        rows = starts[groups, None] + np.arange(width)
        eigenvalues, across = np.linalg.eigh(gram[:, rows[:, :, None], rows[:, None, :]])
        values[:, rows] = np.maximum(eigenvalues, 0.0)
        vectors[:, offsets[groups, None] + np.arange(width**2)] = across.reshape(len(gram), len(groups), -1)
    return values, vectors, offsets
