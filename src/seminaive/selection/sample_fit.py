"""The fit of a sample of the rows: where that of all rows starts, and what preconditions it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from seminaive.objective.log_loss import log_losses
from seminaive.selection.coefficient_fit import CoefficientFit
from seminaive.selection.fold_solvers import coefficient_solver

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable
    from seminaive.objective.empirical_loss import EmpiricalLoss
    from seminaive.objective.summed_loss import SummedLoss
    from seminaive.selection.coefficient_fit import PreparedRelevances
    from seminaive.selection.coefficient_solver import CoefficientSolver
    from seminaive.selection.relevance_trials import RelevanceAnswer
    from seminaive.selection.split_rows import SplitRows
    from seminaive.solvers.result import SolverResult


# A sample is fitted to this many times the tolerance of all rows: its optimum is no nearer to that of all
# rows for being found exactly.
ROUGHLY = 10.0


@dataclass(frozen=True)
class SampleFit:
    """The fit of a sample, weighted like all rows, under the best trial of a search.

    Parameters
    ----------
    columns : SmoothColumns
    sample : SplitRows
        Of about the weight of all rows.
    answer : RelevanceAnswer
        Has the strengths and relevances of the best trial.
    tol, max_iter : float, int
        Those of the fit of all rows.
    n_threads : int
    solver : CoefficientSolver
        Of the sample.
    prepared : list of PreparedRelevances
    fit : CoefficientFit
    """

    columns: SmoothColumns
    sample: SplitRows
    answer: RelevanceAnswer
    tol: float
    max_iter: int
    n_threads: int
    solver: CoefficientSolver
    prepared: list[PreparedRelevances]
    fit: CoefficientFit

    @classmethod
    def of(
        cls,
        columns: SmoothColumns,
        sample: SplitRows,
        answer: RelevanceAnswer,
        tol: float,
        max_iter: int,
        n_threads: int = 1,
        *,
        offset: Floats | None = None,
        start: Floats | None = None,
    ) -> SampleFit:
        """Fit a sample.

        Parameters
        ----------
        offset : ndarray of shape (n_sample_rows, n_columns) or None
            Added to the scores of the sample.
        start : ndarray of shape (n_coefficients, n_columns) or None
            By default the fit of the best trial.
        """
        solver = coefficient_solver(columns, sample, n_threads)
        if offset is not None:
            solver = solver.around([offset])
        prepared, of_best = solver.prepare(answer.relevances[None]), answer.fits[0]
        if start is None and isinstance(of_best, CoefficientFit):
            start = of_best.coefficients
        fit = solver.fit_all(prepared, answer.best.strengths, start, ROUGHLY * tol, max_iter)
        return cls(columns, sample, answer, tol, max_iter, n_threads, solver, prepared, fit)

    def extended_to(self, loss: SummedLoss) -> SolverResult:
        """Fit all rows, summed by a loss."""
        strengths, start = self.answer.best.strengths, self.fit.coefficients
        return self.solver.fit_loss(loss, self.prepared, strengths, start, self.tol, self.max_iter)

    def closer_to(self, loss: EmpiricalLoss, table: EncodedTable) -> SampleFit:
        """Return the fit of a sample of all rows that is drawn by their residuals, or this one if it serves.

        It serves where all rows lose no more, beyond what the sample loses, than its penalised loss: half of
        what is to be minimised is then seen by the sample. Where classes are nearly separable, most of the
        loss is that of a few rows, which a uniform sample lacks.
        """
        losses, row_weight = log_losses(loss.scores(self.fit.coefficients), loss.labels), loss.row_weights[0]
        of_sample = self.sample.row_weight @ log_losses(self.fit.scores, self.sample.labels)
        if row_weight @ losses - of_sample <= self.fit.fit.objective:
            return self
        # The derivative of the loss of a row is as long as its class is improbable.
        residuals = -np.expm1(-losses)
        drawn, weight = residual_sample(residuals, row_weight, self.sample.n_rows, np.random.default_rng(0))
        return SampleFit.of(
            self.columns,
            replace(self.sample, table=table.rows(drawn), labels=loss.labels[drawn], row_weight=weight),
            self.answer,
            self.tol,
            self.max_iter,
            self.n_threads,
            offset=None if loss.offset is None else loss.offset[drawn],
            start=self.fit.coefficients,
        )


def residual_sample(
    residuals: Floats, row_weight: Floats, n_drawn: int, generator: np.random.Generator
) -> tuple[Indices, Floats]:
    """Draw rows by their residuals, and return them with their weights, by which sums are unbiased.

    The gradient of a sample varies least where rows are drawn in proportion to the lengths of their
    gradients. Half of the rows are drawn by their weights instead, so that no row weighs more than twice what
    it does in a uniform sample: a residual may be large elsewhere.

    Parameters
    ----------
    residuals, row_weight : ndarray of shape (n_rows,)
        Residuals of which one at least is not 0.
    n_drawn : int
        How many rows are drawn in the mean; where there are no more, all are.

    Examples
    --------
    >>> residual_sample(np.array([1.0, 0.0, 0.0, 0.0]), np.ones(4), 2, np.random.default_rng(3))
    (array([0, 1]), array([1., 3.]))
    """
    if n_drawn >= len(residuals):
        return np.arange(len(residuals)), row_weight
    by_residual = row_weight * residuals
    share = 0.5 * (by_residual / by_residual.sum() + row_weight / row_weight.sum())
    largest = np.sort(share)[::-1]
    # Those of the largest shares are taken with certainty; the rest is drawn from what they leave.
    left = np.cumsum(largest[::-1])[::-1][:n_drawn]
    times = np.arange(n_drawn, n_drawn - len(left), -1) / left
    certain = int(np.argmax(largest[:n_drawn] * times < 1.0))
    probability = np.minimum(times[certain] * share, 1.0)
    drawn = np.flatnonzero(generator.random(len(share)) < probability)
    return drawn, row_weight[drawn] / probability[drawn]
