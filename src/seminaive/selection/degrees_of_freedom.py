"""Effective degrees of freedom of coefficients under a ridge: from the Hessian, or by random probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dpotrs, dtrtri

from seminaive.objective.factor import lower_cholesky
from seminaive.solvers.line_search import FORCING
from seminaive.solvers.minimize import conjugate_gradients, dot_of_each
from seminaive.solvers.row_space_system import reml_projection

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Booleans, Floats
    from seminaive.design.protocol import Design
    from seminaive.design.term_kernels import TermKernels


def exact_degrees(gram: Floats, strength: Floats) -> Floats:
    """Return ``1 - strength_i [(H + diag strength)^-1]_ii``."""
    root, _ = dtrtri(factor_with_ridge(gram, strength), lower=True, overwrite_c=True)
    return np.asarray(
        np.where(np.isinf(strength), 0.0, 1.0 - finite_ridge(strength) * np.einsum("ij,ij->j", root, root))
    )


def degrees_through_rows(kernels: TermKernels, variance: Floats, curvature: Floats) -> Floats:
    """Return ``s_t tr(Q K_t)`` of each term t, K_t its kernel, s_t its prior variance, and Q as in REML.

    ``Q = (V^-1 + K)^-1`` less what the free intercept explains, V the curvature of each row and K the sum of
    all ``s_t K_t``: these are the same degrees as from the Hessian, by a matrix of rows.

    Parameters
    ----------
    variance : ndarray of shape (n_fits, n_terms)
    curvature : ndarray of shape (n_rows, n_fits)

    Returns
    -------
    ndarray of shape (n_fits, n_terms)
    """
    from seminaive.kernels.symmetric import weighted_sum

    every, ones = np.arange(kernels.n_rows), np.ones(3)
    kernel = np.empty((kernels.n_rows, kernels.n_rows))
    projections = []
    for groups, weights in zip(kernels.by_group(variance), curvature.T, strict=True):
        weighted_sum(groups, ones, 0.0, every, kernel)
        projections.append((every, *reml_projection(kernel, weights)))
    return variance * kernels.traces(projections)


def probed_degrees(
    design: Design,
    ridge: Floats,
    curvature: Floats,
    precondition: Callable[[Floats], Floats],
    n_probes: int,
) -> list[Floats]:
    """Return u x on average, u = X'V^1/2 e for random signs e and x = (H + Lambda)^-1 u.

    All systems are solved side by side by conjugate gradients.

    Parameters
    ----------
    ridge : ndarray of shape (n_coefficients, n_fits)
        Infinite for coefficients that stay 0.
    curvature : ndarray of shape (n_rows, n_fits)
        Of each row.
    precondition : callable
        About the inverse of the penalised Hessians, for vectors of shape (n_coefficients, n_fits, n_probes).
    n_probes : int
        Random vectors per fit.
    """
    n_rows, n_fits = curvature.shape
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n_rows, n_probes))
    roots = np.repeat(np.sqrt(curvature), n_probes, axis=1)
    right = design.adjoint(roots * np.tile(signs, (1, n_fits)))
    ridge = np.repeat(ridge, n_probes, axis=1)
    right[np.isinf(ridge)] = 0.0

    def inverse(vectors: Floats) -> Floats:
        return precondition(vectors.reshape(-1, n_fits, n_probes)).reshape(vectors.shape)

    gradient = -right[:, :, None]
    step = inverse(gradient)
    # Closer than a Newton step, since no further step corrects it.
    aim = FORCING**2 * np.sqrt(dot_of_each(gradient, step))
    multiply = _hessian_product(design, roots**2, finite_ridge(ridge))
    solution = conjugate_gradients(multiply, inverse, gradient, step, aim)[0][:, :, 0]
    products = (right * solution).reshape(len(right), n_fits, n_probes).mean(axis=2)
    return list(np.maximum(products, 0.0).T)


def _hessian_product(design: Design, curvature: Floats, ridge: Floats) -> Callable[[Floats], Floats]:
    """Return the function that multiplies vectors, (n_coefficients, n_probes, 1), each by its Hessian.

    Parameters
    ----------
    curvature : ndarray of shape (n_rows, n_probes)
        Of each row.
    ridge : ndarray of shape (n_coefficients, n_probes)
    """
    space = design.workspace(curvature.shape[1])
    weights = np.zeros((len(curvature), space.width))
    weights[:, : curvature.shape[1]] = curvature

    def weigh(rows: slice, scores: Floats) -> None:
        scores *= weights[rows]

    def product(direction: Floats) -> Floats:
        flat = direction[:, :, 0]
        space.score(flat, weigh)
        return (space.adjoint() + ridge * flat)[:, :, None]

    return product


def factor_with_ridge(gram: Floats, strength: Floats) -> Floats:
    """Return the lower Cholesky factor of a Gram matrix plus the ridge; of 1 where that is infinite."""
    free = np.isfinite(strength)
    if free.all():
        return lower_cholesky(gram + np.diag(strength))
    return lower_cholesky(gram * (free & free[:, None]) + np.diag(np.where(free, strength, 1.0)))


def solve_free(factor: Floats, free: Booleans | None, right: Floats) -> Floats:
    """Return the solution of a system, given its factor; 0 where a coefficient is not free, None for all."""
    solved = np.asarray(dpotrs(factor, right, lower=True)[0])
    return solved if free is None else solved * free[:, None]


def finite_ridge(ridge: Floats) -> Floats:
    """Return a ridge with 0 where it is infinite: a coefficient that never moves from 0 has no penalty."""
    return np.where(np.isinf(ridge), 0.0, ridge)
