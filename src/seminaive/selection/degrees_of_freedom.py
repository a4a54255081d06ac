"""Effective degrees of freedom of coefficients under a ridge: from the Hessian, or by random probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dpotrs, dtrtri

from seminaive.objective.factor import lower_cholesky
from seminaive.solvers.line_search import FORCING
from seminaive.solvers.truncated_newton import dot_of_each, newton_direction

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Booleans, Floats
    from seminaive.design.protocol import Design


def exact_degrees(gram: Floats, strength: Floats) -> Floats:
    """Return ``1 - strength_i [(H + diag strength)^-1]_ii``."""
    root, _ = dtrtri(factor_with_ridge(gram, strength), lower=True, overwrite_c=True)
    return np.asarray(
        np.where(np.isinf(strength), 0.0, 1.0 - finite_ridge(strength) * np.einsum("ij,ij->j", root, root))
    )


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
        About the inverse of the penalised Hessians, ``n_probes`` columns for each fit.
    n_probes : int
        Random vectors per fit.
    """
    n_rows, n_fits = curvature.shape
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n_rows, n_probes))
    roots = np.repeat(np.sqrt(curvature), n_probes, axis=1)
    right = design.adjoint(roots * np.tile(signs, (1, n_fits)))
    ridge = np.repeat(ridge, n_probes, axis=1)
    right[np.isinf(ridge)] = 0.0
    probes = _Probes(design, roots**2, finite_ridge(ridge), precondition)
    gradient = -right[:, :, None]
    step = probes.precondition(gradient)
    # Closer than a Newton step, since no further step corrects it.
    aim = FORCING**2 * np.sqrt(dot_of_each(gradient, step))
    solution = newton_direction(probes, right, gradient, step, aim)[0][:, :, 0]
    products = (right * solution).reshape(len(right), n_fits, n_probes).mean(axis=2)
    return list(np.maximum(products, 0.0).T)


@dataclass(frozen=True)
class _Probes:
    """Systems of a penalised Hessian, one for each right side, as conjugate gradients solve them.

    Parameters
    ----------
    curvature : ndarray of shape (n_rows, n_probes)
        Of each row.
    ridge : ndarray of shape (n_coefficients, n_probes)
    inverse : callable
        The preconditioner.
    """

    design: Design
    curvature: Floats
    ridge: Floats
    inverse: Callable[[Floats], Floats]

    def hessian_product(self, _: Floats) -> Callable[[Floats], Floats]:
        """Return the function that multiplies vectors, (n_coefficients, n_probes, 1), by their Hessians."""
        space = self.design.workspace(self.curvature.shape[1])
        weights = np.zeros((len(self.curvature), space.width))
        weights[:, : self.curvature.shape[1]] = self.curvature

        def weigh(rows: slice, scores: Floats) -> None:
            scores *= weights[rows]

        def product(direction: Floats) -> Floats:
            flat = direction[:, :, 0]
            space.score(flat, weigh)
            return (space.adjoint() + self.ridge * flat)[:, :, None]

        return product

    def precondition(self, gradient: Floats) -> Floats:
        """Return vectors times approximate inverses of the Hessians."""
        return self.inverse(gradient[:, :, 0])[:, :, None]


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
