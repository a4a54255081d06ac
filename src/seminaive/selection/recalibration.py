"""An earlier model's score, recalibrated on other rows: one intercept per class and one slope for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import class_share_scores
from seminaive.design.rounding import ROUNDING
from seminaive.objective.row_loss import RowLoss
from seminaive.solvers.newton import minimize_newton

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices


# Largest derivative, in rows, that a recalibration leaves: rounding is about a hundredth of it.
TOL = 1e-12


@dataclass(frozen=True)
class Recalibration:
    """The score ``intercept + slope * earlier``, the slope shared by the classes.

    Parameters
    ----------
    intercept : ndarray of shape (n_columns,)
        One log odds of two classes, else one value per class.
    """

    intercept: Floats
    slope: float

    def scores(self, earlier: Floats) -> Floats:
        """Return the score of each row, (n_rows, n_columns), given the earlier one."""
        return np.asarray(self.intercept + self.slope * earlier)


def recalibrate(earlier: Floats, labels: Indices, row_weight: Floats, n_classes: int) -> Recalibration:
    """Return the intercept and slope of largest likelihood, without a penalty.

    Where the earlier score is the same in all rows, these say nothing about the slope, which stays 1.

    Parameters
    ----------
    earlier : ndarray of shape (n_rows, n_columns)
        One log odds of two classes, else one score per class.
    labels, row_weight : ndarray of shape (n_rows,)
    """
    centre = np.average(earlier, axis=0, weights=row_weight)
    away = earlier - centre
    spread = float(np.sqrt(np.average((away**2).mean(axis=1), weights=row_weight)))
    if spread <= ROUNDING * max(float(np.abs(earlier).max(initial=0.0)), 1.0):
        return shifted(earlier, labels, row_weight, n_classes)
    start = np.append(class_shares(labels, row_weight, n_classes).intercept, 0.0)
    found = _minimized(RowLoss(labels, row_weight, n_classes), away / spread, start)
    slope = float(found[-1]) / spread
    return Recalibration(found[:-1] - slope * centre, slope)


def shifted(earlier: Floats, labels: Indices, row_weight: Floats, n_classes: int) -> Recalibration:
    """Return the intercept of largest likelihood, the slope being 1."""
    loss = RowLoss(labels, row_weight, n_classes, earlier)
    start = class_shares(labels, row_weight, n_classes).intercept - earlier.mean(axis=0)
    return Recalibration(_minimized(loss, np.zeros_like(earlier), np.append(start, 0.0))[:-1], 1.0)


def class_shares(labels: Indices, row_weight: Floats, n_classes: int) -> Recalibration:
    """Return the class shares, the slope being 0; a class without rows has a share of next to nothing."""
    present = np.bincount(labels, row_weight, minlength=n_classes)
    shares = class_share_scores(np.maximum(present, np.finfo(np.float64).tiny))
    return Recalibration(np.atleast_1d(shares), 0.0)


def _minimized(loss: RowLoss, earlier: Floats, start: Floats) -> Floats:
    """Return the intercepts and, last, the slope of least loss.

    Where classes are separated there is none, and the log odds end where the loss is next to nothing.
    """

    def posterior_at(parameters: Floats) -> tuple[float, Floats]:
        return loss.evaluate(parameters[:-1] + parameters[-1] * earlier)

    def objective(parameters: Floats) -> tuple[float, Floats]:
        value, posterior = posterior_at(parameters)
        return value, -_sums(loss.residuals(posterior), earlier)

    def hessian(parameters: Floats) -> Floats:
        return _hessian(loss, posterior_at(parameters)[1], earlier)

    return minimize_newton(objective, hessian, start, tol=TOL, reference=loss.at_equal).solution


def _sums(by_row: Floats, earlier: Floats) -> Floats:
    """Return the sums over the rows of each column and, last, of all columns times the earlier score."""
    return np.append(by_row.sum(axis=0), np.vdot(by_row, earlier))


def _hessian(loss: RowLoss, posterior: Floats, earlier: Floats) -> Floats:
    """Return the second derivatives of the loss by the intercepts and the slope."""
    n_columns = earlier.shape[1]
    directions = [np.broadcast_to(unit, earlier.shape) for unit in np.eye(n_columns)]
    return np.array(
        [_sums(loss.curved(posterior, direction), earlier) for direction in [*directions, earlier]]
    )
