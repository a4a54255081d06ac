"""Do the labels depend on the columns at all? A score test at the class shares, which no search has part in.

At the class shares the gradient of a term with features F is F'r, r the residuals of the rows. If the labels
do not depend on the columns, ``sum over rows i != j of K_ij r_i'r_j`` with the kernel K = F F' has the mean
0, and its variance and third moment follow from K (le Cessie and van Houwelingen, 1995). A gamma distribution
with these moments gives a p-value of each term and of each group of terms; the Cauchy combination (Liu and
Xie, 2020) makes one p-value of them, however they depend on each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc, ndtr

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

# Kernels are computed between the rows of a block of so many, and for so many blocks.
ROWS_AT_ONCE, MOST_BLOCKS = 1000, 4
# Below this skewness a gamma distribution is the normal one.
SYMMETRIC = 0.05
# The Cauchy combination takes p-values between these: one near 1 must not outweigh one near 0.
LEAST, MOST = 1e-15, 0.9


def score_test(
    columns: SmoothColumns, table: EncodedTable, labels: Indices, row_weight: Floats, n_classes: int
) -> float:
    """Return the p-value of the hypothesis that the labels do not depend on the columns.

    The slopes together, the best of them, the main terms together, the best of them, and the pairs together
    count alike.
    """
    step = -(-len(labels) // ROWS_AT_ONCE)
    n_blocks = min(step, MOST_BLOCKS)
    residuals = _residuals(labels, row_weight, n_classes)
    moments: list[list[Floats]] = []
    for block in range(n_blocks):
        own = np.arange(block, len(labels), step)
        found = [list(group) for group in _moments(columns, table.rows(own), residuals[own])]
        if block:
            found = [[a + b for a, b in zip(*both, strict=True)] for both in zip(moments, found, strict=True)]
        moments = found
    groups = [[_tail(own, residuals.shape[1]) for own in group] for group in moments]
    return combined([combined(group) for group in groups if group])


def combined(p_values: Sequence[float]) -> float:
    """Return the Cauchy combination of p-values: the tail of their mean cotangent."""
    if not p_values:
        return 1.0
    angles = np.pi * (0.5 - np.clip(p_values, LEAST, MOST))
    return float(0.5 - np.arctan(np.tan(angles).mean()) / np.pi)


def _residuals(labels: Indices, row_weight: Floats, n_classes: int) -> Floats:
    """Return weighted labels less the class shares, transformed to a covariance of the identity."""
    targets = np.eye(n_classes)[labels]
    away = row_weight[:, None] * (targets - row_weight @ targets / row_weight.sum())
    values, vectors = np.linalg.eigh(away.T @ away / len(away))
    kept = values > 1e-9 * values.max(initial=0.0)
    return np.asarray(away @ (vectors[:, kept] / np.sqrt(values[kept])))


def _moments(columns: SmoothColumns, table: EncodedTable, residuals: Floats) -> Iterable[Iterable[Floats]]:
    """Yield groups of tests: of each, the statistic, the sum of K_ij^2 and that of K_ij K_jk K_ki."""
    slopes = _centred(columns.slope_features(table.numbers))
    mains = [_centred(columns.columns[j].main_features(table)) for j in columns.mains]
    for terms in (np.split(slopes, slopes.shape[1], axis=1) if slopes.shape[1] else [], mains):
        if terms:
            yield [_of_features(np.hstack(terms), residuals)]
            yield (_of_features(own, residuals) for own in terms)
    if columns.pairs:
        yield [_of_kernel(_pair_kernel(columns, table), residuals)]


def _centred(features: Floats) -> Floats:
    return np.asarray(features - features.mean(axis=0))


def _of_features(features: Floats, residuals: Floats) -> Floats:
    """Return the statistic and the two sums of the kernel F F', without its diagonal.

    They follow from F'F as well, which is the smaller matrix unless there are more features than rows.
    """
    if features.shape[1] > len(features):
        return _of_kernel(features @ features.T, residuals)
    gram = features.T @ features
    diagonal = np.einsum("ij,ij->i", features, features)
    squares = np.einsum("ij,ij->i", features @ gram, features)  # the diagonal of K K
    statistic = ((features.T @ residuals) ** 2).sum() - diagonal @ (residuals**2).sum(axis=1)
    cubes = np.vdot(gram @ gram, gram) - 3 * diagonal @ squares + 2 * (diagonal**3).sum()
    return np.array([statistic, np.vdot(gram, gram) - diagonal @ diagonal, cubes])


def _of_kernel(kernel: NDArray[np.float32] | Floats, residuals: Floats) -> Floats:
    """Return the statistic and the two sums of a kernel matrix, without its diagonal."""
    kernel -= kernel.mean(axis=0)
    kernel -= kernel.mean(axis=1)[:, None]
    np.fill_diagonal(kernel, 0.0)
    return np.array(
        [
            np.vdot(residuals, kernel @ residuals),
            np.vdot(kernel, kernel),
            np.vdot(kernel @ kernel, kernel),
        ],
        dtype=np.float64,
    )


def _pair_kernel(columns: SmoothColumns, table: EncodedTable) -> NDArray[np.float32]:
    """Return the sum over the pairs of the products of the kernels of their two columns."""
    firsts: dict[int, list[int]] = {}
    for j, k in columns.pairs:
        firsts.setdefault(k, []).append(j)
    used = sorted({j for pair in columns.pairs for j in pair})

    def kernel(j: int) -> NDArray[np.float32]:
        features = columns.columns[j].pair_features(table).astype(np.float32)
        return np.asarray(features @ features.T)

    total = np.zeros((len(table), len(table)), dtype=np.float32)
    before = np.zeros_like(total)
    for place, k in enumerate(used):
        own, partners = kernel(k), firsts.get(k, [])
        if len(partners) == place:  # all columns before this one
            total += own * before
        else:
            total += own * sum(kernel(j) for j in partners)
        before += own
    return total


def _tail(moments: Floats, n_columns: int) -> float:
    """Return the tail of a statistic, by the gamma distribution of its first three moments."""
    statistic, squares, cubes = moments
    if not squares > 0:
        return 1.0
    deviation = np.sqrt(2 * n_columns * squares)
    skewness = 8 * n_columns * cubes / deviation**3
    if skewness < SYMMETRIC:
        return float(ndtr(-statistic / deviation))
    shape = 4 / skewness**2
    return float(gammaincc(shape, max(shape + np.sqrt(shape) * statistic / deviation, 0.0)))
