"""Penalised log loss in the row space: Newton steps for as many coefficients per class as there are rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsymm, dsymv
from scipy.linalg.lapack import dpotri, dpotrs

from seminaive.design.rounding import ROUNDING
from seminaive.objective.factor import inverse_of, lower_cholesky
from seminaive.solvers.certificates import relative_decrement
from seminaive.solvers.line_search import FORCING, backtrack
from seminaive.solvers.truncated_newton import newton_direction

if TYPE_CHECKING:
    from collections.abc import Callable

    from seminaive.arrays import Floats, Indices
    from seminaive.objective.row_loss import RowLoss


# How a minimum is approached; none of these numbers moves it. A Hessian is factored again where a step
# shortens the decrement to more than the share SLOW. Conjugate gradients solve for a Newton step until the
# residual falls to the share FORCING of the gradient (its square for the first step of a fit, which is
# solved for as a whole and not from where it starts), and are given up after MOST_PRODUCTS. From MANY_ROWS
# on, second derivatives by a class are left out of a system where their product with the mean prior variance
# of scores, without that of their mean, is below NEGLIGIBLE.
SLOW, MOST_PRODUCTS, MANY_ROWS, NEGLIGIBLE = 0.3, 10, 150, 0.1


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
        The root of the Newton decrement, which is about the distance of the value from its minimum, over the
        loss of equal probabilities.
    """

    weights: Floats
    intercept: Floats
    scores: Floats
    objective: float
    n_iter: int
    optimality: float


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


class NewtonSystem:
    """The Newton equations ``(I + W K) a + W 1 b = right``, ``1'a = 0`` at given second derivatives W.

    They are factored once and used for several steps. For two classes W is diagonal. For more,
    W = D - D 1 (1'D 1)^-1 1'D with D = w p, block by block, so that with
    E_c = D_c^1/2 (I + D_c^1/2 K D_c^1/2)^-1 D_c^1/2 the symmetric operator (I + W K)^-1 W is
    ``E - E 1 (sum_c E_c)^-1 1'E`` (Rasmussen and Williams, 2006, algorithm 3.3). Of symmetric matrices only
    the lower triangles are computed. Rows that hardly ever belong to a class have D_c = 0 in its block, which
    makes the block smaller; conjugate gradients make up for what is left out. The intercepts b are eliminated
    last.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
    posterior : ndarray of shape (n_rows, n_columns)
        Where the second derivatives are taken.
    exact : bool
        Whether rows that hardly ever belong to a class stay in its block.
    """

    def __init__(self, kernel: Floats, loss: RowLoss, posterior: Floats, *, exact: bool = False) -> None:
        self.kernel = kernel
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


@dataclass(frozen=True)
class _Point:
    """Weights a that add up to 0, scores K a + b, and the value and posterior there."""

    weights: Floats
    scores: Floats
    value: float
    posterior: Floats

    @classmethod
    def of(cls, loss: RowLoss, weights: Floats, scores: Floats) -> _Point:
        value, posterior = loss.evaluate(scores)
        # The intercept has no part in a'K a, since the weights add up to 0.
        return cls(weights, scores, value + 0.5 * float(np.vdot(weights, scores)), posterior)


def minimize_kernel(
    kernel: Floats,
    loss: RowLoss,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
) -> KernelFit:
    """Minimise from scores to start at, until the Newton decrement is below tol times the loss of equal odds.

    A factored Hessian serves several steps, as long as these shorten the decrement; then it preconditions
    conjugate gradients, as long as few of them give a step.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
        K, without the intercept.
    start : ndarray of shape (n_rows, n_columns)
        Scores, those of a fit under another kernel for instance.
    max_iter : int
        Newton steps.
    """
    point, system = _first_step(kernel, loss, start)
    if not point.value <= loss.at_zero:
        point, system = _first_step(kernel, loss, np.zeros_like(start))
        point = _halved(loss, point)
    n_iter, before = 1, np.inf
    while True:
        gradient = loss.residuals(point.posterior) - point.weights
        step, moved = system.solve(gradient)
        decrement = 0.5 * float(np.vdot(gradient, moved))
        if decrement <= tol * loss.at_equal or n_iter >= max_iter:
            break
        if decrement > SLOW * before:
            found, enough = _refined(system, loss, point.posterior, gradient, (step, moved), FORCING)
            if not enough:
                system = NewtonSystem(kernel, loss, point.posterior)
                found = system.solve(gradient)
            step, moved = found
            decrement = 0.5 * float(np.vdot(gradient, moved))
        n_iter += 1
        there, length = _stepped(loss, point, step, moved, decrement)
        if not length:
            break
        # After a shortened step the next one takes a new Hessian.
        point, before = there, decrement if length == 1 else 0.0
    optimality = relative_decrement(decrement, loss.at_equal)
    intercept = (point.scores - kernel @ point.weights).mean(axis=0)
    return KernelFit(point.weights, intercept, point.scores, point.value, n_iter, optimality)


