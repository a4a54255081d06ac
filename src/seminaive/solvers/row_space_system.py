"""The Newton equations of a ridge problem in the row space, and its minimum by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsymm, dsymv
from scipy.linalg.lapack import dpotri, dpotrs

from seminaive.design.rounding import ROUNDING
from seminaive.objective.factor import inverse_of, lower_cholesky
from seminaive.objective.row_space_objective import RowSpaceObjective, parts, vector_of
from seminaive.solvers.line_search import backtrack
from seminaive.solvers.minimize import minimize

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.objective.row_loss import RowLoss


# How fast a minimum is found, not which. From MANY_ROWS on, second derivatives by a class are left out of a
# system where their product with the mean prior variance of scores, without that of their mean, is below
# NEGLIGIBLE.
MANY_ROWS, NEGLIGIBLE = 150, 0.1


def factor_curvature(kernel: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Return the Cholesky factor of ``I + V^1/2 K V^1/2``, V the curvatures of the rows, and V^1/2."""
    root = np.sqrt(curvature)
    # The kernel is symmetric, and its transpose in Fortran order.
    matrix = kernel.T * root
    matrix *= root[:, None]
    np.einsum("ii->i", matrix)[:] += 1.0
    # No eigenvalue is below 1: nothing is to be held back but rounding.
    return lower_cholesky(matrix, len(matrix) * ROUNDING), root


