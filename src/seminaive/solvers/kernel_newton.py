"""Penalised log loss in the row space: Newton steps for as many coefficients per class as there are rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import expit, log_softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

# A Hessian is factored again where a step shortens the decrement to more than this share.
SLOW = 0.3
SUFFICIENT_DECREASE = 1e-4
MOST_HALVINGS = 30


@dataclass(frozen=True)
class KernelFit:
    """A minimiser of ``sum loss(y, K a) + a'K a / 2``.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        The weight a of each row's kernel function.
    scores : ndarray of shape (n_rows, n_columns)
        K a.
    objective : float
    n_iter : int
        Newton steps.
    optimality : float
        The root of the Newton decrement, about the distance of the value from its minimum, over the distance
        of the value at zero.
    """

    weights: Floats
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
    """

    def __init__(self, labels: Indices, row_weight: Floats, n_classes: int) -> None:
        self.row_weight = row_weight[:, None]
        self.n_columns = 1 if n_classes == 2 else n_classes
        if self.n_columns == 1:
            self.targets = (labels == 1).astype(np.float64)[:, None]
        else:
            self.targets = np.zeros((len(labels), n_classes))
            self.targets[np.arange(len(labels)), labels] = 1.0

    def posterior(self, scores: Floats) -> Floats:
        """Return the probability of class 1 of two, else of each class."""
        if self.n_columns == 1:
            return np.asarray(expit(scores))
        return np.asarray(np.exp(log_softmax(scores, axis=1)))

    def value(self, scores: Floats) -> float:
        """Return the sum of the weighted losses."""
        if self.n_columns == 1:
            losses = np.logaddexp(0.0, scores) - self.targets * scores
            return float((self.row_weight * losses).sum())
        return -float((self.row_weight * self.targets * log_softmax(scores, axis=1)).sum())

    def residuals(self, posterior: Floats) -> Floats:
        """Return minus the derivative by each score."""
        return np.asarray(self.row_weight * (self.targets - posterior))

    def curvature(self, posterior: Floats) -> Floats:
        """Return the second derivative along each score of each row."""
        return np.asarray(self.row_weight * posterior * (1 - posterior))


