"""Logistic regression as `multinom` of R's package nnet leaves it, for tables that were made with R.

Where classes are separable the likelihood has no maximum, and a printed loss tells where a program stopped.
This one minimises by a variable-metric method (BFGS with backtracking; Nash, Compact Numerical Methods for
Computers, Algorithm 21) from coefficients of zero, the first level of every feature and the first class being
references. It stops after 100 iterations, at a loss of 0.0001 or less, or where the loss falls by less than a
share of 1e-8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from seminaive.arrays import Floats

    Function = Callable[[Floats], tuple[float, Floats]]

__all__ = ["MultinomRegression", "minimize_variable_metric", "multinom"]

# The defaults of multinom, and the constants of Nash's algorithm in R.
MOST_ITERATIONS = 100
ENOUGH, RELATIVE_CHANGE = 1e-4, 1e-8
STEP_REDUCTION, SUFFICIENT_DECREASE = 0.2, 1e-4
# Numbers that are equal after this is added count as unchanged.
COMPARED_WITH = 10.0


@dataclass
class _VariableMetricSearch:
    """The state of a variable-metric search: a point, its value and gradient, and the inverse Hessian."""

    point: Floats
    value: float
    gradient: Floats
    inverse: Floats
    since_reset: int = 0
    n_iter: int = 0

    def reset(self) -> None:
        self.inverse = np.eye(len(self.point))
        self.since_reset = 0

    def update(self, step: Floats, change: Floats) -> None:
        """Make the inverse Hessian map the change of the gradient to the step (BFGS), or forget it."""
        along = float(step @ change)
        if along <= 0:
            self.reset()
            return
        mapped = self.inverse @ change
        scale = 1.0 + float(change @ mapped) / along
        cross = np.outer(step, mapped)
        self.inverse += (scale * np.outer(step, step) - cross - cross.T) / along
        self.since_reset += 1
        if self.since_reset > 2 * len(step):
            self.reset()


def minimize_variable_metric(function: Function, start: Floats) -> tuple[Floats, float, int]:
    """Return the point where the search ends, the value there and the number of iterations.

    Parameters
    ----------
    function : callable
        Returns a value, 0 or more, and its gradient.
    start : ndarray of shape (n,)
    """
    value, gradient = function(start)
    search = _VariableMetricSearch(start, value, gradient, np.eye(len(start)))
    if value <= ENOUGH:
        return start, value, 0
    while search.n_iter < MOST_ITERATIONS:
        direction = -search.inverse @ search.gradient
        slope = float(search.gradient @ direction)
        found = _backtrack(function, search, direction, slope) if slope < 0 else None
        if found is None:
            if search.since_reset == 0:
                break
            search.reset()
            continue
        step, value, gradient = found
        small = abs(value - search.value) <= RELATIVE_CHANGE * (abs(search.value) + RELATIVE_CHANGE)
        change = gradient - search.gradient
        search.point, search.value, search.gradient = search.point + step, value, gradient
        search.n_iter += 1
        if value <= ENOUGH or small:
            break
        search.update(step, change)
    return search.point, search.value, search.n_iter


def _backtrack(
    function: Function, search: _VariableMetricSearch, direction: Floats, slope: float
) -> tuple[Floats, float, Floats] | None:
    """Return the first step that lowers the value enough; None where it would not change the point."""
    length = 1.0
    while True:
        step = length * direction
        if (COMPARED_WITH + search.point == COMPARED_WITH + search.point + step).all():
            return None
        value, gradient = function(search.point + step)
        if np.isfinite(value) and value <= search.value + SUFFICIENT_DECREASE * length * slope:
            return step, value, gradient
        length *= STEP_REDUCTION


def multinom(X: Floats, labels: NDArray[np.int64], n_classes: int) -> Floats:
    """Return the coefficients at which the search ends, (n_columns, n_classes); the first class has zeros.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The columns of R's model matrix: ones, indicators of all levels but the first, numbers as they are.
    labels : ndarray of shape (n_rows,)
    """
    distinct, distinct_row = _distinct_rows(X)
    cells = distinct_row * n_classes + labels
    counts = np.bincount(cells, minlength=len(distinct) * n_classes).reshape(-1, n_classes)
    # One row for each class: sums over the few classes are then sums of long vectors.
    of_class = np.ascontiguousarray(counts.T, dtype=np.float64)
    total = of_class.sum(axis=0)

    def log_loss(flat: Floats) -> tuple[float, Floats]:
        scores = np.zeros((n_classes, len(distinct)))
        scores[1:] = (distinct @ flat.reshape(-1, n_classes - 1)).T
        scores -= scores.max(axis=0)
        odds = np.exp(scores)
        whole = odds.sum(axis=0)
        value = float(total @ np.log(whole)) - float(np.vdot(of_class, scores))
        residual = odds[1:] * (total / whole) - of_class[1:]
        return value, (residual @ distinct).T.ravel()

    point = minimize_variable_metric(log_loss, np.zeros(X.shape[1] * (n_classes - 1)))[0]
    return np.hstack([np.zeros((X.shape[1], 1)), point.reshape(-1, n_classes - 1)])


def _distinct_rows(X: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct rows of indicators and which one each row is; numbers are taken as they are."""
    present = X != 0
    if not np.array_equal(X, present):
        return X, np.arange(len(X))
    packed = np.packbits(present, axis=1)
    _, first, distinct_row = np.unique(
        packed.view(f"V{packed.shape[1]}"), return_index=True, return_inverse=True
    )
    return X[first], distinct_row.ravel()


class MultinomRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression of numbers as they are and of factors, without a penalty, as `multinom` leaves it.

    A level that no training row has answers like the reference level: its coefficient stays at zero.
    """

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> MultinomRegression:
        """Search from coefficients of zero."""
        self.classes_, labels = np.unique(y, return_inverse=True)
        factors = X.select_dtypes(exclude="number")
        self.levels_ = {name: np.unique(factors[name].astype(str))[1:] for name in factors}
        self.coefficients_ = multinom(self._model_matrix(X), labels, len(self.classes_))
        return self

    def _model_matrix(self, X: pd.DataFrame) -> Floats:
        """Return R's columns: ones, then numbers, or indicators of all levels but the first."""
        columns = [np.ones(len(X))]
        for name in X:
            if name in self.levels_:
                cells = X[name].astype(str).to_numpy()
                columns += [(cells == level).astype(np.float64) for level in self.levels_[name]]
            else:
                columns.append(X[name].to_numpy(np.float64))
        return np.column_stack(columns)

    def predict_proba(self, X: pd.DataFrame) -> Floats:
        """Return the probability of each class."""
        posterior: Floats = softmax(self._model_matrix(X) @ self.coefficients_, axis=1)
        return posterior

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
