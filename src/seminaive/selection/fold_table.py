"""All training rows under one coding, with the folds of a cross-validation that use it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.design.row_space import RowSpace
from seminaive.memory import refuse_beyond_memory
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.preconditioner import BuiltPreconditioner, SubspacePreconditioner
from seminaive.objective.ridge import Ridge
from seminaive.solvers.blas import one_blas_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from seminaive.arrays import Floats, Indices
    from seminaive.design.coarse import CoarseSpace
    from seminaive.design.table_design import TableDesign

    Split = tuple[Indices, Indices]

# Up to this number of rows, the row space has fewer coefficients than the cells of tuples.
FEW_ROWS = 1000


@dataclass(frozen=True)
class FoldTable:
    """A table design, and folds of its rows that are fitted side by side.

    Folds that differ in nothing but their row weights share every pass. Folds with different codings (cut
    points that have seen the labels) have a table each, in which held-out rows have weight 0.

    Coefficients of the space have the columns of all folds side by side.

    Parameters
    ----------
    space : RowSpace or TableDesign
        The design that is solved in.
    coarse : CoarseSpace
        Of the space, for preconditioning.
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    splits : tuple of (ndarray, ndarray)
        For each fold the positions of the rows that train, and of those held out.
    offsets : tuple of ndarray of shape (n_rows, n_columns), default=()
        What is added to the scores of all rows in each fold and, last, in the fit of all rows.
    """

    design: TableDesign
    space: RowSpace | TableDesign
    coarse: CoarseSpace
    labels: Indices
    row_weight: Floats
    n_classes: int
    splits: tuple[Split, ...]
    offsets: tuple[Floats, ...] = ()

    @classmethod
    def of(
        cls,
        design: TableDesign,
        codes: NDArray[Any],
        labels: Indices,
        row_weight: Floats,
        n_classes: int,
        splits: tuple[Split, ...],
    ) -> FoldTable:
        """Choose the space to solve in: that of the rows where these are few, else that of the cells."""
        n_scores = len(splits) * n_columns_of(n_classes)
        refuse_beyond_memory(
            {f"scores of {len(labels):,} rows in {len(splits)} folds": 8 * 6 * len(labels) * n_scores},
            "lower the number of folds (cv)",
        )
        with one_blas_thread():
            space = RowSpace.of(design, codes) if len(codes) <= FEW_ROWS else design
            coarse = space.coarse_space()
        return cls(design, space, coarse, labels, row_weight, n_classes, splits)

    def around(self, offsets: list[Floats]) -> FoldTable:
        """Return the same table with offsets of all rows: one for each fold and, last, that of all rows."""
        return replace(self, offsets=tuple(offsets))

    # Losses

    @cached_property
    def folds(self) -> EmpiricalLoss:
        """Return the loss of the training rows of all folds."""
        row_weights = np.zeros((len(self.splits), len(self.labels)))
        for fold_weight, (train, _) in zip(row_weights, self.splits, strict=True):
            fold_weight[train] = self.row_weight[train]
        return self._loss(row_weights, np.hstack(self.offsets[:-1]) if self.offsets else None)

    @cached_property
    def every_row(self) -> EmpiricalLoss:
        """Return the loss of all rows."""
        return self._loss(self.row_weight[None], self.offsets[-1] if self.offsets else None)

    def _loss(self, row_weights: Floats, offset: Floats | None) -> EmpiricalLoss:
        return EmpiricalLoss(
            self.space, self.labels, row_weights, self.n_classes, offset=offset, keep_scores=True
        )

    # The generative estimate

    @cached_property
    def fold_estimates(self) -> Floats:
        """Return the generative estimates from the training rows of each fold, in cells, side by side."""
        return np.hstack([self.estimate(fold_weight) for fold_weight in self.folds.row_weights])

    def estimate(self, row_weight: Floats) -> Floats:
        """Return the generative estimate under some row weights as coefficients of the design."""
        return self.design.generative_estimate(self.labels, row_weight).joined(centred=True)

    def with_target(self, loss: EmpiricalLoss, target: Floats) -> tuple[EmpiricalLoss, Floats]:
        """Return a loss in the space, and the target of its ridge there, given that in cells.

        In the row space coefficients are measured from the target, whose scores become an offset.
        """
        if self.space is self.design:
            return loss, target
        if not target.any():
            return loss, np.zeros(loss.shape)
        parts = np.split(target, loss.n_weightings, axis=1)
        offset = np.hstack([self.design.scores(part) for part in parts])
        if loss.offset is not None:
            offset += loss.offset
        return loss.with_offset(offset), np.zeros(loss.shape)

    def with_equal_scores(self, coefficients: Floats, target_change: Floats) -> Floats:
        """Return the coefficients that keep the scores of the folds when the target changes."""
        if not isinstance(self.space, RowSpace) or not target_change.any():
            return coefficients
        parts = np.split(target_change, len(self.splits), axis=1)
        return coefficients - np.hstack([self.space.compress(part) for part in parts])

    def in_cells(self, coefficients: Floats, target: Floats) -> Floats:
        """Return coefficients of the space as coefficients of the design."""
        if not isinstance(self.space, RowSpace):
            return coefficients
        return target + self.space.expand(coefficients)

    # Objectives

    def strength(self, ridge: tuple[float, ...], number_ridge: float) -> Floats:
        """Return the ridge of each coefficient of the space, given those of orders 1, 2, ..."""
        strength: Floats = np.concatenate([[0.0], ridge])[self.space.orders]
        strength[len(strength) - self.space.n_numbers :] = number_ridge
        return strength[:, None]

    def objective(self, loss: EmpiricalLoss, strength: Floats, target: Floats) -> PenalisedLoss:
        """Return loss plus ridge; coefficients that are no part of the model stay 0."""
        strength = np.where(self.space.fixed[:, None], np.inf, strength)
        return PenalisedLoss(loss, Ridge(strength, target))

    def preconditioner(self, loss: EmpiricalLoss, strength: Floats, at: Floats) -> BuiltPreconditioner:
        """Return about the inverse of the penalised Hessians at some coefficients."""
        row_curvature = loss.row_curvature(at)
        higher = strength[self.space.orders > 1]
        inverse = SubspacePreconditioner.of_coarse_space(
            self.coarse,
            strength,
            float(higher.mean()) if len(higher) else 0.0,
            row_curvature.reshape(-1, loss.n_weightings, loss.n_columns).mean(axis=1),
            loss.curvature(row_curvature),
        )
        inverse.diagonal[self.space.fixed] = 0.0
        # A coarse matrix of each class and its factor, over the scores and sums of a pass.
        n_coarse = len(self.coarse.first_order) + self.coarse.lift.shape[1]
        built = loss.n_columns * n_coarse**2 * (len(self.labels) + n_coarse / 3)
        reads = 2 * len(self.labels) * self.space.operations * loss.n_weightings * loss.n_columns
        flat = loss.shape

        def apply(gradient: Floats) -> Floats:
            return inverse(gradient.reshape(flat)).reshape(gradient.shape)

        return BuiltPreconditioner(
            apply, built / reads, lambda z, _: self.preconditioner(loss, strength, z.reshape(flat))
        )

    def by_fold(self, scores: Floats) -> list[Floats]:
        """Return the scores of all rows in each fold, given those of all folds side by side."""
        return np.split(scores, len(self.splits), axis=1)