def factor_curvature(kernel: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Return the Cholesky factor of ``I + V^1/2 K V^1/2``, V the curvatures of the rows, and V^1/2."""
    root = np.sqrt(np.maximum(curvature, 1e-12))
    matrix = np.asfortranarray(kernel * root)
    matrix *= root[:, None]
    np.einsum("ii->i", matrix)[:] += 1.0
    return _cholesky(matrix), root


def _cholesky(matrix: Floats) -> Floats:
    """Return the Cholesky factor of a matrix in Fortran order, its diagonal raised until there is one."""
    diagonal = np.einsum("ii->i", matrix)
    added = 1e-12 * float(diagonal.mean())
    while True:
        factor, failed = dpotrf(matrix, lower=True, clean=False)
        if not failed:
            return np.asarray(factor)
        diagonal += added
        added *= 100


def smoother(kernel: Floats, curvature: Floats) -> Floats:
    """Return ``(V^-1 + K)^-1`` for the curvatures V of the rows."""
    factor, root = factor_curvature(kernel, curvature)
    lower, _ = dpotri(factor, lower=True)
    inverse = np.tril(lower) + np.tril(lower, -1).T
    return np.asarray(root[:, None] * inverse * root)


class _NewtonSystem:
    """``(I + W K)^-1`` at given curvatures W of the loss, factored once and used for several steps.

    For two classes W is diagonal. For more, W = D - D 1 (1'D 1)^-1 1'D with D = w p, block by block, so that
    with E_c = D_c^1/2 (I + D_c^1/2 K D_c^1/2)^-1 D_c^1/2 the inverse takes b to
    ``b - E K b + E 1 (sum_c E_c)^-1 1'E K b`` (Rasmussen and Williams, 2006, algorithm 3.3).
    """

    def __init__(self, kernel: Floats, posterior: Floats, row_weight: Floats) -> None:
        self.kernel = kernel
        if posterior.shape[1] == 1:
            curvature = (row_weight * posterior * (1 - posterior))[:, 0]
            self.factor, self.root = factor_curvature(kernel, curvature)
            self.blocks: list[Floats] = []
        else:
            self.blocks = [smoother(kernel, own) for own in (row_weight * posterior).T]
            total = np.asfortranarray(np.sum(self.blocks, axis=0))
            self.factor = _cholesky(total)

    def solve(self, b: Floats) -> Floats:
        """Return ``(I + W K)^-1 b``."""
        moved = self.kernel @ b
        if not self.blocks:
            along, _ = dpotrs(self.factor, self.root[:, None] * moved, lower=True)
            return np.asarray(b - self.root[:, None] * along)
        damped = np.stack([own @ x for own, x in zip(self.blocks, moved.T, strict=True)], axis=1)
        shared, _ = dpotrs(self.factor, damped.sum(axis=1), lower=True)
        back = np.stack([own @ shared for own in self.blocks], axis=1)
        return np.asarray(b - damped + back)


def minimize_kernel(
    kernel: Floats,
    loss: RowLoss,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
) -> KernelFit:
    """Minimise from scores to start at, until the Newton decrement is below tol times the gain over zero.

    A factored Hessian serves several steps, as long as these shorten the decrement.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
        K, an unpenalised intercept being a large constant in it.
    loss : RowLoss
    start : ndarray of shape (n_rows, n_columns)
        Scores, those of a fit under another kernel for instance.
    tol : float
    max_iter : int
        Newton steps.
    """
    zero = np.zeros_like(start)
    at_zero = loss.value(zero)
    weights, scores, value, system = _first_step(kernel, loss, start, at_zero)
    if value > at_zero:
        weights, scores, value, system = _first_step(kernel, loss, zero, np.inf)
    n_iter, decrement = 1, np.inf
    while n_iter < max_iter:
        posterior = loss.posterior(scores)
        gradient = loss.residuals(posterior) - weights
        step = system.solve(gradient)
        moved = kernel @ step
        before, decrement = decrement, 0.5 * float((gradient * moved).sum())
        if decrement <= tol * _gained(at_zero, value):
            break
        if decrement > SLOW * before:
            system = _NewtonSystem(kernel, posterior, loss.row_weight)
            step = system.solve(gradient)
            moved = kernel @ step
            decrement = 0.5 * float((gradient * moved).sum())
        n_iter += 1
        length = _length(loss, (weights, scores, value), (step, moved), decrement)
        if not length:
            break
        weights, scores = weights + length * step, scores + length * moved
        value = loss.value(scores) + 0.5 * float((weights * scores).sum())
        if length < 1:
            decrement = 0.0  # the next step takes a new Hessian
    gradient = loss.residuals(loss.posterior(scores)) - weights
    decrement = 0.5 * float((gradient * (kernel @ system.solve(gradient))).sum())
    optimality = float(np.sqrt(max(decrement, 0.0) / _gained(at_zero, value)))
    return KernelFit(weights, scores, value, n_iter, optimality)


def _gained(at_zero: float, value: float) -> float:
    """Return what a fit has gained over coefficients of 0, at least a small share of its value."""
    return max(at_zero - value, 1e-3 * abs(value), 1e-300)


def _first_step(
    kernel: Floats, loss: RowLoss, start: Floats, limit: float
) -> tuple[Floats, Floats, float, _NewtonSystem]:
    """Return weights, scores and value at the minimum of the quadratic model at some scores.

    Beyond a limit the value is left as it is; without one, the step from zero is halved until it falls.
    """
    posterior = loss.posterior(start)
    system = _NewtonSystem(kernel, posterior, loss.row_weight)
    curved = loss.row_weight * posterior * start
    if loss.n_columns == 1:
        curved *= 1 - posterior
    else:
        curved -= posterior * curved.sum(axis=1, keepdims=True)
    weights = system.solve(curved + loss.residuals(posterior))
    scores = kernel @ weights
    value = loss.value(scores) + 0.5 * float((weights * scores).sum())
    if np.isinf(limit):
        at_zero = loss.value(np.zeros_like(start))
        for _ in range(MOST_HALVINGS):
            if value <= at_zero:
                break
            weights, scores = 0.5 * weights, 0.5 * scores
            value = loss.value(scores) + 0.5 * float((weights * scores).sum())
    return weights, scores, value, system


def _length(
    loss: RowLoss,
    here: tuple[Floats, Floats, float],
    step: tuple[Floats, Floats],
    decrement: float,
) -> float:
    """Return by how much of a step the objective falls enough, or 0."""
    weights, scores, value = here
    length = 1.0
    for _ in range(MOST_HALVINGS):
        there, moved = weights + length * step[0], scores + length * step[1]
        found = loss.value(moved) + 0.5 * float((there * moved).sum())
        if np.isfinite(found) and found <= value - SUFFICIENT_DECREASE * length * decrement:
            return length
        length *= 0.5
    return 0.0
