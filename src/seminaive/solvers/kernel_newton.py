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

# Conjugate gradients solve for a Newton step until a product gains less than this share of the step's gain.
FORCING = 1e-4
# The first step starts at scores that its kernel may not have made, and solves for the weights themselves.
FIRST_FORCING = 1e-4
MOST_PRODUCTS = 200
# Beyond so many products per step, the preconditioner is factored again.
STALE = 12
# With more columns of scores than this, they share one Cholesky factor.
MOST_FACTORS = 6
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
        Norm of the gradient relative to that at zero, both in the metric of the kernel.
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
        return np.exp(log_softmax(scores, axis=1))

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


class _Curvature:
    """W = w (diag(p) - p p') of each row as a product R R', for two classes w p (1 - p)."""

    def __init__(self, posterior: Floats, row_weight: Floats) -> None:
        self.posterior = posterior
        self.single = posterior.shape[1] == 1
        variance = posterior * (1 - posterior) if self.single else posterior
        self.root = np.sqrt(row_weight * variance)
        self.root_weight = np.sqrt(row_weight)

    def up(self, s: Floats) -> Floats:
        """Return R s."""
        own = self.root * s
        if self.single:
            return own
        roots = np.sqrt(self.posterior)
        return np.asarray(own - self.root_weight * self.posterior * (roots * s).sum(axis=1, keepdims=True))

    def down(self, x: Floats) -> Floats:
        """Return R' x."""
        own = self.root * x
        if self.single:
            return own
        return np.asarray(own - self.root * (self.posterior * x).sum(axis=1, keepdims=True))

    def project(self, s: Floats) -> Floats:
        """Take off s what R maps to 0: the multiples of the roots of the probabilities of each row."""
        if self.single:
            return s
        roots = np.sqrt(self.posterior)
        return np.asarray(s - roots * (roots * s).sum(axis=1, keepdims=True))


def factor_curvature(kernel: Floats, curvature: Floats) -> tuple[Floats, Floats]:
    """Return the Cholesky factor of ``I + V^1/2 K V^1/2``, V the curvatures of the rows, and V^1/2."""
    root = np.sqrt(np.maximum(curvature, 1e-12))
    matrix = np.asfortranarray(kernel * root)
    matrix *= root[:, None]
    diagonal = np.einsum("ii->i", matrix)
    diagonal += 1.0
    added = 1e-10 * float(diagonal.mean())
    while True:
        factor, failed = dpotrf(matrix, lower=True, clean=False)
        if not failed:
            return factor, root
        diagonal += added
        added *= 100


def smoother(kernel: Floats, curvature: Floats) -> Floats:
    """Return ``(V^-1 + K)^-1`` for the curvatures V of the rows."""
    factor, root = factor_curvature(kernel, curvature)
    lower, _ = dpotri(factor, lower=True)
    inverse = np.tril(lower) + np.tril(lower, -1).T
    return np.asarray(root[:, None] * inverse * root)


