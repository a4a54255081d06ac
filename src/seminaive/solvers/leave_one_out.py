"""What a penalised fit would say about each row if it had been left out, by Newton steps.

Without row i, of features x, gradient g and curvature W in its scores, the coefficients move by
``H_-i^-1 x g = H^-1 x (I - W h)^-1 g``, where H is the Hessian of the penalised loss and ``h = x'H^-1 x`` the
leverage of the row before its curvature. One factor of H serves all rows (Pregibon 1981).
Two further steps, with the gradient where the one before ends, bring the error of the change from its square
to about its fourth power.

Pregibon, Logistic regression diagnostics, Annals of Statistics 9, 1981.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import n_columns_of
from seminaive.design.dense import DenseDesign
from seminaive.objective.coordinates import Coordinates
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.factor import inverse_of, lower_cholesky
from seminaive.objective.log_loss import posterior_of
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.ridge import Ridge
from seminaive.solvers.quasi_newton import minimize
from seminaive.solvers.result import MAX_ITER

if TYPE_CHECKING:
    from seminaive.arrays import Floats, Indices

# Closer than fits for prediction: what a row moves is a small difference.
TOL = 1e-9
# Directions of a kernel below this share of the largest are rounding.
LEAST_EIGENVALUE = 1e-12
# Rows that are taken out side by side.
BLOCK = 64
# Steps after the first one, with an old Hessian.
N_CORRECTIONS = 2


@dataclass(frozen=True)
class LeftOut:
    """Scores with and without each row.

    Parameters
    ----------
    scores, left_out : ndarray of shape (n_rows, n_columns)
        Log odds of the second of two classes, or the scores of all.
    leverage : ndarray of shape (n_rows,)
        Degrees of freedom that the fit spends on the row, between 0 and the number of columns.
    influence : ndarray of shape (n_rows,)
        Cook's distance, before it is divided by the number of coefficients: by how much the penalised loss of
        all rows exceeds its minimum, twice, at the coefficients that the others give.
    """

    scores: Floats
    left_out: Floats
    leverage: Floats
    influence: Floats


@dataclass(frozen=True)
class RidgeProblem:
    """Penalised log loss of some rows, with their features as a matrix.

    Parameters
    ----------
    features : ndarray of shape (n_rows, n_coefficients)
        With a column of ones.
    strength : ndarray of shape (n_coefficients, 1) or (n_coefficients, n_columns)
        Of a ridge toward 0; 0 leaves a coefficient free.
    labels : ndarray of shape (n_rows,)
    row_weight : ndarray of shape (n_rows,)
    offset : ndarray of shape (n_rows, n_columns) or None
        Added to the scores.
    """

    features: Floats
    strength: Floats
    labels: Indices
    row_weight: Floats
    n_classes: int
    offset: Floats | None = None

    @classmethod
    def of_kernel(cls, kernel: Floats, labels: Indices, row_weight: Floats, n_classes: int) -> RidgeProblem:
        """Return the problem of scores ``K a + b``, penalised by ``a'K a / 2``, with the intercept b free."""
        values, vectors = np.linalg.eigh(kernel)
        kept = values > LEAST_EIGENVALUE * values[-1]
        features = np.column_stack([np.ones(len(kernel)), vectors[:, kept] * np.sqrt(values[kept])])
        strength = np.append(0.0, np.ones(int(kept.sum())))[:, None]
        return cls(features, strength, labels, row_weight, n_classes)

    def reduced(self) -> RidgeProblem:
        """Return an equal problem of no more coefficients than rows, where all classes share the strengths.

        Penalised features enter through their products only: ``F diag(strength)^-1 F'`` is the kernel of the
        rows.
        """
        n_rows, n_coefficients = self.features.shape
        free = self.strength[:, 0] == 0
        if n_coefficients <= n_rows or (self.strength != self.strength[:, :1]).any():
            return self
        scaled = self.features[:, ~free] / np.sqrt(self.strength[~free, 0])
        left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
        kept = singular**2 > LEAST_EIGENVALUE * singular[0] ** 2
        features = np.column_stack([self.features[:, free], left[:, kept] * singular[kept]])
        strength = np.append(np.zeros(int(free.sum())), np.ones(int(kept.sum())))[:, None]
        return RidgeProblem(features, strength, self.labels, self.row_weight, self.n_classes, self.offset)

    @property
    def n_coefficients(self) -> int:
        """The number of coefficients of all columns together."""
        return int(self.features.shape[1]) * n_columns_of(self.n_classes)

    def objective(self, row_weight: Floats | None = None) -> PenalisedLoss:
        """Return the penalised loss, perhaps under other weights of the rows."""
        weight = self.row_weight if row_weight is None else row_weight
        loss = EmpiricalLoss(
            DenseDesign(self.features), self.labels, weight, self.n_classes, offset=self.offset
        )
        return PenalisedLoss(loss, Ridge(np.broadcast_to(self.strength, loss.shape)))

    def solve(self, row_weight: Floats | None = None, start: Floats | None = None) -> Floats:
        """Return the coefficients of least penalised loss, (n_coefficients, n_columns)."""
        objective = self.objective(row_weight)
        zero = np.zeros(objective.loss.shape)
        coordinates = Coordinates(np.ones_like(zero))
        first = zero if start is None else start
        result = minimize(objective, coordinates, first, solver="newton", tol=TOL, max_iter=MAX_ITER)
        return result.solution

    def scores(self, coefficients: Floats) -> Floats:
        """Return the scores of all rows."""
        scores: Floats = self.features @ coefficients
        return scores if self.offset is None else scores + self.offset

    def leave_one_out(self) -> LeftOut:
        """Fit all rows, then take each of them out by Newton steps."""
        coefficients = self.solve()
        scores = self.scores(coefficients)
        hessian = self.objective().hessian(coefficients)
        inverse = inverse_of(lower_cholesky(hessian))
        leverages = self._leverages(inverse)
        gradient, curvature = self._of_rows(scores, self.labels, self.row_weight)
        removed: Floats = np.linalg.inv(np.eye(scores.shape[1]) - curvature @ leverages).astype(np.float64)
        left_out, influence = np.empty_like(scores), np.empty(len(scores))
        for first in range(0, len(scores), BLOCK):
            rows = np.arange(first, min(first + BLOCK, len(scores)))
            steps = self._steps(rows, coefficients, inverse, removed[rows], gradient[rows], curvature[rows])
            left_out[rows] = scores[rows] + np.einsum("np,npk->nk", self.features[rows], steps)
            flat = steps.reshape(len(rows), -1)
            influence[rows] = np.einsum("ni,ni->n", flat @ hessian, flat)
        leverage = np.einsum("ncd,ndc->n", curvature, leverages)
        return LeftOut(scores, left_out, leverage, influence)

    def _steps(
        self,
        rows: Indices,
        coefficients: Floats,
        inverse: Floats,
        removed: Floats,
        gradient: Floats,
        curvature: Floats,
    ) -> Floats:
        """Return how the coefficients move without each of some rows, (rows, n_coefficients, n_columns).

        The second step takes the gradient where the first one ends, and the Hessian where it began.
        ``removed`` is ``(I - W h)^-1`` of each row.
        """
        of_rows = self.features[rows]
        steps = _times(inverse, of_rows[:, :, None] * (removed @ gradient[:, :, None])[:, None, :, 0])
        weight = np.repeat(self.row_weight[None], len(rows), axis=0)
        weight[np.arange(len(rows)), rows] = 0.0
        for _ in range(N_CORRECTIONS):
            left = self._gradients(coefficients + steps, weight)
            # (H - x W x')^-1 G = H^-1 (G + x (I - W h)^-1 W x'H^-1 G).
            along = np.einsum("np,npk->nk", of_rows, _times(inverse, left))
            back = (removed @ curvature @ along[:, :, None])[:, None, :, 0]
            steps = steps - _times(inverse, left + of_rows[:, :, None] * back)
        return steps

    def _gradients(self, coefficients: Floats, weight: Floats) -> Floats:
        """Return the gradients of several weightings of the rows, each at its coefficients."""
        scores = np.einsum("jp,npk->njk", self.features, coefficients, optimize=True)
        if self.offset is not None:
            scores += self.offset
        labels = np.tile(self.labels, len(weight))
        pull, _ = self._of_rows(scores.reshape(-1, scores.shape[2]), labels, weight.ravel())
        pulled = np.einsum("jp,njk->npk", self.features, pull.reshape(scores.shape), optimize=True)
        return np.asarray(pulled + self.strength * coefficients)

    def _leverages(self, inverse: Floats) -> Floats:
        """Return ``x'H^-1 x`` of each row, (n_rows, n_columns, n_columns)."""
        n = self.features.shape[1]
        k = len(inverse) // n
        blocks = inverse.reshape(n, k, n, k)
        found = np.empty((len(self.features), k, k))
        for c in range(k):
            for d in range(c + 1):
                leverage = np.einsum("np,np->n", self.features @ blocks[:, c, :, d], self.features)
                found[:, c, d] = found[:, d, c] = leverage
        return found

    @staticmethod
    def _of_rows(scores: Floats, labels: Indices, weight: Floats) -> tuple[Floats, Floats]:
        """Return gradient and second derivatives of each row's loss in its scores."""
        if scores.shape[1] == 1:
            p = posterior_of(scores)
            gradient = weight[:, None] * (p - (labels == 1)[:, None])
            return gradient, (weight[:, None] * p * (1 - p))[:, :, None]
        p = posterior_of(scores)
        truly = np.eye(scores.shape[1])[labels]
        of_pairs = p[:, :, None] * np.eye(scores.shape[1]) - p[:, :, None] * p[:, None, :]
        return weight[:, None] * (p - truly), weight[:, None, None] * of_pairs


def _times(inverse: Floats, right: Floats) -> Floats:
    """Return the inverse Hessian times coefficients, (rows, n_coefficients, n_columns)."""
    found: Floats = (right.reshape(len(right), -1) @ inverse).reshape(right.shape)
    return found
