"""Stochastic gradient descent over the rows of a problem, epoch by epoch, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seminaive.objective.penalised_objective import PenalisedObjective
from seminaive.solvers import SolverResult

# The largest first change of a coefficient in units of its scale.
RATE = 0.1


@dataclass(frozen=True)
class Descent:
    """Coefficients that move row by row: the intercept, all cells of the terms, the numbers.

    All arrays have one row per coefficient and one column per class, or a single one for two classes.

    Parameters
    ----------
    shrinkage : ndarray
        Penalty per visit of a coefficient.
    target : ndarray
        What the penalty pulls to.
    scale : ndarray
        The scale of the search space; 0 fixes a coefficient.
    beta : ndarray
        The coefficients, changed in place.
    squares : ndarray
        Sums of squared gradients, by which each coefficient's rate falls; changed in place.
    """

    shrinkage: np.ndarray
    target: np.ndarray
    scale: np.ndarray
    beta: np.ndarray
    squares: np.ndarray

    def take_rows(self, terms, codes, numbers, labels, weights):
        """Take one step per row."""
        from seminaive.kernels.descent import descend

        descend(
            codes,
            numbers,
            labels,
            weights,
            terms.columns,
            terms.strides,
            terms.starts,
            terms.offsets,
            RATE,
            self.shrinkage,
            self.target,
            self.scale,
            self.beta,
            self.squares,
        )


def descend_epochs(problem, codes, strength, target, scale, start, *, tol, max_iter, generator):
    """Return the best of at most ``max_iter`` epochs, certified by the gradient over all rows.

    The penalty of a cell is spread over the rows that visit it.
    """
    loss, terms = problem.loss, problem.terms
    objective = PenalisedObjective(loss, strength, target, scale)
    place = np.concatenate(
        [[0], 1 + loss.fused.observed, 1 + terms.n_cells + np.arange(loss.numbers.shape[1])]
    )
    shape = (1 + terms.n_cells + loss.numbers.shape[1], loss.n_columns)
    descent = Descent(*(np.zeros(shape) for _ in range(5)))
    visits = np.append(problem.cell_weight.sum(axis=1), np.full(loss.numbers.shape[1], loss.row_weight.sum()))
    descent.shrinkage[place] = strength / visits[:, None]
    descent.target[place], descent.scale[place], descent.beta[place] = target, relative_scale(scale), start
    history, norms, best = [], [], None
    for epoch in range(max_iter + 1):
        coefficients = descent.beta[place]
        value, gradient = objective(objective.search_vector(coefficients))
        history.append(value)
        norms.append(float(np.linalg.norm(gradient)))
        if value <= min(history):
            best = (value, norms[-1], coefficients)
        if norms[-1] <= tol * norms[0] or epoch == max_iter:
            break
        rows = generator.permutation(len(codes))
        descent.take_rows(terms, codes[rows], loss.numbers[rows], loss.labels[rows], loss.row_weight[rows])
    value, norm, coefficients = best
    optimality = norm / norms[0] if norms[0] > 0 else 0.0
    return SolverResult(
        coefficients,
        value,
        epoch,
        optimality,
        optimality <= tol,
        len(history),
        np.minimum.accumulate(history),
    )


def relative_scale(scale):
    """Return scales whose mean square, over those that move, is 1."""
    moving = scale[scale > 0]
    return scale / np.sqrt(np.mean(moving**2)) if moving.size else scale
