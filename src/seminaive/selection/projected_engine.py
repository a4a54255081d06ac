"""Fits of smooth columns in their coefficients, folds side by side in passes over the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit, softmax

from seminaive.design.classes import n_columns_of
from seminaive.design.projected import ProjectedDesign
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.solvers.truncated_newton import gradient_norms, minimize_truncated_newton

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable
    from seminaive.solvers.result import SolverResult

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Split = tuple[Indices, Indices]

# Up to so many coefficients, effective degrees of freedom are computed from the Hessian; beyond, they are
# estimated from random probes.
MOST_EXACT = 700
# Up to so many, the preconditioner is the inverse of the Hessian; beyond, it is so for slopes and main terms,
# and diagonal for pairs.
MOST_INVERTED = 250
# Rows from which the dense part of the preconditioner and of the Hessian is estimated.
SAMPLED_ROWS = 4000
PROBES = 4
PROBE_PRODUCTS = 40
PROBE_PRECISION = 0.05
# Norm of the gradient relative to that at zero at which the fits of trials stop.
TRIAL_NORM = 3e-3
JITTER = 1e-9


@dataclass(frozen=True)
class PreparedRelevances:
    """Relevances of one training set; here nothing is prepared."""

    relevances: Floats


@dataclass(frozen=True)
class CoefficientFit:
    """A fit of some training rows.

    Parameters
    ----------
    coefficients : ndarray of shape (n_coefficients, n_columns)
    scores : ndarray of shape (n_rows, n_columns)
        Of all rows.
    fit : SolverResult
    """

    coefficients: Floats
    scores: Floats
    fit: SolverResult


class ProjectedEngine:
    """Fits of all folds side by side by truncated Newton steps.

    Parameters
    ----------
    columns : SmoothColumns
    table : EncodedTable
    labels, row_weight : ndarray of shape (n_rows,)
    n_classes : int
    splits : list of (training rows, held-out rows)
    n_threads : int
    """

    def __init__(
        self,
        columns: SmoothColumns,
        table: EncodedTable,
        labels: Indices,
        row_weight: Floats,
        n_classes: int,
        splits: list[Split],
        n_threads: int = 1,
    ) -> None:
        self.columns = columns
        self.labels = labels
        self.row_weight = row_weight
        self.n_classes = n_classes
        self.splits = splits
        self.design = ProjectedDesign(columns, table, n_classes, n_threads)
        self.n_columns = n_columns_of(n_classes)
        weights = np.zeros((len(splits), len(labels)))
        for own, (train, _) in zip(weights, splits, strict=True):
            own[train] = row_weight[train]
        weights = weights if splits else row_weight[None]
        self._folds = EmpiricalLoss(self.design, labels, weights, n_classes, keep_scores=True)
        self._all = EmpiricalLoss(self.design, labels, row_weight, n_classes, keep_scores=True)
        self._term_of = np.repeat(np.arange(columns.n_terms), columns.sizes)
        n_first = 1 + int(columns.sizes[columns.groups < 2].sum())
        n_all = self.design.n_coefficients
        self.n_dense = n_all if n_all <= MOST_INVERTED else n_first
        self._exact = n_all <= MOST_EXACT
        step = max(1, -(-len(labels) // SAMPLED_ROWS))
        self._sample = np.arange(0, len(labels), step)
        self._dense = self._features(table.rows(self._sample))

    def _features(self, rows: EncodedTable) -> Floats:
        """Return the features of the dense part for some rows."""
        columns = self.columns
        parts = [np.ones((len(rows), 1)), columns.slope_features(rows.numbers)]
        parts += [columns.columns[j].main_features(rows) for j in columns.mains]
        if self._exact:
            pairs = {j: columns.columns[j].pair_features(rows) for pair in columns.pairs for j in pair}
            for j, k in columns.pairs:
                parts.append((pairs[j][:, :, None] * pairs[k][:, None, :]).reshape(len(rows), -1))
        return np.hstack(parts)

    def prepare(self, relevances: Floats) -> list[PreparedRelevances]:
        """Take in relevances, one row per fold and, last, that of all rows."""
        return [PreparedRelevances(own) for own in relevances]

    def _strength(self, relevances: Floats, strengths: Sequence[float]) -> Floats:
        """Return the ridge of each coefficient, 0 for the intercept."""
        of_terms = np.asarray(strengths)[self.columns.groups] / relevances
        return np.concatenate([np.zeros(1), of_terms[self._term_of]])

    # Fits

    def fit_folds(
        self,
        prepared: list[PreparedRelevances],
        strengths: Sequence[float],
        starts: Sequence[CoefficientFit] | None,
        tol: float,
        max_iter: int,
    ) -> list[CoefficientFit]:
        """Fit every fold."""
        del tol  # trials are compared, so that their own tolerance is enough
        start = None if starts is None else np.concatenate([fit.coefficients for fit in starts], axis=1)
        own = [self._strength(one.relevances, strengths) for one in prepared[:-1]]
        result = self._solve(self._folds, own, start, TRIAL_NORM, max_iter)
        scores = self._folds.scores(result.solution)
        k = self.n_columns
        return [
            CoefficientFit(
                np.ascontiguousarray(result.solution[:, f * k : (f + 1) * k]),
                scores[:, f * k : (f + 1) * k].copy(),
                result,
            )
            for f in range(len(self.splits))
        ]

    def fit_all(
        self,
        prepared: list[PreparedRelevances],
        strengths: Sequence[float],
        starts: Sequence[CoefficientFit] | None,
        tol: float,
        max_iter: int,
    ) -> CoefficientFit:
        """Fit all rows from the mean of other fits."""
        start = None if not starts else np.mean([fit.coefficients for fit in starts], axis=0)
        own = [self._strength(prepared[-1].relevances, strengths)]
        result = self._solve(self._all, own, start, min(np.sqrt(tol), TRIAL_NORM), max_iter)
        return CoefficientFit(result.solution, self._all.scores(result.solution).copy(), result)

    def fit_loss(
        self,
        loss: Any,
        prepared: list[PreparedRelevances],
        strengths: Sequence[float],
        start: Floats,
        tol: float,
        max_iter: int,
    ) -> SolverResult:
        """Fit the rows of another loss, of which the rows here are a sample of about the same weight."""
        own = [self._strength(prepared[-1].relevances, strengths)]
        return self._solve(loss, own, start, min(np.sqrt(tol), TRIAL_NORM), max_iter, like=self._all)

    def _solve(
        self,
        loss: Any,
        strength: list[Floats],
        start: Floats | None,
        tol: float,
        max_iter: int,
        like: EmpiricalLoss | None = None,
    ) -> SolverResult:
        """Minimise a penalised loss, preconditioned by its own Hessian or by that of one like it."""
        k = self.n_columns
        wide = np.repeat(np.stack(strength, axis=1), k, axis=1)
        start = np.zeros(loss.shape) if start is None else start
        precondition = self._preconditioner(loss if like is None else like, strength, start)
        objective = PenalisedLoss(loss, Ridge(wide), precondition)
        shape = (loss.shape[0], loss.n_weightings, k)
        at_zero = gradient_norms(objective, loss.gradient_at_zero.reshape(shape))
        result = minimize_truncated_newton(
            objective, start.reshape(shape), tol=tol, max_iter=max_iter, reference=at_zero
        )
        return replace(result, solution=result.solution.reshape(loss.shape))

    def _preconditioner(
        self, loss: EmpiricalLoss, strength: list[Floats], start: Floats
    ) -> Callable[[Floats], Floats]:
        """Return about the inverse of the Hessian at a start: exact for the dense part, else diagonal."""
        k, m = self.n_columns, self.n_dense
        curvature = loss.row_curvature(start)
        shared = curvature.reshape(len(curvature), -1, k).mean(axis=2)
        scale = shared.sum(axis=0) / np.maximum(shared[self._sample].sum(axis=0), 1e-300)
        inverses = []
        for own, weights, times in zip(strength, shared[self._sample].T, scale, strict=True):
            weighted = self._dense[:, :m] * np.sqrt(weights * times)[:, None]
            inverses.append(_inverse(weighted.T @ weighted, own[:m]))
        diagonal = None
        if m < self.design.n_coefficients:
            of_pairs = self.design.squared_adjoint(curvature)[m:]
            wide = np.repeat(np.stack(strength, axis=1)[m:], k, axis=1)
            diagonal = 1.0 / np.maximum(of_pairs + wide, 1e-6)

        def precondition(gradient: Floats) -> Floats:
            found = np.empty_like(gradient)
            for f, inverse in enumerate(inverses):
                own = slice(f * k, (f + 1) * k)
                found[:m, own] = inverse @ gradient[:m, own]
            if diagonal is not None:
                found[m:] = diagonal * gradient[m:]
            return found

        return precondition

    # Relevances

    def evidence(
        self,
        prepared: list[PreparedRelevances],
        which: int,
        strengths: Sequence[float],
        fit: CoefficientFit,
    ) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, its mean over the classes, and its effective degrees of freedom.

        The Hessian H weighs a row by its mean curvature over the classes.
        """
        strength = self._strength(prepared[which].relevances, strengths)
        squares = (strength[:, None] * fit.coefficients**2).mean(axis=1)
        penalties = np.bincount(self._term_of, squares[1:], minlength=self.columns.n_terms)
        weight = self.row_weight
        if which < len(self.splits):
            weight = np.zeros(len(self.labels))
            weight[self.splits[which][0]] = self.row_weight[self.splits[which][0]]
        curvature = self._curvature(fit.scores, weight)
        degrees = (
            self._exact_degrees(strength, curvature)
            if self._exact
            else self._probed_degrees(strength, curvature)
        )
        by_term = np.bincount(self._term_of, degrees[1:], minlength=self.columns.n_terms)
        return np.asarray(penalties, np.float64), np.asarray(by_term, np.float64)

    def _curvature(self, scores: Floats, weight: Floats) -> Floats:
        posterior = expit(scores) if self.n_columns == 1 else softmax(scores, axis=1)
        return np.asarray(weight * (posterior * (1 - posterior)).mean(axis=1))

    def _exact_degrees(self, strength: Floats, curvature: Floats) -> Floats:
        sampled = curvature[self._sample]
        times = curvature.sum() / max(float(sampled.sum()), 1e-300)
        weighted = self._dense * np.sqrt(sampled * times)[:, None]
        return np.asarray(1.0 - strength * np.diagonal(_inverse(weighted.T @ weighted, strength)))

    def _probed_degrees(self, strength: Floats, curvature: Floats) -> Floats:
        """Return u x on average, u = X'V^1/2 e for random signs e and x = (H + Lambda)^-1 u."""
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(curvature), PROBES))
        right = self.design.adjoint(np.sqrt(curvature)[:, None] * signs)
        m = self.n_dense
        sampled = curvature[self._sample]
        times = curvature.sum() / max(float(sampled.sum()), 1e-300)
        weighted = self._dense[:, :m] * np.sqrt(sampled * times)[:, None]
        inverse = _inverse(weighted.T @ weighted, strength[:m])
        of_pairs = self.design.squared_adjoint(curvature[:, None])[m:, 0]
        diagonal = 1.0 / np.maximum(of_pairs + strength[m:], 1e-6)

        def precondition(x: Floats) -> Floats:
            return np.concatenate([inverse @ x[:m], diagonal[:, None] * x[m:]])

        space = self.design.workspace(PROBES)
        root = curvature[:, None]

        def weigh(rows: slice, own: Floats) -> None:
            own *= root[rows]

        solution, residual = np.zeros_like(right), right.copy()
        step = precondition(residual)
        direction, square = step, (residual * step).sum(axis=0)
        aim = PROBE_PRECISION**2 * square
        for _ in range(PROBE_PRODUCTS):
            space.score(direction, weigh)
            product = space.adjoint() + strength[:, None] * direction
            length = square / np.maximum((direction * product).sum(axis=0), 1e-300)
            solution += length * direction
            residual -= length * product
            step = precondition(residual)
            new_square = (residual * step).sum(axis=0)
            if (new_square <= aim).all():
                break
            direction = step + new_square / np.maximum(square, 1e-300) * direction
            square = new_square
        return np.asarray(np.maximum((right * solution).mean(axis=1), 0.0))

    # Coefficients

    def coefficients(
        self, parts: list[tuple[float, list[PreparedRelevances], Sequence[float], CoefficientFit]]
    ) -> Floats:
        """Return the weighted sum of fits of all rows."""
        return np.asarray(sum(share * fit.coefficients for share, _, _, fit in parts))


def _inverse(matrix: Floats, strength: Floats) -> Floats:
    """Return the inverse of a Gram matrix plus the ridge."""
    diagonal = np.einsum("ii->i", matrix)
    diagonal += strength
    added = JITTER * float(diagonal.mean())
    while True:
        diagonal += added
        factor, failed = dpotrf(np.asfortranarray(matrix), lower=True, clean=False)
        if not failed:
            lower, _ = dpotri(factor, lower=True)
            return np.ascontiguousarray(np.tril(lower) + np.tril(lower, -1).T)
        added *= 100
