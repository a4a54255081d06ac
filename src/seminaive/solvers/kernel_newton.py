"""Penalised log loss in the row space: Newton steps for as many coefficients per class as there are rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsymm, dsymv
from scipy.linalg.lapack import dpotri, dpotrs
from scipy.special import expit

from seminaive.design.rounding import ROUNDING
from seminaive.objective.cholesky import inverse_of, lower_cholesky
from seminaive.solvers.line_search import FORCING, MOST_HALVINGS, SUFFICIENT_DECREASE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

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
    objective : float
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


class RowLoss:
    """The weighted log loss of scores: one column of log odds for two classes, else one per class.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    n_classes : int
    offset : ndarray of shape (n_rows, n_columns), optional
        Added to the scores.
    """

    def __init__(
        self, labels: Indices, row_weight: Floats, n_classes: int, offset: Floats | None = None
    ) -> None:
        self.row_weight = row_weight[:, None]
        self.n_columns = 1 if n_classes == 2 else n_classes
        if self.n_columns == 1:
            self.targets = (labels == 1).astype(np.float64)[:, None]
        else:
            self.targets = np.zeros((len(labels), n_classes))
            self.targets[np.arange(len(labels)), labels] = 1.0
        self.offset = offset
        self.at_equal = float(row_weight.sum() * np.log(n_classes))
        self.at_zero = self.at_equal
        if offset is not None:
            self.at_zero = self.evaluate(np.zeros_like(offset))[0]

    def evaluate(self, scores: Floats) -> tuple[float, Floats]:
        """Return the sum of the weighted losses, and the posterior: of class 1 of two, else of each class."""
        if self.offset is not None:
            scores = scores + self.offset
        if self.n_columns == 1:
            losses = np.logaddexp(0.0, scores) - self.targets * scores
            return float(np.vdot(self.row_weight, losses)), np.asarray(expit(scores))
        shifted = scores - scores.max(axis=1, keepdims=True)
        posterior = np.exp(shifted)
        totals = posterior.sum(axis=1, keepdims=True)
        posterior /= totals
        own = np.vdot(self.row_weight * self.targets, shifted)
        return float(np.vdot(self.row_weight, np.log(totals)) - own), posterior

    def residuals(self, posterior: Floats) -> Floats:
        """Return minus the derivative by each score."""
        return np.asarray(self.row_weight * (self.targets - posterior))

    def curvature(self, posterior: Floats) -> Floats:
        """Return the second derivative along each score of each row."""
        return np.asarray(self.row_weight * posterior * (1 - posterior))

    def curved(self, posterior: Floats, scores: Floats) -> Floats:
        """Return W times scores, W the second derivatives of the loss of each row."""
        weighted = self.row_weight * posterior
        if self.n_columns == 1:
            return np.asarray(weighted * (1 - posterior) * scores)
        means = np.einsum("ij,ij->i", posterior, scores)[:, None]
        return np.asarray(weighted * (scores - means))


def factor_curvature(kernel: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Return the Cholesky factor of ``I + V^1/2 K V^1/2``, V the curvatures of the rows, and V^1/2."""
    root = np.sqrt(curvature)
    # The kernel is symmetric, and its transpose in Fortran order.
    matrix = kernel.T * root
    matrix *= root[:, None]
    np.einsum("ii->i", matrix)[:] += 1.0
    # No eigenvalue is below 1: nothing is to be held back but rounding.
    return lower_cholesky(matrix, len(matrix) * ROUNDING), root


def smoother(kernel: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Return S and s with ``diag(s) S diag(s) = Q - Q 1 (1'Q 1)^-1 1'Q`` and ``Q = (V^-1 + K)^-1``.

    V are the curvatures of the rows, and what is taken off Q is what the free intercept explains. Of S, in
    Fortran order, only the lower triangle is meant.
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
    loss : RowLoss
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
        for c, own in enumerate(of_classes.T):
            rows = np.flatnonzero(own > least)
            if not len(rows):
                self._add_mean(c, own, total)
                continue
            among = self.kernel if len(rows) == len(own) else self.kernel[np.ix_(rows, rows)]
            factor, root = factor_curvature(among, own[rows])
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
    loss : RowLoss
    start : ndarray of shape (n_rows, n_columns)
        Scores, those of a fit under another kernel for instance.
    tol : float
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
            found, enough = _refined(system, loss, point.posterior, gradient, step, moved, FORCING)
            if not enough:
                system = NewtonSystem(kernel, loss, point.posterior)
                found = system.solve(gradient)
            step, moved = found
            decrement = 0.5 * float(np.vdot(gradient, moved))
        n_iter += 1
        there, length = _line_search(loss, point, step, moved, decrement)
        if not length:
            break
        # After a shortened step the next one takes a new Hessian.
        point, before = there, decrement if length == 1 else 0.0
    optimality = float(np.sqrt(max(decrement, 0.0) / loss.at_equal))
    intercept = (point.scores - kernel @ point.weights).mean(axis=0)
    return KernelFit(point.weights, intercept, point.scores, point.value, n_iter, optimality)


def _first_step(kernel: Floats, loss: RowLoss, start: Floats) -> tuple[_Point, NewtonSystem]:
    """Return the minimum of the quadratic model at some scores."""
    _, posterior = loss.evaluate(start)
    system = NewtonSystem(kernel, loss, posterior)
    right = loss.curved(posterior, start) + loss.residuals(posterior)
    found = system.solve(right)
    if not system.exact:
        found, _ = _refined(system, loss, posterior, right, *found, FORCING**2)
    return _Point.of(loss, *found), system


def _halved(loss: RowLoss, point: _Point) -> _Point:
    """Halve a step from zero until the value is below that at zero."""
    for _ in range(MOST_HALVINGS):
        if point.value <= loss.at_zero:
            break
        point = _Point.of(loss, 0.5 * point.weights, 0.5 * point.scores)
    return point


def _refined(
    system: NewtonSystem,
    loss: RowLoss,
    posterior: Floats,
    right: Floats,
    step: Floats,
    moved: Floats,
    forcing: float,
) -> tuple[tuple[Floats, Floats], bool]:
    """Solve ``(I + W K) x = right`` by conjugate gradients, preconditioned by an approximate system.

    ``step`` and ``moved`` are its solution, and K times it. Returns x and K x, and whether few products were
    enough for a residual of the wanted share of the right side.
    """
    solution, image = np.zeros_like(step), np.zeros_like(step)
    residual, square = right, float(np.vdot(right, moved))
    aim = forcing**2 * square
    for _ in range(MOST_PRODUCTS):
        product = step + loss.curved(posterior, moved)
        curvature = float(np.vdot(moved, product))
        if not curvature > 0:
            break
        length = square / curvature
        solution, image = solution + length * step, image + length * moved
        residual = residual - length * product
        preconditioned, its_image = system.solve(residual)
        before, square = square, float(np.vdot(residual, its_image))
        if square <= aim:
            return (solution, image), True
        step = preconditioned + square / before * step
        moved = its_image + square / before * moved
    return (solution, image), False


def _line_search(
    loss: RowLoss, point: _Point, step: Floats, moved: Floats, decrement: float
) -> tuple[_Point, float]:
    """Return the point at which the objective falls enough, and the share of the step, or 0."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        there = _Point.of(loss, point.weights + length * step, point.scores + length * moved)
        if np.isfinite(there.value) and there.value <= point.value - SUFFICIENT_DECREASE * length * decrement:
            return there, length
        length *= 0.5
    return point, 0.0