def _first_step(kernel: Floats, loss: RowLoss, start: Floats) -> tuple[_Point, NewtonSystem]:
    """Return the minimum of the quadratic model at some scores."""
    _, posterior = loss.evaluate(start)
    system = NewtonSystem(kernel, loss, posterior)
    right = loss.curved(posterior, start) + loss.residuals(posterior)
    found = system.solve(right)
    if not system.exact:
        found, _ = _refined(system, loss, posterior, right, found, FORCING**2)
    return _Point.of(loss, *found), system


def _halved(loss: RowLoss, point: _Point) -> _Point:
    """Halve a step from zero until the value is no more than that at zero."""

    def attempt(length: float) -> tuple[float, float, _Point]:
        there = _Point.of(loss, length * point.weights, length * point.scores)
        return there.value, 0.0, there

    found, _, _ = backtrack(attempt, loss.at_zero, 0.0)
    return point if found is None else found


@dataclass(frozen=True)
class _Preconditioned:
    """The equations ``(I + W K) x = right`` as conjugate gradients solve them, given an approximate system.

    They are symmetric in the scalar product u'K v. A vector x is kept beside its image, ``[x, K x]``, and a
    right side beside zeros, ``[0, r]``, so that the plain scalar product of the two is x'K r.
    """

    system: NewtonSystem
    loss: RowLoss

    def hessian_product(self, posterior: Floats, /) -> Callable[[Floats], Floats]:
        def product(direction: Floats) -> Floats:
            along, image = np.split(direction[:, 0], 2, axis=1)
            return self.right(along + self.loss.curved(posterior, image))

        return product

    def precondition(self, gradient: Floats) -> Floats:
        return np.concatenate(self.system.solve(np.split(gradient[:, 0], 2, axis=1)[1]), axis=1)[:, None]

    @staticmethod
    def right(right: Floats) -> Floats:
        return np.concatenate([np.zeros_like(right), right], axis=1)[:, None]


def _refined(
    system: NewtonSystem,
    loss: RowLoss,
    posterior: Floats,
    right: Floats,
    found: tuple[Floats, Floats],
    forcing: float,
) -> tuple[tuple[Floats, Floats], bool]:
    """Solve ``(I + W K) x = right`` by conjugate gradients, preconditioned by an approximate system.

    ``found`` is its solution, and K times it. Returns x and K x, and whether few products were enough for a
    residual of the wanted share of the right side.
    """
    systems = _Preconditioned(system, loss)
    step = np.concatenate(found, axis=1)[:, None]
    aim = forcing * np.sqrt(np.abs(np.vdot(right, found[1])))
    solution, _, left = newton_direction(
        systems, posterior, -systems.right(right), -step, np.array([aim]), MOST_PRODUCTS
    )
    refined, image = np.split(solution[:, 0], 2, axis=1)
    return (refined, image), bool(left[0] <= aim)


def _stepped(
    loss: RowLoss, point: _Point, step: Floats, moved: Floats, decrement: float
) -> tuple[_Point, float]:
    """Return the point at which the objective falls enough, and the share of the step, or 0."""

    def attempt(length: float) -> tuple[float, float, _Point]:
        there = _Point.of(loss, point.weights + length * step, point.scores + length * moved)
        return there.value, length * decrement, there

    found, _, length = backtrack(attempt, point.value, 0.0)
    return (point, 0.0) if found is None else (found, float(length))