def minimize_kernel(
    kernel: Floats,
    loss: RowLoss,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
) -> KernelFit:
    """Minimise from scores to start at, until half the squared Newton decrement is below tol times the value.

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
    scores, weights, value = start, np.zeros_like(start), np.inf
    at_zero = loss.value(np.zeros_like(start))
    factors: list[Floats] | None = None
    n_iter = 0
    decrement = np.inf
    while n_iter < max_iter:
        posterior = loss.posterior(scores)
        residuals = loss.residuals(posterior)
        if factors is None:
            factors = _factors(kernel, loss.curvature(posterior))
        own = _Curvature(posterior, loss.row_weight)
        consistent = weights if n_iter and np.isfinite(value) else None
        aim, products = _newton_weights(kernel, own, factors, residuals, scores, consistent)
        n_iter += 1
        if products > STALE:
            factors = None
        new_weights, new_scores, new_value = _shorten(kernel, loss, weights, aim, value, at_zero)
        if new_value is None and n_iter == 1 and scores.any():
            # The start is too far away for its quadratic model to be of use.
            scores, factors = np.zeros_like(start), None
            continue
        if new_value is None:
            break
        decrement = value - new_value
        weights, scores, value = new_weights, new_scores, new_value
        if decrement <= tol * abs(value):
            break
        if np.isinf(decrement):
            gradient = weights - loss.residuals(loss.posterior(scores))
            if 0.5 * _squared_decrement(kernel, own, factors, gradient) <= tol * value:
                break
    gradient = weights - loss.residuals(loss.posterior(scores))
    first = loss.residuals(loss.posterior(np.zeros_like(start)))
    norm, reference = (float(np.sqrt(max((g * (kernel @ g)).sum(), 0.0))) for g in (gradient, first))
    if np.isinf(value):
        value = at_zero
    return KernelFit(weights, scores, value, n_iter, norm / reference if reference > 0 else 0.0)


def _newton_weights(
    kernel: Floats,
    own: _Curvature,
    factors: list[Floats],
    residuals: Floats,
    scores: Floats,
    weights: Floats | None,
) -> tuple[Floats, int]:
    """Return the weights at the minimum of the quadratic model at some scores f, and the number of products.

    They are ``(I + W K)^-1 b`` with b = W f + r or, given weights a with f = K a, ``a + (I + W K)^-1 (r - a)``.
    Since W = R R', ``(I + W K)^-1 b = b - R s`` where ``(I + R'KR) s = R'K b``: a symmetric system, solved by
    conjugate gradients, preconditioned by a Cholesky factor that the columns share. For two classes it is exact
    as long as the scores have not moved.
    """
    b = own.up(own.down(scores)) + residuals if weights is None else residuals - weights
    moved = kernel @ b
    residual = own.down(moved)
    # Twice what the quadratic model gains: b'K b less twice the energy of s, which grows with each product.
    gain = float((b * moved).sum())
    solution = np.zeros_like(residual)
    step = _preconditioned(factors, own, residual)
    direction = step
    square = float((residual * step).sum())
    forcing = FIRST_FORCING if weights is None else FORCING
    n_products = 0
    energy = np.inf
    while square > 0 and energy > forcing * abs(gain) and n_products < MOST_PRODUCTS:
        product = direction + own.down(kernel @ own.up(direction))
        n_products += 1
        length = square / float((direction * product).sum())
        energy = length * square
        gain -= energy
        solution = solution + length * direction
        residual = residual - length * product
        step = _preconditioned(factors, own, residual)
        new_square = float((residual * step).sum())
        direction = step + (new_square / square) * direction
        square = new_square
    found = b - own.up(solution)
    return (found if weights is None else weights + found), n_products


def _factors(kernel: Floats, curvature: Floats) -> list[Floats]:
    """Return one Cholesky factor for each column, or one for all where they are many."""
    if curvature.shape[1] > MOST_FACTORS:
        curvature = curvature.mean(axis=1, keepdims=True)
    return [factor_curvature(kernel, own)[0] for own in curvature.T]


def _preconditioned(factors: list[Floats], own: _Curvature, x: Floats) -> Floats:
    """Return about ``(I + R'KR)^-1 x`` for x in the range of R'."""
    if len(factors) == 1:
        return own.project(np.asarray(dpotrs(factors[0], x, lower=True)[0]))
    solved = np.empty_like(x)
    for column, factor in enumerate(factors):
        solved[:, column] = dpotrs(factor, x[:, column], lower=True)[0]
    return own.project(solved)


def _squared_decrement(
    kernel: Floats, own: _Curvature, factors: list[Floats] | None, gradient: Floats
) -> float:
    """Return about ``g'(K^-1 + W)^-1 g``, twice what a Newton step gains.

    It is twice the gain of the best step along d = K (g - R s), s an approximate solution of the step's system.
    """
    if factors is None:
        return np.inf
    moved = kernel @ gradient
    along = gradient - own.up(_preconditioned(factors, own, own.down(moved)))
    direction = kernel @ along
    slope = float((gradient * direction).sum())
    curved = own.down(direction)
    return slope**2 / max(float((along * direction).sum() + (curved * curved).sum()), 1e-300)


def _shorten(
    kernel: Floats, loss: RowLoss, weights: Floats, aim: Floats, value: float, at_zero: float
) -> tuple[Floats, Floats, float | None]:
    """Halve a step until the objective falls; the first one is measured against zero."""
    limit = min(value, at_zero)
    step = 1.0
    for _ in range(MOST_HALVINGS):
        there = weights + step * (aim - weights)
        scores = kernel @ there
        found = loss.value(scores) + 0.5 * float((there * scores).sum())
        if np.isfinite(found) and found <= limit * (1 + 1e-12):
            return there, scores, found
        step *= 0.5
    return weights, kernel @ weights, None