def reml_projection(kernel: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Return S and s with ``diag(s) S diag(s) = Q - Q 1 (1'Q 1)^-1 1'Q`` and ``Q = (V^-1 + K)^-1``.

    It is the projection of restricted maximum likelihood: V are the curvatures of the rows, and what is taken
    off Q is what the free intercept explains. Of S, in Fortran order, only the lower triangle is meant.
    """
    factor, root = factor_curvature(kernel, curvature)
    lower, _ = dpotri(factor, lower=True, overwrite_c=True)
    along = dsymv(1.0, lower, root, lower=True)
    total = float(root @ along)
    if total > 0:
        lower -= np.outer(along / total, along)
    return np.asarray(lower), root


class RowSpaceSystem:
    """The Newton equations ``(I + W K) a + W 1 b = right``, ``1'a = 0`` at given second derivatives W.

    They are factored once and precondition several steps. For two classes W is diagonal. For more,
    W = D - D 1 (1'D 1)^-1 1'D with D = w p, block by block, so that with
    E_c = D_c^1/2 (I + D_c^1/2 K D_c^1/2)^-1 D_c^1/2 the symmetric operator (I + W K)^-1 W is
    ``E - E 1 (sum_c E_c)^-1 1'E`` (Rasmussen and Williams, 2006, algorithm 3.3). Of symmetric matrices only
    the lower triangles are computed. Rows that hardly ever belong to a class have D_c = 0 in its block, which
    makes the block smaller; conjugate gradients make up for what is left out. The intercepts b are eliminated
    last.

    Parameters
    ----------
    objective : RowSpaceObjective
        With the kernel K.
    posterior : ndarray of shape (n_rows, n_columns)
        Where the second derivatives are taken.
    exact : bool
        Whether rows that hardly ever belong to a class stay in its block.
    """

    def __init__(self, objective: RowSpaceObjective, posterior: Floats, *, exact: bool = False) -> None:
        self._objective = objective
        loss = objective.loss
        kernel = self.kernel = objective.kernel
        self.exact = exact or loss.n_columns == 1 or len(kernel) < MANY_ROWS
        self.blocks: list[tuple[int, Indices, Floats]] = []
        if loss.n_columns == 1:
            self.factor, root = factor_curvature(kernel, loss.curvature(posterior)[:, 0])
            self.roots = root[:, None]
        else:
            self.factor = self._factor_blocks(loss.row_weight * posterior, self._least(loss))
        self._factor_intercepts(loss.n_columns)

    def _least(self, loss: RowLoss) -> Floats:
        """Return below what D_c is taken for 0, for each row: never so for the most probable class."""
        if self.exact:
            return np.zeros(len(self.kernel))
        # What the intercept takes up is no spread.
        spread = float(np.einsum("ii->i", self.kernel).mean() - self.kernel.mean())
        most = 0.5 / loss.n_columns * loss.row_weight[:, 0]
        return np.minimum(NEGLIGIBLE / spread, most) if spread > 0 else most

    def _factor_blocks(self, of_classes: Floats, least: Floats) -> Floats:
        """Keep E_c of each class, and return the Cholesky factor of their sum."""
        from seminaive.kernels.symmetric import add_scaled

        total = np.zeros(self.kernel.shape, order="F")
        for c, of_class in enumerate(of_classes.T):
            rows = np.flatnonzero(of_class > least)
            if not len(rows):
                self._add_mean(c, of_class, total)
                continue
            among = self.kernel if len(rows) == len(of_class) else self.kernel[np.ix_(rows, rows)]
            factor, root = factor_curvature(among, of_class[rows])
            lower, _ = dpotri(factor, lower=True, overwrite_c=True)
            add_scaled(lower, root, rows, total)
            self.blocks.append((c, rows, lower))
        return lower_cholesky(total)

    def _add_mean(self, column: int, of_class: Floats, total: Floats) -> None:
        """Keep E_c of a class that no row is likely to belong to: that of its mean score alone.

        With D_c = t d d', where d adds up to 1, it is d d' / (1 / t + d'K d). Without it nothing would
        determine the intercept of the class.
        """
        weight = float(of_class.sum())
        if weight > 0:
            shares = of_class / weight
            outer = np.asfortranarray(np.outer(shares, shares))
            outer /= 1.0 / weight + float(shares @ self.kernel @ shares)
            total += outer
            self.blocks.append((column, np.arange(len(shares)), outer))

    def _factor_intercepts(self, n_columns: int) -> None:
        """Solve for what each intercept moves, ``(I + W K)^-1 W 1``, and invert its sums over the rows."""
        ones = np.ones((len(self.kernel), n_columns))
        if not self.blocks:
            moved = self._times_curvature(ones)[None]
        else:
            alone = self._times_blocks(ones)
            shared, _ = dpotrs(self.factor, alone, lower=True)
            moved = np.zeros((n_columns, *ones.shape))
            for c, rows, lower in self.blocks:
                moved[:, rows, c] = -dsymm(1.0, lower, shared[rows], lower=True).T
                moved[c, :, c] += alone[:, c]
        sums = moved.sum(axis=1).T
        self._moved = moved.reshape(n_columns, -1)
        # Adding one number to the intercepts of all classes changes nothing: they are to add up to 0.
        constant = float(np.trace(sums)) / n_columns**2 if n_columns > 1 else 0.0
        self._intercepts = inverse_of(lower_cholesky(sums + constant, ROUNDING))

    def _times_curvature(self, scores: Floats) -> Floats:
        """Return ``(I + W K)^-1 W`` times scores."""
        if not self.blocks:
            along, _ = dpotrs(self.factor, self.roots * scores, lower=True)
            return np.asarray(self.roots * along)
        damped = self._times_blocks(scores)
        shared, _ = dpotrs(self.factor, damped.sum(axis=1), lower=True)
        return damped - self._times_blocks(np.broadcast_to(shared[:, None], damped.shape))

    def solve(self, right: Floats) -> tuple[Floats, Floats]:
        """Return the weights a, and the scores ``K a + b``."""
        found = right - self._times_curvature(self.kernel @ right)
        intercept = self._intercepts @ found.sum(axis=0)
        found -= (intercept @ self._moved).reshape(found.shape)
        return found, self.kernel @ found + intercept

    def smooth_each(self, offsets: Floats) -> tuple[Floats, Floats]:
        """Return the weights a and intercepts b of ``(I + W K) a + W 1 b = W o`` for each offset o.

        Parameters
        ----------
        offsets : ndarray of shape (n, n_rows, n_columns)
        """
        if self.blocks:
            found = self._times_blocks_each(offsets)
            shared, _ = dpotrs(self.factor, found.sum(axis=2).T, lower=True)
            found -= self._times_blocks_each(np.broadcast_to(shared.T[:, :, None], found.shape))
        else:
            found = np.ascontiguousarray(self._times_curvature(offsets[:, :, 0].T).T)[:, :, None]
        intercepts = found.sum(axis=1) @ self._intercepts.T
        found -= (intercepts @ self._moved).reshape(found.shape)
        return found, intercepts

    def _times_blocks_each(self, vectors: Floats) -> Floats:
        """Return E_c times the column of each class c of several vectors, (n, n_rows, n_columns)."""
        found = np.zeros(vectors.shape)
        for c, rows, lower in self.blocks:
            found[:, rows, c] = dsymm(1.0, lower, vectors[:, rows, c].T, lower=True).T
        return found

    def _times_blocks(self, vectors: Floats) -> Floats:
        """Return E_c times the column of each class c."""
        found = np.zeros(vectors.shape)
        for c, rows, lower in self.blocks:
            found[rows, c] = dsymv(1.0, lower, vectors[rows, c], lower=True)
        return found

    @property
    def cost(self) -> float:
        """Return the operations of factoring, n^3 / 3 for each factor, over those of a product, 2 n^2."""
        n_columns = max(len(self._intercepts), 1)
        factored = 1.0 if n_columns == 1 else 3.0 * n_columns + 1.0
        return factored * len(self.kernel) / (18.0 if n_columns == 1 else 24.0 * n_columns)

    def at(self, z: Floats, paid: int) -> RowSpaceSystem:
        """Return the equations at another vector."""
        del paid
        return RowSpaceSystem(self._objective, self._objective.posterior(z))

    def __call__(self, gradient: Floats) -> Floats:
        """Return the Newton step against a gradient, ``[a; K a + b]``."""
        return vector_of(*self.solve(parts(gradient)[1]))


@dataclass(frozen=True)
class KernelFit:
    """A minimiser of ``sum loss(y, K a + b) + a'K a / 2``.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        The weight a of each row's kernel function; they add up to 0.
    intercept : ndarray of shape (n_columns,)
        b, which is not penalised.
    scores : ndarray of shape (n_rows, n_columns)
        K a + b.
    n_iter : int
        Newton steps.
    optimality : float
        The root of the share of the objective by which it may exceed its minimum.
    """

    weights: Floats
    intercept: Floats
    scores: Floats
    objective: float
    n_iter: int
    optimality: float


def minimize_kernel(kernel: Floats, loss: RowLoss, start: Floats, *, tol: float, max_iter: int) -> KernelFit:
    """Minimise from scores to start at, until the objective exceeds its minimum by ``tol**2`` of it at most.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
        K, without the intercept.
    start : ndarray of shape (n_rows, n_columns)
        Scores, those of a fit under another kernel for instance.
    max_iter : int
        Newton steps.
    """
    objective = RowSpaceObjective(kernel, loss)
    first, system = _minimum_of_model(objective, start)
    if not objective(first)[0] <= loss.at_zero:
        first, system = _minimum_of_model(objective, np.zeros_like(start))
        first = _halved(objective, first)
    result = minimize(objective, first, system, tol=tol, max_iter=max_iter)
    weights, scores = map(np.ascontiguousarray, parts(result.solution))
    intercept = (scores - kernel @ weights).mean(axis=0)
    return KernelFit(weights, intercept, scores, result.objective, result.n_iter, result.optimality)


def _minimum_of_model(objective: RowSpaceObjective, scores: Floats) -> tuple[Floats, RowSpaceSystem]:
    """Return the minimum of the quadratic model at some scores, and the Newton equations there."""
    loss = objective.loss
    _, posterior = loss.evaluate(scores)
    system = RowSpaceSystem(objective, posterior)
    return vector_of(*system.solve(loss.curved(posterior, scores) + loss.residuals(posterior))), system


def _halved(objective: RowSpaceObjective, z: Floats) -> Floats:
    """Halve a step from zero until the value is no more than that at zero."""

    def attempt(length: float) -> tuple[float, float, Floats]:
        return float(objective(length * z)[0][0]), 0.0, length * z

    found, _, _ = backtrack(attempt, objective.loss.at_zero, 0.0)
    return z if found is None else found
