"""Penalised log loss in the row space under linear inequalities: Newton steps with quadratic subproblems.

Coefficients c of prior variances V that obey ``A c >= 0`` are ``c = V (F'a + A'm)`` at a minimum, F their
features, a the weights of the rows and m >= 0 the multipliers of the inequalities. Scores are therefore
``K a + G m + b`` with ``G = F V A'``: a kernel fit with one more function per inequality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.rounding import ROUNDING
from seminaive.objective.row_space_objective import RowSpaceObjective
from seminaive.solvers.certificates import relative_decrement
from seminaive.solvers.line_search import backtrack
from seminaive.solvers.nonnegative_quadratic import minimize_quadratic
from seminaive.solvers.row_space_system import KernelFit, RowSpaceSystem

if TYPE_CHECKING:
    from seminaive.arrays import Floats
    from seminaive.objective.row_loss import RowLoss


@dataclass(frozen=True)
class RowInequalities:
    """Inequalities as the row space sees them.

    Parameters
    ----------
    functions : ndarray of shape (n_inequalities, n_rows, n_columns)
        G', what a unit of each multiplier adds to the scores.
    covariance : ndarray of shape (n_inequalities, n_inequalities)
        A V A'.
    """

    functions: Floats
    covariance: Floats

    def scores(self, multipliers: Floats) -> Floats:
        """Return G m."""
        return combined(multipliers, self.functions)

    def adjoint(self, weights: Floats) -> Floats:
        """Return G'a."""
        return np.asarray(self.functions.reshape(-1, weights.size) @ weights.ravel())


def combined(multipliers: Floats, functions: Floats) -> Floats:
    """Return the sum of functions, (n, n_rows, n_columns), times multipliers."""
    flat = functions.reshape(len(functions), -1)
    return np.asarray(multipliers @ flat).reshape(functions.shape[1:])


@dataclass(frozen=True)
class ConstrainedKernelFit(KernelFit):
    """A minimiser of ``sum loss(y, f) + (a'K a + 2 a'G m + m'A V A'm) / 2``, ``f = K a + G m + b``.

    Parameters
    ----------
    multipliers : ndarray of shape (n_inequalities,)
        m; an inequality whose multiplier is positive holds as an equality.
    """

    multipliers: Floats


@dataclass(frozen=True)
class ConstrainedPoint:
    """Weights a that add up to 0, multipliers m, scores, slacks A c, and the value and posterior there."""

    weights: Floats
    multipliers: Floats
    scores: Floats
    slacks: Floats
    value: float
    posterior: Floats

    @classmethod
    def of(
        cls, loss: RowLoss, weights: Floats, multipliers: Floats, scores: Floats, slacks: Floats
    ) -> ConstrainedPoint:
        """Evaluate the objective at a point."""
        value, posterior = loss.evaluate(scores)
        # The intercept has no part in this, since the weights add up to 0.
        value += 0.5 * float(np.vdot(weights, scores) + np.vdot(multipliers, slacks))
        return cls(weights, multipliers, scores, slacks, value, posterior)

    def moved(self, loss: RowLoss, step: ConstrainedStep, length: float) -> ConstrainedPoint:
        """Return the point after a share of a step."""
        return ConstrainedPoint.of(
            loss,
            self.weights + length * step.weights,
            self.multipliers + length * step.multipliers,
            self.scores + length * step.scores,
            self.slacks + length * step.slacks,
        )


@dataclass(frozen=True)
class ConstrainedStep:
    """A change of a point, and the decrease that the quadratic model promises of it."""

    weights: Floats
    multipliers: Floats
    scores: Floats
    slacks: Floats
    decrement: float


