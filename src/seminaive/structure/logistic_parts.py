"""Logistic regressions on some features of a table each, fitted side by side and from warm starts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from seminaive.design.classes import by_class, log_odds
from seminaive.design.weighted_gram import weighted_gram
from seminaive.objective.empirical_loss import EmpiricalLoss
from seminaive.objective.factor import inverse_of, lower_cholesky
from seminaive.objective.penalised_loss import PenalisedLoss
from seminaive.objective.preconditioner import BuiltPreconditioner, SubspacePreconditioner
from seminaive.objective.ridge import Ridge
from seminaive.objective.softmax_hessian import softmax_hessian
from seminaive.solvers.blas import one_blas_thread
from seminaive.solvers.minimize import minimize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from seminaive.arrays import Booleans, Floats, Labels
    from seminaive.design.table_design import TableDesign
    from seminaive.scores import AdditiveScores
    from seminaive.solvers.result import SolverResult

    Part = Sequence[int]

# How the conjugate gradients are preconditioned, which decides their number and not what they find. Up to
# MOST_FACTORED coefficients, by factors of the Hessians; beyond, by their diagonals. The Hessian may be
# factored over all classes together if the matrix of rows by coefficients has at most MOST_COUPLED_CELLS:
# apart, the classes leave the conjugate gradients to find how they depend on each other. A feature with fewer
# coefficients than LEAST_ELIMINATED is not worth eliminating from a Hessian before it is inverted.
MOST_FACTORED, MOST_COUPLED_CELLS, LEAST_ELIMINATED = 1500, 10_000_000, 50


@dataclass(frozen=True)
class BlockInverse:
    """The inverse of a Hessian, the indicators of one feature being eliminated first.

    A row has one value of a feature, so that the products of the feature's indicators are a diagonal matrix:
    with ``H = [[D, B], [B', C]]`` only the Schur complement ``C - B' D^-1 B`` is dense. A column with as
    many values as rows then costs no more than one with a few.

    Parameters
    ----------
    diagonal : ndarray of shape (n_eliminated,)
        D, the ridge included.
    crossed : ndarray of shape (n_eliminated, n_rest)
        B.
    complement : ndarray of shape (n_rest, n_rest)
        The inverse of the Schur complement.
    """

    diagonal: Floats
    crossed: Floats
    complement: Floats

    @classmethod
    def of(cls, hessian: Floats, n_eliminated: int, ridge: float) -> BlockInverse:
        """Invert a Hessian plus a ridge, whose last coefficients have a diagonal block and are eliminated."""
        first = len(hessian) - n_eliminated
        diagonal = np.diagonal(hessian)[first:] + ridge
        crossed = hessian[first:, :first]
        complement = hessian[:first, :first] - crossed.T @ (crossed / diagonal[:, None])
        return cls(diagonal, crossed, _inverse(complement, ridge))

    def __matmul__(self, gradient: Floats) -> Floats:
        """Return the inverse times a gradient."""
        first = len(self.complement)
        rest = self.complement @ (gradient[:first] - self.crossed.T @ (gradient[first:] / self.diagonal))
        eliminated = (gradient[first:] - self.crossed @ rest) / self.diagonal
        return np.concatenate([rest, eliminated])


class LogisticParts:
    """Logistic regressions of the same labels, each on a part of the features of one table.

    One design serves every part: the coefficients of features outside of it stay 0. The problems of one call
    share every pass over the rows, and each may weigh the rows differently, as the folds of a
    cross-validation do.

    Parameters
    ----------
    design : TableDesign
        Of single columns and numbers.
    feature_of : ndarray of shape (n_coefficients,)
        The feature of each coefficient; -1 for the intercept, which every part has, and any number that no
        part names for coefficients that no part has.
    labels : ndarray of shape (n_rows,)
    row_weights : ndarray of shape (n_problems, n_rows)
    ridge : float
        Half of it times the squared coefficients, the intercept included, is added to the log loss, so that
        separable classes have an optimum. Numbers are standardised.
    tol : float
        Its square is the share of its objective by which a fit may exceed its minimum.
    max_iter : int
        Newton steps.
    """

    def __init__(
        self,
        design: TableDesign,
        feature_of: Labels,
        labels: Labels,
        row_weights: Floats,
        n_classes: int,
        *,
        ridge: float,
        tol: float,
        max_iter: int,
    ) -> None:
        self.design = design
        self.feature_of = np.where(design.fixed, np.iinfo(np.int64).max, feature_of)
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter
        self.loss = EmpiricalLoss(design, labels, row_weights, n_classes, keep_scores=True)
        self.n_solved = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the numbers of coefficients, of problems and of columns per problem."""
        return self.loss.shape[0], self.loss.n_weightings, self.loss.n_columns

    def fit(
        self, parts: Sequence[Part], start: Floats | None = None, offset: Floats | None = None
    ) -> SolverResult:
        """Fit one part for each weighting of the rows; the solution has the shape of ``shape``.

        Parameters
        ----------
        parts : sequence of sequences of int
            The features of each problem.
        start : ndarray or None
            Coefficients to start from, such as those of smaller parts.
        offset : ndarray of shape (n_rows, n_problems, n_classes) or None
            Scores that are added to those of each problem.
        """
        moves = np.stack([np.isin(self.feature_of, [-1, *part]) for part in parts], axis=1)
        strength = np.where(moves, self.ridge, np.inf)
        here = np.zeros(self.shape) if start is None else start * moves[:, :, None]
        loss = self.loss
        if offset is not None:
            flat = np.hstack([log_odds(offset[:, problem]) for problem in range(len(parts))])
            loss = loss.with_offset(flat)
        penalised = PenalisedLoss(loss, Ridge(np.repeat(strength, self.shape[2], axis=1)))
        self.n_solved += 1
        with one_blas_thread():
            preconditioner = self._preconditioner(loss, here, moves)
            return minimize(penalised, here, preconditioner, tol=self.tol, max_iter=self.max_iter)

    def _preconditioner(self, loss: EmpiricalLoss, here: Floats, moves: Booleans) -> BuiltPreconditioner:
        """Return about the inverse Hessians at some coefficients: of each class, later of all together.

        Classes are taken together once the Hessian products between two builds would have paid for it: apart,
        they leave conjugate gradients to find how they depend on each other.
        """
        layouts = [self._largest_last(np.flatnonzero(of_problem)) for of_problem in moves.T]
        apart, together = self._costs(moves)

        def build_apart(z: Floats, paid: int) -> BuiltPreconditioner:
            if paid >= together and self._can_couple(moves):
                return build_together(z, paid)
            inverse = self._inverses(loss, z, moves, layouts)
            return BuiltPreconditioner(partial(_centred, inverse), apart, build_apart)

        def build_together(z: Floats, _: int) -> BuiltPreconditioner:
            return BuiltPreconditioner(self._inverse_of_all(loss, z, moves), together, build_together)

        return build_apart(here, 0)

    def _costs(self, moves: Booleans) -> tuple[float, float]:
        """Return what Hessians of each class, and of all classes together, cost in Hessian products."""
        n_moving, n_columns = moves.sum(axis=0).astype(np.float64), self.shape[2]
        passed, n_rows = self.design.operations, self.design.n_rows
        products = len(n_moving) * n_columns * 2 * n_rows * passed + n_columns * float((n_moving**2).sum())
        # Of codes, sums over pairs of features; else, products of all pairs of columns. Then the inverses.
        apart = n_columns * (len(n_moving) * n_rows * passed**2 / 2 + float((n_moving**3).sum()))
        pairs_of_classes = n_columns * (n_columns + 1) / 2
        together = float((pairs_of_classes * n_rows * n_moving**2 + (n_columns * n_moving) ** 3).sum())
        return apart / products, together / products

    def _inverses(
        self, loss: EmpiricalLoss, here: Floats, moves: Booleans, layouts: Sequence[tuple[Labels, int]]
    ) -> SubspacePreconditioner:
        """Invert the Hessian of each problem and column at some coefficients, or its diagonal.

        A layout has the coefficients of a problem, and how many of the last are eliminated.
        """
        curvature = loss.row_curvature(here.reshape(loss.shape))
        if self.shape[0] > MOST_FACTORED:
            diagonal = 1.0 / (loss.curvature(curvature).reshape(self.shape) + self.ridge)
            return SubspacePreconditioner(diagonal * moves[:, :, None])
        by_problem = curvature.reshape(-1, *self.shape[1:])
        inverses = []
        for problem, (members, n_eliminated) in enumerate(layouts):
            block = np.ix_(members, members)
            hessians = (self.design.gram(np.ascontiguousarray(w))[block] for w in by_problem[:, problem].T)
            inverses.append((members, _inverse_by_column(hessians, n_eliminated, self.ridge)))
        return SubspacePreconditioner.of_blocks(np.zeros((1, 1, 1)), inverses)

    def _can_couple(self, moves: Booleans) -> bool:
        """Tell whether Hessians over all classes are small enough to be factored."""
        n_columns = self.shape[2]
        largest = int(moves.sum(axis=0).max()) * n_columns
        n_cells = largest * self.design.n_rows
        return n_columns > 1 and largest <= MOST_FACTORED and n_cells <= MOST_COUPLED_CELLS

    def _inverse_of_all(self, loss: EmpiricalLoss, here: Floats, moves: Booleans) -> SubspacePreconditioner:
        """Invert the Hessian of each problem over the coefficients of all classes."""
        posteriors = loss.posterior(here.reshape(loss.shape))
        inverses = []
        for problem, row_weight in enumerate(loss.row_weights):
            members = np.flatnonzero(moves[:, problem])
            used = row_weight > 0
            gram = partial(weighted_gram, self._columns[used][:, members])
            hessian = softmax_hessian(gram, posteriors[used, problem], row_weight[used])
            inverses.append((members, partial(_multiply_coupled, _inverse(hessian, self.ridge))))
        return SubspacePreconditioner.of_blocks(np.zeros((1, 1, 1)), inverses)

    @cached_property
    def _columns(self) -> Floats:
        """Return the design as a dense matrix."""
        return self.design.scores(np.eye(self.design.n_coefficients))

    def _largest_last(self, members: Labels) -> tuple[Labels, int]:
        """Return coefficients with those to eliminate last, and the number of these.

        Elimination pays where one feature has many coefficients, and more than the rest of the part.
        """
        if len(members) <= LEAST_ELIMINATED:
            return members, 0
        features, inverse, sizes = np.unique(
            self.feature_of[members], return_inverse=True, return_counts=True
        )
        largest = inverse == np.argmax(np.where(features < 0, 0, sizes))
        n_largest = int(largest.sum())
        if n_largest < max(LEAST_ELIMINATED, len(members) - n_largest):
            return members, 0
        return np.concatenate([members[~largest], members[largest]]), n_largest

    def scores(self, coefficients: Floats) -> Floats:
        """Return the scores of all rows in each problem, (n_rows, n_problems, n_columns), without offsets."""
        flat = self.design.scores(coefficients.reshape(self.loss.shape))
        return flat.reshape(-1, *self.shape[1:])

    def to_scores(self, coefficients: Floats, cell_weight: Floats) -> AdditiveScores:
        """Return the coefficients of one problem, (n_coefficients, n_columns), as additive scores."""
        return self.design.coefficients.to_scores(by_class(coefficients), cell_weight)


def _centred(inverse: SubspacePreconditioner, gradient: Floats) -> Floats:
    """Return the inverse times gradients, without what it adds to the scores of all classes alike.

    Such a shift changes the ridge alone, and gradients have none. Taken apart, the classes make shifts a
    million times too short for conjugate gradients to see them.
    """
    step = inverse(gradient)
    if step.shape[2] > 1:
        step -= step.mean(axis=2, keepdims=True)
    return step


def _inverse_by_column(
    hessians: Iterable[Floats], n_eliminated: int, ridge: float
) -> Callable[[Floats], Floats]:
    """Return the function that multiplies the gradient of each column by the inverse of its Hessian."""
    if n_eliminated:
        blocks = [BlockInverse.of(hessian, n_eliminated, ridge) for hessian in hessians]
        return partial(_multiply_blocks, blocks)
    return partial(_multiply_columns, np.stack([_inverse(hessian, ridge) for hessian in hessians]))


def _multiply_blocks(inverses: Sequence[BlockInverse], gradient: Floats) -> Floats:
    return np.stack([inverse @ column for inverse, column in zip(inverses, gradient.T, strict=True)], axis=1)


def _multiply_columns(inverses: Floats, gradient: Floats) -> Floats:
    """Multiply by inverses of shape (n_columns, n_moving, n_moving), all columns in one call."""
    product: Floats = np.matmul(inverses, gradient.T[:, :, None])[:, :, 0].T
    return product


def _multiply_coupled(inverse: Floats, gradient: Floats) -> Floats:
    """Multiply by one inverse over the coefficients of all columns, flattened by rows."""
    return (inverse @ gradient.ravel()).reshape(gradient.shape)


def _inverse(hessian: Floats, ridge: float) -> Floats:
    """Return the inverse of a Hessian plus a ridge."""
    return inverse_of(lower_cholesky(hessian + ridge * np.eye(len(hessian))))
