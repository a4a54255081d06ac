"""How uncertain the coefficients of a penalised fit are: Laplace's approximation, of low rank plus diagonal.

The posterior covariance under a ridge is ``(P + X'WX)^-1``, P being the ridge and W the second derivatives of
the loss in the scores. With prior variances ``D = P^-1`` and the eigenvectors V and eigenvalues l of
``A = D^1/2 X'WX D^1/2`` it is ``D^1/2 (I - V diag(l / (1 + l)) V') D^1/2``: each direction has its prior
variance, less what the rows determine of it. The leading directions are found by subspace iteration, which
needs products with X and X' only. Scores of several classes are read as contrasts between them (Helmert's,
which are orthonormal): no row depends on a constant that is added to all of them, and its prior variance
would be taken for that of the differences. What the rows determine of the directions that are not kept is
taken off the diagonal: every coefficient keeps its variance, and what is approximated are covariances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import helmert

from seminaive.objective.log_loss import curved

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.design.protocol import Design


# Directions that are looked for, per contrast of scores, and at most: those kept are the first of them. With
# 64 or 128 per contrast standard errors of rows were the same to 2 % (planted tables of 7 columns, 300 and
# 2,000 rows, 2 and 4 classes). Where classes are many, directions times contrasts are at most MOST_COLUMNS;
# FEWEST_SOUGHT are always looked for. Products are taken with this many columns AT_ONCE.
SOUGHT_PER_COLUMN, MOST_SOUGHT, FEWEST_SOUGHT, MOST_COLUMNS, AT_ONCE = 32, 96, 16, 1024, 64
# Products with A before the last one: with one fewer, standard errors are up to 3 % off on the same tables.
N_ITERATIONS = 2
# Prior variance of an intercept, over that which the rows alone would leave it: a negligible prior. Rows that
# have less curvature than the second number, all being classified beyond doubt, do not determine it.
FREE, LEAST_CURVATURE = 1e4, 1e-2


@dataclass(frozen=True)
class RowCurvature:
    """Second derivatives of the loss of each row in its scores.

    Parameters
    ----------
    posterior : ndarray of shape (n_rows, n_columns)
        The probability of the second of two classes, or of each.
    row_weight : ndarray of shape (n_rows,)
    """

    posterior: Floats
    row_weight: Floats

    @cached_property
    def contrasts(self) -> Floats:
        """The contrasts between classes, (n_contrasts, n_columns): the log odds of two, one fewer of more."""
        return as_contrasts(np.eye(self.posterior.shape[1])).T

    @property
    def diagonal(self) -> Floats:
        """Return the second derivative along each contrast, (n_rows, n_contrasts)."""
        p, contrasts = self.posterior, self.contrasts
        return np.asarray(
            self.row_weight[:, None] * (p @ np.square(contrasts).T - np.square(p @ contrasts.T))
        )

    def times(self, scores: Floats) -> Floats:
        """Return W times several sets of contrasts of scores, (n_rows, n_sets, n_contrasts)."""
        return as_contrasts(curved(self.posterior, self.row_weight, scores @ self.contrasts))


def as_contrasts(by_column: Floats) -> Floats:
    """Return values of the classes, on the last axis, as contrasts; those of log odds as they are."""
    n_columns = by_column.shape[-1]
    return by_column if n_columns == 1 else np.asarray(by_column @ helmert(n_columns).T)


@dataclass(frozen=True)
class CoefficientCovariance:
    """The covariance ``diag(variance) - sum over k of learned_k learned_k'``.

    Parameters
    ----------
    variance : ndarray of shape (n_coefficients, n_contrasts)
        What coefficients would vary by if nothing was known of the directions kept.
    learned : ndarray of shape (n_directions, n_coefficients, n_contrasts)
        The directions of which the rows tell most, as long as what they take off.
    """

    variance: Floats
    learned: Floats


def laplace_covariance(
    design: Design,
    curvature: RowCurvature,
    prior_variance: Floats,
    n_kept: int,
    generator: np.random.Generator,
) -> CoefficientCovariance:
    """Return the posterior covariance of coefficients, the first of which is the free intercept.

    Parameters
    ----------
    prior_variance : ndarray of shape (n_coefficients, n_contrasts)
        That of the intercept is not read.
    n_kept : int
        How many directions are kept.
    generator : Generator
        Draws where subspace iteration begins; the result depends on it by rounding.
    """
    of_intercept = np.maximum(curvature.diagonal.sum(axis=0), LEAST_CURVATURE)
    prior = prior_variance.copy()
    prior[0] = FREE / of_intercept
    eigenvalues, vectors = _leading(design, curvature, np.sqrt(prior), generator)
    known = eigenvalues / (1.0 + eigenvalues)
    squares = np.square(vectors)
    of_sought, of_kept = np.tensordot(known, squares, 1), np.tensordot(known[:n_kept], squares[:n_kept], 1)
    # The diagonal of A has all directions; the eigenvalue l of one that is not among those sought is at most
    # the last, so that l / (1 + l) is at least l / (1 + last).
    whole = prior * design.squared_adjoint(curvature.diagonal)
    rest = np.maximum(whole - np.tensordot(eigenvalues, squares, 1), 0.0) / (1.0 + eigenvalues[-1])
    of_all = np.minimum(of_sought + rest, 1.0 - 1.0 / (1.0 + whole))
    variance = prior * (1.0 - of_all) / np.maximum(1.0 - of_kept, np.finfo(np.float64).eps)
    learned = np.sqrt(variance) * vectors[:n_kept] * np.sqrt(known[:n_kept, None, None])
    return CoefficientCovariance(variance, learned)


def n_sought_of(n_columns: int) -> int:
    """Return how many directions are looked for."""
    most = min(SOUGHT_PER_COLUMN * n_columns, MOST_SOUGHT, MOST_COLUMNS // n_columns)
    return max(most, FEWEST_SOUGHT)


def _leading(
    design: Design, curvature: RowCurvature, root: Floats, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of A, decreasing, and their vectors, (n_sought, *shape of root)."""
    shape = root.shape
    n_rows = len(curvature.posterior)
    n_sought = min(n_sought_of(shape[1]), root.size, n_rows * shape[1])

    def times(vectors: Floats) -> Floats:
        step = max(AT_ONCE // shape[1], 1)
        return np.hstack([times_few(vectors[:, k : k + step]) for k in range(0, vectors.shape[1], step)])

    def times_few(vectors: Floats) -> Floats:
        inner = (vectors.reshape(*shape, -1).transpose(0, 2, 1) * root[:, None, :]).reshape(shape[0], -1)
        scores = design.scores(np.ascontiguousarray(inner)).reshape(n_rows, -1, shape[1])
        back = design.adjoint(curvature.times(scores).reshape(n_rows, -1)).reshape(shape[0], -1, shape[1])
        return np.asarray((back * root[:, None, :]).transpose(0, 2, 1).reshape(root.size, -1))

    basis = generator.standard_normal((root.size, n_sought))
    for _ in range(N_ITERATIONS):
        basis = np.linalg.qr(times(basis))[0]
    values, rotation = np.linalg.eigh(basis.T @ times(basis))
    order = np.argsort(-values, kind="stable")
    vectors = (basis @ rotation[:, order]).T.reshape(n_sought, *shape)
    return np.maximum(values[order], 0.0), vectors
