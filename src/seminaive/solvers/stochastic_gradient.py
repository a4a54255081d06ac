"""Stochastic gradient descent over the rows of a table, one step per row (AdaGrad)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.objective.coordinates import ScaledObjective
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.solvers.certificates import relative_residual
from seminaive.solvers.result import SolverResult
from seminaive.solvers.trace import reported
from seminaive.statistics.observed_counts import CellPlaces, blocks_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Integers
    from seminaive.design.coefficients import Coefficients
    from seminaive.design.table_design import TableDesign
    from seminaive.objective.coordinates import Coordinates
    from seminaive.objective.empirical_loss import EmpiricalLoss
    from seminaive.objective.ridge import Ridge

# The largest first change of a coefficient in units of its scale.
RATE = 0.1


@dataclass(frozen=True)
class RowSteps:
    """Coefficients that move row by row: the intercept, the cells that occur, the numbers.

    All arrays have one row per coefficient and one column per class, or a single one for two classes.

    Parameters
    ----------
    of : Coefficients
        What each belongs to; rows fall into no other cells.
    strength : ndarray
        Ridge for each visit of a coefficient: its whole ridge over the weight of the rows that visit it.
    target : ndarray
        What the ridge pulls to.
    scale : ndarray
        The scale of the search space; 0 fixes a coefficient.
    coefficients : ndarray
        Changed in place.
    squares : ndarray
        Sums of squared gradients, by which each coefficient's rate falls; changed in place.
    """

    of: Coefficients
    strength: Floats
    target: Floats
    scale: Floats
    coefficients: Floats
    squares: Floats

    def take(self, codes: NDArray[Any], numbers: Floats, labels: Integers, weights: Floats) -> None:
        """Take one step for each row that has a weight."""
        from seminaive.kernels.descent import descend

        if not weights.all():
            present = np.flatnonzero(weights)
            codes, numbers = codes[present], numbers[present]
            labels, weights = labels[present], weights[present]
        terms = self.of.terms
        place_of = CellPlaces(terms, self.of.cells)
        for rows in blocks_of_rows(codes, terms):
            descend(
                1 + place_of(codes[rows]),
                numbers[rows],
                labels[rows],
                weights[rows],
                RATE,
                self.strength,
                self.target,
                self.scale,
                self.coefficients,
                self.squares,
            )


def minimize_by_epochs(
    loss: EmpiricalLoss,
    ridge: Ridge,
    coordinates: Coordinates,
    start: Floats,
    *,
    design: TableDesign,
    codes: NDArray[Any],
    visits: Floats,
    tol: float,
    max_iter: int,
    generator: np.random.RandomState,
    report: Callable[[str], None] | None = None,
) -> SolverResult:
    """Return the best of at most ``max_iter`` epochs over a table design, certified by the whole gradient.

    Parameters
    ----------
    coordinates, start, tol, report
        As in `minimize`.
    design : TableDesign
        That of the loss.
    codes : ndarray of shape (n_rows, n_coded)
    visits : ndarray of shape (n_coefficients,)
        The weight of the rows that visit each coefficient.
    max_iter : int
        Epochs.
    generator : RandomState
        Draws the order of the rows.
    """
    scaled = reported(ScaledObjective(PenalisedLoss(loss, ridge), coordinates), report)
    shape = (design.n_coefficients, loss.n_columns)
    steps = RowSteps(
        design.coefficients,
        np.broadcast_to(ridge.strength / visits[:, None], shape).copy(),
        np.broadcast_to(ridge.target, shape).copy(),
        np.broadcast_to(relative_scale(coordinates.scale), shape).copy(),
        np.array(start),
        np.zeros(shape),
    )
    history: list[float] = []
    norms: list[float] = []
    best = start
    best_norm = 0.0
    for epoch in range(max_iter + 1):
        coefficients = steps.coefficients.copy()
        value, gradient = scaled(coordinates.vector(coefficients))
        history.append(value)
        norms.append(float(np.linalg.norm(gradient)))
        if value <= min(history):
            best, best_norm = coefficients, norms[-1]
        if norms[-1] <= tol * norms[0] or epoch == max_iter:
            break
        rows = generator.permutation(design.n_rows)
        steps.take(codes[rows], design.numbers[rows], loss.labels[rows], loss.row_weights[0][rows])
    optimality = relative_residual(best_norm, norms[0])
    return SolverResult(
        best, min(history), epoch, optimality, optimality <= tol, len(history), np.minimum.accumulate(history)
    )


def relative_scale(scale: Floats) -> Floats:
    """Return scales whose mean square, over those that move, is 1."""
    moving = scale[scale > 0]
    return scale / np.sqrt(np.mean(moving**2)) if moving.size else scale