class _ConstrainedSystem:
    """The quadratic model at given second derivatives, minimised under the inequalities.

    Given multipliers, the weights are ``a_0 - B m``, so that the slacks are linear in the multipliers, with
    the matrix ``A V A' - G'B``: the multipliers minimise a quadratic function and are not negative.
    """

    def __init__(
        self, kernel: Floats, loss: RowLoss, inequalities: RowInequalities, posterior: Floats
    ) -> None:
        self._loss, self._inequalities, self._posterior = loss, inequalities, posterior
        self._system = RowSpaceSystem(RowSpaceObjective(kernel, loss), posterior, exact=True)
        self._kernel = kernel
        functions = inequalities.functions
        self._smoothed, self._intercepts = self._system.smooth_each(functions)
        flat = functions.reshape(len(functions), -1)
        self._matrix = inequalities.covariance - flat @ self._smoothed.reshape(flat.shape).T

    def step(self, point: ConstrainedPoint) -> ConstrainedStep:
        """Return the step from a point to the minimum of the model there."""
        gradient = self._loss.residuals(point.posterior) - point.weights
        return self._obeying(point, *self._system.solve(gradient))

    def first(self, scores: Floats, posterior: Floats) -> ConstrainedPoint:
        """Return the minimum of the model at some scores."""
        loss = self._loss
        nothing = np.zeros(len(self._matrix))
        zero = ConstrainedPoint.of(loss, np.zeros_like(scores), nothing, np.zeros_like(scores), nothing)
        right = loss.curved(posterior, scores) + loss.residuals(posterior)
        return zero.moved(loss, self._obeying(zero, *self._system.solve(right)), 1.0)

    def _obeying(self, point: ConstrainedPoint, weights: Floats, scores: Floats) -> ConstrainedStep:
        """Return a step without inequalities, corrected by multipliers."""
        inequalities = self._inequalities
        free = point.slacks + inequalities.adjoint(weights) - self._matrix @ point.multipliers
        multipliers = minimize_quadratic(self._matrix, free, point.multipliers > 0)
        change = multipliers - point.multipliers
        taken = combined(change, self._smoothed)
        weights = weights - taken
        scores = scores - self._kernel @ taken - change @ self._intercepts + inequalities.scores(change)
        slacks = free + self._matrix @ multipliers - point.slacks
        residuals = self._loss.residuals(point.posterior)
        slope = np.vdot(point.scores, weights) - np.vdot(residuals, scores) + point.slacks @ change
        curvature = np.vdot(scores, self._loss.curved(self._posterior, scores) + weights) + slacks @ change
        return ConstrainedStep(weights, change, scores, slacks, -float(slope + 0.5 * curvature))


def minimize_constrained_kernel(
    kernel: Floats,
    loss: RowLoss,
    inequalities: RowInequalities,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
) -> ConstrainedKernelFit:
    """Minimise from scores to start at, until the objective exceeds its minimum by ``tol**2`` of it at most.

    By how much it does is what the quadratic model of a point promises under the inequalities: half the
    Newton decrement, which is 0 at a minimum only. The step that certifies a point is taken, too.

    Parameters
    ----------
    kernel : ndarray of shape (n_rows, n_rows)
        K, without the intercept.
    inequalities : RowInequalities
        Of the same rows.
    start : ndarray of shape (n_rows, n_columns)
        Scores, those of a fit under another kernel for instance.
    max_iter : int
        Newton steps.
    """
    point = _first_point(kernel, loss, inequalities, start)
    if not point.value <= loss.at_zero:
        point = _halved(loss, _first_point(kernel, loss, inequalities, np.zeros_like(start)))
    n_iter = 1
    while True:
        system = _ConstrainedSystem(kernel, loss, inequalities, point.posterior)
        step = system.step(point)
        excess = step.decrement / max(tol**2 * point.value, ROUNDING * loss.at_equal)
        point, length = _stepped(loss, point, step)
        n_iter += 1
        if excess <= 1.0 or n_iter >= max_iter or not length:
            break
    without = kernel @ point.weights + inequalities.scores(point.multipliers)
    intercept = (point.scores - without).mean(axis=0)
    optimality = relative_decrement(np.array([max(excess, 0.0)]), tol)
    return ConstrainedKernelFit(
        point.weights, intercept, point.scores, point.value, n_iter, optimality, point.multipliers
    )


def _first_point(
    kernel: Floats, loss: RowLoss, inequalities: RowInequalities, start: Floats
) -> ConstrainedPoint:
    """Return the minimum of the quadratic model at some scores."""
    _, posterior = loss.evaluate(start)
    return _ConstrainedSystem(kernel, loss, inequalities, posterior).first(start, posterior)


def _halved(loss: RowLoss, point: ConstrainedPoint) -> ConstrainedPoint:
    """Halve a step from zero until the value is no more than that at zero."""
    parts = (point.weights, point.multipliers, point.scores, point.slacks)

    def attempt(length: float) -> tuple[float, float, ConstrainedPoint]:
        there = ConstrainedPoint.of(loss, *(length * part for part in parts))
        return there.value, 0.0, there

    found, _, _ = backtrack(attempt, loss.at_zero, 0.0)
    return point if found is None else found


def _stepped(loss: RowLoss, point: ConstrainedPoint, step: ConstrainedStep) -> tuple[ConstrainedPoint, float]:
    """Return the point at which the objective falls enough, and the share of the step, or 0."""

    def attempt(length: float) -> tuple[float, float, ConstrainedPoint]:
        there = point.moved(loss, step, length)
        return there.value, length * step.decrement, there

    found, _, length = backtrack(attempt, point.value, 0.0)
    return (point, 0.0) if found is None else (found, float(length))
