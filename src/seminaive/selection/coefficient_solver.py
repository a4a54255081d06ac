"""Fits of smooth columns in their coefficients, folds side by side in passes over the rows."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.centred_levels import CentredLevels
from seminaive.design.dense import DenseDesign
from seminaive.design.projected import ProjectedDesign
from seminaive.design.smooth_scores import term_blocks
from seminaive.design.term_kernels import TermKernels
from seminaive.design.weighted_gram import weighted_gram
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.log_loss import posterior_of
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.preconditioner import BuiltPreconditioner, SubspacePreconditioner
from seminaive.objective.ridge import Ridge
from seminaive.selection.class_preconditioner import MOST_ENTRIES, ClassPreconditioner, features_of
from seminaive.selection.coefficient_fit import CoefficientFit, Curvature, PreparedRelevances
from seminaive.selection.degrees_of_freedom import (
    degrees_through_rows,
    exact_degrees,
    factor_with_ridge,
    finite_ridge,
    probed_degrees,
    solve_free,
)
from seminaive.solvers.minimize import minimize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.protocol import Design
    from seminaive.design.smooth_columns import SmoothColumns
    from seminaive.encode import EncodedTable
    from seminaive.selection.split_rows import SplitRows
    from seminaive.solvers.result import SolverResult

    Inverse = Callable[[Floats], Floats]

# Which of two ways is the faster; `tests/selection/test_fold_solvers.py` fits by either and compares. Up to
# MOST_EXACT coefficients or rows, effective degrees of freedom are computed from the Hessian; beyond, they
# are estimated from random PROBES: with 16 for 4 the log loss differs by at most .0007 (sick, adult, german
# credit). Up to MOST_DENSE entries, the features are kept as a matrix: small products are faster than passes
# over tables.
MOST_EXACT, PROBES, MOST_DENSE = 700, 4, 100_000
# The preconditioner is the inverse of the Hessian of a sample of the rows, one for all classes, of as many
# coefficients that a product with it takes as long as a pass over the rows, FEW_INVERTED in any case, and
# diagonal for all others. With 200 and 640 of them magic takes 1,783 and 1,788 passes.
ENTRIES_PER_SCORE, FEW_INVERTED, SAMPLED_ROWS = 8, 250, 4000


class CoefficientSolver:
    """Fits of all folds side by side by truncated Newton steps."""

    def __init__(self, columns: SmoothColumns, rows: SplitRows, n_threads: int = 1) -> None:
        self.columns = columns
        self.rows = rows
        self.n_columns = rows.n_columns
        merged = self._merged = rows.merged()
        self._n_pass_rows = rows.sample_of or len(merged)
        n_all = 1 + int(columns.sizes.sum())
        self._exact = n_all <= MOST_EXACT
        n_inverted = self._n_inverted()
        self._inverted = n_all <= n_inverted
        self._sample, self._sampled_share = merged.evenly_spaced(SAMPLED_ROWS)
        self._dense, listed = self._features(merged.table.rows(self._sample), n_inverted)
        if self._inverted:
            self._leading_features, self._leading = self._dense, np.arange(n_all)
        else:
            self._leading_features, self._leading = self._largest_of_first(listed, n_inverted)
        if not self._exact:
            # They were needed to choose among; those of 200 numbers take 400 MB.
            self._dense = np.empty((0, 0))
        self._others = np.setdiff1d(np.arange(n_all), self._leading)
        all_sampled = len(merged) <= SAMPLED_ROWS
        dense = all_sampled and self._exact and n_all * len(merged) <= MOST_DENSE
        n_scores = len(merged.set_weights) * self.n_columns
        self.design: Design = (
            DenseDesign(self._dense)
            if dense
            else ProjectedDesign(columns, merged.table, rows.n_classes, n_threads, n_scores)
        )
        self._folds, self._all = (
            EmpiricalLoss(self.design, merged.labels, weights, rows.n_classes, keep_scores=True)
            for weights in (np.stack(merged.set_weights), merged.row_weight)
        )
        self._term_of = np.repeat(np.arange(columns.n_terms), columns.sizes)
        # The curvature at which each loss was preconditioned last: one of similar strengths hardly differs.
        self._curvatures: dict[EmpiricalLoss, Curvature] = {}

    def around(self, offsets: list[Floats]) -> CoefficientSolver:
        """Return the same solver with offsets of all rows: one for each fold and, last, that of all rows.

        They have to be the same for equal rows.
        """
        made = copy(self)
        offsets = [offset[self._merged.first] for offset in offsets]
        vars(made).update(
            _folds=self._folds.with_offset(np.hstack(offsets[:-1] or offsets)),
            _all=self._all.with_offset(offsets[-1]),
            _curvatures={},
        )
        return made

    def _n_inverted(self) -> int:
        """Return how many coefficients the preconditioner inverts the Hessian of."""
        n_scores = self._n_pass_rows * self.n_columns * len(self._merged.set_weights)
        most = min(math.isqrt(ENTRIES_PER_SCORE * n_scores), SAMPLED_ROWS // 2)
        return max(most, FEW_INVERTED)

    def _largest_of_first(self, listed: Indices, n_coefficients: int) -> tuple[Floats, Indices]:
        """Return the features of largest squares, pairs aside, and their coefficients."""
        n_first = 1 + int(self.columns.sizes[self.columns.groups < 2].sum())
        squares = np.einsum("ij,ij->j", self._dense, self._dense)[listed < n_first]
        chosen = np.sort(np.argsort(-squares, kind="stable")[:n_coefficients])
        return np.ascontiguousarray(self._dense[:, chosen]), listed[chosen]

    def _features(self, rows: EncodedTable, n_inverted: int) -> tuple[Floats, Indices]:
        """Return the features of some rows that have a Gram matrix, and their coefficients.

        These are all, or all but those of pairs. A category of many levels has those of its most frequent
        ones, as many as can be inverted.
        """
        columns = self.columns
        if self._exact or self._inverted:
            return np.hstack(columns.features(rows)), np.arange(1 + int(columns.sizes.sum()))
        parts = [np.ones((len(rows), 1)), columns.slope_features(rows.numbers)]
        listed = [np.arange(1 + len(columns.slopes))]
        for j, block in zip(columns.mains, term_blocks(columns)[len(columns.slopes) :], strict=False):
            column = columns.columns[j]
            kept = np.arange(block.stop - block.start)
            if isinstance(column.main, CentredLevels):
                kept = np.sort(np.argsort(-column.main.shares, kind="stable")[:n_inverted])
                parts.append(column.main.features(column.positions(rows)[0], kept))
            else:
                parts.append(column.main_features(rows))
            listed.append(block.start + kept)
        return np.hstack(parts), np.concatenate(listed)

    @cached_property
    def _all_features(self) -> NDArray[np.float32]:
        """All features of all merged rows, in single precision."""
        return features_of(self.columns, self._merged.table)

    @property
    def _has_class_hessians(self) -> bool:
        """Tell whether the preconditioner has a Hessian for each class: where features fit into memory."""
        n_features = len(self._merged) * self.design.n_coefficients
        return self.n_columns > 1 and MOST_DENSE < n_features <= MOST_ENTRIES

    def prepare(self, relevances: Floats) -> list[PreparedRelevances]:
        """Take in relevances, one row per fold and, last, that of all rows."""
        return [PreparedRelevances(row) for row in relevances]

    def _strength(self, relevances: Floats, strengths: Sequence[float]) -> Floats:
        """Return the ridge of each coefficient: none of the intercept, infinite without any relevance."""
        with np.errstate(divide="ignore"):
            of_terms = np.asarray(strengths)[self.columns.groups] / relevances
        return np.concatenate([np.zeros(1), of_terms[self._term_of]])

    # Fits

    def fit_folds(
        self,
        prepared: list[PreparedRelevances],
        strengths: Sequence[float],
        starts: Sequence[Floats] | None,
        tol: float,
        max_iter: int,
    ) -> list[CoefficientFit]:
        """Fit every fold, from coefficients to start at."""
        start = None if starts is None else np.concatenate(starts, axis=1)
        ridges = [self._strength(one.relevances, strengths) for one in prepared[:-1]]
        result = self._solve(self._folds, ridges, start, tol, max_iter)
        scores = self._folds.scores(result.solution)
        k = self.n_columns
        return [
            CoefficientFit(
                np.ascontiguousarray(result.solution[:, f * k : (f + 1) * k]),
                self._merged.spread(scores[:, f * k : (f + 1) * k]),
                result,
            )
            for f in range(len(self.rows.splits))
        ]

    def fit_all(
        self,
        prepared: list[PreparedRelevances],
        strengths: Sequence[float],
        start: Floats | None,
        tol: float,
        max_iter: int,
    ) -> CoefficientFit:
        """Fit all rows, from coefficients to start at."""
        ridges = [self._strength(prepared[-1].relevances, strengths)]
        result = self._solve(self._all, ridges, start, tol, max_iter)
        return CoefficientFit(result.solution, self._merged.spread(self._all.scores(result.solution)), result)

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
        ridges = [self._strength(prepared[-1].relevances, strengths)]
        return self._solve(loss, ridges, start, tol, max_iter, like=self._all)

    def _solve(
        self,
        loss: Any,
        strength: list[Floats],
        start: Floats | None,
        tol: float,
        max_iter: int,
        like: EmpiricalLoss | None = None,
    ) -> SolverResult:
        """Minimise a penalised loss, preconditioned by its Hessian or by that of one like it."""
        ridge = np.repeat(np.stack(strength, axis=1), self.n_columns, axis=1)
        source = loss if like is None else like
        start = None if start is None else np.where(np.isinf(ridge), 0.0, start)
        shape = (loss.shape[0], loss.n_weightings, self.n_columns)
        result = self._minimize(
            PenalisedLoss(loss, Ridge(ridge)),
            np.zeros(shape) if start is None else start.reshape(shape),
            self._preconditioner(source, ridge, strength, start),
            tol,
            max_iter,
        )
        return replace(result, solution=result.solution.reshape(loss.shape))

    def _minimize(
        self, objective: PenalisedLoss, start: Floats, preconditioner: Any, tol: float, max_iter: int
    ) -> SolverResult:
        return minimize(objective, start, preconditioner, tol=tol, max_iter=max_iter)

    def _preconditioner(
        self, loss: EmpiricalLoss, ridge: Floats, strength: list[Floats], start: Floats | None
    ) -> BuiltPreconditioner:
        """Return about the inverse of the penalised Hessians: of each class where that pays, else of all.

        Where all classes share one, it is first that of the last curvature that is known.
        """

        def build(z: Floats, _: int = 0) -> BuiltPreconditioner:
            flat = z.reshape(loss.shape)
            of_classes = self._class_inverse(loss, ridge, flat)
            if of_classes is not None:
                return BuiltPreconditioner(of_classes, self._in_products(of_classes.operations), build)
            return shared(self._curvature(loss.row_curvature(flat)))

        def shared(curvature: Curvature) -> BuiltPreconditioner:
            self._curvatures[loss] = curvature
            n_leading = len(self._leading)
            operations = loss.n_weightings * n_leading**2 * (len(self._sample) + n_leading / 3)
            inverse = self._shared_inverse(curvature, strength)
            return BuiltPreconditioner(inverse, self._in_products(operations), build)

        if start is None:
            return shared(self._curvature(loss.row_curvature(np.zeros(loss.shape))))
        if self._has_class_hessians or loss not in self._curvatures:
            return build(start)
        return shared(self._curvatures[loss])

    def _class_inverse(self, loss: EmpiricalLoss, ridge: Floats, at: Floats) -> ClassPreconditioner | None:
        """Return about the inverse of the Hessian of each class at a point; None where one of all serves."""
        if not self._has_class_hessians or not isinstance(self.design, ProjectedDesign):
            return None
        curvature, n_reads = loss.row_curvature(at), self._n_pass_rows * self.design.n_gathers
        return ClassPreconditioner.of(self._all_features, curvature, ridge, self.n_columns, n_reads)

    def _in_products(self, operations: float) -> float:
        """Return how many Hessian products of all folds take as long as some dense operations."""
        n_scores = len(self._merged.set_weights) * self.n_columns
        # Scores and sums of each row, and the inverse of the leading coefficients.
        passed = 2 * self._n_pass_rows * self.design.operations + len(self._leading) ** 2
        return operations / (n_scores * passed)

    def _curvature(self, of_rows: Floats) -> Curvature:
        """Return the curvature of weightings, given that of each row along each score."""
        shared = of_rows.reshape(len(of_rows), -1, self.n_columns).mean(axis=2)
        grams = [self._gram(self._leading_features, column_weight) for column_weight in shared.T]
        if not len(self._others):
            return Curvature(grams, np.empty((0, of_rows.shape[1])))
        return Curvature(grams, self.design.squared_adjoint(of_rows)[self._others])

    def _gram(self, features: Floats, row_weight: Floats) -> Floats:
        """Return X'WX, estimated from the features X of the sampled rows."""
        sampled = row_weight[self._sample] * self._sampled_share
        total = float(sampled.sum())
        times = float(row_weight.sum()) / total if total > 0 else 0.0
        return weighted_gram(features, sampled * times)

    def _shared_inverse(self, curvature: Curvature, strength: list[Floats]) -> Inverse:
        """Return about the inverse of the penalised Hessian: exact for the leading ones, else diagonal.

        Its argument has the shape (coefficients, weightings, columns).
        """
        return self._inverse_by(self._factors(curvature, strength), curvature, strength)

    def _factors(self, curvature: Curvature, strength: list[Floats]) -> list[Floats]:
        """Return the Cholesky factors of the penalised Hessians of the leading coefficients."""
        ridges = [ridge[self._leading] for ridge in strength]
        return [factor_with_ridge(*system) for system in zip(curvature.grams, ridges, strict=True)]

    def _inverse_by(self, factors: list[Floats], curvature: Curvature, strength: list[Floats]) -> Inverse:
        leading, others = self._leading, self._others
        ridge = np.stack(strength, axis=1)
        n_columns = curvature.diagonal.shape[1] // len(strength)
        shape = (*ridge.shape, n_columns)
        diagonal = np.zeros(shape)
        diagonal[others] = 1.0 / (curvature.diagonal.reshape(-1, *shape[1:]) + ridge[others, :, None])
        free = np.isfinite(ridge[leading])
        blocks = tuple(
            (leading, partial(solve_free, factor, None if moves.all() else moves))
            for factor, moves in zip(factors, free.T, strict=True)
        )
        return SubspacePreconditioner.of_blocks(diagonal, blocks)

    # Relevances

    def evidence(
        self,
        prepared: list[PreparedRelevances],
        which: Sequence[int],
        strengths: Sequence[float],
        fits: list[CoefficientFit],
    ) -> tuple[Floats, Floats]:
        """Return each term's penalty, twice, its mean over the classes, and its effective degrees of freedom.

        The Hessian H weighs a row by its mean curvature over the classes. One row for each fit of some
        training sets.
        """
        strength = [self._strength(prepared[k].relevances, strengths) for k in which]
        squares = [
            (finite_ridge(ridge)[:, None] * fit.coefficients**2).mean(axis=1)
            for ridge, fit in zip(strength, fits, strict=True)
        ]
        curvature = np.stack(
            [self._mean_curvature(k, fit.scores) for k, fit in zip(which, fits, strict=True)], axis=1
        )
        penalties = self._by_term(squares)
        if self._exact:
            degrees = [
                exact_degrees(self._gram(self._dense, column_weight), ridge)
                for column_weight, ridge in zip(curvature.T, strength, strict=True)
            ]
        elif len(self._merged) <= MOST_EXACT:
            relevances = np.stack([prepared[k].relevances for k in which])
            variance = relevances / np.asarray(strengths)[self.columns.groups]
            return penalties, degrees_through_rows(self._kernels, variance, curvature)
        else:
            degrees = self._probed_degrees(strength, curvature)
        return penalties, self._by_term(degrees)

    @cached_property
    def _kernels(self) -> TermKernels:
        """The kernels between merged rows, where these are fewer than the coefficients."""
        return TermKernels(self.columns, self._merged.table)

    def _by_term(self, of_coefficients: Sequence[Floats]) -> Floats:
        """Return sums over the coefficients of each term, one row for each row of values."""
        n_terms = self.columns.n_terms
        return np.array(
            [np.bincount(self._term_of, values[1:], minlength=n_terms) for values in of_coefficients]
        )

    def _mean_curvature(self, which: int, scores: Floats) -> Floats:
        """Return the mean over the classes of the curvature of each merged row, given scores of all rows."""
        weight = self._merged.training_weight(which)
        posterior = posterior_of(scores[self._merged.first])
        return np.asarray(weight * (posterior * (1 - posterior)).mean(axis=1))

    def _probed_degrees(self, strength: list[Floats], curvature: Floats) -> list[Floats]:
        """Return estimates of the degrees of freedom of each coefficient, for each column of curvatures."""
        diagonal = np.repeat(self.design.squared_adjoint(curvature)[self._others], PROBES, axis=1)
        grams = [self._gram(self._leading_features, column_weight) for column_weight in curvature.T]
        precondition = self._shared_inverse(Curvature(grams, diagonal), strength)
        return probed_degrees(self.design, np.stack(strength, axis=1), curvature, precondition, PROBES)

    # Coefficients

    def coefficients(
        self, parts: list[tuple[float, list[PreparedRelevances], Sequence[float], CoefficientFit]]
    ) -> Floats:
        """Return the weighted sum of fits of all rows."""
        return np.asarray(sum(share * fit.coefficients for share, _, _, fit in parts))
